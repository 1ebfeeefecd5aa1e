"""From gold answers to labelled twins: a faithful answer (PASS) and one that its document does not bear.

Twins share document, question and group, so they never part: not between splits, not between modes.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from data_pipeline.additions import Additions
from data_pipeline.perturb import RulePerturber
from judge.types import Label, Sample


def make_twins(
    golds: Sequence[Sample], perturber: RulePerturber, edits: float, additions: float, seed: int
) -> tuple[list[Sample], list[Sample]]:
    """Make pairs of gold answers: an edited fact, an added sentence, or both kinds.

    Args:
        golds: samples whose answers are faithful.
        perturber: edits single facts.
        edits: share of golds that get a pair with one edited fact.
        additions: share of golds that get a pair with an added sentence (:mod:`data_pipeline.additions`).
        seed: decides which.

    Returns:
        The samples, hallucinated twin after faithful one, with ``meta["pair"]`` naming the pair and the
        twin's ``meta`` holding ``edit_type``, ``change``, ``replaced``, ``inserted`` and ``from_document``;
        and the golds that have no safe edit. Those are left out, so that the classes stay balanced.
    """
    finder = Additions(golds, seed)
    samples: list[Sample] = []
    without_edit: list[Sample] = []
    for gold in golds:
        rng = random.Random(f"twin:{seed}:{gold.id}")
        wants_edit, wants_addition = rng.random() < edits, rng.random() < additions
        pairs = [
            _with_edit(gold, perturber) if wants_edit else None,
            _with_addition(gold, finder) if wants_addition else None,
        ]
        samples += [sample for pair in pairs if pair is not None for sample in pair]
        if (wants_edit or wants_addition) and not any(pairs):
            without_edit.append(gold)
    return samples, without_edit


def _with_addition(gold: Sample, finder: Additions) -> tuple[Sample, Sample] | None:
    found = finder.find(gold)
    if found is None:
        return None
    change = (
        f"文档没有提到“{found.foreign}”"
        if gold.language == "zh"
        else f"the document does not mention '{found.foreign}'"
    )
    edit = {
        "edit_type": "addition",
        "change": change,
        "replaced": found.supported,
        "inserted": found.foreign,
        "from_document": False,
    }
    return _pair(replace(gold, id=f"{gold.id}-long"), found.faithful, found.hallucinated, edit)


def _with_edit(gold: Sample, perturber: RulePerturber) -> tuple[Sample, Sample] | None:
    found = perturber.perturb(gold)
    if found is None:
        return None
    edit = {
        "edit_type": found.edit_type,
        "change": found.change,
        "replaced": found.replaced,
        "inserted": found.inserted,
        "from_document": found.from_document,
    }
    return _pair(gold, gold.answer, found.answer, edit)


def _pair(gold: Sample, faithful: str, hallucinated: str, edit: dict[str, Any]) -> tuple[Sample, Sample]:
    shared = {**gold.meta, "pair": gold.id}
    return (
        replace(gold, answer=faithful, label=Label.PASS, meta=shared),
        replace(gold, id=f"{gold.id}-twin", answer=hallucinated, label=Label.FAIL, meta={**shared, **edit}),
    )
