"""Long work says how far it is: a bar on a terminal, a line now and then elsewhere, nothing in a library."""

import re
import time
from collections.abc import Iterator
from io import StringIO

import pytest
from rich.console import Console

from judge import progress
from judge.progress import say, shown, stage, track


def slowly(count: int) -> Iterator[int]:
    for number in range(count):
        time.sleep(0.03)
        yield number


def shown_on(console: Console) -> str:
    file = console.file
    with shown(console):
        assert list(track(slowly(10), "pairs [1]", 10)) == list(range(10))
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_lines_tell_how_far_and_how_long_still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.08)
    lines = shown_on(Console(file=StringIO(), width=40)).splitlines()
    assert 2 <= len(lines) <= 5 and all(lines), "a line every 0.08 s in 0.3 s"
    assert re.fullmatch(r"pairs \[1\]: \d of 10 \(\d0%\), 0:00:00 so far, about 0:00:0\d left", lines[-1])


def test_a_notebook_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells show every state of a bar, one below the other."""
    monkeypatch.setattr(progress, "EVERY", 0.08)
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    written = shown_on(Console(file=StringIO(), force_terminal=True, width=100, color_system=None))
    assert "\x1b" not in written and "pairs [1]: " in written


def test_a_library_is_silent(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with stage("load") as update:
        update(1, 2)
    assert list(track("ab", "letters")) == ["a", "b"]
    with shown():
        pass
    monkeypatch.setenv("RANK", "1")  # one of several processes that were launched together
    with shown():
        assert len(list(track(slowly(2), "steps"))) == 2
        say("note: once is enough")
    assert "".join(capfd.readouterr()) == ""
