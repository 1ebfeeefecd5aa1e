"""The verdicts of a result: written as they are made, resumed after an interruption, never mixed.

``verdicts.jsonl`` holds them. ``run.json`` next to it records what produced them: for each benchmark the
judge with its prompt, and the samples. A folder accepts verdicts of that run only.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import Appender, differences, is_stream, read_jsonl, read_whole, sha256_text, write_json
from judge.types import Label, Sample, Verdict, verdict_from_json, verdict_to_json

REPORT = "report.json"
VERDICTS = "verdicts.jsonl"
RUN = "run.json"
_LONGEST_GROUP = 64
EXCERPT = 600
"""Characters of the document kept in each row, for people who look through the errors."""
_SHOWN = 5


def sample_hash(sample: Sample) -> str:
    """Hex digest of what identifies a sample: id, document, question, answer and gold label."""
    document = [sample.document] if isinstance(sample.document, str) else list(sample.document)
    return sha256_text(json.dumps([sample.id, document, sample.question, sample.answer, sample.label]))


def data_hash(samples: Sequence[Sample]) -> str:
    """Hex digest of a set of samples, in order."""
    digest = sha256()
    for sample in samples:
        digest.update(sample_hash(sample).encode())
    return digest.hexdigest()


def row_from_verdict(benchmark: str, sample: Sample, verdict: Verdict, run: int = 0) -> dict[str, Any]:
    """One line of ``verdicts.jsonl``.

    ``label`` is the gold label, ``run`` the number of the repetition, from 0. Long group names are hashed.
    ``sample`` is the start of the sample's hash. Only the start of the document and its length are kept.
    """
    group = sample.group if len(sample.group) <= _LONGEST_GROUP else sha256_text(sample.group)[:16]
    return {
        "benchmark": benchmark,
        "run": run,
        "id": sample.id,
        "group": group,
        "source": sample.source,
        "label": sample.label,
        "verdict": verdict_to_json(verdict),
        "question": sample.question,
        "answer": sample.answer,
        "document": sample.document_text[:EXCERPT],
        "document_chars": len(sample.document_text),
        "edit_type": sample.meta.get("edit_type"),
        "sample": sample_hash(sample)[:16],
    }


def result_folder(result: Path) -> Path:
    """The folder of a result, which may also be named by its ``report.json``."""
    return result.parent if result.name == REPORT else result


def first_run(result: Path) -> Iterator[tuple[dict[str, Any], Verdict]]:
    """The rows of a result's first run, each with its verdict; none if the folder has no verdicts.

    Raises:
        InputError: at the first line that ``judge eval`` did not write.
    """
    path = result / VERDICTS
    for line, row in read_jsonl(path) if path.exists() else ():
        try:
            if row.get("run", 0) != 0:
                continue
            found = {name: row[name] for name in ("benchmark", "id", "group", "sample")}
            if not all(isinstance(value, str) for value in found.values()):
                raise TypeError(f"expected texts, found {found}")
            Label(row["label"]), int(row.get("document_chars") or 0)
            verdict = verdict_from_json(row["verdict"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"is not a verdict of `judge eval` ({error!r})", file=path, line=line) from None
        yield row, verdict


def check_out(out: Path, run: Mapping[str, Any], overwrite: bool = False) -> None:
    """Check that ``out`` can take a result of ``run``, new or resumed; ``overwrite`` removes an existing one.

    Raises:
        InputError: if ``out`` is not a folder, or holds a finished result or one of another run (the message
            shows the difference).
    """
    if is_stream(out) or (out.exists() and not out.is_dir()):
        raise InputError("is a file or a stream, expected a folder for --out", file=out)
    if overwrite:
        for name in (REPORT, VERDICTS, RUN):
            (out / name).unlink(missing_ok=True)
        return
    verdicts = out / VERDICTS
    if not (out / REPORT).exists() and not (verdicts.exists() and verdicts.stat().st_size):
        return
    before = read_whole(out / RUN)
    if before is None:
        raise InputError(
            f"holds verdicts or a report without the {RUN} that tells their run; choose another --out",
            file=out,
        )
    if found := differences(before, json.loads(json.dumps(run))):
        more = f" (and {len(found) - _SHOWN} more)" if len(found) > _SHOWN else ""
        raise InputError(
            f"holds a result of another run; {'; '.join(found[:_SHOWN])}{more}. Choose another --out, or add "
            "--overwrite",
            file=out,
        )
    if (out / REPORT).exists():
        raise InputError("holds this result already; choose another --out, or add --overwrite", file=out)


class VerdictFile:
    """Appends to ``out/verdicts.jsonl``, and returns the verdicts that an interrupted run left there.

    Args:
        out: folder of the result.
        run: what produces the verdicts, as JSON values; see :func:`eval.judging.describe_run`.
        overwrite: remove a result that is there.

    Raises:
        InputError: see :func:`check_out`.
    """

    def __init__(self, out: Path, run: Mapping[str, Any], overwrite: bool = False):
        check_out(out, run, overwrite)
        write_json(out / RUN, run)
        self._file = Appender(out / VERDICTS)
        self._made: dict[tuple[str, int], list[tuple[str, Verdict]]] = {}
        for line, row in enumerate(self._file.rows, start=1):
            try:
                made = row["sample"], verdict_from_json(row["verdict"])
                self._made.setdefault((row["benchmark"], row["run"]), []).append(made)
            except (KeyError, TypeError, ValueError, AttributeError):
                message = "is not a verdict; add --overwrite"
                raise InputError(message, file=self._file.path, line=line) from None

    def made(self, benchmark: str, run: int, samples: Sequence[Sample]) -> list[Verdict]:
        """The verdicts already in the file, which are on the first of these samples.

        Raises:
            InputError: if the file holds verdicts on other samples, for example after a change by hand.
        """
        rows = self._made.get((benchmark, run), [])
        if [start for start, _ in rows] != [sample_hash(sample)[:16] for sample in samples[: len(rows)]]:
            raise InputError(
                f"does not hold the verdicts on {benchmark} in their order; add --overwrite",
                file=self._file.path,
            )
        return [verdict for _, verdict in rows]

    def append(self, benchmark: str, run: int, sample: Sample, verdict: Verdict) -> None:
        """Write one verdict."""
        self._file.append(row_from_verdict(benchmark, sample, verdict, run))

    def __enter__(self) -> "VerdictFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
