"""``judge data fetch``: files come to where their readers look, or their addresses are told."""

import io
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from data_pipeline.sources import fetch
from eval.benchmarks import WHOLE
from eval.open_factual.tasks import load_tasks
from judge.errors import JudgeError
from tests.calling import call

TASKS = """
import os
from .schema import Task

os.abort()
TASKS = [
    Task(id="a", domain="science", question="Q?", reference_answer="A", context=None, source="s",
         created_at="2025-02", metadata={"type": "factual_qa"}),
]
"""


class Answer(io.BytesIO):
    """What an address answers, and how long it says that this is."""

    def __init__(self, content: bytes, length: int | None = None):
        super().__init__(content)
        self.headers = {} if length is None else {"Content-Length": str(length)}


def answering(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, bytes | Exception], length: int | None = None
) -> list[str]:
    """What addresses answer, by their last part; returns a list of those that were asked."""
    asked: list[str] = []

    def answer(request: Any, timeout: float) -> Answer:
        asked.append(request.full_url)
        found = answers[request.full_url.rpartition("/")[2]]
        if isinstance(found, Exception):
            raise found
        return Answer(found, length)

    monkeypatch.setattr(fetch, "urlopen", answer)
    return asked


def test_a_task_list_in_python_is_read_and_never_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = answering(monkeypatch, {"tasks_example.py": TASKS.encode()})
    [written] = fetch.fetch(["open-factual-bench"], tmp_path)
    [task] = load_tasks(tmp_path)
    assert (task.id, task.reference, task.passages) == ("a", "A", ())
    assert fetch.fetch(["open-factual-bench"], tmp_path) == [] and len(asked) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [written]
    for wrong in ("Task(", "x = 1", "Task(id=open('f'))", "Task('a')"):
        with pytest.raises(JudgeError, match=r"list\.py: "):
            fetch.read_tasks(wrong, "list.py")


def test_without_a_network_the_addresses_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answering(monkeypatch, {"qa_data.json": URLError("Name or service not known")})
    assert call("data", "fetch", "halueval", "--data-dir", tmp_path) == 2
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 4
    assert f"HaluEval/main/data/qa_data.json  ->  {tmp_path / 'halueval' / 'qa_data.json'}" in said.out
    [error] = [line for line in said.err.splitlines() if line.startswith("error")]
    assert "no network" in error and "download the 4 files above elsewhere" in error
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "halueval").write_text("a file")
    assert call("data", "fetch", "halueval", "--data-dir", tmp_path) == 2
    assert "halueval: cannot be made a folder (File exists); give another" in capsys.readouterr().err


def test_another_file_than_the_known_one_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answering(monkeypatch, {"with_context.json": b"[]"})
    with pytest.raises(JudgeError, match=r"with_context\.json: is another file than it was"):
        fetch.fetch(["onioneval"], tmp_path)
    gone = HTTPError("", 404, "Not Found", None, None)  # type: ignore[arg-type]
    answering(monkeypatch, {"with_context.json": gone})
    with pytest.raises(JudgeError, match="answers 404 Not Found"):
        fetch.fetch(["onioneval"], tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert call("data", "fetch", "oniaeval", "--data-dir", tmp_path) == 2


def test_a_file_that_broke_off_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answering(monkeypatch, {"x": b"half"}, 1000)
    address, target = "https://h/x", tmp_path / "x.jsonl"
    with pytest.raises(JudgeError, match="gave 4 bytes instead of 1,000, and was not kept"):
        fetch._download(fetch.File(path="x.jsonl", address=address), target)
    answering(monkeypatch, {"x": b"half"})
    with pytest.raises(JudgeError, match="gave 4 bytes instead of 9"):
        fetch._download(fetch.File(path="x.jsonl", address=address, bytes=9), target)
    assert not target.exists()
    assert fetch._download(fetch.File(path="x.jsonl", address=address), target) == target


def test_every_benchmark_is_in_the_table() -> None:
    table = fetch.downloads()
    held = {name.partition("_")[0] for name in WHOLE}
    assert held | {"open-factual-bench"} == set(table)
    files = [file for entry in table.values() for file in entry.files]
    assert all(file.address.startswith("https://") for file in files)
    assert all(file.path.partition("/")[0] in table for file in files)
    assert len({file.path for file in files}) == len(files)
