"""Training on a CPU beside another busy process: OpenMP threads that wait passively, and actively.

    python -m tests.bench.waiting
    python -m tests.bench.waiting --turns 0     # only what waiting costs while there is nothing to do

Trains two copies of a small random model with one thread a core, one with torch's defaults and one with
``OMP_WAIT_POLICY=active``: alone, and beside a process of the lowest priority (``nice -n 19``) that only
computes, started by the same terminal session and by another (Linux shares the cores between sessions first,
and ``nice`` counts within one alone). The two take turns of a few steps, stopped (SIGSTOP) while the other
trains, so that whatever else the machine does falls on both. Prints seconds a step, the ratio in each turn,
and the machine's load before; with others at work it is their share that is measured. Then the CPU that a
process takes which has computed and has nothing to do, as a server between two requests. A minute or two on
a quiet machine; several when a process of another session slows it.
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import time
from threading import Thread

SIDES = {
    "default": {},
    # The first is read by GNU's OpenMP, which torch's wheels bring; the other by Intel's and LLVM's.
    "active": {"OMP_WAIT_POLICY": "active", "KMP_BLOCKTIME": "infinite"},
}
BUSY = ["nice", "-n", "19", sys.executable, "-c", "while True: pass"]
BESIDE = ("alone", "beside a niced process", "beside one of another session")


def train() -> None:
    """Train a small decoder for ever, rows of 256 tokens, one a step; a line for every step."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=512, hidden_size=576, intermediate_size=1536, num_hidden_layers=4, num_attention_heads=9,
        num_key_value_heads=3,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    ids = torch.randint(0, config.vocab_size, (1, 256))
    while True:
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(flush=True)


def idle(seconds: float) -> float:
    """The share of a core that this process takes while it sleeps, its threads having computed."""
    import torch

    torch.randn(1024, 1024).exp().sum()
    used, start = time.process_time(), time.perf_counter()
    time.sleep(seconds)
    return (time.process_time() - used) / (time.perf_counter() - start)


def environment(side: str) -> dict[str, str]:
    """This process's, with what a side sets and nothing else of its kind."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_"))}
    return {**known, **SIDES[side]}


class Training:
    """A process that trains when it is let; ``steps`` counts."""

    def __init__(self, side: str):
        command = [sys.executable, "-m", "tests.bench.waiting", "--train"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(side))
        self.steps = 0
        Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        assert self.process.stdout is not None
        for _ in self.process.stdout:
            self.steps += 1

    def turn(self, steps: int) -> float:
        """Seconds a step."""
        before, start = self.steps, time.perf_counter()
        self.process.send_signal(signal.SIGCONT)
        while self.steps < before + steps:
            if self.process.poll() is not None:
                raise RuntimeError("the training ended; its error stands above")
            time.sleep(0.005)
        seconds = time.perf_counter() - start
        done = self.steps - before
        self.process.send_signal(signal.SIGSTOP)
        return seconds / done


def compare(turns: int, steps: int) -> dict[tuple[str, str], list[float]]:
    """Seconds a step in each turn, by what is at work beside the training, and by side."""
    found: dict[tuple[str, str], list[float]] = {}
    busy = [subprocess.Popen(BUSY), subprocess.Popen(BUSY, start_new_session=True)]
    at_work = dict(zip(BESIDE, (None, *busy), strict=True))
    for process in busy:
        process.send_signal(signal.SIGSTOP)
    sides: dict[str, Training] = {}
    try:
        for side in SIDES:
            sides[side] = Training(side)
            sides[side].turn(3)  # to warm up
        for _ in range(turns):
            for beside, busy_one in at_work.items():
                if busy_one:
                    busy_one.send_signal(signal.SIGCONT)
                for side, training in sides.items():
                    found.setdefault((beside, side), []).append(training.turn(steps))
                if busy_one:
                    busy_one.send_signal(signal.SIGSTOP)
    finally:
        for process in (*busy, *(one.process for one in sides.values())):
            process.kill()
            process.wait()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=6, help="of each side, alone and beside")
    parser.add_argument("--steps", type=int, default=12, help="of a turn")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--idle", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.train:
        train()
    if given.idle:
        print(idle(3.0))
        return
    print(f"{len(os.sched_getaffinity(0))} cores; load before: {os.getloadavg()[0]:.1f}\n")
    if given.turns:
        found = compare(given.turns, given.steps)
        print("| | default | active | default / active | in each turn |")
        print("| --- | ---: | ---: | ---: | --- |")
        for beside in BESIDE:
            one, two = (found[beside, side] for side in SIDES)
            turns = ", ".join(f"{a / b:.2f}" for a, b in zip(one, two, strict=True))
            means = [statistics.mean(times) for times in (one, two)]
            cells = (f"{means[0]:.3f} s a step", f"{means[1]:.3f} s a step", f"{means[0] / means[1]:.2f}")
            print(f"| {beside} | {' | '.join(cells)} | {turns} |")
    for side in SIDES:
        command = [sys.executable, "-m", "tests.bench.waiting", "--idle"]
        run = subprocess.run(command, env=environment(side), capture_output=True, text=True, check=True)
        print(f"{side}: {float(run.stdout):.0%} of a core with nothing to do")


if __name__ == "__main__":
    main()
