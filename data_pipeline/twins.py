"""From gold answers to labelled twins: the answer as it is (PASS) and its perturbation (FAIL).

Twins share document, question and group, so they never part: not between splits, not between modes.
"""

from collections.abc import Iterable
from dataclasses import replace

from data_pipeline.perturb import RulePerturber
from judge.types import Label, Sample


def make_twins(golds: Iterable[Sample], perturber: RulePerturber) -> tuple[list[Sample], list[Sample]]:
    """Perturb every gold answer once.

    Returns:
        The samples, twin after gold, with ``meta["pair"]`` naming the pair and the twin's ``meta`` holding
        ``edit_type``, ``change``, ``replaced``, ``inserted`` and ``from_document``; and the golds that have
        no safe edit. Those are left out of the data set, so that its classes stay balanced.
    """
    samples, without_edit = [], []
    for gold in golds:
        perturbation = perturber.perturb(gold)
        if perturbation is None:
            without_edit.append(gold)
            continue
        shared = {**gold.meta, "pair": gold.id}
        samples.append(replace(gold, label=Label.PASS, meta=shared))
        samples.append(
            replace(
                gold,
                id=f"{gold.id}-twin",
                answer=perturbation.answer,
                label=Label.FAIL,
                meta={
                    **shared,
                    "edit_type": perturbation.edit_type,
                    "change": perturbation.change,
                    "replaced": perturbation.replaced,
                    "inserted": perturbation.inserted,
                    "from_document": perturbation.from_document,
                },
            )
        )
    return samples, without_edit
