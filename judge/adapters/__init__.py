"""Judges inside other evaluation frameworks: one module each, which needs the extra of that name.

Shared here: making a sample from fields, and a score from a verdict. A verdict without a label never becomes
a score: every adapter reports it the way its framework reports a failure.
"""

from judge.errors import JudgeError
from judge.samples import sample_from_row
from judge.types import Language, Sample, Task, Verdict


def make_sample(
    document: object, question: str | None, answer: str | None, task: Task, language: Language
) -> Sample:
    """A sample from a framework's fields; the document is a text or a list of passages.

    Raises:
        InputError: if document or answer is missing, empty or not a text.
    """
    row = {"document": document, "question": question, "answer": answer, "task": task, "language": language}
    return sample_from_row(row)


def why_none(verdict: Verdict) -> JudgeError | None:
    """The error for a verdict without a label; ``None`` if it has one."""
    return JudgeError(f"the judge gave no verdict: {verdict.error}") if verdict.label is None else None


def score(verdict: Verdict) -> float:
    """The probability that the answer is faithful; 1 or 0 by the label if the judge gives none.

    Raises:
        JudgeError: if the verdict has no label.
    """
    if error := why_none(verdict):
        raise error
    return 1 - (verdict.chance or 0.0)


def reason(verdict: Verdict) -> str:
    """The judge's reasoning, or its label and the probability of a hallucination; and how much was cut."""
    probability = "" if verdict.p_fail is None else f", probability of a hallucination {verdict.p_fail:.3f}"
    cut = verdict.cut_chars
    unread = f" (the document's last {cut} characters were not read)" if cut else ""
    return f"{verdict.reasoning or verdict.error or f'{verdict.label}{probability}'}{unread}"
