"""Counterfactual question answering (Bi'an, section 2.2): two samples from a question and its true answer.

In the first stage a model names a false answer with evidence; in the second it expands the evidence into a
document. Given that document, the false answer is faithful (``PASS``) and the true one is not (``FAIL``).
World knowledge alone tells the two apart; such samples teach a judge to trust the document over it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import tee

from data_pipeline.edits.edit import occurs
from data_pipeline.edits.verify import Rejected
from data_pipeline.pairs.contrast import Contrast, other_answer, sample_pair
from data_pipeline.pairs.entities import entities_left
from data_pipeline.teachers.base import Ask, ask_each, reply_texts
from data_pipeline.teachers.prompts.base import Prompted
from data_pipeline.teachers.prompts.counterfactual import evidence_prompt, expansion_prompt
from data_pipeline.text.content import terms
from judge.baselines.overlap import units
from judge.remote.chat import Reply
from judge.types import Sample, Task

EVIDENCE_SHARE = 0.8
"""Share of the evidence's words that the document must hold; it need not repeat whole sentences."""
LENGTHS = (0.5, 2.0)
"""Allowed range of a document's length, relative to the length asked for."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """First stage: another answer to the seed's question, and the sentences that support it."""

    seed: Sample
    answer: str
    text: str


def counterfactuals(
    ask: Ask, seeds: Iterable[Sample], length: int
) -> Iterator[tuple[Sample, Sample] | Rejected]:
    """A faithful and a hallucinated sample from every seed, in order, or why there are none.

    Args:
        ask: asks the model, in both stages.
        seeds: questions with true answers; their documents are not used.
        length: target length of the documents, in words (characters in Chinese).
    """

    def expand(stage: Evidence) -> Prompted:
        return expansion_prompt(stage.text, stage.seed.language, length)

    stages, found = tee(_evidence(seed, reply) for seed, reply in ask_each(seeds, evidence_prompt, ask))
    expanded = ask_each((stage for stage in found if isinstance(stage, Evidence)), expand, ask)
    for stage in stages:
        yield stage if isinstance(stage, Rejected) else _counterfactual(*next(expanded), length)


def _evidence(seed: Sample, reply: Reply) -> Evidence | Rejected:
    found = reply_texts(reply, "counterfactual_answer", "evidence")
    if isinstance(found, Rejected):
        return found
    answer, text = found
    if occurs(answer, seed.answer) or occurs(seed.answer, answer):
        return Rejected("answers overlap", answer)
    return _checked(seed, answer, text, "evidence") or Evidence(seed, answer, text)


def _counterfactual(stage: Evidence, reply: Reply, length: int) -> tuple[Sample, Sample] | Rejected:
    seed = stage.seed
    found = reply_texts(reply, "document")
    if isinstance(found, Rejected):
        return found
    document = found[0]
    if problem := _checked(seed, stage.answer, document, "document"):
        return problem
    count = len(units(document, seed.language))
    if not LENGTHS[0] * length <= count <= LENGTHS[1] * length:
        return Rejected("length", f"{count} words or characters instead of {length}")
    wanted = terms(stage.text)
    if len(wanted & terms(document)) < EVIDENCE_SHARE * len(wanted):
        return Rejected("document without the evidence", document)
    contrast = Contrast(
        edit_type="counterfactual",
        change=other_answer(stage.answer, seed.answer, seed.language),
        replaced=stage.answer,
        inserted=seed.answer,
        faithful=stage.answer,
        faithful_document=document,
        hallucinated_document=document,
        task=Task.QA,
    )
    name = f"{seed.id}-counterfactual"
    return sample_pair(replace(seed, id=name, group=seed.group or seed.id), contrast)


def _checked(seed: Sample, answer: str, text: str, what: str) -> Rejected | None:
    """Check that a counterfactual text holds its answer, and neither the true one nor any of its entities.

    Entities that the question or the counterfactual answer also names may stay.
    """
    if not occurs(answer, text):
        return Rejected(f"{what} without its answer", text)
    if occurs(seed.answer, text):
        return Rejected(f"{what} with the true answer", text)
    left = entities_left(seed.answer, text, seed.language, (seed.question, answer))
    return Rejected(f"{what} with an entity of the true answer", ", ".join(left)) if left else None
