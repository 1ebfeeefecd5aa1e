"""``judge batch``: judges a file of samples, here or on a Ray cluster; can resume after an interruption."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from judge.cli.options import (
    COLUMNS,
    ENCODING,
    MODEL,
    Settings,
    introduce,
    loads_judge,
    parse_columns,
    watch_languages,
)
from judge.cli.settings import setting
from judge.errors import InputError, JudgeError, counted
from judge.progress import say, stage
from judge.rows import FILE_TYPES, as_file
from judge.shipped import REFERENCE, is_baseline


@loads_judge()
def batch_command(
    samples: Annotated[Path, typer.Argument(help=f"Samples: {', '.join(FILE_TYPES)}; - is standard input.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Verdicts, as JSON Lines in the samples' order.")],
    settings: Settings,
    model: MODEL = REFERENCE,
    columns: COLUMNS = None,
    encoding: ENCODING = None,
    fail_on: Annotated[
        Literal["never", "any"],
        typer.Option(help="any: exit code 1 if an answer is hallucinated or has no verdict."),
    ] = "never",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue where an interrupted run stopped.")
    ] = False,
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(help="ray: on a Ray cluster (docs/serving.md)."),
    ] = "local",
    workers: Annotated[
        int | None, setting("Workers of --engine ray. Default: as many as fit.", min=1)
    ] = None,
    cpus_per_worker: Annotated[int | None, setting("Cores for each worker. Default: 1.", min=1)] = None,
    gpus_per_worker: Annotated[
        float | None, setting("GPUs for each worker, such as 0.5. Default: 1, if there are any.", min=0)
    ] = None,
) -> None:
    """Judge a file of samples. Verdicts are written one by one, so an interrupted run can be resumed."""
    from judge.batch.file import Engine, LocalEngine, judge_file
    from judge.batch.summary import shown, summarize
    from judge.columns import find_columns
    from judge.judge import CHUNK
    from judge.load import load_judge

    named = parse_columns(columns)
    introduce(model)
    where: Engine
    if engine == "ray":
        from judge.batch.ray import RayEngine, load_on_worker

        if settings["backend"] == "openai" or is_baseline(model):
            raise InputError("engine ray is for models that its workers run; omit --engine")
        where = RayEngine(
            partial(load_on_worker, Path.cwd(), model, **settings),
            CHUNK[settings["mode"] or "verdict"],
            workers=workers,
            cpus=cpus_per_worker or 1,
            gpus=gpus_per_worker,
        )
    else:
        if (workers, cpus_per_worker, gpus_per_worker) != (None, None, None):
            raise InputError("there are no workers without --engine ray")
        where = LocalEngine(partial(load_judge, model, **settings))
    watch = watch_languages(model, settings)
    with stage(out.name) as update, as_file(samples, encoding) as file:
        found = find_columns(file, named)
        counts = judge_file(file, out, where, columns=found, resume=resume, progress=update, seen=watch.see)
    watch.tell()
    typer.echo(
        f"{out}: {counted(counts.verdicts, 'verdict')}, {counts.unparsed} without a label, "
        f"{counts.earlier} from an earlier run"
    )
    summary = summarize(out)
    for line in summary.lines():
        say(line)
    if fail_on == "any" and summary.first_bad is not None:
        raise JudgeError(
            f"{out}: not faithful: {counted(counts.verdicts - summary.passed, 'answer')} of "
            f"{counts.verdicts}; the first is {shown(summary.first_bad)}"
        )
