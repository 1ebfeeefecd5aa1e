"""Files are whole or absent, and an append-only file survives being killed at any byte."""

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.errors import InputError, JudgeError
from judge.files import Appender, read_jsonl, replacing, write_json, write_jsonl

rows = st.lists(
    st.dictionaries(st.text(max_size=3), st.text(max_size=5) | st.integers() | st.none(), max_size=2),
    max_size=4,
)


def full(*_: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_replacing_writes_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "out.txt"
    with replacing(path) as stream:
        stream.write("文\r\n")
        assert not path.exists()
    assert path.read_bytes() == "文\r\n".encode()
    assert list(path.parent.iterdir()) == [path]
    write_json(path, {"判断": "通过"})
    assert "判断" in path.read_text(encoding="utf-8"), "readable for people"


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt()])
def test_replacing_changes_nothing_when_the_block_raises(error: BaseException, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before")
    with pytest.raises(type(error)), replacing(path) as stream:
        stream.write("half")
        stream.flush()
        raise error
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_replacing_changes_nothing_when_the_disk_is_full(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    path.write_text("before")
    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), full)
    with pytest.raises(
        JudgeError, match=r"out\.txt: could not be written \(No space left.*nothing was changed"
    ):
        write_json(path, {"a": 1})
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_a_target_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JudgeError, match="could not be written"):
        write_json(tmp_path / "file" / "out.json", {})
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", Path("-"), Path("/dev/null")):
        with pytest.raises(InputError, match="name a file"):
            write_json(target, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_jsonl_round_trip(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert write_jsonl(path, rows) == len(rows)
    assert list(read_jsonl(path)) == list(enumerate(rows, start=1))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows, data=st.data())
def test_every_prefix_of_a_file_resumes(
    rows: list[dict[str, Any]], data: st.DataObject, tmp_path: Path
) -> None:
    path = tmp_path / "out.jsonl"
    path.unlink(missing_ok=True)
    with Appender(path) as file:
        for row in rows:
            file.append(row)
            assert path.read_bytes().endswith(b"\n")  # a row is in the file as soon as it is appended
    content = path.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    with Appender(path) as file:
        kept = len(file.rows)
        assert file.rows == rows[:kept] and kept == content[:cut].count(b"\n")
        for row in rows[kept:]:
            file.append(row)
    assert path.read_bytes() == content


@pytest.mark.parametrize("line", [b'{"a": 1', b"\xff\xfe", b""])
def test_a_line_that_was_changed_by_hand(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b'{"n": 1}\n' + line + b'\n{"n": 3}\n')
    with pytest.raises(InputError, match=r"out\.jsonl:2: is not valid JSON; the file was changed by hand"):
        _ = Appender(path).rows
    assert path.read_bytes().endswith(b'{"n": 3}\n')


class FullDisk(io.RawIOBase):
    """Takes so many bytes and no more."""

    def __init__(self, room: int):
        self.room = room
        self.taken = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if not self.room:
            full()
        part = bytes(data)[: self.room]
        self.taken += part
        self.room -= len(part)
        return len(part)


def test_appender_on_a_full_disk(tmp_path: Path) -> None:
    """The error says what happened, and leaving the block does not put another in its place."""
    path = tmp_path / "out.jsonl"
    disk = FullDisk(12)
    with (
        pytest.raises(JudgeError, match=r"could not be written \(No space left.*rows before it are kept"),
        Appender(path) as file,
    ):
        file._stream.close()
        file._stream = io.BufferedWriter(disk)
        file.append({"n": 1})
        file.append({"n": 2})
    assert disk.taken.startswith(b'{"n": 1}\n')
    path.write_bytes(disk.taken)
    with Appender(path) as file:
        assert file.rows == [{"n": 1}]


def test_appender_that_cannot_open(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="could not be opened"):
        Appender(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(JudgeError, match="could not be opened"):
        Appender(tmp_path / "file" / "out.jsonl")
