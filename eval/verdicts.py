"""The ``verdicts.jsonl`` of a result: written as verdicts are made, and taken up again after a kill.

While a run is unfinished, ``run.json`` beside it names the judge, so that the verdicts of two judges never
mix; it goes when ``report.json`` is written.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge.checker import Checker
from judge.errors import InputError
from judge.files import Appender, sha256_text, write_json
from judge.types import Label, Sample, Usage, Verdict

REPORT = "report.json"
VERDICTS = "verdicts.jsonl"
RUN = "run.json"
_LONGEST_GROUP = 64


def sample_hash(sample: Sample) -> str:
    """Hex digest of what makes a sample: id, document, question, answer and gold label."""
    document = [sample.document] if isinstance(sample.document, str) else list(sample.document)
    return sha256_text(json.dumps([sample.id, document, sample.question, sample.answer, sample.label]))


def data_hash(samples: Sequence[Sample]) -> str:
    """Hex digest of a set of samples, in order."""
    digest = sha256()
    for sample in samples:
        digest.update(sample_hash(sample).encode())
    return digest.hexdigest()


def row_from_verdict(benchmark: str, sample: Sample, verdict: Verdict) -> dict[str, Any]:
    """One line of ``verdicts.jsonl``; ``label`` is the gold one. A group named by a whole text is hashed."""
    group = sample.group if len(sample.group) <= _LONGEST_GROUP else sha256_text(sample.group)[:16]
    return {
        "benchmark": benchmark,
        "id": sample.id,
        "group": group,
        "source": sample.source,
        "label": sample.label,
        "verdict": asdict(verdict),
        "sample": sample_hash(sample)[:16],
    }


def verdict_from_row(row: Mapping[str, Any]) -> Verdict:
    """The verdict of one line of ``verdicts.jsonl``."""
    values = dict(row["verdict"])
    label = values.pop("label")
    return Verdict(
        label=None if label is None else Label(label), usage=Usage(**values.pop("usage")), **values
    )


def check_out(out: Path, overwrite: bool = False) -> None:
    """Make sure that a result can be written into a folder; with ``overwrite``, remove the one that is there.

    Raises:
        InputError: it holds a finished result, or is a file.
    """
    if out.exists() and not out.is_dir():
        raise InputError("is a file, a folder is wanted for --out", file=out)
    if overwrite:
        for name in (REPORT, VERDICTS, RUN):
            (out / name).unlink(missing_ok=True)
    elif (out / REPORT).exists():
        raise InputError("holds a result already; choose another --out, or add --overwrite", file=out)


class VerdictFile:
    """Appends to ``out/verdicts.jsonl``, and knows the verdicts that an interrupted run left there.

    Raises:
        InputError: ``out`` holds a finished result, or verdicts of another judge.
    """

    def __init__(self, out: Path, judge: Checker):
        check_out(out)
        run = json.loads(json.dumps({"name": judge.name, "mode": judge.mode, "judge": judge.describe()}))
        if (out / VERDICTS).exists() and _read_run(out / RUN) != run:
            raise InputError(
                f"holds {VERDICTS} of another judge or with other settings; choose another --out, or add "
                "--overwrite",
                file=out,
            )
        write_json(out / RUN, run)
        self._file = Appender(out / VERDICTS)
        self._made = {(row["benchmark"], row["id"], row["sample"]): row for row in self._file.rows}

    def find(self, benchmark: str, sample: Sample) -> Verdict | None:
        """The verdict that is there already; ``None`` if there is none, or the sample has changed since."""
        row = self._made.get((benchmark, sample.id, sample_hash(sample)[:16]))
        return None if row is None else verdict_from_row(row)

    def append(self, benchmark: str, sample: Sample, verdict: Verdict) -> None:
        """Write one verdict."""
        self._file.append(row_from_verdict(benchmark, sample, verdict))

    def __enter__(self) -> "VerdictFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _read_run(path: Path) -> Any:
    """What ``run.json`` says; ``None`` if it is not there or not whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
