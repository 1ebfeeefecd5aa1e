"""How a faithful and a hallucinated sample differ, and the pair of samples that this makes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from data_pipeline.sources.kinds import KINDS
from judge.types import Label, Language, Sample, Task

SUFFIXES: Mapping[str, str] = {kind: f"-{kind}" for kind in KINDS} | {"edit": ""}
"""The suffix that a pair's ids add to that of its gold sample."""


@dataclass(frozen=True, slots=True)
class Error:
    """One wrong span of a hallucinated answer; ``start`` and ``end`` count its characters."""

    edit_type: str
    replaced: str
    inserted: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two answers to one question, or one answer to two documents. ``None`` means the gold sample's value.

    ``change`` says in one line, in the sample's language, what is wrong with the hallucinated sample: it has
    ``inserted`` where the document supports ``replaced``. ``from_document`` is true if the document contains
    ``inserted``. ``errors`` locates the errors of an answer with several.
    """

    edit_type: str
    change: str
    replaced: str
    inserted: str
    from_document: bool = False
    faithful: str | None = None
    hallucinated: str | None = None
    faithful_document: str | None = None
    hallucinated_document: str | None = None
    question: str | None = None
    task: Task | None = None
    errors: tuple[Error, ...] = ()


def added_sentence(
    answer: str, supported: str, foreign: str, language: Language, document: str | None = None
) -> Contrast:
    """An answer with a sentence that its document supports, and with one about another document."""
    joint = "" if language == "zh" else " "
    return Contrast(
        edit_type="added_sentence",
        change=not_mentioned(foreign, language),
        replaced=supported,
        inserted=foreign,
        faithful=f"{answer}{joint}{supported}",
        hallucinated=f"{answer}{joint}{foreign}",
        faithful_document=document,
        hallucinated_document=document,
    )


def not_mentioned(text: str, language: Language) -> str:
    """What is wrong with an addition, in one line."""
    return f"文档没有提到“{text}”" if language == "zh" else f"the document does not mention '{text}'"


def other_answer(right: str, wrong: str, language: Language) -> str:
    """What is wrong with an answer that differs from the document's, in one line."""
    if language == "zh":
        return f"文档给出的答案是“{right}”，而不是“{wrong}”"
    return f"the document's answer is '{right}', not '{wrong}'"


Maker = Callable[[Sample], Iterable[Contrast]]
"""Makes pairs of one kind from a gold sample; none if no rule is sure of one."""


def pairs(gold: Sample, kind: str, contrasts: Iterable[Contrast]) -> tuple[Sample, ...]:
    """The samples of contrasts of one kind, hallucinated after faithful.

    ``meta["pair"]`` names the pair and ``meta["kind"]`` its kind. The hallucinated sample's ``meta`` also has
    ``edit_type``, ``change``, ``replaced``, ``inserted``, ``from_document``, and ``errors`` if there are any.
    """
    found: list[Sample] = []
    for number, contrast in enumerate(contrasts, start=1):
        name = f"{gold.id}{SUFFIXES[kind]}" + (str(number) if number > 1 else "")
        found += sample_pair(replace(gold, id=name), contrast, kind=kind)
    return tuple(found)


def sample_pair(gold: Sample, contrast: Contrast, **meta: str) -> tuple[Sample, Sample]:
    """The faithful and the hallucinated sample of a contrast; both get ``meta`` besides the gold sample's."""
    of_its_answer = ("spans", "errors", "reasoning")
    kept = {name: value for name, value in gold.meta.items() if name not in of_its_answer}
    shared = {**kept, "pair": gold.id, **meta}
    edit: dict[str, Any] = {
        name: getattr(contrast, name)
        for name in ("edit_type", "change", "replaced", "inserted", "from_document")
    }
    if contrast.errors:
        edit["errors"] = [asdict(error) for error in contrast.errors]

    def changed(answer: str | None, document: str | None) -> Sample:
        new: dict[str, Any] = {"answer": answer, "document": document}
        new |= {"question": contrast.question, "task": contrast.task}
        return replace(gold, **{name: value for name, value in new.items() if value is not None})

    faithful = changed(contrast.faithful, contrast.faithful_document)
    wrong = changed(contrast.hallucinated, contrast.hallucinated_document)
    return (
        replace(faithful, label=Label.PASS, meta=shared),
        replace(wrong, id=f"{gold.id}-hallucinated", label=Label.FAIL, meta={**shared, **edit}),
    )
