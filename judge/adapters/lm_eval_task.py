"""A judge for tasks of the LM Evaluation Harness (https://github.com/EleutherAI/lm-evaluation-harness).

The harness reads a task from YAML, and the function that scores replies from a Python file next to it; this
module makes that function. docs/adapters.md shows both files.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from judge.adapters import make_sample
from judge.checker import Checker
from judge.errors import InputError, unknown
from judge.types import Label, Language, Task

ProcessResults = Callable[[Mapping[str, Any], Sequence[Any]], dict[str, float]]


def faithfulness(
    judge: Checker,
    document: str = "document",
    question: str | None = "question",
    task: Task = Task.QA,
    language: Language = "en",
) -> ProcessResults:
    """Make the ``process_results`` of a task whose replies should be faithful to a document.

    It gives two metrics, both for the aggregation ``mean``: ``judged``, 1 if there is a verdict and else 0
    (an empty reply has none), and ``faithful``, 1 for PASS and 0 for FAIL, which is left out if there is no
    verdict; the harness then takes the mean over the others.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        document: the field of the task's data with the document, a text or a list of passages.
        question: the field with the question; ``None`` if the task has none.
        task: what the replies are.
        language: of documents and replies.

    The function raises ``InputError`` if the data lack these fields, or the document is empty.
    """

    def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
        for name in filter(None, (document, question)):
            if name not in doc:
                raise InputError(unknown("field of the task's data", name, doc))
        reply = results[0]
        if not isinstance(reply, str):
            raise InputError(f"expected one reply, not {reply!r:.60}; end the task's filter in take_first")
        if not reply.strip():
            return {"judged": 0.0}
        asked = "" if question is None else doc[question]
        [verdict] = judge.iter_check([make_sample(doc[document], asked, reply, task, language)])
        if verdict.label is None:
            return {"judged": 0.0}
        return {"judged": 1.0, "faithful": float(verdict.label is Label.PASS)}

    return process_results
