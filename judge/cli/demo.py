"""``judge demo``: the whole way on one machine, by the very commands that a user would type."""

import json
import multiprocessing
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.errors import JudgeError

app = typer.Typer(add_completion=False)

REASON_SAMPLES = 12  # generating is slow on a CPU; the reason mode is measured on a sample of the test split
REPORT = "report.html"
PROCESSES = multiprocessing.get_context("forkserver")
IMPORTED = ["judge.training.trainer", "data_pipeline.cli", "eval.run"]  # between them, all that takes long


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo; ``seconds`` is what it took on two CPU cores, for the estimate of the rest."""

    title: str
    command: tuple[str, ...]
    seconds: float
    fresh: Path | None = None
    """A folder that the command wants empty; what an earlier demo left there is removed."""
    needed: bool = True
    """Whether the demo ends where the command fails: a judge that learned nothing cannot be calibrated."""


def steps(out: Path, model: str) -> list[Step]:
    """The demo's commands in order, everything under the folder ``out``."""
    judge, data = (sys.executable, "-m", "judge"), str(out / "data")
    sft, merged, dpo = str(out / "sft"), str(out / "sft-merged"), str(out / "dpo")

    def calibrate(name: str, folder: str) -> Step:
        command = (*judge, "calibrate", "--model", folder, "--data", f"{data}/validation.jsonl")
        return Step(f"calibrate {name}", command, 20, needed=False)

    plan = [
        Step(
            "build the data set",
            (*judge, "data", "build", "demo", "--out", data, "--set",
             f"preferences.model={model}"),
            50,
        ),
        Step(
            "supervised fine-tuning",
            (*judge, "sft", "demo", f"model={model}",
             f"data={data}", f"output={sft}"),
            300,
            fresh=Path(sft),
        ),
        calibrate("sft", sft),
        Step("merge the adapter", (*judge, "merge", sft, "-o", merged), 5, fresh=Path(merged)),
        Step(
            "preference optimization",
            (*judge, "dpo", "demo", f"model={merged}",
             f"data={data}", f"output={dpo}"),
            40,
            fresh=Path(dpo),
        ),
        calibrate("dpo", dpo),
    ]  # fmt: skip
    results = []
    for name, path in (("base", model), ("sft", sft), ("dpo", dpo)):
        for mode in ("verdict", "reason"):
            results.append(str(out / "eval" / f"{name}-{mode}"))
            command = [
                *judge, "eval", "--model", path, "--samples", f"{data}/test.jsonl", "--floor-data",
                f"{data}/samples.jsonl", "--mode", mode, "--overwrite", "--out",
                results[-1],
            ]  # fmt: skip
            if mode == "reason":
                command += ["--limit", str(REASON_SAMPLES), "--max-new-tokens", "96"]
            plan.append(Step(f"measure {name}, {mode} mode", tuple(command), 35 if mode == "verdict" else 45))
    plan.append(Step("write the report", (*judge, "report", *results, "--html", str(out / REPORT)), 5))
    return plan


@app.command("demo")
def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for everything the demo makes.")] = Path("runs/demo"),
    model: Annotated[str | None, typer.Option(help="Start from this model instead of SmolLM2-135M.")] = None,
) -> None:
    """Build data, train a small judge with SFT and DPO, calibrate it, and measure it against its floors."""
    from judge.models.bundled import bring_model
    from judge.models.hardware import this_device

    begin = time.monotonic()
    if this_device().kind == "cpu":  # on a GPU an import may start CUDA, which survives no fork
        # What the commands import is imported once, while the model is brought, and not a dozen times.
        PROCESSES.set_forkserver_preload(IMPORTED)
        forkserver.ensure_running()
    say("step 0: bring the model")
    start_from = model or str(bring_model(out / "model"))
    plan = steps(out, start_from)
    expected = sum(step.seconds for step in plan)
    done, spent = 0.0, 0.0
    for number, step in enumerate(plan, start=1):
        pace = spent / done if done else 1.0
        left = max(1, round((expected - done) * pace / 60))
        say(
            f"step {number} of {len(plan)}: {step.title}; about {left} min left\n$ {shlex.join(step.command)}"
        )
        spent += run(step)
        done += step.seconds
    say(f"done in {(time.monotonic() - begin) / 60:.1f} min; everything lies in {out}")
    show(out)


def say(text: str) -> None:
    """One message of the demo itself, set off from the output of its commands."""
    print(f"\n=== {text}", flush=True)


def run(step: Step) -> float:
    """Run one command with its output passed through; returns its seconds. A needed one's failure ends it."""
    begin = time.monotonic()
    if step.fresh is not None:
        clear(step.fresh)
    process = PROCESSES.Process(target=execute, args=(step.command,))
    process.start()
    process.join()
    code = process.exitcode
    if code != 0:
        failure = f"{step.title} ended with exit code {code}"
        if step.needed:
            raise JudgeError(f"the demo stopped: {failure}")
        say(f"{failure}; the demo goes on without it")
    return time.monotonic() - begin


def execute(command: Sequence[str]) -> None:
    """Run ``python -m judge ...`` in this process."""
    from judge.cli.main import main

    main(command[3:])


def clear(folder: Path) -> None:
    """Remove what an earlier demo left in one of its own folders."""
    if folder.is_dir():
        shutil.rmtree(folder)


def show(out: Path) -> None:
    """The demo's table: floors, base, SFT and SFT+DPO in both modes, on the held-out documents."""
    from rich.console import Console
    from rich.table import Table

    reports = {path.parent.name: read_report(path) for path in sorted((out / "eval").glob("*/report.json"))}
    table = Table(title="held-out starter documents; FAIL (hallucinated) is the positive class, percent")
    for column in (
        "judge",
        "mode",
        "n",
        "accuracy",
        "balanced [95 %]",
        "F1",
        "AUROC",
        "coverage",
        "samples/s",
    ):
        table.add_column(column, justify="left" if column in ("judge", "mode") else "right")
    for name, metrics in reports["base-verdict"]["floors"].items():
        table.add_row(name, "", *figures(metrics), "")
    table.add_section()
    for name in ("base", "sft", "dpo"):
        for mode in ("verdict", "reason"):
            report = reports[f"{name}-{mode}"]
            title = {"base": "base model", "sft": "SFT", "dpo": "SFT + DPO"}[name]
            table.add_row(title, mode, *figures(report["metrics"]), f"{report['samples_per_second']:.1f}")
    Console(width=120).print(table)
    places = {"data set": "data", "SFT judge": "sft", "DPO judge": "dpo", "results": "eval", "report": REPORT}
    for what, folder in places.items():
        print(f"{what:<10} {out / folder}")
    print(f"try it: judge check --model {out / 'dpo'} --document FILE --question ... --answer ...")


def read_report(path: Path) -> dict[str, Any]:
    """The one report of a result folder."""
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["reports"][0]
    return report


def figures(metrics: dict[str, Any]) -> Sequence[str]:
    """The cells of one row."""
    low, high = metrics["balanced_accuracy_ci"]
    balanced = f"{percent(metrics['balanced_accuracy'])} [{percent(low)}, {percent(high)}]"
    return (
        str(metrics["n"]),
        percent(metrics["accuracy"]),
        balanced,
        percent(metrics["f1"]),
        percent(metrics["auroc"]),
        percent(metrics["coverage"]),
    )


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f}"
