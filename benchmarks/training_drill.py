"""Kills training runs at random moments, also while saving, resumes them, and compares with undisturbed runs.

    python -m benchmarks.training_drill --kills 20 --steps 40

For SFT and DPO, on a tiny random model in float32 with dropout, one run is undisturbed, and one is killed
with SIGKILL many times before it may finish, every second time while a checkpoint is written. Both runs must
end with the same weights, the same evaluations and a clean folder. SFT runs a second time with the weights of
its best evaluation, which have to survive the kills too.
"""

import argparse
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.tiny_data import build_towers, training

TOLERANCE = 1e-5
INTERVAL = 2  # steps between checkpoints
SAVING = 0.12  # approximate seconds to write a checkpoint of this model
RUNS = (("sft", False), ("dpo", False), ("sft", True))  # stage, and whether the best weights are kept
FORK = multiprocessing.get_context("fork")  # so that the libraries are only loaded once


@dataclass(frozen=True, slots=True)
class Drill:
    """The result of one killed run.

    ``half_written``: kills that left a checkpoint without its mark; ``at_steps``: steps at which the run
    started or resumed; ``difference``: largest absolute difference between the weights of the two runs;
    ``same_evaluations``: all validation figures are equal; ``left``: files that only one output has.
    """

    stage: str
    keep_best: bool
    kills: int
    half_written: int
    at_steps: list[int]
    difference: float
    same_evaluations: bool
    left: list[str]

    @property
    def good(self) -> bool:
        return self.difference <= TOLERANCE and self.same_evaluations and not self.left


def prepare(folder: Path) -> None:
    """Make a tiny model, and a data set about two dozen short documents."""
    from tests.conftest import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer("chatml")
    tiny_model(tokenizer).save_pretrained(folder / "model")
    tokenizer.save_pretrained(folder / "model")
    build_towers(folder, documents=24, pairs=24)


def train(folder: Path, output: Path, stage: str, keep_best: bool, steps: int, resume: bool) -> None:
    """Train from the start, or from the last checkpoint, to the end or to a kill."""
    from judge.training.config import DPORecipe, SFTRecipe
    from judge.training.dpo import train_dpo
    from judge.training.sft import train_sft

    settings = training(
        folder / "model",
        folder / "data",
        output,
        lora={"rank": 4, "alpha": 8, "dropout": 0.1},
        gradient_accumulation=2,
        max_steps=steps,
        evaluations=5,
        judged_samples=8,
        keep_best=keep_best,
        checkpoints=steps // INTERVAL - 1,
        resume=resume,
    )
    if stage == "sft":
        train_sft(SFTRecipe.model_validate(settings))
    else:
        train_dpo(DPORecipe.model_validate(settings))


def life(log: Path, begun: Any, work: Callable[..., None], *arguments: Any) -> None:
    """Body of a child process: runs quietly, and signals when its first step begins."""
    import torch

    from judge.training import callbacks

    torch.set_num_threads(1)
    with log.open("ab") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)

    class Watched(callbacks.Durability):
        def on_train_begin(self, *_: Any, **__: Any) -> None:
            begun.set()

    callbacks.Durability = Watched  # type: ignore[misc]
    work(*arguments)


def start(folder: Path, work: Callable[..., None], *arguments: Any) -> tuple[Any, Any]:
    """A child process and the event of its first step."""
    begun = FORK.Event()
    process = FORK.Process(target=life, args=(folder / "log.txt", begun, work, *arguments))
    process.start()
    return process, begun


def finish(process: Any, folder: Path) -> None:
    process.join()
    if process.exitcode:
        raise SystemExit(f"a run failed:\n{(folder / 'log.txt').read_text()[-3000:]}")


def reached(output: Path) -> int:
    """The last step with a checkpoint, complete or not."""
    return max((int(path.name.partition("-")[2]) for path in output.glob("checkpoint-*")), default=0)


def half_written(output: Path) -> list[Path]:
    return [path for path in output.glob("checkpoint-*") if not (path / "complete.json").is_file()]


def drill(folder: Path, stage: str, keep_best: bool, steps: int, kills: int, seed: int) -> Drill:
    """An undisturbed run and one that is killed ``kills`` times."""
    from judge.training.checkpoints import complete_checkpoints

    rng = random.Random(f"{stage}-{keep_best}-{seed}")
    name = f"{stage}-{'best' if keep_best else 'last'}"
    alone, killed = folder / f"{name}-alone", folder / f"{name}-killed"
    process, begun = start(folder, train, folder, alone, stage, keep_best, steps, False)
    begun.wait(120)
    began = time.monotonic()
    finish(process, folder)
    seconds = time.monotonic() - began

    done, halves, at_steps = 0, 0, []
    targets = sorted(rng.randrange(steps - 2 * INTERVAL) for _ in range(kills))
    while done < kills:
        complete = complete_checkpoints(killed) if killed.is_dir() else []
        at_steps.append(complete[-1].step if complete else 0)
        process, begun = start(folder, train, folder, killed, stage, keep_best, steps, True)
        begun.wait(120)
        while process.is_alive() and reached(killed) < targets[done]:
            time.sleep(0.0005)
        # A checkpoint has just been begun: kill while it is written, or in the steps after it.
        time.sleep(rng.uniform(0, SAVING if done % 2 else INTERVAL * seconds / steps))
        process.kill()
        process.join()
        if process.exitcode == 0:  # it finished before the kill, and starts again
            shutil.rmtree(killed)
            continue
        done += 1
        halves += bool(half_written(killed))
    process, _ = start(folder, train, folder, killed, stage, keep_best, steps, True)
    finish(process, folder)
    return Drill(
        stage,
        keep_best,
        done,
        halves,
        at_steps,
        difference(alone, killed),
        evaluations(alone) == evaluations(killed),
        sorted({path.name for path in killed.iterdir()} ^ {path.name for path in alone.iterdir()}),
    )


def difference(one: Path, other: Path) -> float:
    """Largest absolute difference of two judges' weights."""
    from safetensors.torch import load_file

    first, second = (load_file(path / "adapter_model.safetensors") for path in (one, other))
    assert first.keys() == second.keys() and first
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def evaluations(folder: Path) -> Any:
    """The validation figures of a run, and its best evaluation."""
    training = json.loads((folder / "judge.json").read_text())["training"]
    return training["best"], [entry for entry in training["losses"] if "eval_loss" in entry]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=len(RUNS), help="how many of SFT, DPO, SFT best")
    settings = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "TQDM_DISABLE": "1"}
    import judge.training.callbacks
    import judge.training.trainer  # noqa: F401 (loaded once, for all children)

    good = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        process, _ = start(folder, prepare, folder)
        finish(process, folder)
        for stage, keep_best in RUNS[: settings.runs]:
            found = drill(folder, stage, keep_best, settings.steps, settings.kills, settings.seed)
            print(json.dumps(asdict(found)), flush=True)
            good &= found.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
