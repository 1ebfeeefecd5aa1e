"""Writes the files of a data set from its samples and the teachers' reasonings."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from data_pipeline.config import DataConfig
from data_pipeline.labels.preferences import preference_rows
from data_pipeline.labels.rows import dpo_row, sft_row
from data_pipeline.sources.store import SampleStore
from judge.files import write_jsonl
from judge.formats.bianbench import file_name, to_row
from judge.progress import track
from judge.samples import write_samples
from judge.types import DPORow, SFTRow


def write_files(config: DataConfig, folder: Path, store: SampleStore, say: Callable[[str], None]) -> None:
    """Write held-out samples, SFT rows and preference pairs; a file is written completely or not at all."""
    for split in ("validation", "test"):  # to calibrate a judge on, and to measure it on
        write_samples(folder / f"{split}.jsonl", store.samples("split = ?", (split,)))
    train = store.count("split = 'train'")
    for split in ("train", "validation"):
        rows = write_jsonl(folder / f"sft/{split}.jsonl", track(sft_rows(store, split), f"{split}: SFT rows"))
        count = round(config.preferences.pairs * store.count("split = ?", (split,)) / train)
        found = preference_rows(store, split, count, config.preferences, config.seed, say)
        found = track(found, f"{split}: preference pairs", count)
        pairs = write_jsonl(folder / f"dpo/{split}.jsonl", chain(teacher_pairs(store, split), found))
        say(f"{split}: {rows} SFT rows, {pairs} preference pairs")


def write_bianbench(config: DataConfig, folder: Path, store: SampleStore) -> dict[str, int]:
    """Also write the samples in Bi'anBench's format if the recipe asks for it; returns rows by subset."""
    written: dict[str, int] = {}
    for subset in config.bianbench:
        samples = store.samples() if subset == "cf" else store.samples("language = ?", (subset,))
        rows = (to_row(sample, number) for number, sample in enumerate(samples))
        written[subset] = write_jsonl(folder / "bianbench" / file_name(subset), rows)
    return written


def sft_rows(store: SampleStore, split: str) -> Iterator[SFTRow]:
    """SFT rows in the modes of each sample, in the order of samples.

    The verdict is the gold label. Rows in reason mode have a teacher's reasoning for it; a sample without
    one gets no such row. Samples that an ensemble excluded get no rows at all.
    """
    for sample in store.samples("split = ? AND (verdict OR reason) AND NOT excluded", (split,)):
        if store.wants(sample, "verdict"):
            yield sft_row(sample, "verdict", "gold")
        for teacher, reasoning in store.reasonings(sample, right=True):
            yield sft_row(sample, "reason", teacher, reasoning)


def teacher_pairs(store: SampleStore, split: str) -> Iterator[DPORow]:
    """The right judgement of each sample against every wrong one of a teacher (Bi'an, section 2.3)."""
    for sample in store.samples("split = ? AND reason", (split,)):
        for _, right in store.reasonings(sample, right=True):
            for teacher, wrong in store.reasonings(sample, right=False):
                yield dpo_row(sample, "reason", right, wrong, teacher)
