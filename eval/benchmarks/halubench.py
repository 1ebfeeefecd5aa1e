"""HaluBench (Lynx, arXiv 2407.08488, section 4): PASS/FAIL question answering from six sources.

Released as one file of 14,900 rows with the columns ``id, passage, question, answer, label, source_ds``;
samples of it in the same columns are read too. Licence of the data: CC BY-NC 2.0.
"""

from pathlib import Path

from judge.errors import InputError
from judge.formats.files import find_file, group_of, hub_files, label_of, resolve_data_dir, text_of
from judge.samples import read_rows
from judge.types import Sample

HUB = "PatronusAI/HaluBench"
HUB_FILES = "data/*.parquet"
# The full release first; then samples of it.
NAMES = (
    "test-00000-of-00001.parquet", "data/test-00000-of-00001.parquet",
    "halubench.parquet", "halubench.csv", "halubench.jsonl", "halubench_1000.csv",
)  # fmt: skip


def read(path: Path) -> list[Sample]:
    """The samples of one file with HaluBench's columns (``.parquet``, ``.csv`` or ``.jsonl``)."""
    samples: list[Sample] = []
    used: dict[str, int] = {}
    for line, row in read_rows(path):
        document = text_of(row, "passage", file=path, line=line)
        name = str(row.get("id", f"row-{line}"))
        # Ids come from six sources and are only unique within each.
        used[name] = used.get(name, 0) + 1
        samples.append(
            Sample(
                id=name if used[name] == 1 else f"{name}#{used[name]}",
                document=document,
                question=text_of(row, "question", file=path, line=line),
                answer=text_of(row, "answer", file=path, line=line),
                label=label_of(row, "label", file=path, line=line),
                source=text_of(row, "source_ds", file=path, line=line),
                group=group_of(document),
            )
        )
    if not samples:
        raise InputError("holds no row", file=path)
    return samples


def load(data_dir: Path | None = None) -> list[Sample]:
    """HaluBench from ``data_dir/halubench``, or from the Hub; see :func:`eval.benchmarks.load_benchmark`."""
    folder = resolve_data_dir(data_dir)
    if folder is not None:
        return read(find_file(folder, "halubench", NAMES, f"huggingface.co/datasets/{HUB}"))
    return [sample for path in hub_files(HUB, HUB_FILES) for sample in read(path)]
