"""Where the CPU seconds of a data build go: by stage, and the functions that take most of them.

    JUDGE_DATA_DIR=DIR PYTHONPATH=. python tests/bench/build_profile.py RECIPE.yaml OUT

The build runs in this process, on one core. Every four milliseconds of CPU a signal notes who is at work, so
nothing is slowed down, and what C code does counts for the function that called it. ``PYTHONPATH`` says whose
code is measured: another checkout's, or (with ``.``) this one's.
"""

import argparse
import resource
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

EVERY = 0.004
"""Seconds of CPU between two looks."""
SHOWN = 10


def _named(code: CodeType) -> str:
    return f"{'/'.join(Path(code.co_filename).parts[-2:])}: {code.co_qualname}"


class Profile:
    """Looks at the running code, counted by stage of the build and by function."""

    def __init__(self) -> None:
        self.looks = 0
        self.stages: Counter[str] = Counter()
        self.own: Counter[str] = Counter()

    def look(self, _: int, frame: FrameType | None) -> None:
        """Count one look: a signal handler."""
        self.looks += 1
        if frame is not None:
            self.own[_named(frame.f_code)] += 1
        stage, inner = "start and end", "build itself"
        while frame is not None:
            code = frame.f_code
            if code.co_name == "build" and code.co_filename.endswith("data_pipeline/build.py"):
                stage = inner
            inner = _named(code)
            frame = frame.f_back
        self.stages[stage] += 1


def _print(title: str, counts: Counter[str], looks: int, seconds: float) -> None:
    print(f"\n| {title} | s of CPU | share |\n| --- | ---: | ---: |")
    for name, count in counts.most_common(SHOWN):
        print(f"| {name} | {seconds * count / looks:.2f} | {count / looks:.1%} |")


def main() -> None:
    """Build, then print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe")
    parser.add_argument("out")
    args = parser.parse_args()
    profile = Profile()
    signal.signal(signal.SIGPROF, profile.look)
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
    sys.argv = ["judge", "data", "build", args.recipe, "--out", args.out, "--workers", "1"]
    try:
        runpy.run_module("judge", run_name="__main__")
    except SystemExit as done:
        if done.code:
            raise
    signal.setitimer(signal.ITIMER_PROF, 0, 0)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"{seconds:.1f} s of CPU, at most {usage.ru_maxrss / 1024:.0f} MiB")
    _print("stage", profile.stages, profile.looks, seconds)
    _print("function", profile.own, profile.looks, seconds)


if __name__ == "__main__":
    main()
