"""Recorded verdicts as a judge: scores what a judge said earlier, here or elsewhere, without running it.

Three file formats are recognized by their fields:

- ``verdicts.jsonl`` of ``judge eval``;
- ``id`` and ``label``, optionally ``p_fail``, ``reasoning`` and ``error``, as ``judge batch`` writes;
- ``id``, ``eval_type`` (the judge's name) and ``eval_result`` (1 faithful, 0 not), optionally
  ``eval_reason``: the format of the verdicts published with the balanced sample of HaluBench.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields
from pathlib import Path
from typing import Any

from eval.verdicts import EXCERPT
from judge.checker import Checker
from judge.errors import InputError, unknown
from judge.files import sha256_file, sha256_text
from judge.rows import parse_label, read_rows
from judge.types import Label, Mode, Sample, Verdict, verdict_from_json

PREFIX = "replay:"
RESULTS = {"1": Label.PASS, "1.0": Label.PASS, "0": Label.FAIL, "0.0": Label.FAIL}


class Replay(Checker):
    """A file of recorded verdicts as a judge (a :class:`judge.checker.Checker`).

    A sample without a recorded verdict counts as unparsed. If a sample has several verdicts, the first one
    counts: asking a judge again until it changes its mind makes it a different judge. A sample that is in
    several benchmarks has a verdict for each.

    Args:
        name: ``replay:FILE``, or ``replay:FILE#JUDGE`` for a file with the verdicts of several judges.

    Raises:
        InputError: if the format is unknown, a row is wrong, or the judge is not named or not in the file.
    """

    name = ""
    mode: Mode = "verdict"
    benchmark = ""
    chunk = 0  # all at once, to detect that none of the samples was recorded

    def __init__(self, name: str):
        path, mark, judge = name.removeprefix(PREFIX).rpartition("#")
        self.path = Path(path if mark else judge)
        self.name = f"{PREFIX}{self.path.name}{mark}{judge if mark else ''}"
        by_judge = _read(self.path)
        if not mark and len(by_judge) > 1:
            raise InputError(
                f"holds the verdicts of {len(by_judge)} judges; name one: {PREFIX}{self.path}#NAME (known: "
                f"{', '.join(sorted(by_judge))})",
                file=self.path,
            )
        if mark and judge not in by_judge:
            raise InputError(unknown("judge", judge, by_judge), file=self.path)
        self._verdicts, self._repeated = by_judge[judge if mark else next(iter(by_judge))]

    def describe(self) -> dict[str, Any]:
        """The file, its hash, the number of samples with a verdict, and the number of repeated verdicts."""
        return {
            "model": self.name,
            "backend": "replay",
            "sha256": sha256_file(self.path),
            "recorded": len(self._verdicts),
            "repeated": self._repeated,
        }

    def on(self, benchmark: str) -> "Replay":
        """The same judge, restricted to the verdicts on a benchmark where a sample is in several."""
        found = copy(self)
        found.benchmark = benchmark
        return found

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """The recorded verdict of each sample.

        Raises:
            InputError: if none of the samples has a verdict, or one has verdicts of several other benchmarks.
        """
        found = [self._find(sample) for sample in samples]
        if samples and not any(found):
            raise InputError(
                f"has no verdict on any of these samples; its ids are like "
                f"{next(iter(self._verdicts))!r}, theirs like {samples[0].id!r}",
                file=self.path,
            )
        for verdict in found:
            yield verdict or Verdict(None, error="no recorded verdict")

    def _find(self, sample: Sample) -> Verdict | None:
        text = sample.document_text
        keys = (_key(sample.id, sample.question, sample.answer, text[:EXCERPT], len(text)), sample.id)
        found = next((self._verdicts[key] for key in keys if key in self._verdicts), {})
        if len(found) > 1 and self.benchmark not in found:
            raise InputError(
                f"has verdicts on sample {sample.id!r} of {' and '.join(found)}, and none of "
                f"{self.benchmark!r}",
                file=self.path,
            )
        return found.get(self.benchmark) or next(iter(found.values()), None)


Recorded = tuple[dict[str, dict[str, Verdict]], int]
"""Verdicts by sample (its id, in files of ``judge eval`` with a hash of its texts) and benchmark (empty if
unknown), and the number of repeated verdicts."""


def _read(path: Path) -> dict[str, Recorded]:
    """The verdicts of a file by judge; for each sample, the first one."""
    found: dict[str, dict[str, dict[str, Verdict]]] = {}
    repeated: dict[str, int] = {}
    for line, row in read_rows(path):
        try:
            if row.get("id") is None:
                raise InputError("is missing", field="id")
            judge, sample, verdict = _record(row)
            if verdict.p_fail is not None and not 0 <= verdict.p_fail <= 1:
                raise InputError(f"is {verdict.p_fail}, expected 0 to 1", field="p_fail")
        except InputError as error:
            raise InputError(error.found, file=path, line=line, field=error.field) from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"is not a recorded verdict ({error!r})", file=path, line=line) from None
        verdicts = found.setdefault(judge, {}).setdefault(sample, {})
        benchmark = str(row.get("benchmark") or "")
        repeated[judge] = repeated.get(judge, 0) + (benchmark in verdicts)
        verdicts.setdefault(benchmark, verdict)
    if not found:
        raise InputError("holds no verdict", file=path)
    return {judge: (verdicts, repeated[judge]) for judge, verdicts in found.items()}


def _key(*texts: object) -> str:
    """What a verdict depends on: the sample's id and texts, not its gold label, which may be corrected."""
    return f"{texts[0]} ({sha256_text(json.dumps(texts))[:8]})"


def _label(word: object) -> Label | None:
    try:
        return parse_label(word)
    except InputError as error:  # its advice is about files of samples
        raise InputError(f"{error.found.partition(';')[0]}; write PASS or FAIL", field="label") from None


def _record(row: Mapping[str, Any]) -> tuple[str, str, Verdict]:
    """Judge, sample and verdict of one row."""
    if "verdict" in row and "sample" in row:
        texts = [row[name] for name in ("id", "question", "answer", "document", "document_chars")]
        return f"run-{row.get('run', 0)}", _key(*texts), verdict_from_json(row["verdict"])
    if "eval_result" in row:
        label = RESULTS.get(str(row["eval_result"]).strip())
        if label is None:
            raise InputError(unknown("result", row["eval_result"], RESULTS), field="eval_result")
        return str(row.get("eval_type", "")), str(row["id"]), Verdict(label, reasoning=row.get("eval_reason"))
    if "label" not in row or "document" in row:
        raise InputError(
            f"is not a recorded verdict (the row has: {', '.join(row)}); expected id and label, as judge "
            "batch or judge eval write, or id, eval_type and eval_result"
        )
    if isinstance(row.get("usage"), Mapping):  # a full row of judge batch
        own = {field.name: row[field.name] for field in fields(Verdict) if field.name in row}
        return "", str(row["id"]), verdict_from_json(own)
    p_fail = row.get("p_fail")
    return (
        "",
        str(row["id"]),
        Verdict(
            _label(row["label"]),
            p_fail=None if p_fail in (None, "") else float(p_fail),
            reasoning=row.get("reasoning") or None,
            error=row.get("error") or None,
        ),
    )
