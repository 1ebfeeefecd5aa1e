"""A judge as a ``Runnable`` of LangChain (https://docs.langchain.com); only needs langchain-core."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from judge.adapters import make_sample, why_none
from judge.checker import Checker
from judge.errors import InputError
from judge.types import Language, Sample, Task, Verdict, verdict_to_json

DOCUMENT_KEYS = ("document", "documents", "context")
QUESTION_KEYS = ("question", "input")

Fields = Mapping[str, Any]
Outcome = dict[str, Any] | Exception


class FaithfulnessRunnable(Runnable[Fields, dict[str, Any]]):
    """Takes ``{"documents": ..., "question": ..., "answer": ...}``, returns the verdict as a dictionary.

    The documents are under one of :data:`DOCUMENT_KEYS`, as a text or as a list of texts or ``Document``;
    the question, if there is one, under one of :data:`QUESTION_KEYS`. Other keys are ignored. The verdict has
    the fields of :class:`judge.types.Verdict`.

    A batch is judged together. A call raises ``JudgeError`` if the judge gives no verdict and ``InputError``
    if the input is wrong; ``batch(..., return_exceptions=True)`` returns these errors in their places.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        task: what the answers are.
        language: of documents and answers.
    """

    def __init__(self, judge: Checker, task: Task = Task.QA, language: Language = "en"):
        self.judge, self.task, self.language = judge, task, language

    def invoke(self, input: Fields, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Judge one answer."""
        return self.batch([input], config)[0]

    async def ainvoke(
        self, input: Fields, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Judge one answer without blocking the event loop."""
        return (await self.abatch([input], config))[0]

    def batch(self, inputs: list[Fields], config: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """Judge answers together; the outcomes come in their order."""
        return self._batch_with_config(self._judge, inputs, config, **kwargs)

    async def abatch(self, inputs: list[Fields], config: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """:meth:`batch` without blocking the event loop."""
        return await self._abatch_with_config(self._ajudge, inputs, config, **kwargs)

    def _judge(self, inputs: list[Fields]) -> list[Outcome]:
        read = [self._read(fields) for fields in inputs]
        return _outcomes(read, self.judge.iter_check([item for item in read if isinstance(item, Sample)]))

    async def _ajudge(self, inputs: list[Fields]) -> list[Outcome]:
        read = [self._read(fields) for fields in inputs]
        return _outcomes(read, await self.judge.acheck([item for item in read if isinstance(item, Sample)]))

    def _read(self, fields: Fields) -> Sample | InputError:
        try:
            document = _only(fields, DOCUMENT_KEYS, "document")
            if isinstance(document, Sequence) and not isinstance(document, str):
                document = [getattr(part, "page_content", part) for part in document]
            question = _only(fields, QUESTION_KEYS, "question", "")
            return make_sample(document, question, fields.get("answer"), self.task, self.language)
        except InputError as error:
            return error


def _only(fields: Fields, names: Sequence[str], what: str, default: Any = None) -> Any:
    """The value of the only one of several keys that is present."""
    found = [name for name in names if name in fields]
    if len(found) > 1 or (not found and default is None):
        has = ", ".join(map(str, fields)) or "nothing"
        raise InputError(f"expected one of {', '.join(names)} (the input has: {has})", field=what)
    return fields[found[0]] if found else default


def _outcomes(read: Iterable[Sample | InputError], verdicts: Iterable[Verdict]) -> list[Outcome]:
    """The outcome of each input, given the verdicts on those that could be read."""
    stream = iter(verdicts)
    outcomes: list[Outcome] = []
    for item in read:
        if isinstance(item, InputError):
            outcomes.append(item)
        else:
            verdict = next(stream)
            outcomes.append(why_none(verdict) or verdict_to_json(verdict))
    return outcomes
