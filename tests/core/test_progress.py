"""Long work says how far it is: a bar on a terminal, a line now and then elsewhere, nothing in a library."""

import re
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from judge import progress
from judge.cli.main import main
from judge.progress import Display, Stage, shown, stage, track
from tests.core.test_commands import write_samples


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
    assert 2 <= len(lines) <= 5, "a line every 0.08 s in 0.3 s"
    assert re.fullmatch(r"pairs \[1\]: \d of 10 \(\d0%\), 0:00 so far, about 0:00 left", lines[-1])


def test_bars_on_a_terminal_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REFRESH", 0.05)
    monkeypatch.setattr(progress, "BRIEF", 0.0)
    written = shown_on(Console(file=StringIO(), force_terminal=True, width=100, color_system=None))
    assert "pairs [1]" in written and re.search(r"\d of 10", written) and "left" in written
    assert written.endswith("\x1b[2K"), "the last thing is that the line is cleared"


def test_a_notebook_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells show every state of a bar, one below the other."""
    monkeypatch.setattr(progress, "EVERY", 0.08)
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    written = shown_on(Console(file=StringIO(), force_terminal=True, width=100, color_system=None))
    assert "\x1b" not in written and "pairs [1]: " in written


def test_what_is_left_is_reckoned_from_where_the_work_began(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    work = Stage("verdicts", None)
    work.update(600, 1000)  # an earlier run made these
    assert work.left() is None and work.line() == "verdicts: 600 of 1,000 (60%), 0:00 so far"
    now[0] = 50.0
    work.update(700)
    assert work.line() == "verdicts: 700 of 1,000 (70%), 0:50 so far, about 2:30 left"
    now[0] = 7250.0
    assert Stage("load", None).line() == "load: 0:00 so far" and "2:00:50 so far" in work.line()


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
    assert "".join(capfd.readouterr()) == ""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., dict[str, tuple[int, int | None]]]:
    """Runs a command; returns how far each of its stages came, and of how much."""
    stages: list[Stage] = []
    add = Display.add
    monkeypatch.setattr(Display, "add", lambda self, work: (stages.append(work), add(self, work))[1])
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> dict[str, tuple[int, int | None]]:
        stages.clear()
        try:
            main(words)
        except SystemExit as end:
            assert not end.code
        return {work.title: (work.done, work.total) for work in stages}

    return run


def test_long_commands_say_how_far_they_are(
    ran: Callable[..., dict[str, tuple[int, int | None]]], tmp_path: Path
) -> None:
    built = ran("data", "build", "demo", "--out", "data", "--workers", "1", "--set", "sources.0.limit=40",
                "--set", "preferences.model=null")  # fmt: skip
    assert built["read starter"] == (40, None) and built["pairs from starter"] == (39, 39)
    assert {"reasonings", "train: SFT rows", "train: preference pairs"} <= built.keys()
    cells = built["audit: sources, languages and kinds"]
    assert cells[0] == cells[1] and cells[0]
    assert ran("data", "audit", "data", "--workers", "1")["audit: sources, languages and kinds"] == cells

    samples = str(write_samples(tmp_path / "samples.jsonl", 12))
    assert ran("batch", samples, "-o", "out.jsonl", "--model", "floor:length") == {"out.jsonl": (12, 12)}
    measured = ran("eval", "--model", "floor:overlap", "--samples", samples, "--bootstrap", "5")
    assert measured["samples.jsonl"] == (12, 12)
    assert measured["floors"][0] == measured["floors"][1] and measured["intervals of the floors"][0]
