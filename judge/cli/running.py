"""Runs the steps of ``judge demo`` and ``judge teach``: commands of the toolkit, each in its own process."""

import multiprocessing
import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from types import FrameType

from judge.cli.demo_steps import Step
from judge.errors import JudgeError
from judge.training.stopping import Interrupted

PROCESSES = multiprocessing.get_context("forkserver")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(text: str) -> None:
    """Print a message between the steps, set off from the output of their commands."""
    print(f"\n=== {text}", flush=True)


def start_server() -> None:
    """Start the process that steps are forked from, if there is none yet.

    SIGTERM is blocked in it and unblocked by :func:`execute`: a signal to the whole group, as ``timeout``
    sends it, would otherwise end the server before the command has saved its state.
    """
    resource_tracker.ensure_running()  # started later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run(step: Step) -> float:
    """Run one command with its output passed through; returns its seconds.

    The command handles signals itself, since a training saves its state. It gets each of them once: it has
    its own process group, which a terminal or ``timeout`` does not reach, and signals are passed on here.

    Raises:
        Interrupted: if a signal was received.
        JudgeError: if the command failed and later steps need it.
    """
    begin = time.monotonic()
    if step.fresh is not None and step.fresh.is_dir():
        shutil.rmtree(step.fresh)
    start_server()
    process = PROCESSES.Process(target=execute, args=(step.command,))
    received: list[int] = []

    def send(number: int) -> None:
        if process.pid is not None:  # it is None until the command has started
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)

    def pass_on(number: int, _: FrameType | None) -> None:
        received.append(number)
        send(number)

    heard = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in heard}
    try:
        process.start()
        for number in received:  # received while it started
            send(number)
        process.join()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    code = process.exitcode or 0
    received += [number for number in heard if code in (128 + number, -number)]  # sent to the command only
    if received:
        raise Interrupted(f"stopped while this ran: {step.title}", received[0])
    if code != 0:
        failure = f"{step.title} ended with exit code {code}"
        if step.needed:
            raise JudgeError(f"stopped: {failure}")
        say(f"{failure}; continuing without it")
    return time.monotonic() - begin


def execute(command: Sequence[str]) -> None:
    """Run ``python -m judge ...`` in this process."""
    from judge.cli.main import main

    os.setpgid(0, 0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    main(command[3:], a_step=True)
