"""Checkpoints that can be trusted: a folder counts only once its mark is written, which happens last.

Until the judge is finished, the output folder of a run holds:

    checkpoint-40/    weights, optimizer, scheduler, random state and log after step 40, as transformers
                      writes them, and the mark: complete.json
    best-20/          weights of the best evaluation, here after step 20

A kill can leave a folder half-written, but never a half-written folder with a mark.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import JUDGE_FILE, differences, read_json, read_whole, sha256_file, write_json
from judge.models.base import model_fingerprint
from judge.training.config import RunConfig

MARK = "complete.json"
KEPT = 2
"""Complete checkpoints that are kept."""
# Recipe keys that do not affect the weights; data is compared by its content, not its path.
NEUTRAL = {
    "resume", "overwrite", "checkpoints", "max_minutes", "output", "data", "without_leak_gate",
    "max_cut_share",
}  # fmt: skip
_IN_THE_WAY = ("checkpoint-*", "best-*", "*.safetensors", "config.json", "README.md", "manifest.json")
"""Somebody's files that a run would remove or replace, or a folder that is a model or a data set already."""
SHOWING = {"logging_steps", "report_to", "dataloader_pin_memory", "dataloader_num_workers"}
"""Arguments of the trainer that do not affect the weights either."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A complete checkpoint: its folder and the content of its mark.

    ``run`` is :func:`describe_run` of the run that wrote it, ``seconds`` its training time and ``best`` its
    best evaluation up to then, if any.
    """

    folder: Path
    step: int
    run: dict[str, Any]
    seconds: float
    best: dict[str, Any] | None


def describe_run(recipe: RunConfig, stage: str) -> dict[str, Any]:
    """Everything that determines the weights of a run, as JSON values: recipe, data, start, processes."""
    names = (f"{stage}/train.jsonl", f"{stage}/validation.jsonl", "samples.jsonl")
    files = {name: Path(recipe.data) / name for name in names}
    return {
        "stage": stage,
        "processes": int(os.environ.get("WORLD_SIZE", "1")),
        "recipe": _deciding(recipe.model_dump(mode="json")),
        "data": {name: sha256_file(file) for name, file in files.items() if file.is_file()},
        # Calibrating a judge does not make it another start.
        "start": model_fingerprint(recipe.model, without=(JUDGE_FILE,)),
    }


def _deciding(recipe: dict[str, Any]) -> dict[str, Any]:
    trainer = {name: value for name, value in recipe.get("trainer", {}).items() if name not in SHOWING}
    return {name: value for name, value in {**recipe, "trainer": trainer}.items() if name not in NEUTRAL}


def complete_checkpoints(output: Path) -> list[Checkpoint]:
    """The complete checkpoints of a folder, by step."""
    found = []
    for mark in output.glob(f"checkpoint-*/{MARK}"):
        if values := read_whole(mark):  # damaged, it counts as missing
            found.append(Checkpoint(folder=mark.parent, **values))
    return sorted(found, key=lambda checkpoint: checkpoint.step)


def resume_point(recipe: RunConfig, run: dict[str, Any]) -> Checkpoint | None:
    """The checkpoint that a run resumes from; ``None`` to start from scratch.

    Raises:
        InputError: if the run is already finished, the checkpoints in its output are from another run, or a
            fresh start would overwrite checkpoints or a finished judge.
    """
    output = Path(recipe.output)
    if any(
        output.exists() and Path(used).exists() and output.samefile(used)
        for used in (recipe.model, recipe.data)
    ):
        raise InputError("is the recipe's own model or data; give another output", file=output)
    if recipe.overwrite and recipe.resume:
        raise InputError("overwrite=true removes what resume=true continues with; omit one of them")
    if recipe.overwrite:
        return None
    found = complete_checkpoints(output)
    if not recipe.resume:
        if found:
            raise InputError(
                f"holds {found[-1].folder.name} of a run that is not finished; resume=true continues from "
                "there; to start again, add overwrite=true or give another output",
                file=output,
            )
        if (output / JUDGE_FILE).is_file():
            raise InputError("holds a trained judge; give another output, or add overwrite=true", file=output)
        if there := sorted(path.name for name in _IN_THE_WAY for path in output.glob(name)):
            raise InputError(
                f"holds {there[0]}, which a run would replace or remove; give another output, or add "
                "overwrite=true",
                file=output,
            )
        return None
    if finished_run(recipe, run) is not None:
        raise InputError("is finished; nothing is left to resume", file=output)
    if not found:
        return None
    _refuse_changes(found[-1].run, run, found[-1].folder)
    return found[-1]


def finished_run(recipe: RunConfig, run: dict[str, Any]) -> dict[str, Any] | None:
    """The content of ``judge.json`` if a run that is to be resumed is already finished; else ``None``.

    Raises:
        InputError: if the finished judge came from another recipe or other data.
    """
    file = Path(recipe.output) / JUDGE_FILE
    if not recipe.resume or not file.is_file() or complete_checkpoints(file.parent):
        return None
    identity = read_json(file)
    before = {"stage": identity["stage"], "recipe": _deciding(identity["recipe"])}
    before |= {"processes": identity.get("processes"), "data": identity.get("data_sha256", {})}
    before["start"] = identity.get("start_fingerprint")
    _refuse_changes(before, run, file)
    return identity


def _refuse_changes(before: dict[str, Any], now: dict[str, Any], file: Path) -> None:
    if None in (before.get("start"), now.get("start")):  # from the Hub, or saved by an earlier version
        before, now = {**before, "start": None}, {**now, "start": None}
    if found := differences(before, now):
        raise InputError(
            f"comes from another run: {'; '.join(found)}. Undo the change, or give another output", file=file
        )


def mark_complete(
    folder: Path, *, step: int, run: dict[str, Any], seconds: float, best: dict[str, Any] | None
) -> None:
    """Flush all of a checkpoint to the disk, then mark it complete."""
    sync(folder)
    write_json(folder / MARK, {"step": step, "run": run, "seconds": seconds, "best": best})
    sync(folder)


def clean(output: Path, best: int | None) -> None:
    """Remove half-written checkpoints, all but the last complete ones, and weights none of these refers to.

    Args:
        output: folder of the run.
        best: step of the best evaluation so far, whose weights are kept.
    """
    kept = complete_checkpoints(output)[-KEPT:]
    steps = {best} | {checkpoint.best["step"] for checkpoint in kept if checkpoint.best}
    names = {checkpoint.folder.name for checkpoint in kept} | {f"best-{step}" for step in steps}
    for folder in [*output.glob("checkpoint-*"), *output.glob("best-*")]:
        if folder.name not in names:
            remove(folder)


def remove_all(output: Path) -> None:
    """Remove all checkpoints and weights of evaluations from the folder of a run."""
    for folder in [*output.glob("checkpoint-*"), *output.glob("best-*")]:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, its mark first, so that what remains after a kill does not count as complete."""
    (folder / MARK).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def sync(folder: Path) -> None:
    """Flush a folder and everything in it to the disk, so that it survives a power cut."""
    for path in [*folder.rglob("*"), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
