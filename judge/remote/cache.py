"""The call cache: keeps a model's replies, so that no answered call is ever made again.

One SQLite file. A row is the raw response to one call, so code that reads responses can change without new
calls. Replies that are not answers (refused, truncated, invalid) are kept too, marked as such and never
returned as answers: they count how often a call was tried, so that a resumed run ends like an uninterrupted
one and does not repeat calls that were refused for good.

Every response is committed at once. In WAL mode a commit needs no fsync: a killed process loses nothing that
it had received, and a power failure loses the last moments. Several processes may share the file; if two make
the same call at the same moment, the first answer counts for both.
"""

import sqlite3
import threading
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from judge.errors import InputError, JudgeError

VERSION = 1
"""Version of the table's schema, stored in SQLite's ``user_version``."""

WAIT = 60.0
"""Seconds to wait for another process that is writing."""

_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
    key BLOB NOT NULL,          -- call_key()
    attempt INTEGER NOT NULL,   -- 0, and one more each time the reply was no answer
    problem TEXT,               -- why it is no answer; NULL for an answer
    response TEXT NOT NULL,     -- the body of the HTTP response
    time REAL NOT NULL,         -- seconds since 1970
    UNIQUE (key, attempt)
)
"""

_PUT = """
INSERT INTO calls
SELECT :key, (SELECT count(*) FROM calls WHERE key = :key), :problem, :response, :time
WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = :key AND problem IS NULL)
"""


def call_key(name: str, body: bytes) -> bytes:
    """The key of a call: the teacher's name and the body with model, messages, parameters and schema.

    The address is not part of it: a server on another port is still the same teacher.
    """
    return sha256(name.encode() + b"\0" + body).digest()


@dataclass(frozen=True, slots=True)
class StoredCall:
    """The last response to a call; ``attempt`` counts from 0, ``problem`` is ``None`` for an answer."""

    attempt: int
    problem: str | None
    response: str

    def settled(self, ask_again: int) -> bool:
        """Is it an answer, or was the call repeated as often as allowed?"""
        return self.problem is None or self.attempt >= ask_again


class CallCache:
    """A file of responses; threads may share one object, processes one file.

    Raises:
        InputError: if the file is not a call cache.
        JudgeError: if it could not be read or written.
    """

    def __init__(self, path: Path):
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
            self._create_table()
            self._write_ahead()
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise InputError("is not a call cache; name another file", file=path) from None
            raise self._failure(error) from error

    def _create_table(self) -> None:
        """Create the table if needed, in one transaction, since several processes may open a new file."""
        self._base.execute("BEGIN IMMEDIATE")
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        tables = self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if version != VERSION and (version or tables):
            self._base.close()
            raise InputError("is a database of something else; name another file", file=self.path)
        self._base.execute(_TABLE)
        self._base.execute(f"PRAGMA user_version = {VERSION}")
        self._base.execute("COMMIT")

    def _write_ahead(self) -> None:
        """Switch to WAL mode, waiting for a busy file, which SQLite itself does not do here."""
        end = time.monotonic() + WAIT
        while True:
            try:
                self._base.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)
        self._base.execute("PRAGMA synchronous = NORMAL")

    def last(self, key: bytes) -> StoredCall | None:
        """The last response to a call."""
        query = "SELECT attempt, problem, response FROM calls WHERE key = ? ORDER BY attempt DESC LIMIT 1"
        try:
            with self._lock:
                row = self._base.execute(query, (key,)).fetchone()
        except sqlite3.Error as error:
            raise self._failure(error) from error
        return None if row is None else StoredCall(*row)

    def put(self, key: bytes, problem: str | None, response: str) -> StoredCall | None:
        """Store a response; if another process stored an answer first, that one is kept and returned."""
        row = {"key": key, "problem": problem, "response": response, "time": time.time()}
        try:
            with self._lock:
                kept = self._base.execute(_PUT, row).rowcount == 1
        except sqlite3.Error as error:
            raise self._failure(error) from error
        return None if kept else self.last(key)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def __enter__(self) -> "CallCache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _failure(self, error: Exception) -> JudgeError:
        return JudgeError(f"{self.path}: the call cache failed ({error}); what it holds is kept")
