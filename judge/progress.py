"""How far long work is, on standard error: rich's bars on a terminal, elsewhere a line every 30 seconds.

The command line opens a display. What works under it says how far it is, and need not know who looks:

    with shown():
        for sample in track(samples, "pairs", total=900):
            ...

Without a display nothing is shown, so the library is silent in other people's programs.
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
"""Is told how much is done, and of how much (``None``: unknown). The first call says where it begins."""

EVERY = 30.0
"""Seconds between two lines where standard error is not a terminal."""
NOTEBOOK = "JPY_PARENT_PID"
"""Set in what a notebook's cell starts: it looks like a terminal, and shows every state of a bar."""


class Display:
    """Bars or lines about everything that is at work."""

    def __init__(self, console: "Console | None" = None):
        self._console, self._stop = console, Event()
        self._next_line = time.monotonic() + EVERY

    @cached_property
    def bars(self) -> "Progress":
        """Rich's bars, which only count where there is no terminal; made when they are first needed."""
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
        """Show a piece of work from now on."""
        if not self.bars.tasks:
            self._stop = Event()
            lines = Thread(target=self._lines, args=(self._stop,), daemon=True)
            (lines if self.bars.disable else self.bars).start()
        return self.bars.add_task(title, total=total)

    def update(self, task: "TaskID", done: int, total: int | None = None) -> None:
        """Say how far it is. At the first call nothing was done but what an earlier run did, and loading."""
        found = self.bars.tasks[self.bars.task_ids.index(task)]
        found.fields.setdefault("begun", (done, found.elapsed or 0.0))
        self.bars.update(task, completed=done, total=total)

    def remove(self, task: "TaskID") -> None:
        """Show it no more."""
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
    """The time for the rest at the mean speed so far, which results that come in bursts do not change."""
    earlier, loading = task.fields.get("begun", (0, 0.0))
    done, took = task.completed - earlier, (task.elapsed or 0.0) - loading
    if not task.total or done <= 0 or took <= 0:
        return None
    return timedelta(seconds=math.ceil(took * (task.total - task.completed) / done))


def _line(task: "Task") -> str:
    """All that is known of a piece of work."""
    done = f"{task.completed:,.0f}"
    done += f" of {task.total:,.0f} ({task.percentage:.0f}%)" if task.total else ""
    left = "" if (time := _left(task)) is None else f", about {time} left"
    return f"{task.description}: {done}, {timedelta(seconds=int(task.elapsed or 0))} so far{left}"


_DISPLAY: ContextVar[Display | None] = ContextVar("display", default=None)


@contextmanager
def shown(console: "Console | None" = None) -> Iterator[None]:
    """Show what is tracked inside the block. Of processes that were launched together, the first one shows.

    Args:
        console: where; standard error by default.
    """
    first = os.environ.get("RANK", "0") == "0"
    token = _DISPLAY.set(Display(console) if first else None)
    try:
        yield
    finally:
        _DISPLAY.reset(token)


@contextmanager
def stage(title: str, total: int | None = None) -> Iterator[Update]:
    """Show a piece of work for as long as the block takes; gives a function to say how far it is."""
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
    """Pass items through, and show how many there were, until the last one is taken."""
    with stage(title, total) as update:
        update(0, total)
        for done, item in enumerate(items, start=1):
            yield item
            update(done, total)


def say(text: str) -> None:
    """Print a message on standard error, above the bars where there are any."""
    display = _DISPLAY.get()
    if display is not None:
        display.bars.console.print(text, highlight=False, markup=False, soft_wrap=True)
    else:
        print(text, file=sys.stderr, flush=True)
