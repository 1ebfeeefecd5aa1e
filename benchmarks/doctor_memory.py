"""The accuracy of ``judge doctor``: its estimates next to the peak memory of real training runs.

    python -m benchmarks.doctor_memory MODEL... [--tokens 1024]

Each run is a few steps on synthetic rows, in a fresh process. Its peak on a CPU is the growth in resident
memory since its imports; on a GPU it is what PyTorch reserved plus what was in use before. Rows fill
``--tokens`` tokens, an eighth of them completion, as the estimate assumes. Prints a Markdown table.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from judge.models.architecture import read_architecture
from judge.models.hardware import GIB, this_device
from judge.training.config import DPORecipe, SFTRecipe, TrainingConfig
from judge.training.memory import estimate

RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "SFT": ("sft", {}),
    "SFT, two rows a batch": ("sft", {"batch_size": 2}),
    "SFT, checkpointing": ("sft", {"gradient_checkpointing": True}),
    "SFT, float32": ("sft", {"precision": "float32"}),
    "DPO": ("dpo", {}),
    "DPO, checkpointing": ("dpo", {"gradient_checkpointing": True}),
}


def resident(field: str) -> int:
    """Bytes of this process's memory: ``VmRSS`` now, ``VmHWM`` at its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("no /proc/self/status here; this runs on Linux")


def write_rows(folder: Path, model: str, tokens: int) -> None:
    """Write four documents with two SFT rows and one preference pair each, as long as the estimate assumes.

    Two SFT rows share their prompt and take ``tokens`` tokens together; so do a pair's prompt and a reply.
    """
    from judge.models.weights import load_tokenizer
    from judge.prompting.rendering import Renderer

    tokenizer = load_tokenizer(model)
    renderer = Renderer(tokenizer)
    word = " tower"
    length = len(tokenizer(word * 8)["input_ids"]) / 8

    def prompt(limit: int) -> list[dict[str, str]]:
        text = word * int(limit / length)
        while renderer.count([{"role": "user", "content": text}]) > limit - 8:
            text = text[: -len(word)]
        return [{"role": "user", "content": text}]

    def reply(first: str, count: int) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": first + word * int((count - 8) / length)}]

    replies = tokens // 8
    rows: dict[str, list[dict[str, Any]]] = {
        "sft": [
            {"prompt": prompt(tokens - replies), "completion": reply(first, replies // 2)}
            for first in ("PASS", "FAIL")
        ],
        "dpo": [
            {
                "prompt": prompt(tokens - replies),
                "chosen": reply("PASS", replies),
                "rejected": reply("FAIL", replies),
            }
        ],
    }
    for stage, about_one in rows.items():
        (folder / stage).mkdir(parents=True)
        with (folder / stage / "train.jsonl").open("w") as stream:
            for group in range(4):
                for row in about_one:
                    stream.write(json.dumps({"id": str(group), "group": str(group), **row}) + "\n")


def settings(stage: str, model: str, folder: Path, tokens: int, changes: dict[str, Any]) -> dict[str, Any]:
    """The recipe of one run."""
    return {
        "model": model,
        "data": str(folder / "data"),
        "output": str(folder / "out"),
        "without_leak_gate": True,
        "max_length": tokens,
        **({"sequence_tokens": tokens} if stage == "sft" else {}),
        "precision": "bfloat16",
        "batch_size": 1,
        "max_steps": 2,
        "trainer": {"logging_steps": 1},
        "evaluations": 0,
        **changes,
    }


def measure(stage: str, recipe: dict[str, Any]) -> dict[str, float]:
    """Train in this process; returns the ``peak`` and the ``estimate`` in bytes."""
    kind = SFTRecipe if stage == "sft" else DPORecipe
    values = kind.model_validate(recipe)
    peak = measured(stage, values)
    return {"peak": peak, "estimate": estimate(values, read_architecture(values.model), this_device()).total}


def measured(stage: str, recipe: TrainingConfig) -> int:
    """Train in this process; returns the peak in bytes."""
    import datasets  # noqa: F401 (its memory belongs to the baseline)
    import peft  # noqa: F401
    import torch
    from transformers import AutoModelForCausalLM  # noqa: F401
    from trl import DPOConfig, SFTConfig  # noqa: F401

    import judge.training.trainer  # noqa: F401
    from judge.training.dpo import train_dpo
    from judge.training.sft import train_sft

    train: Any = train_sft if stage == "sft" else train_dpo
    if torch.cuda.is_available():
        free, total = torch.cuda.mem_get_info()  # creates the context
        train(recipe)
        return total - free + torch.cuda.max_memory_reserved()
    base = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
    train(recipe)
    return resident("VmHWM") - base


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("models", nargs="*", help="model folders")
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--only", default="", help="runs whose name holds this")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    if parsed.child:
        stage, recipe = parsed.child
        print(f"\n{json.dumps(measure(stage, json.loads(recipe)))}")
        return

    print("| model | run | measured GiB | estimate GiB | off |\n| --- | --- | --- | --- | --- |")
    for model in parsed.models:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            write_rows(folder / "data", model, parsed.tokens)
            for name, (stage, changes) in RUNS.items():
                if parsed.only not in name:
                    continue
                recipe = settings(stage, model, folder, parsed.tokens, changes)
                command = [sys.executable, __file__, "--child", stage, json.dumps(recipe)]
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
                if done.returncode:
                    raise SystemExit(done.stderr)
                found = json.loads(done.stdout.splitlines()[-1])
                peak, expected = found["peak"], found["estimate"]
                print(
                    f"| {Path(model).name} | {name} | {peak / GIB:.2f} | {expected / GIB:.2f} "
                    f"| {100 * (expected / peak - 1):+.0f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
