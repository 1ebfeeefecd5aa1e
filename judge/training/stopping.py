"""Signals that ask a run to stop, so that it can save its state first."""

import os
import signal
import threading
import time
from types import FrameType
from typing import Any

from judge.errors import JudgeError

NOTICE = b"\nstopping: the state is saved at the end of this step (once more: stop at once)\n"

AGAIN = 1.0
"""A second signal within this many seconds counts as the first: launchers and ``timeout`` send two."""


class Interrupted(JudgeError):
    """A signal ended the run; its state is saved. Exit code 143 after SIGTERM, 130 after SIGINT."""

    def __init__(self, message: str, signal_number: int):
        super().__init__(message)
        self.exit_code = 128 + signal_number


class StopSignals:
    """Within the block, the first SIGTERM or SIGINT is only recorded in ``received``; a later one acts.

    Does nothing outside the main thread, the only one that gets signals. Loader workers inherit the handler
    and ignore the signal; the run ends them.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._process = os.getpid()
        self._noted = 0.0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._restore()

    def _note(self, number: int, _: FrameType | None) -> None:
        if os.getpid() != self._process:
            return
        if self.received is None:
            self.received, self._noted = number, time.monotonic()
            os.write(2, NOTICE)  # not print: the signal may have interrupted one
        elif time.monotonic() - self._noted > AGAIN:
            self._restore()
            signal.raise_signal(number)

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
