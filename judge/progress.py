"""How far long work is, on standard error: a bar on a terminal, elsewhere a line every 30 seconds.

The command line opens a display. What works under it says how far it is, and need not know who looks:

    with shown():
        for sample in track(samples, "pairs", total=900):
            ...

Without a display nothing is shown, so the library is silent in other people's programs.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Item = TypeVar("Item")
Update = Callable[..., None]
"""Is told how much is done, and of how much (``None``: unknown). The first call says where it begins."""

EVERY = 30.0
"""Seconds between two lines where standard error is no terminal."""
REFRESH = 0.2
"""Seconds between two looks at a terminal's bars."""
NOTEBOOK = "JPY_PARENT_PID"
"""Set in what a notebook's cell starts: it looks like a terminal, and shows every state of a bar."""
BRIEF = 1.0
"""What takes less, in seconds, gets no bar."""


class Stage:
    """One piece of work: what it is, how much of it is done."""

    def __init__(self, title: str, total: int | None):
        self.title, self.total = title, total
        self.done = 0
        self.begun = time.monotonic()
        self._from: tuple[float, int] | None = None

    def update(self, done: int, total: int | None = None) -> None:
        """See :data:`Update`; costs next to nothing, so it may be called for every item."""
        if self._from is None:
            self._from = time.monotonic(), done
        self.done = done
        self.total = self.total if total is None else total

    def left(self) -> float | None:
        """Seconds that the rest will take at the pace so far; ``None`` while nobody can know."""
        if self._from is None or self.total is None or self.done <= self._from[1]:
            return None
        since, before = self._from
        return (time.monotonic() - since) / (self.done - before) * max(0, self.total - self.done)

    def counts(self) -> str:
        """How much is done, in words."""
        if self.total:
            return f"{self.done:,} of {self.total:,} ({self.done / self.total:.0%})"
        return f"{self.done:,}" if self._from is not None else ""

    def times(self) -> str:
        """How long it has taken, and will take still."""
        left = self.left()
        still = "" if left is None else f", about {_clock(left)} left"
        return f"{_clock(time.monotonic() - self.begun)} so far{still}"

    def line(self) -> str:
        """All that is known, in one line."""
        return f"{self.title}: {', '.join(filter(None, (self.counts(), self.times())))}"


def _clock(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


class Display:
    """Shows stages for as long as there are any; a thread of its own looks at them now and then."""

    def __init__(self, console: "Console | None" = None):
        self._console = console
        self._stages: list[Stage] = []
        self._watch: tuple[threading.Thread, threading.Event] | None = None
        self._next_line = time.monotonic() + EVERY

    @property
    def console(self) -> "Console":
        """Where everything is shown; messages printed here stand above the bars."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=True)
        return self._console

    def add(self, stage: Stage) -> None:
        """Show a stage from now on."""
        self._stages.append(stage)
        if self._watch is None:
            stop = threading.Event()
            live = (
                self.console.is_terminal and not self.console.is_dumb_terminal and NOTEBOOK not in os.environ
            )
            watch = threading.Thread(target=self._bars if live else self._lines, args=(stop,), daemon=True)
            self._watch = watch, stop
            watch.start()

    def remove(self, stage: Stage) -> None:
        """Show a stage no more."""
        self._stages.remove(stage)
        if not self._stages and self._watch is not None:
            (watch, stop), self._watch = self._watch, None
            stop.set()
            if watch is not threading.current_thread():
                watch.join()

    def _lines(self, stop: threading.Event) -> None:
        while not stop.wait(max(0.0, self._next_line - time.monotonic())):
            self._next_line = time.monotonic() + EVERY
            line = "; ".join(stage.line() for stage in list(self._stages))
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def _bars(self, stop: threading.Event) -> None:
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
        bars = Progress(
            *columns, console=self.console, transient=True, auto_refresh=False, redirect_stdout=False
        )
        rows: dict[int, Any] = {}
        try:
            while not stop.wait(REFRESH):
                old = {id(stage): stage for stage in list(self._stages) if _age(stage) > BRIEF}
                for gone in rows.keys() - old.keys():
                    bars.remove_task(rows.pop(gone))
                for key, stage in old.items():
                    if key not in rows:
                        rows[key] = bars.add_task(escape(stage.title), total=None, told="")
                    told = ", ".join(filter(None, (stage.counts(), stage.times())))
                    bars.update(rows[key], completed=stage.done, total=stage.total, told=told)
                if rows:
                    bars.start()  # not before, so that an error that comes first stands alone
                    bars.refresh()
        finally:
            bars.stop()


def _age(stage: Stage) -> float:
    return time.monotonic() - stage.begun


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
    work = Stage(title, total)
    display.add(work)
    try:
        yield work.update
    finally:
        display.remove(work)


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
        display.console.print(text, highlight=False, markup=False, soft_wrap=True)
    else:
        print(text, file=sys.stderr, flush=True)
