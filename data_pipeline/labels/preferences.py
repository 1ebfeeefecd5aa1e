"""Preference pairs for DPO: the right judgement against a wrong one.

Half of the pairs are about faithful answers and half about hallucinated ones.
"""

from collections.abc import Callable, Iterator

from data_pipeline.config import PreferenceConfig
from data_pipeline.labels.rows import dpo_row
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.types import DPORow, Label, Mode, Sample


def preference_rows(
    store: SampleStore,
    split: str,
    count: int,
    config: PreferenceConfig,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[DPORow]:
    """Make ``count`` pairs from distinct samples, or fewer if samples run out.

    Args:
        store: labelled samples.
        split: the split from which samples are drawn.
        count: number of pairs.
        config: has the share of pairs in reason mode.
        seed: decides which samples.
        say: called with a line if a mode gets fewer pairs than asked for.
    """
    used: set[str] = set()
    in_reason = round(count * config.reason_share)
    modes: tuple[tuple[Mode, int], ...] = (("reason", in_reason), ("verdict", count - in_reason))
    for mode, wanted in modes:
        if not wanted:
            continue
        rows = _mode_rows(store, split, wanted, seed, mode, used)
        yield from rows
        if len(rows) < wanted:
            say(
                f"{split}: {len(rows)} of {wanted} preference pairs in {mode} mode; the samples give no more "
                "with as many FAIL as PASS answers"
            )


def _mode_rows(
    store: SampleStore, split: str, count: int, seed: int, mode: Mode, used: set[str]
) -> list[DPORow]:
    """Pairs of one mode, half for each label, of samples that are not in ``used``; adds theirs to it."""
    where, order = "split = ? AND label = ? AND NOT excluded", f"rank('dpo:{mode}:{seed}', id)"
    mistaken = Mistakes()  # hallucinated answers first: faithful ones then get faults of the same kinds
    made: dict[Label, list[tuple[DPORow, Sample]]] = {Label.FAIL: [], Label.PASS: []}
    for label, rows in made.items():
        wanted, failed = count // 2, len(made[Label.FAIL])
        if label is Label.PASS:
            wanted = failed if failed < wanted else (count + 1) // 2
        for sample in store.samples(where, (split, label.value), order):
            if len(rows) == wanted:
                break
            if sample.id not in used and (row := _pair(sample, mode, mistaken)) is not None:
                rows.append((row, sample))
    kept = made[Label.FAIL][: len(made[Label.PASS])] + made[Label.PASS]
    used.update(sample.id for _, sample in kept)
    return [row for row, _ in kept]


def _pair(sample: Sample, mode: Mode, mistaken: Mistakes) -> DPORow | None:
    """A pair with a composed mistake; ``None`` if nothing can be cited."""
    right, composed = (explain(sample), mistaken.of(sample)) if mode == "reason" else ("", "")
    if right is None or composed is None:
        return None
    return dpo_row(sample, mode, right, composed, "composed")
