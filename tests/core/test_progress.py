"""Long work says how far it is: a bar on a terminal, a line now and then elsewhere, nothing in a library."""

import json
import re
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import TaskID

from benchmarks.training_drill import prepare
from judge import progress
from judge.cli.main import main
from judge.progress import Display, shown, stage, track
from tests.core.test_commands import write_samples
from tests.tiny_data import training


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


def test_bars_on_a_terminal_leave_nothing_behind() -> None:
    written = shown_on(Console(file=StringIO(), force_terminal=True, width=100, color_system=None))
    assert "pairs [1]" in written and re.search(r"\d/10", written)
    assert written.endswith("\x1b[2K\x1b[?25h\r"), "the last thing is that the line is cleared"


def test_a_notebook_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells show every state of a bar, one below the other."""
    monkeypatch.setattr(progress, "EVERY", 0.08)
    monkeypatch.setenv("JPY_PARENT_PID", "1")
    written = shown_on(Console(file=StringIO(), force_terminal=True, width=100, color_system=None))
    assert "\x1b" not in written and "pairs [1]: " in written


def test_what_is_left_is_reckoned_from_where_the_work_began(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    display = Display(Console(file=StringIO()))
    monkeypatch.setattr(display.bars, "get_time", lambda: now[0])
    task = display.bars.add_task("verdicts", total=None)

    def line(done: int, total: int) -> str:
        display.update(task, done, total)
        return progress._line(display.bars.tasks[0])

    now[0] = 30.0  # until the model is loaded
    assert line(600, 1000) == "verdicts: 600 of 1,000 (60%), 0:00:30 so far"  # an earlier run made these
    now[0] = 50.0
    assert line(700, 1000) == "verdicts: 700 of 1,000 (70%), 0:00:50 so far, about 0:01:00 left"
    for done in range(701, 801):  # a chunk of results, all at once
        last = line(done, 1000)
    assert last == "verdicts: 800 of 1,000 (80%), 0:00:50 so far, about 0:00:20 left"


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
    stages: dict[str, tuple[int, int | None]] = {}
    remove = Display.remove

    def noted(self: Display, number: TaskID) -> None:
        [task] = [task for task in self.bars.tasks if task.id == number]
        stages[task.description] = int(task.completed), None if task.total is None else int(task.total)
        remove(self, number)

    monkeypatch.setattr(Display, "remove", noted)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> dict[str, tuple[int, int | None]]:
        stages.clear()
        try:
            main(words)
        except SystemExit as end:
            assert not end.code
        return dict(stages)

    return run


def test_long_commands_say_how_far_they_are(
    ran: Callable[..., dict[str, tuple[int, int | None]]], tmp_path: Path
) -> None:
    built = ran("data", "build", "demo", "--out", "built", "--workers", "1", "--set", "sources.0.limit=40")
    assert built["read starter"] == (40, None) and built["pairs from starter"] == (39, 39)
    assert {"reasonings", "train: SFT rows", "train: preference pairs"} <= built.keys()
    cells = built["audit: sources, languages and kinds"]
    assert cells[0] == cells[1] and cells[0]
    assert ran("data", "audit", "built", "--workers", "1")["audit: sources, languages and kinds"] == cells

    prepare(tmp_path)
    settings = training(tmp_path / "model", tmp_path / "data", Path("trained"))
    Path("sft.yaml").write_text(json.dumps(settings))
    assert ran("sft", "sft.yaml")["train trained"] == (2, 2)

    samples = str(write_samples(tmp_path / "samples.jsonl", 12))
    assert ran("batch", samples, "-o", "out.jsonl", "--model", "floor:length") == {"out.jsonl": (12, 12)}
    measured = ran("eval", "--model", "floor:overlap", "--samples", samples, "--set", "bootstrap=5")
    assert measured["samples.jsonl"] == (12, 12)
    assert measured["floors"][0] == measured["floors"][1] and measured["intervals of the baselines"][0]
