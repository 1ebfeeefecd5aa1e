"""Responses that are kept once and for all, by several processes."""

import sqlite3
import threading
from pathlib import Path

import pytest

from judge.errors import InputError, JudgeError
from judge.remote.cache import CallCache, StoredCall, call_key

KEY = call_key("teacher", b"{}")


def test_problems_are_counted_until_an_answer_stands(tmp_path: Path) -> None:
    with CallCache(tmp_path / "new" / "calls.sqlite") as cache:
        assert cache.last(KEY) is None
        assert cache.put(KEY, "refused", "no") is None
        assert cache.last(KEY) == StoredCall(0, "refused", "no")
        assert cache.put(KEY, None, "yes") is None
        assert (
            cache.put(KEY, None, "late") == cache.put(KEY, "invalid", "later") == StoredCall(1, None, "yes")
        )
    with CallCache(tmp_path / "new" / "calls.sqlite") as cache:
        assert cache.last(KEY) == StoredCall(1, None, "yes")


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(start: int) -> None:
        with CallCache(tmp_path / "calls.sqlite") as cache:
            for number in range(start, start + 150):  # half of them are written by two
                cache.put(call_key("t", b"%d" % number), None, f"answer {number}")

    threads = [threading.Thread(target=write, args=(start,)) for start in (0, 75, 150)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with CallCache(tmp_path / "calls.sqlite") as cache:
        found = [cache.last(call_key("t", b"%d" % number)) for number in range(300)]
    assert found == [StoredCall(0, None, f"answer {number}") for number in range(300)]


def test_many_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    failures: list[Exception] = []

    def open_file(path: Path, together: threading.Barrier) -> None:
        together.wait()
        try:
            CallCache(path).close()
        except Exception as error:
            failures.append(error)

    for attempt in range(20):  # processes that start together meet on a file that none has made yet
        together = threading.Barrier(8)
        arguments = (tmp_path / f"{attempt}.sqlite", together)
        threads = [threading.Thread(target=open_file, args=arguments) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("These are my notes, and no database at all.\n" * 50)
    sqlite3.connect(other).execute("CREATE TABLE notes (text)").connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(InputError, match=path.name):
            CallCache(path)
        assert path.read_bytes() == before
    with pytest.raises(JudgeError, match=tmp_path.name):
        CallCache(tmp_path)
