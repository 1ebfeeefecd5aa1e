"""Progress of long work on standard error: rich's bars on a terminal, elsewhere a line every 30 seconds.

The command line opens a display. Code that runs under it reports progress without knowing about the display:

    with shown():
        for sample in track(samples, "pairs", total=900):
            ...

Without a display nothing is shown, so the library stays silent in other programs.
"""

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import cached_property, partial
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task, TaskID

Item = TypeVar("Item")
Update = Callable[..., None]
"""Called with the amount done and the total (``None``: unknown). The first call gives the starting point."""

EVERY = 30.0
"""Seconds between two lines if standard error is not a terminal."""
NOTEBOOK = "JPY_PARENT_PID"
"""Set in processes started from a notebook cell, which looks like a terminal but prints every bar update."""


class Display:
    """Bars or lines for all work in progress."""

    def __init__(self, console: "Console | None" = None):
        self._console, self._stop = console, Event()
        self._next_line = time.monotonic() + EVERY

    @cached_property
    def bars(self) -> "Progress":
        """Rich's bars, made on first use; without a terminal they only keep count."""
        from rich import progress as rich
        from rich.console import Console
        from rich.text import Text

        console = self._console or Console(stderr=True)
        lines = not console.is_terminal or console.is_dumb_terminal or NOTEBOOK in os.environ
        title = rich.TextColumn("{task.description}", markup=False)

        class Remaining(rich.ProgressColumn):
            def render(self, task: "Task") -> Text:
                return Text(str(_left(task) or "-:--:--"), style="progress.remaining")

        times = rich.TimeElapsedColumn(), Remaining()
        return rich.Progress(
            title, rich.BarColumn(), rich.MofNCompleteColumn(), *times,
            console=console, transient=True, redirect_stdout=False, refresh_per_second=5, disable=lines,
        )  # fmt: skip

    def add(self, title: str, total: int | None) -> "TaskID":
        """Start showing a piece of work."""
        if not self.bars.tasks:
            self._stop = Event()
            lines = Thread(target=self._lines, args=(self._stop,), daemon=True)
            (lines if self.bars.disable else self.bars).start()
        return self.bars.add_task(title, total=total)

    def update(self, task: "TaskID", done: int, total: int | None = None) -> None:
        """Report progress. The first call sets the baseline for the speed: work of earlier runs, loading."""
        found = self.bars.tasks[self.bars.task_ids.index(task)]
        found.fields.setdefault("begun", (done, found.elapsed or 0.0))
        self.bars.update(task, completed=done, total=total)

    def remove(self, task: "TaskID") -> None:
        """Stop showing a piece of work."""
        self.bars.remove_task(task)
        if not self.bars.tasks:
            self._stop.set()
            if not self.bars.disable:
                self.bars.stop()

    def _lines(self, stop: Event) -> None:
        while not stop.wait(max(0.0, self._next_line - time.monotonic())):
            self._next_line = time.monotonic() + EVERY
            line = "; ".join(map(_line, self.bars.tasks))
            self.bars.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _left(task: "Task") -> timedelta | None:
    """Time left at the mean speed so far, which is robust to results that come in bursts."""
    earlier, loading = task.fields.get("begun", (0, 0.0))
    done, took = task.completed - earlier, (task.elapsed or 0.0) - loading
    if not task.total or done <= 0 or took <= 0:
        return None
    return timedelta(seconds=math.ceil(took * (task.total - task.completed) / done))


def _line(task: "Task") -> str:
    """The status line of a piece of work."""
    done = f"{task.completed:,.0f}"
    done += f" of {task.total:,.0f} ({task.percentage:.0f}%)" if task.total else ""
    left = "" if (time := _left(task)) is None else f", about {time} left"
    return f"{task.description}: {done}, {timedelta(seconds=int(task.elapsed or 0))} so far{left}"


_DISPLAY: ContextVar[Display | None] = ContextVar("display", default=None)


@contextmanager
def shown(console: "Console | None" = None) -> Iterator[None]:
    """Show work that is tracked inside the block. Of processes launched together, only the first shows it.

    Args:
        console: where; standard error by default.
    """
    token = _DISPLAY.set(Display(console) if first_process() else None)
    try:
        yield
    finally:
        _DISPLAY.reset(token)


@contextmanager
def stage(title: str, total: int | None = None) -> Iterator[Update]:
    """Show a piece of work for the duration of the block; yields a function to report progress."""
    display = _DISPLAY.get()
    if display is None:
        yield lambda done, total=None: None
        return
    task = display.add(title, total)
    try:
        yield partial(display.update, task)
    finally:
        display.remove(task)


def track(items: Iterable[Item], title: str, total: int | None = None) -> Iterator[Item]:
    """Pass items through, showing how many were taken so far."""
    with stage(title, total) as update:
        update(0, total)
        for done, item in enumerate(items, start=1):
            yield item
            update(done, total)


def say(text: str) -> None:
    """Print a message on standard error, above any bars; if several processes run, only the first does."""
    display = _DISPLAY.get()
    if display is not None:
        display.bars.console.print(text, highlight=False, markup=False, soft_wrap=True)
    elif first_process():
        print(text, file=sys.stderr, flush=True)


def first_process() -> bool:
    """Whether this is the first of processes that were launched together, or the only one."""
    return os.environ.get("RANK", "0") == "0"
