"""``judge open-factual``: what does a model say when it answers the questions itself?"""

import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eval import processes
from eval.open_factual.answers import MAX_NEW_TOKENS
from eval.open_factual.scoring import TOLERANCE
from eval.open_factual.similarity import THRESHOLD, Similarity
from eval.open_factual.tasks import BENCHMARK
from judge.checker import Checker
from judge.cli.options import CASCADE, JUDGING, Settings, loads_judge, parse_names
from judge.cli.settings import setting
from judge.errors import InputError
from judge.progress import say, stage


@loads_judge(without=(*JUDGING, *CASCADE, "labels", "pair"))  # here the model answers
def open_factual_command(
    settings: Settings,
    model: Annotated[
        str | None, typer.Option(help="The model that answers: Hub id, local folder, a server's name for it.")
    ] = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline", help="No model: score --answers, or check the tasks and show the baselines."
        ),
    ] = False,
    answers: Annotated[
        Path | None, typer.Option(help="Recorded answers: JSON Lines with id and answer.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Retrieval mode: JSON Lines with id and passages.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="A judge for answers in other words.")] = None,
    similarity: Annotated[
        str | None, typer.Option(help="An encoder for the same: answers near the reference.")
    ] = None,
    similar: Annotated[float, setting("Cosine at which a paraphrase counts as right.")] = THRESHOLD,
    device: Annotated[
        Literal["auto", "cpu", "cuda"],
        typer.Option(help="Where the models run; auto takes a GPU if there is one."),
    ] = "auto",
    cutoff: Annotated[
        str | None, typer.Option(help="Month in which the training data ends, 2024-06.")
    ] = None,
    tasks: Annotated[str | None, typer.Option(help="Comma list of ids: answer these alone.")] = None,
    domains: Annotated[str | None, typer.Option(help="Comma list of domains: answer these alone.")] = None,
    tolerance: Annotated[float, setting("Share by which a number with decimals may miss.")] = TOLERANCE,
    max_new_tokens: Annotated[int, setting("Longest answer, in tokens.", min=1)] = MAX_NEW_TOKENS,
    data_dir: Annotated[
        Path | None, typer.Option(envvar="JUDGE_DATA_DIR", help="Holds open-factual-bench/tasks.json.")
    ] = None,
    hardware: Annotated[str | None, setting("What to call this machine in the report.")] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder for the result.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a result in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Answer the tasks of open-factual-bench; score the answers by the benchmark's rules and by wider ones.

    To resume an interrupted run, call it again with the same --out.
    """
    from eval.open_factual.run import run_open_factual
    from judge.judge import Judge
    from judge.load import load_judge

    choose_device(device, str(settings["backend"]))
    if processes.count() > 1:
        raise InputError(f"{BENCHMARK} is answered by one process; omit accelerate launch")
    if offline == (model is not None):
        raise InputError("give --model, or --offline for a run without one")
    if answers is not None and not offline:
        raise InputError("--answers holds what a model said; score it with --offline")
    backend = None
    if model is not None:
        loaded = load_judge(model, **settings)
        if not isinstance(loaded, Judge):
            raise InputError(
                f"{model} judges answers and writes none; the baselines of this benchmark are in every report"
            )
        backend = loaded.backend
    with stage(BENCHMARK) as update:
        report = run_open_factual(
            backend,
            data_dir,
            out,
            answers=answers,
            documents=documents,
            judge=None if judge is None else load_judge(judge, precision=settings["precision"]),
            similarity=None if similarity is None else Similarity(similarity, similar),
            cutoff=cutoff,
            only=parse_names(tasks, "--tasks"),
            domains=parse_names(domains, "--domains"),
            tolerance=tolerance,
            max_new_tokens=max_new_tokens,
            machine=hardware,
            overwrite=overwrite,
            progress=update,
        )
    typer.echo(json.dumps(report, ensure_ascii=False, indent=2) if as_json else as_markdown(report))


def choose_device(device: str, backend: str) -> None:
    """Run models on the device that the user chose, like ``--device`` of the benchmark's own script.

    Raises:
        InputError: if there is no GPU, or a server runs the model.
    """
    if device != "auto" and backend == "openai":
        raise InputError("a server chooses its device itself; omit --device")
    if device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # read when CUDA is initialized, which is later
    elif device == "cuda":
        from judge.models.hardware import this_device

        if this_device().kind != "cuda":
            raise InputError("--device cuda: PyTorch finds no GPU here; use --device cpu")


def as_markdown(report: dict[str, Any]) -> str:
    """The report of one run as Markdown."""
    from eval.open_factual.report import markdown
    from eval.open_factual.results import Answered

    return markdown([Answered(report["name"], report)])


def answer_beside(judge: Checker, named: bool, **options: Any) -> dict[str, Any] | None:
    """For ``judge eval``: let a judge's model answer the tasks; a finished result is returned as it is.

    Args:
        judge: the judge that is measured.
        named: whether the user named this benchmark; with ``all`` it is left out, with a line that says why,
            if it cannot be run.
        options: of :func:`eval.open_factual.run.run_open_factual`.

    Returns:
        The report, or ``None`` if the benchmark is left out.

    Raises:
        InputError: if it was named and cannot be run.
    """
    from eval.open_factual.run import run_open_factual
    from judge.formats.files import MissingFiles
    from judge.judge import Judge

    if not isinstance(judge, Judge):
        reason = f"{judge.name} judges answers and writes none"
    else:
        try:
            with stage(BENCHMARK) as update:
                return run_open_factual(judge.backend, again=True, progress=update, **options)
        except MissingFiles as error:
            reason = str(error)
    if named:
        raise InputError(f"{BENCHMARK} cannot be run: {reason}")
    say(f"{BENCHMARK} left out: {reason}")
    return None
