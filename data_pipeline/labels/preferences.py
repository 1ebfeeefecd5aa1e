"""Preference pairs for DPO: the right judgement against a wrong one, the model's own mistakes first.

Half of the pairs are about faithful answers and half about hallucinated ones. A base model is often wrong
on one class alone; pairs from its mistakes only would teach it to answer with the other class always.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from data_pipeline.config import PreferenceConfig
from data_pipeline.labels.rows import dpo_row, gold_label, judgement, opposite
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.types import DPORow, Label, Mode, Sample, Verdict

CANDIDATES = 128
"""The base model judges this many samples of a mode at most, in search of its mistakes."""
Judging = Callable[[Sequence[Sample], Mode], Sequence[Verdict]]
"""Judges samples with the base model in a mode."""


def preference_rows(
    store: SampleStore,
    split: str,
    count: int,
    config: PreferenceConfig,
    seed: int,
    judging: Judging | None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[DPORow]:
    """Make ``count`` pairs, as far as there are samples, from distinct samples.

    Args:
        store: labelled samples.
        split: where the samples are drawn from.
        count: how many pairs.
        config: share in reason mode.
        seed: decides which samples.
        judging: the base model; without one every rejected judgement is composed.
        say: is told where a mode has fewer than it was to get.
    """
    used: set[str] = set()
    in_reason = round(count * config.reason_share)
    modes: tuple[tuple[Mode, int], ...] = (("reason", in_reason), ("verdict", count - in_reason))
    for mode, wanted in modes:
        if not wanted:
            continue
        rows = _mode_rows(store, split, wanted, seed, judging, mode, used)
        for row, sample in rows:
            used.add(sample.id)
            yield row
        if len(rows) < wanted:
            say(
                f"{split}: {len(rows)} of {wanted} preference pairs in {mode} mode; the samples give no more "
                "with as many FAIL as PASS answers"
            )


def _mode_rows(
    store: SampleStore,
    split: str,
    count: int,
    seed: int,
    judging: Judging | None,
    mode: Mode,
    used: set[str],
) -> list[tuple[DPORow, Sample]]:
    """Pairs of one mode, half a label each; samples in ``used`` are passed over."""

    def pool(label: Label) -> Iterator[Sample]:
        drawn = store.samples(
            "split = ? AND label = ? AND NOT excluded", (split, label.value), f"rank('dpo:{mode}:{seed}', id)"
        )
        return (sample for sample in drawn if sample.id not in used)

    # As many candidates of each label, so that the search for mistakes is not one-sided either.
    each = max(min(CANDIDATES, 4 * count) // 2, 1)
    mistakes: dict[str, tuple[Sample, str]] = {}
    if judging is not None:
        judged = [sample for label in Label for sample in islice(pool(label), each)]
        for sample, verdict in zip(judged, judging(judged, mode), strict=True):
            if verdict.label is opposite(gold_label(sample)):
                mistakes[sample.id] = (sample, verdict.raw.strip())

    mistaken = Mistakes()  # hallucinated answers first: faithful ones are then found the same faults with
    made: dict[Label, list[tuple[DPORow, Sample]]] = {Label.FAIL: [], Label.PASS: []}
    for label, rows in made.items():
        wanted, failed = count // 2, len(made[Label.FAIL])
        if label is Label.PASS:
            wanted = failed if failed < wanted else (count + 1) // 2
        own = (found for found in mistakes.values() if found[0].label is label)
        composed = ((sample, None) for sample in pool(label) if sample.id not in mistakes)
        for sample, wrong in chain(own, composed):
            if len(rows) == wanted:
                break
            row = _pair(sample, mode, wrong, mistaken)
            if row is not None:
                rows.append((row, sample))
    return made[Label.FAIL][: len(made[Label.PASS])] + made[Label.PASS]


def _pair(sample: Sample, mode: Mode, wrong: str | None, mistaken: Mistakes) -> DPORow | None:
    """A pair with the model's own mistake or a composed one; ``None`` where nothing can be cited."""
    right, composed = (explain(sample), mistaken.of(sample)) if mode == "reason" else ("", "")
    if right is None or composed is None:
        return None
    label = gold_label(sample)
    chosen = judgement(sample, mode, label, right)
    rejected = wrong or judgement(sample, mode, opposite(label), composed)
    return dpo_row(sample, mode, chosen, rejected, "composed" if wrong is None else "model")
