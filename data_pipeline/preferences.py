"""Preference pairs for DPO: the right judgement against a wrong one, the model's own mistakes first.

Half of the pairs are about faithful answers and half about hallucinated ones. A base model is often wrong
on one class alone; pairs from its mistakes only would teach it to answer with the other class always.
"""

import random
from collections.abc import Callable, Sequence

from data_pipeline.config import PreferenceConfig
from data_pipeline.rows import dpo_row, gold_label, opposite, wrong_judgement
from judge.types import DPORow, Label, Mode, Sample, Verdict

Judging = Callable[[Sequence[Sample], Mode], Sequence[Verdict]]
"""Judges samples with the base model in a mode."""


def preference_rows(
    samples: Sequence[Sample], count: int, config: PreferenceConfig, seed: int, judging: Judging | None
) -> list[DPORow]:
    """Make ``count`` pairs, as far as there are samples, from distinct samples.

    Args:
        samples: labelled samples of one split.
        count: how many pairs.
        config: share in reason mode, candidates per mode.
        seed: decides which samples.
        judging: the base model; without one every rejected judgement is composed.
    """
    rows: list[DPORow] = []
    used: set[str] = set()
    in_reason = round(count * config.reason_share)
    for mode, wanted in (("reason", in_reason), ("verdict", count - in_reason)):
        rows += _mode_rows(samples, wanted, config, seed, judging, mode, used)  # type: ignore[arg-type]
    return rows


def _mode_rows(
    samples: Sequence[Sample],
    count: int,
    config: PreferenceConfig,
    seed: int,
    judging: Judging | None,
    mode: Mode,
    used: set[str],
) -> list[DPORow]:
    """Pairs of one mode, half a label each; samples in ``used`` are passed over, and the taken ones join."""
    pool = [sample for sample in samples if sample.id not in used]
    random.Random(f"dpo:{mode}:{seed}").shuffle(pool)
    by_label = {label: [sample for sample in pool if sample.label is label] for label in Label}
    # As many candidates of each label, so that the search is not one-sided either.
    each = max(min(config.candidates, 4 * count) // 2, 1)
    judged = [sample for label in Label for sample in by_label[label][:each]] if count else []
    mistakes: dict[str, str] = {}
    if judging is not None and judged:
        for sample, verdict in zip(judged, judging(judged, mode), strict=True):
            if verdict.label is opposite(gold_label(sample)):
                mistakes[sample.id] = verdict.raw.strip()

    rows: list[DPORow] = []
    for number, label in enumerate(Label):
        wanted = (count + 1 - number) // 2
        # The model's own mistakes first; the sort is stable, so the seeded order holds among them.
        ordered = sorted(by_label[label], key=lambda sample: sample.id not in mistakes)
        made = 0
        for sample in ordered:
            if made == wanted:
                break
            own = mistakes.get(sample.id)
            rejected = own if own is not None else wrong_judgement(sample, mode)
            row = dpo_row(sample, mode, rejected, "model" if own is not None else "composed")
            if row is not None:
                rows.append(row)
                used.add(sample.id)
                made += 1
    return rows
