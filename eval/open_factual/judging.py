"""A judge for what the rules leave open: correct answers and corrections in words that no rule matches."""

from eval.open_factual.answers import Answer
from eval.open_factual.citations import without_citations
from eval.open_factual.scoring import Label, Score
from eval.open_factual.tasks import FactualTask, Kind
from judge.types import Label as JudgeLabel
from judge.types import Sample, Verdict


def is_open(score: Score) -> bool:
    """Is it a claim that the extended rules reject? Refusals and empty answers need no judge."""
    return score.reply in ("claim", "uncertain") and score.extended in (
        "incorrect",
        "hallucination_candidate",
        "unclear",
    )


def to_sample(task: FactualTask, answer: Answer) -> Sample:
    """The answer as a sample with the reference as its document: is the answer faithful to what is true?"""
    document = task.reference
    if task.kind != Kind.STRESS:
        document = f"{task.question}\n{task.reference}"
    return Sample(
        id=task.id,
        document=document,
        question=task.question,
        answer=without_citations(answer.text) if task.passages else answer.text,
    )


def judged_label(score: Score, verdict: Verdict | None) -> Label | None:
    """The extended label, changed to a right one if the verdict is ``PASS``."""
    if verdict is None or verdict.label is not JudgeLabel.PASS:
        return score.extended
    return "correct" if score.extended == "incorrect" else "refusal_or_correction"
