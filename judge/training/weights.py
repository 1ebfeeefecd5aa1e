"""Writes weights as safetensors, and moves them into the folder of the finished judge."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge.errors import JudgeError
from judge.models.trained_on import FILE
from judge.training.checkpoints import remove, sync

STALE = (
    "adapter_*", "model*.safetensors*", "config.json", "generation_config.json", FILE,
    "token_head.safetensors", "packed.safetensors", "chat_template.jinja", "tokenizer*",
    "special_tokens_map.json", "added_tokens.json", "vocab*", "merges.txt", "*.model",
)  # fmt: skip
"""Files of an earlier judge in the same folder that could be mistaken for parts of the new one."""


@contextmanager
def saving_to(folder: Path) -> Iterator[None]:
    """Turns a failed write within the block into one clear error, and removes the half-written folder.

    Raises:
        JudgeError: if the disk is full or cannot be written.
    """
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:  # torch's own writer raises the second
        remove(folder)
        reason = str(error).partition("\n")[0]
        raise JudgeError(
            f"{folder}: could not be written ({reason:.200}). What was complete before is kept; free space "
            "and continue with resume=true"
        ) from error


def save_weights(trainer: Any, folder: Path) -> None:
    """Write the model in training, or its adapter, with its tokenizer. Every process has to call this.

    Raises:
        JudgeError: if the disk is full or cannot be written.
    """
    main = trainer.is_world_process_zero()
    with saving_to(folder):
        if main:
            remove(folder)
        trainer.accelerator.wait_for_everyone()
        with _whole_weights(trainer):
            trainer.save_model(str(folder))
        if main:
            for name in ("training_args.bin", "README.md"):  # a pickle, and an empty card
                (folder / name).unlink(missing_ok=True)
            sync(folder)
        trainer.accelerator.wait_for_everyone()


@contextmanager
def _whole_weights(trainer: Any) -> Iterator[None]:
    """Let FSDP write full weights within the block; it may write checkpoints in parts."""
    plugin = trainer.accelerator.state.fsdp_plugin if trainer.is_fsdp_enabled else None
    if plugin is None:
        yield
        return
    before = plugin.state_dict_type
    plugin.set_state_dict_type("FULL_STATE_DICT")
    try:
        yield
    finally:
        plugin.set_state_dict_type(before)


def own_part(parameter: Any) -> Any:
    """What this process holds of a weight: its shard under ZeRO-3 and FSDP, else all of it.

    Under ZeRO-3 the parameter itself is empty between two passes, and its shard is padded to a common length
    with meaningless numbers.
    """
    if hasattr(parameter, "ds_tensor"):
        shard = parameter.ds_tensor.flatten()
        return shard[: max(0, parameter.ds_numel - parameter.ds_zero_partition_rank * shard.numel())]
    held = parameter.detach()
    return held.to_local() if hasattr(held, "to_local") else held


def move_into(output: Path, ready: Path) -> None:
    """Move every file of a finished folder to the output, replacing what is there."""
    names = {path.name for path in ready.iterdir()}
    for pattern in STALE:
        for path in output.glob(pattern):
            if path.name not in names:
                path.unlink()
    for path in [*ready.iterdir()]:
        path.replace(output / path.name)
    ready.rmdir()
    sync(output)


def link_folder(folder: Path, target: Path) -> None:
    """Copy a folder with hard links, which take no space, if the file system has them."""
    remove(target)
    shutil.copytree(folder, target, copy_function=_link)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
