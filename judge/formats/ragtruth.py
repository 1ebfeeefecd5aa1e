"""RAGTruth (arXiv 2401.00396): answers of six models with hallucinated spans marked by people.

Labels are per response: FAIL if any span is marked, as in the paper's section 5. The original release is two
JSON Lines files joined by ``source_id``. ``test`` is for measuring; ``train`` may be trained on.
"""

import json
from pathlib import Path
from typing import Literal, get_args

from judge.errors import InputError, unknown
from judge.formats.files import find_file, group_of, need_folder, resolve_data_dir
from judge.formats.records import Record, read_lines
from judge.formats.spans import is_span
from judge.types import Label, Sample, Task

ORIGINAL = "github.com/ParticleMedia/RAGTruth, folder dataset"
RESPONSES = "response.jsonl"
SOURCES = "source_info.jsonl"
TASKS = {"QA": Task.QA, "Summary": Task.SUMMARIZATION, "Data2txt": Task.DATA2TEXT}

Split = Literal["train", "test"]


def _document(row: Record, task: Task) -> tuple[str, str]:
    """The document and the question of a row in the file of sources."""
    if task is Task.SUMMARIZATION:
        return row.text("source_info"), ""
    info = row.values.get("source_info")
    if not isinstance(info, dict) or not info:
        raise row.wrong("source_info", f"holds {info!r:.60}, expected an object for {row.text('task_type')}")
    if task is Task.DATA2TEXT:
        return row.checked("source_info", json.dumps(info, ensure_ascii=False)), ""
    parts = Record(info, row.file, row.line)
    return parts.text("passages"), parts.text("question")


def _read_sources(path: Path) -> dict[str, tuple[str, str, str]]:
    """``source_id`` to (task type, document, question)."""
    sources: dict[str, tuple[str, str, str]] = {}
    for row in read_lines(path):
        name, kind = row.text("source_id"), row.text("task_type")
        if kind not in TASKS:
            raise row.wrong("task_type", unknown("task type", kind, TASKS))
        if name in sources:
            raise row.wrong("source_id", f"{name!r} occurs a second time")
        sources[name] = (kind, *_document(row, TASKS[kind]))
    if not sources:
        raise InputError("holds no row", file=path)
    return sources


def read(responses: Path, sources: Path, split: Split = "test") -> list[Sample]:
    """The samples of one split, from the two files.

    ``meta`` keeps the generator (``model``), ``task_type``, ``quality`` and the marked spans (``spans``).
    """
    known = _read_sources(sources)
    samples: list[Sample] = []
    for row in read_lines(responses):
        found = row.text("split")
        if found not in get_args(Split):
            raise row.wrong("split", unknown("split", found, get_args(Split)))
        if found != split:
            continue
        name = row.text("source_id")
        if name not in known:
            raise row.wrong("source_id", f"{name!r} is not in {sources}")
        spans = row.values.get("labels")
        if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
            raise row.wrong(
                "labels", f"holds {spans!r:.60}, expected a list of spans (empty for a faithful response)"
            )
        response = row.text("response")
        for span in spans:
            if not is_span(span, response):
                raise row.wrong("labels", f"has a span outside the response: {span!r:.80}")
        kind, document, question = known[name]
        meta = {
            "model": row.values.get("model"),
            "task_type": kind,
            "quality": row.values.get("quality"),
            "spans": spans,
        }
        row.checked("labels", json.dumps(meta, ensure_ascii=False))
        samples.append(
            Sample(
                id=row.text("id"),
                document=document,
                question=question,
                answer=response,
                task=TASKS[kind],
                label=Label.FAIL if spans else Label.PASS,
                source=f"ragtruth_{kind.lower()}",
                group=group_of(document),
                meta=meta,
            )
        )
    if not samples:
        raise InputError(f"holds no response of the split {split!r}", file=responses)
    return samples


def load_split(split: Split, data_dir: Path | None = None) -> list[Sample]:
    """One split from ``data_dir/ragtruth``.

    Raises:
        MissingFiles: also without a data folder, since no public copy on the Hub has both files.
    """
    folder = need_folder(resolve_data_dir(data_dir), "RAGTruth", "ragtruth", ORIGINAL)
    responses = find_file(folder, "ragtruth", [RESPONSES], ORIGINAL)
    return read(responses, find_file(folder, "ragtruth", [SOURCES], ORIGINAL), split)


def load(data_dir: Path | None = None) -> list[Sample]:
    """The test split, which is for measuring."""
    return load_split("test", data_dir)
