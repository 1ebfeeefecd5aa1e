"""``judge open-factual``: what does a model say when it answers the questions itself?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from judge.errors import InputError
from judge.models.weights import Precision

app = typer.Typer(add_completion=False)


@app.command()
def open_factual_command(
    model: Annotated[str | None, typer.Option(help="The model that answers: Hub id or local folder.")] = None,
    offline: Annotated[
        bool,
        typer.Option("--offline", help="No model: score --answers, or check the tasks and show the floors."),
    ] = False,
    answers: Annotated[
        Path | None, typer.Option(help="Recorded answers: JSON Lines with id and answer.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Retrieval mode: JSON Lines with id and passages.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="A judge for answers in other words.")] = None,
    cutoff: Annotated[
        str | None, typer.Option(help="Month in which the training data ends, 2024-06.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Share by which a number with decimals may miss.")] = 1e-3,
    max_new_tokens: Annotated[int, typer.Option(min=1, help="Limit of an answer.")] = 64,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="JUDGE_DATA_DIR", help="Holds open-factual-bench/tasks.json.")
    ] = None,
    precision: Annotated[Precision, typer.Option(help="Number format of the weights.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Folder for the result.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a result in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Answer the tasks of open-factual-bench; score the answers by the benchmark's rules and by wider ones.

    An interrupted run is continued when it is called again with the same --out.
    """
    from eval.open_factual.report import markdown
    from eval.open_factual.run import run_open_factual
    from judge.judge import Judge
    from judge.load import load_judge

    if offline == (model is not None):
        raise InputError("give --model, or --offline for a run without one")
    if answers is not None and not offline:
        raise InputError("--answers holds what a model said; score it with --offline")
    backend = None
    if model is not None:
        loaded = load_judge(model, precision=precision)
        if not isinstance(loaded, Judge):
            raise InputError(
                f"{model} judges answers and gives none; the floors of this benchmark are in every report"
            )
        backend = loaded.backend
    report = run_open_factual(
        backend,
        data_dir,
        out,
        answers=answers,
        documents=documents,
        judge=None if judge is None else load_judge(judge, precision=precision),
        cutoff=cutoff,
        tolerance=tolerance,
        max_new_tokens=max_new_tokens,
        overwrite=overwrite,
    )
    typer.echo(json.dumps(report, ensure_ascii=False, indent=2) if as_json else markdown(report).rstrip())
