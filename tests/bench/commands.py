"""What the scripts that train and measure judges share: commands of the toolkit, figures of its reports."""

import subprocess
import sys
from pathlib import Path

from eval.report import Report, read_reports


def run(*command: object) -> None:
    """One command of the toolkit, in a process of its own; told on standard error."""
    words = [sys.executable, "-m", "judge", *map(str, command)]
    print("+", *words[1:], file=sys.stderr, flush=True)
    subprocess.run(words, check=True)


def measured(out: Path, *options: object) -> list[Report]:
    """The reports of ``judge eval``, which is not run again where it is done."""
    if not (out / "report.json").exists():
        run("eval", *options, "--out", out)
    return read_reports(out)


def percent(report: Report, figure: str) -> str:
    """A figure of the judge with its interval: ``77.1 [73.1, 81.0]``; ``-`` where there is none."""
    value, between = getattr(report.metrics, figure), getattr(report.metrics, f"{figure}_ci")
    if value is None:
        return "-"
    return f"{100 * value:.1f} [{100 * between[0]:.1f}, {100 * between[1]:.1f}]"
