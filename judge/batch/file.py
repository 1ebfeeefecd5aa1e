"""Judges a file of samples: resumes an earlier run, and writes each verdict as it is made.

The file is read as a stream: memory holds the ids of its samples and the ones in progress, not all documents.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import islice, tee
from pathlib import Path
from typing import Any, Protocol

from judge.checker import Checker
from judge.columns import Columns
from judge.errors import InputError, JudgeError, counted
from judge.files import Appender, differences, locked, read_whole, whole_rows, write_json
from judge.models.base import with_weights
from judge.rows import check_jsonl_outputs
from judge.samples import read_samples
from judge.types import Sample, Verdict, verdict_from_json, verdict_to_json

Row = dict[str, Any]

RUN = ".run.json"
"""Suffix of the file next to the verdicts that says what made them: the judge, its settings, the samples."""
SHOWN = 3
"""Differences between two runs that an error names."""


class Engine(Protocol):
    """Where a file is judged: in this process, or on a cluster (:mod:`judge.batch.ray`)."""

    def judge(
        self, samples: Path, done: int, total: int, columns: Columns | None = None
    ) -> tuple[Row, Iterator[Row]]:
        """Judge the samples of a file from number ``done`` (from 0) on.

        Returns:
            The judge's description (:meth:`judge.checker.Checker.describe`), and the rows of the verdicts in
            the samples' order.
        """
        ...


@dataclass(frozen=True)
class LocalEngine:
    """Judges in this process; ``load`` makes the judge."""

    load: Callable[[], Checker]

    def judge(
        self, samples: Path, done: int, total: int, columns: Columns | None = None
    ) -> tuple[Row, Iterator[Row]]:
        """See :class:`Engine`."""
        judge = self.load()
        start = judge.restart(done)
        stream = islice(unlabelled(samples, columns), start, None)
        return judge.describe(), islice(judge_rows(judge, stream), done - start, None)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of a finished file; ``earlier`` of its verdicts came from an earlier run."""

    verdicts: int
    unparsed: int
    earlier: int


def verdict_row(sample: Sample, verdict: Verdict) -> Row:
    """The JSON form of one verdict."""
    return {"id": sample.id, **verdict_to_json(verdict)}


def judge_rows(judge: Checker, samples: Iterable[Sample]) -> Iterator[Row]:
    """Judge samples as a stream; yields the rows of their verdicts as they are made."""
    named, judged = tee(samples)
    for sample, verdict in zip(named, judge.iter_check(judged), strict=True):
        yield verdict_row(sample, verdict)


def unlabelled(samples: Path, columns: Columns | None, *, check_ids: bool = False) -> Iterator[Sample]:
    """The samples of a file; they need no labels, so unknown labels are dropped."""
    return read_samples(samples, columns, check_ids=check_ids, labelled=False)


def judge_file(
    samples: Path,
    out: Path,
    engine: Engine,
    *,
    columns: Columns | None = None,
    resume: bool = False,
    progress: Callable[[int, int], object] = lambda done, total: None,
    seen: Callable[[Sample], object] = lambda sample: None,
) -> Counts:
    """Judge a file of samples; every verdict is written as it is made.

    Args:
        samples: a file of one of the :data:`judge.rows.FILE_TYPES`.
        out: gets one row per sample, in their order.
        columns: if the file has other column names, see :func:`judge.samples.read_samples`.
        engine: does the judging; if ``out`` is complete, it is only asked to describe its judge.
        resume: continue from the verdicts in ``out``.
        progress: called with the number of samples judged so far, and of all.
        seen: called with every sample before the first is judged.

    Raises:
        InputError: if a sample is wrong, or ``out`` is named like another kind of file, exists without
            ``resume``, is being written by another run, or is from other samples, another judge or other
            settings. Nothing is written then.
        JudgeError: judging failed; the verdicts before that are kept.
    """
    check_jsonl_outputs([out], [samples], "verdicts")
    with locked(out):
        if out.stat().st_size and not resume:
            raise InputError("exists; continue with --resume, or give another file", file=out)
        total, digest = _survey(unlabelled(samples, columns, check_ids=True), seen)
        earlier, unparsed = _survey_earlier(out, unlabelled(samples, columns))
        identity = out.with_name(out.name + RUN)
        begun = read_whole(identity) if out.stat().st_size else None
        if out.stat().st_size and begun is None:
            raise InputError(
                f"is not empty, but {identity.name}, which says what made its verdicts, is missing or "
                "damaged; put it back, or give another file and judge again",
                file=out,
            )
        described, rows = engine.judge(samples, earlier, total, columns)
        run = json.loads(
            json.dumps({"judge": with_weights(described), "samples": digest, "count": total}, default=str)
        )
        if begun is not None and (found := differences(begun, run)):
            raise InputError(
                f"was begun in another way: {'; '.join(found[:SHOWN])}. Undo that, or give another file",
                file=out,
            )
        write_json(identity, run)
        done = earlier
        with Appender(out) as file:
            progress(earlier, total)
            for done, row in enumerate(rows if earlier < total else (), start=earlier + 1):
                file.append(row)
                unparsed += row["label"] is None
                progress(done, total)
    if done != total:
        held = f"{done} of {counted(total, 'verdict')}"
        raise JudgeError(f"{samples}: changed while it was judged; {out} holds {held}")
    return Counts(total, unparsed, earlier)


def _survey(samples: Iterable[Sample], seen: Callable[[Sample], object]) -> tuple[int, str]:
    """Count the samples and hash their contents."""
    digest, total, names = sha256(), 0, [field.name for field in fields(Sample)]
    for total, sample in enumerate(samples, start=1):  # noqa: B007 (the count is a result)
        seen(sample)
        row = {name: getattr(sample, name) for name in names}  # asdict would copy, and fail on deep meta
        digest.update(json.dumps(row, default=str).encode() + b"\n")
    return total, digest.hexdigest()


def _survey_earlier(out: Path, samples: Iterable[Sample]) -> tuple[int, int]:
    """How many verdicts an earlier run left, and how many of them have no label.

    Raises:
        InputError: if they are of other samples, or are not verdicts.
    """
    done = unparsed = 0
    ids = (sample.id for sample in samples)
    for done, row in enumerate(whole_rows(out), start=1):
        if row.pop("id", None) != next(ids, None):
            raise InputError("holds verdicts of other samples; give another file", file=out, line=done)
        try:
            unparsed += verdict_from_json(row).label is None
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError("is not a verdict; give another file", file=out, line=done) from None
    return done, unparsed
