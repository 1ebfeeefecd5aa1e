"""``judge check``, ``judge batch`` and ``judge merge``."""

import json
import sys
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.checker import restart
from judge.errors import InputError, JudgeError
from judge.files import Appender, dump, sha256_text, write_text
from judge.options import (
    BACKEND,
    BASE_URL,
    CALL_CACHE,
    LONG,
    MAX_LENGTH,
    MAX_NEW_TOKENS,
    MODE,
    MODEL,
    PRECISION,
    QUANTIZATION,
    TEMPLATE,
    THRESHOLD,
    endpoint,
)
from judge.types import Label, Sample, Task, Usage, Verdict, verdict_to_json

check = typer.Typer(add_completion=False)
batch = typer.Typer(add_completion=False)
merge = typer.Typer(add_completion=False)


def _text(value: str, what: str) -> str:
    """A text from the command line, from ``@FILE``, or from standard input for ``-``."""
    if value == "-":
        return sys.stdin.read()
    if not value.startswith("@"):
        return value
    path = Path(value[1:])
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{what} could not be read ({error.strerror})", file=path) from None
    except UnicodeDecodeError:
        raise InputError(f"{what} is not UTF-8 text", file=path) from None


def verdict_row(sample: Sample, verdict: Verdict) -> dict[str, Any]:
    """The JSON form of one verdict."""
    return {"id": sample.id, **verdict_to_json(verdict)}


@check.command("check")
def check_command(
    model: MODEL,
    document: Annotated[str, typer.Option(help="File with the document; - is standard input.")],
    answer: Annotated[str, typer.Option(help="The answer, or @FILE.")],
    question: Annotated[str, typer.Option(help="The question, or @FILE.")] = "",
    task: Annotated[str, typer.Option(help=f"One of: {', '.join(Task)}.")] = "qa",
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    mode: MODE = "verdict",
    template: TEMPLATE = None,
    backend: BACKEND = "transformers",
    base_url: BASE_URL = None,
    call_cache: CALL_CACHE = None,
    precision: PRECISION = "auto",
    quantization: QUANTIZATION = "none",
    max_length: MAX_LENGTH = None,
    max_new_tokens: MAX_NEW_TOKENS = 512,
    long: LONG = "fit",
    threshold: THRESHOLD = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole verdict as JSON.")] = False,
) -> None:
    """Is an answer faithful to its document?"""
    from judge.load import load_judge
    from judge.samples import sample_from_row

    row = {
        "id": "check",
        "document": _text(document if document == "-" else f"@{document}", "the document"),
        "question": _text(question, "the question"),
        "answer": _text(answer, "the answer"),
        "task": task,
        "language": language,
    }
    sample = sample_from_row(row, file="judge check")
    judge = load_judge(
        model,
        mode=mode,
        template=template,
        backend=backend,
        endpoint=endpoint(model, base_url),
        call_cache=call_cache,
        precision=precision,
        quantization=quantization,
        max_length=max_length,
        max_new_tokens=max_new_tokens,
        long=long,
        threshold=threshold,
    )
    [verdict] = judge.iter_check([sample])
    if as_json:
        typer.echo(dump(verdict_row(sample, verdict)))
    elif verdict.label is not None:
        typer.echo(_readable(verdict))
    if verdict.label is None:
        failure = f"no verdict: {verdict.error}"
        raise InputError(failure) if verdict.usage == Usage() else JudgeError(failure)  # nothing was asked


def _readable(verdict: Verdict) -> str:
    meaning = {Label.PASS: "faithful", Label.FAIL: "hallucinated"}
    label = verdict.label or Label.FAIL
    chance = "" if verdict.p_fail is None else f", p(FAIL) = {verdict.p_fail:.3f}"
    lines = [f"{label} ({meaning[label]}{chance})"]
    if verdict.reasoning:
        lines.append(verdict.reasoning)
    if verdict.windows:
        lines.append(f"note: the document was judged in {len(verdict.windows)} windows")
    if verdict.cut_chars:
        lines.append(f"note: the document's last {verdict.cut_chars} characters did not fit into the context")
    return "\n".join(lines)


@batch.command("batch")
def batch_command(
    samples: Annotated[Path, typer.Argument(help="Samples: .jsonl, .csv or .parquet.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Verdicts, as JSON Lines in the samples' order.")],
    model: MODEL,
    mode: MODE = "verdict",
    template: TEMPLATE = None,
    backend: BACKEND = "transformers",
    base_url: BASE_URL = None,
    call_cache: CALL_CACHE = None,
    precision: PRECISION = "auto",
    quantization: QUANTIZATION = "none",
    max_length: MAX_LENGTH = None,
    max_new_tokens: MAX_NEW_TOKENS = 512,
    long: LONG = "fit",
    threshold: THRESHOLD = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a killed run stopped.")] = False,
) -> None:
    """Judge a file of samples. Every verdict is written as it is made; a killed run can be resumed."""
    from rich.console import Console
    from rich.progress import Progress

    from judge.load import load_judge
    from judge.samples import read_samples

    if out.exists() and not resume:
        raise InputError("exists; go on with --resume, or give another file", file=out)
    todo = list(read_samples(samples))
    judge = load_judge(
        model,
        mode=mode,
        template=template,
        backend=backend,
        endpoint=endpoint(model, base_url),
        call_cache=call_cache,
        precision=precision,
        quantization=quantization,
        max_length=max_length,
        max_new_tokens=max_new_tokens,
        long=long,
        threshold=threshold,
    )
    identity = sha256_text(json.dumps([judge.describe(), [asdict(sample) for sample in todo]], default=str))
    beside = out.with_name(f".{out.name}.run")
    with Appender(out) as file:
        _check_same_run(out, beside, identity, [row.get("id") for row in file.rows], todo)
        done = len(file.rows)
        unparsed = sum(row.get("label") is None for row in file.rows)
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task(out.name, total=len(todo), completed=done)
            start = restart(judge, done)
            verdicts = islice(judge.iter_check(todo[start:]), done - start, None)
            for sample, verdict in zip(todo[done:], verdicts, strict=True):
                file.append(verdict_row(sample, verdict))
                unparsed += verdict.label is None
                progress.advance(bar)
    beside.unlink(missing_ok=True)
    typer.echo(f"{out}: {len(todo)} verdicts, {unparsed} without a label, {done} of an earlier run")


def _check_same_run(out: Path, beside: Path, identity: str, ids: list[Any], samples: list[Sample]) -> None:
    """Refuse to go on a file that another judge or other samples began."""
    if ids and ids != [sample.id for sample in samples[: len(ids)]]:
        raise InputError("holds verdicts of other samples; give another file", file=out)
    if ids and beside.exists() and beside.read_text(encoding="utf-8") != identity:
        raise InputError(
            "was begun with another judge, other settings or other samples; give another file", file=out
        )
    write_text(beside, identity)


@merge.command("merge")
def merge_command(
    adapter: Annotated[str, typer.Argument(help="Folder of a trained LoRA adapter.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the merged weights.")],
) -> None:
    """Merge a LoRA adapter into its base model."""
    from judge.training.merge import merge as merge_adapter

    result = merge_adapter(adapter, out)
    typer.echo(f"{out}: {result['base']} with {result['adapter']} merged in, {result['dtype']}")
