"""RAGTruth (arXiv 2401.00396): answers of six models with hallucinated spans marked by people.

Here at the level of the response: FAIL if any span is marked, as in the paper's section 5. The original
release is two JSON Lines files joined by ``source_id``. ``test`` measures; ``train`` may be trained on.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from judge.errors import InputError, unknown
from judge.files import read_jsonl
from judge.formats.files import DATA_DIR_ENV, find_file, group_of, resolve_data_dir, text_of
from judge.types import Label, Sample, Task

ORIGINAL = "github.com/ParticleMedia/RAGTruth, folder dataset"
RESPONSES = "response.jsonl"
SOURCES = "source_info.jsonl"
TASKS = {"QA": Task.QA, "Summary": Task.SUMMARIZATION, "Data2txt": Task.DATA2TEXT}

Split = Literal["train", "test"]


def _document(row: Mapping[str, Any], task: Task, file: Path, line: int) -> tuple[str, str]:
    """The document and the question of a row of the sources' file."""
    info = row.get("source_info")
    if task is Task.SUMMARIZATION:
        return text_of(row, "source_info", file=file, line=line), ""
    if not isinstance(info, dict) or not info:
        raise InputError(
            f"holds {info!r:.60}, an object is wanted for {row['task_type']}",
            file=file, line=line, field="source_info",
        )  # fmt: skip
    if task is Task.DATA2TEXT:
        return json.dumps(info, ensure_ascii=False), ""
    return text_of(info, "passages", file=file, line=line), text_of(info, "question", file=file, line=line)


def _read_sources(path: Path) -> dict[str, tuple[str, str, str]]:
    """``source_id`` to (task type, document, question)."""
    sources: dict[str, tuple[str, str, str]] = {}
    for line, row in read_jsonl(path):
        name = text_of(row, "source_id", file=path, line=line)
        kind = text_of(row, "task_type", file=path, line=line)
        if kind not in TASKS:
            raise InputError(unknown("task type", kind, TASKS), file=path, line=line, field="task_type")
        if name in sources:
            raise InputError(f"{name!r} occurs a second time", file=path, line=line, field="source_id")
        sources[name] = (kind, *_document(row, TASKS[kind], path, line))
    if not sources:
        raise InputError("holds no row", file=path)
    return sources


def read(responses: Path, sources: Path, split: Split = "test") -> list[Sample]:
    """The samples of one split of the two files.

    ``meta`` keeps the generator (``model``), ``task_type``, ``quality`` and the marked spans (``spans``).
    """
    known = _read_sources(sources)
    samples: list[Sample] = []
    for line, row in read_jsonl(responses):
        found = text_of(row, "split", file=responses, line=line)
        if found not in get_args(Split):
            message = unknown("split", found, get_args(Split))
            raise InputError(message, file=responses, line=line, field="split")
        if found != split:
            continue
        name = text_of(row, "source_id", file=responses, line=line)
        if name not in known:
            raise InputError(f"{name!r} is not in {sources}", file=responses, line=line, field="source_id")
        spans = row.get("labels")
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            raise InputError(
                f"holds {spans!r:.60}, a list of spans is wanted (empty for a faithful response)",
                file=responses, line=line, field="labels",
            )  # fmt: skip
        kind, document, question = known[name]
        samples.append(
            Sample(
                id=text_of(row, "id", file=responses, line=line),
                document=document,
                question=question,
                answer=text_of(row, "response", file=responses, line=line),
                task=TASKS[kind],
                label=Label.FAIL if spans else Label.PASS,
                source=f"ragtruth_{kind.lower()}",
                group=group_of(document),
                meta={
                    "model": row.get("model"),
                    "task_type": kind,
                    "quality": row.get("quality"),
                    "spans": spans,
                },
            )
        )
    if not samples:
        raise InputError(f"holds no response of the split {split!r}", file=responses)
    return samples


def load_split(split: Split, data_dir: Path | None = None) -> list[Sample]:
    """One split from ``data_dir/ragtruth``.

    Raises:
        InputError: also without a data folder, for no public copy on the Hub has both files.
    """
    folder = resolve_data_dir(data_dir)
    if folder is None:
        raise InputError(
            f"RAGTruth needs its two original files, {RESPONSES} and {SOURCES}: get them from {ORIGINAL}, "
            f"put them into DIR/ragtruth and give DIR as --data-dir or {DATA_DIR_ENV}"
        )
    responses = find_file(folder, "ragtruth", [RESPONSES], ORIGINAL)
    return read(responses, find_file(folder, "ragtruth", [SOURCES], ORIGINAL), split)


def load(data_dir: Path | None = None) -> list[Sample]:
    """The test split; out of the folder of benchmarks ``data_dir``."""
    return load_split("test", data_dir)
