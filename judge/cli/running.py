"""Runs the steps of ``judge demo`` and ``judge teach``: commands of the toolkit, each in its own process."""

import signal
import subprocess
import sys
import time
from types import FrameType

from judge.cli.demo_steps import Step
from judge.errors import JudgeError
from judge.training.stopping import Interrupted

ENTRY = "from judge.cli.main import main; main(a_step=True)"
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def say(text: str) -> None:
    """Print a message between the steps, set off from the output of their commands."""
    print(f"\n=== {text}", flush=True)


def run(step: Step) -> float:
    """Run one command with its output passed through; returns its seconds.

    The command handles signals itself, since a training saves its state. It gets each of them once: it has
    its own process group, which a terminal or ``timeout`` does not reach, and signals are passed on here.

    Raises:
        Interrupted: if a signal was received.
        JudgeError: if the command failed and later steps need it.
    """
    begin = time.monotonic()
    process: subprocess.Popen[bytes] | None = None
    received: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        received.append(number)
        if process is not None:
            process.send_signal(number)

    handled = [number for number in PASSED_ON if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in handled}
    try:
        command = [sys.executable, "-c", ENTRY, *step.command[3:]]
        process = subprocess.Popen(command, process_group=0)  # noqa: S603 (our own command)
        for number in received:  # while it started
            process.send_signal(number)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    received += [number for number in handled if code in (128 + number, -number)]  # sent to the command only
    if received:
        raise Interrupted(f"stopped while this ran: {step.title}", received[0])
    if code != 0:
        failure = f"{step.title} ended with exit code {code}"
        if step.needed:
            raise JudgeError(f"stopped: {failure}")
        say(f"{failure}; continuing without it")
    return time.monotonic() - begin
