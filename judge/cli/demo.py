"""``judge demo``: the whole workflow on one machine, with the same commands that a user would type."""

import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.cli.demo_steps import ADAPTED, REPORT, TRAINED, Step, adapting_steps, steps
from judge.cli.running import run, say
from judge.cli.train import TRL
from judge.errors import DATA, InputError, require
from judge.files import JUDGE_FILE, check_names, read_json, read_whole, write_json
from judge.shipped import REFERENCE

BEGUN = "demo.json"
GOAL = 5.0
"""Points of AUROC by which the judge should exceed the best baseline."""
HELD_OUT_REWARDS = "eval_rewards/accuracies"
BAR = 24
SEEN = f"{REFERENCE} learned from the starter corpus too, so the row before is not about new documents"


def demo_command(
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", help="Folder for everything the demo makes: runs/demo, or runs/demo-reference."
        ),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Start from this model instead of SmolLM2-135M.")] = None,
    from_reference: Annotated[
        bool,
        typer.Option("--from-reference", help="Fine-tune the default judge instead, as for your documents."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of SFT and DPO; the data set stays the same.")] = 0,
) -> None:
    """Build data, train a small judge with SFT and DPO, calibrate it, and measure it against its baselines.

    It makes as many steps on every machine: a slower one takes longer for the same judge. An interrupted demo
    continues if you run it again; a finished one starts over.

    With --from-reference: the judge that comes with the toolkit, before and after training on the same data.
    """
    if from_reference and model is not None:
        raise InputError("--from-reference starts from the toolkit's judge; omit --model")
    if from_reference and seed:
        raise InputError("--seed is that of SFT and DPO; omit it with --from-reference")
    if from_reference:
        require("judge demo --from-reference", "data", *DATA)
    else:
        require("judge demo", "train", *TRL, *DATA)
    from judge.models.bundled import bring_model

    out = out or Path("runs/demo-reference" if from_reference else "runs/demo")
    check_names(out)

    begin = time.monotonic()
    start = model or (REFERENCE if from_reference else str(out / "model"))
    plan = adapting_steps(out) if from_reference else steps(out, start, seed)
    prepare(out, plan, {"model": start, "seed": seed})
    if model is None and not from_reference:
        say("step 0: download the model")
        bring_model(out / "model")
    expected = sum(step.seconds for step in plan if not step.done)
    done, spent = 0.0, 0.0
    for number, step in enumerate(plan, start=1):
        pace = spent / done if done else 1.0
        left = max(1, round((expected - done) * pace / 60))
        full = round(BAR * done / expected)
        bar = f"[{'#' * full}{'-' * (BAR - full)}]"
        title = f"step {number} of {len(plan)} {bar} about {left} min left: {step.title}"
        if step.done:
            say(f"{title}: done before")
            continue
        say(f"{title}\n$ {shlex.join(step.command)}")
        spent += run(step)
        done += step.seconds
    say(f"done in {(time.monotonic() - begin) / 60:.1f} min; everything is in {out}")
    show(out, ADAPTED if from_reference else TRAINED)
    if from_reference:
        print(SEEN)
    else:
        print(f"\n{what_was_shown(out)}")


def prepare(out: Path, plan: Sequence[Step], options: dict[str, Any]) -> None:
    """Make a folder ready for a demo: an unfinished one of the same options continues there.

    Raises:
        InputError: if the folder holds an unfinished demo of other options, or folders that no demo made.
    """
    note, page = out / BEGUN, out / REPORT
    there = [step.made.parent for step in plan if step.made is not None and step.made.parent.exists()]
    if not note.exists():
        if there:
            raise InputError("is where the demo would write; remove it, or give another --out", file=there[0])
    elif page.exists():
        for folder in there:
            shutil.rmtree(folder)
        page.unlink()  # last, so that a kill before it leaves a demo that starts over
    elif read_whole(note) != options:
        raise InputError(
            "holds a demo of another model or seed that is not finished; give another --out, or remove it",
            file=out,
        )
    write_json(note, options)


def show(
    out: Path, rows: Mapping[str, tuple[str, str]] = TRAINED, measured: str = "held-out starter documents"
) -> None:
    """Print the demo's table of baselines and judges on the held-out documents, then where everything is.

    Args:
        out: the demo's folder.
        rows: judge and mode of each result, by the name of its folder.
        measured: what they are measured on, for the title.
    """
    from rich.console import Console
    from rich.table import Table

    reports = {name: read_report(out / "eval" / name / "report.json") for name in rows}
    table = Table(title=f"{measured}; FAIL (hallucinated) is the positive class, percent")
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
    for name, metrics in reports[next(iter(rows))]["baselines"].items():
        table.add_row(name, "", *figures(metrics), "")
    table.add_section()
    for name, (title, mode) in rows.items():
        report = reports[name]
        table.add_row(title, mode, *figures(report["metrics"]), f"{report['samples_per_second']:.1f}")
    Console(width=120).print(table)
    judges = {"judge": "adapted"} if rows == ADAPTED else {"SFT judge": "sft", "DPO judge": "dpo"}
    for what, name in {"data set": "data", **judges, "results": "eval", "report": REPORT}.items():
        print(f"{what:<10} {out / name}")
    best = shlex.quote(str(out / [*judges.values()][-1]))
    print(f"try it: judge check --model {best} --document @FILE --question ... --answer ...")


def what_was_shown(out: Path) -> str:
    """One sentence on what SFT and DPO reached on unseen documents, even if it falls short."""
    reports = {name: read_report(out / "eval" / name / "report.json") for name in TRAINED}
    judge = reports["dpo-verdict"]
    best, baseline = max(
        (metrics["auroc"] or 0.0, name.partition(":")[2]) for name, metrics in judge["baselines"].items()
    )
    reached = judge["metrics"]["auroc"]
    above = 100 * (reached - best)
    before, after = (reports[f"{name}-reason"]["metrics"] for name in ("sft", "dpo"))
    trained = read_json(out / "dpo" / JUDGE_FILE)["training"]
    rewards = [entry[HELD_OUT_REWARDS] for entry in trained["losses"] if HELD_OUT_REWARDS in entry]
    return (
        f"What this shows: on {judge['metrics']['n']} answers about documents that it never saw, the judge "
        f"ranks hallucinations with an AUROC of {percent(reached)}, {abs(above):.1f} points "
        f"{'above' if above >= 0 else 'below'} the best baseline ({baseline}, {percent(best)})"
        f"{'' if above >= GOAL else f', which misses the goal of {GOAL:.0f} points'}; DPO on "
        f"{trained['pairs']} pairs gives the right judgement the higher reward in {percent(rewards[-1])} % "
        f"of held-out pairs (chance: 50), and takes the accuracy in reason mode from "
        f"{percent(before['accuracy'])} to {percent(after['accuracy'])} % of {after['n']} answers."
    )


def read_report(path: Path) -> dict[str, Any]:
    """The only report in a result folder."""
    report: dict[str, Any] = read_json(path)["reports"][0]
    return report


def figures(metrics: dict[str, Any]) -> Sequence[str]:
    """The cells of one row of the table."""
    balanced = percent(metrics["balanced_accuracy"])
    if metrics["balanced_accuracy_ci"] is not None:  # answers about one document have none
        low, high = metrics["balanced_accuracy_ci"]
        balanced += f" [{percent(low)}, {percent(high)}]"
    return (
        str(metrics["n"]),
        percent(metrics["accuracy"]),
        balanced,
        percent(metrics["f1"]),
        percent(metrics["auroc"]),
        percent(metrics["coverage"]),
    )


def percent(value: float | None) -> str:
    """A share as a percentage with one decimal; a dash if there is none."""
    return "-" if value is None else f"{100 * value:.1f}"
