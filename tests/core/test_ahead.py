"""Working ahead: the same results in the same order, errors in their place, and at most so far ahead."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count, islice

import pytest

from judge.checker import ahead, in_chunks


@pytest.mark.parametrize("threads", [1, 3])
def test_results_and_errors_come_in_the_order_of_their_items(threads: int) -> None:
    reader = threading.current_thread()
    read: list[int] = []

    def items(last: int) -> Iterator[int]:
        for number in range(last):
            assert threading.current_thread() is reader  # a database's rows are read where it was opened
            read.append(number)
            yield number
        raise ValueError("row 7 cannot be read")

    def make(number: int) -> int:
        assert threading.current_thread() is not reader
        if number == 4:
            raise ValueError("row 4 cannot be made")
        return number * number

    assert list(ahead(make, range(4), threads)) == [0, 1, 4, 9]
    assert list(ahead(make, [], threads)) == []
    for last, before in ((9, "row 4 cannot be made"), (3, "row 7 cannot be read")):
        made, results = [], ahead(make, items(last), threads)
        with pytest.raises(ValueError, match=before):
            for result in results:
                made.append(result)
        assert made == [number * number for number in range(min(last, 4))]
    read.clear()
    results = ahead(abs, items(9), threads)
    assert next(results) == 0 and len(read) == threads + 1
    results.close()
    read.clear()
    results = ahead(abs, items(9), threads, 5)
    assert next(results) == 0 and len(read) == 6
    results.close()


def test_the_next_is_made_while_the_last_one_is_in_use() -> None:
    begun = [threading.Event() for _ in range(3)]
    for number in ahead(lambda number: begun[number].set() or number, range(3)):
        assert begun[min(number + 1, 2)].wait(10)


def test_several_are_made_at_once() -> None:
    together = threading.Barrier(3)
    assert list(ahead(lambda number: together.wait(10) and number, range(1, 4), 3))[-1] == 3


def test_ctrl_c_waits_for_no_server() -> None:
    script = (
        "import os, signal, threading\n"
        "from judge.checker import ahead\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in a shell's background job
        "def hang(number):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    threading.Event().wait()\n"
        "list(ahead(hang, range(3), 2))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "KeyboardInterrupt" in ended.stderr


def test_a_caller_that_stops_waits_for_no_server() -> None:
    hanging, ended = threading.Event(), list[int]()

    def make(number: int) -> int:
        if number:
            hanging.wait(60)
            ended.append(number)
        return number

    results = ahead(make, range(3), 2)
    assert next(results) == 0
    results.close()
    assert not ended
    hanging.set()


def test_chunks() -> None:
    assert list(in_chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(in_chunks(range(5), 0)) == [[0, 1, 2, 3, 4]] and list(in_chunks([], 0)) == []
    assert next(in_chunks(count(), 3)) == [0, 1, 2] == list(islice(count(), 3))
