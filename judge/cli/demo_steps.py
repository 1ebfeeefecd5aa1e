"""The commands that ``judge demo`` runs, and the results that its table shows."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.configs import text_override
from judge.files import JUDGE_FILE
from judge.shipped import REFERENCE

REASON_SAMPLES = 32  # generating is slow on a CPU, so reason mode is measured on a part of the test split
REPORT = "report.html"
JUDGE = (sys.executable, "-m", "judge")

TRAINED = {
    "base-verdict": ("base model", "verdict"),
    "sft-verdict": ("SFT", "verdict"),
    "dpo-verdict": ("SFT + DPO", "verdict"),
    "sft-reason": ("SFT", "reason"),
    "dpo-reason": ("SFT + DPO", "reason"),
}
"""Rows of the table for a language model: folder of the result, judge and mode."""
NO_PREFERENCES = ("preferences.pairs=0",)
RESUMABLE = ("checkpoints=8", "resume=true")
ADAPTED = {"before": ("reference, before", "verdict"), "after": ("reference, adapted", "verdict")}
"""The same for the reference judge."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo; ``seconds`` is its time on two CPU cores, to estimate the time left."""

    title: str
    command: tuple[str, ...]
    seconds: float
    made: Path | None = None
    """A file that exists when the command is done, in a folder of the step's own."""
    needed: bool = True
    """Whether a failure stops the demo; calibration may fail, since a judge may have learned nothing."""

    @property
    def done(self) -> bool:
        """Whether an earlier run finished this."""
        return self.made is not None and self.made.exists()


def steps(out: Path, model: str, seed: int = 0) -> list[Step]:
    """The demo's commands in order, everything under the folder ``out``.

    Args:
        out: folder for all output.
        model: what training starts from.
        seed: of both trainings; the data set and its splits stay the same.
    """
    data = str(out / "data")
    sft, dpo = str(out / "sft"), str(out / "dpo")
    given = (text_override("data", data), f"seed={seed}", *RESUMABLE)
    plan = [
        build("demo", data, 20),
        Step(
            "supervised fine-tuning",
            (*JUDGE, "sft", "demo", text_override("model", model), text_override("output", sft), *given),
            300,
            made=Path(sft) / JUDGE_FILE,
        ),
        calibrate("sft", sft, data),
        Step(
            "preference optimization",
            (*JUDGE, "dpo", "demo", text_override("model", sft), text_override("output", dpo), *given),
            300,
            made=Path(dpo) / JUDGE_FILE,
        ),
        calibrate("dpo", dpo, data),
    ]
    folders = {"base": model, "sft": sft, "dpo": dpo}
    results = []
    for name, (title, mode) in TRAINED.items():
        results.append(str(out / "eval" / name))
        short = ("--limit", str(REASON_SAMPLES), "--set", "max_new_tokens=160") if mode == "reason" else ()
        options = ("--mode", mode, *short)
        path, seconds = folders[name.partition("-")[0]], 25 if mode == "verdict" else 60
        plan.append(measure(f"{title}, {mode} mode", path, data, results[-1], seconds, options))
    plan.append(report(out, results))
    return plan


def adapting_steps(out: Path, recipe: str = "demo", overrides: Sequence[str] = NO_PREFERENCES) -> list[Step]:
    """Commands that measure the reference judge before and after training, everything under ``out``.

    Args:
        out: folder for all output.
        recipe: name of the recipe that builds the data set and trains.
        overrides: those for building the data set.
    """
    data, adapted = str(out / "data"), str(out / "adapted")
    places = (text_override("data", data), text_override("output", adapted))
    results = [str(out / "eval" / name) for name in ADAPTED]
    both = ("--set", "precision=float32")  # the adapted judge's default
    train = ("encoder", recipe, f"model={REFERENCE}", *places, *RESUMABLE)
    return [
        build(recipe, data, 30, overrides),
        measure("the reference judge, before", REFERENCE, data, results[0], 15, both),
        Step(
            "fine-tune the reference judge",
            (*JUDGE, *train),
            300,
            made=out / "adapted" / JUDGE_FILE,
        ),
        calibrate("adapted", adapted, data),
        measure("the adapted judge, after", adapted, data, results[1], 15, both),
        report(out, results),
    ]


def build(recipe: str, data: str, seconds: float, overrides: Sequence[str] = ()) -> Step:
    """Build a recipe's data set."""
    command = (*JUDGE, "data", "build", recipe, "--out", data, "--overwrite", *overrides)
    return Step("build the data set", command, seconds, made=Path(data) / "manifest.json")


def calibrate(name: str, folder: str, data: str) -> Step:
    """Calibrate a judge on the validation documents."""
    command = (*JUDGE, "calibrate", "--model", folder, "--data", f"{data}/validation.jsonl")
    return Step(f"calibrate {name}", command, 20, needed=False)


def measure(what: str, model: str, data: str, result: str, seconds: float, options: tuple[str, ...]) -> Step:
    """Measure a judge and the baselines on the test documents."""
    command = (
        *JUDGE, "eval", "--model", model, "--samples", f"{data}/test.jsonl",
        "--set", text_override("baseline_data", f"{data}/samples.jsonl"), *options,
        "--overwrite", "--out", result,
    )  # fmt: skip
    return Step(f"measure {what}", command, seconds, made=Path(result) / "report.json")


def report(out: Path, results: list[str]) -> Step:
    """Write the page with all results side by side."""
    return Step("write the report", (*JUDGE, "report", *results, "--html", str(out / REPORT)), 5)
