"""``judge check``, ``judge batch`` and ``judge merge``."""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from judge.batch import verdict_row
from judge.errors import InputError, JudgeError
from judge.files import dump
from judge.options import MODEL, Settings, loads_judge
from judge.types import Label, Task, Usage, Verdict

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


@contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """For a process that gives one verdict and ends: looking for garbage would take two of seven seconds."""
    gc.disable()
    atexit.register(gc.freeze)  # nor is any looked for at the end
    try:
        yield
    finally:
        gc.enable()


@check.command("check")
@loads_judge()
def check_command(
    model: MODEL,
    settings: Settings,
    document: Annotated[str, typer.Option(help="File with the document; - is standard input.")],
    answer: Annotated[str, typer.Option(help="The answer, or @FILE.")],
    question: Annotated[str, typer.Option(help="The question, or @FILE.")] = "",
    task: Annotated[str, typer.Option(help=f"One of: {', '.join(Task)}.")] = "qa",
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
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
    with _collecting_no_garbage():
        judge = load_judge(model, **settings)
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
@loads_judge()
def batch_command(
    samples: Annotated[Path, typer.Argument(help="Samples: .jsonl, .csv or .parquet.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Verdicts, as JSON Lines in the samples' order.")],
    model: MODEL,
    settings: Settings,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where a killed run stopped.")] = False,
    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="ray: on a Ray cluster, see docs/batch.md.")
    ] = "local",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Of --engine ray; all that the cluster holds by default.")
    ] = None,
    cpus_per_worker: Annotated[
        int | None, typer.Option(min=1, help="Cores of each worker; 1 by default.")
    ] = None,
    gpus_per_worker: Annotated[
        float | None,
        typer.Option(min=0, help="GPUs of each worker, such as 0.5; 1 by default where there are any."),
    ] = None,
) -> None:
    """Judge a file of samples. Every verdict is written as it is made; a killed run can be resumed."""
    from rich.console import Console
    from rich.progress import Progress

    from judge.batch import Engine, LocalEngine, judge_file
    from judge.judge import CHUNK
    from judge.load import load_judge

    where: Engine
    if engine == "ray":
        from judge.ray_batch import RayEngine, load_on_worker

        if settings["backend"] == "openai" or model.startswith("floor:"):
            raise InputError("engine ray is for models that its workers run; leave --engine away")
        where = RayEngine(
            partial(load_on_worker, Path.cwd(), model, **settings),
            CHUNK[settings["mode"]],
            workers=workers,
            cpus=cpus_per_worker or 1,
            gpus=gpus_per_worker,
        )
    else:
        if (workers, cpus_per_worker, gpus_per_worker) != (None, None, None):
            raise InputError("there are no workers without --engine ray")
        where = LocalEngine(partial(load_judge, model, **settings))
    bars = Progress(console=Console(stderr=True), transient=True)
    bar = bars.add_task(out.name)
    with ExitStack() as shown:

        def show(done: int, total: int) -> None:
            if not bars.live.is_started:  # not before, so that an error that comes first stands alone
                shown.enter_context(bars)
            bars.update(bar, completed=done, total=total)

        counts = judge_file(samples, out, where, resume=resume, progress=show)
    typer.echo(
        f"{out}: {counts.verdicts} verdicts, {counts.unparsed} without a label, "
        f"{counts.earlier} of an earlier run"
    )


@merge.command("merge")
def merge_command(
    adapter: Annotated[str, typer.Argument(help="Folder of a trained LoRA adapter.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the merged weights.")],
) -> None:
    """Merge a LoRA adapter into its base model."""
    from judge.training.merge import merge as merge_adapter

    result = merge_adapter(adapter, out)
    typer.echo(f"{out}: {result['base']} with {result['adapter']} merged in, {result['dtype']}")
