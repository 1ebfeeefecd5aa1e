"""One process against two: SFT and DPO with prefix sharing under DDP, DeepSpeed ZeRO-2 and ZeRO-3, on a CPU.

    python tests/bench/launch.py --model runs/demo/model --steps 6

Every run is an ``accelerate launch`` with the project's own config, in float32, at the same global batch.
Prints a Markdown table with the loss of the last step, the largest difference of any step from one process,
and that of the saved adapters. DeepSpeed compiles its CPU kernels at its first run, which takes minutes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import yaml
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parents[2]
SETUPS = {"one process": "cpu", "DDP": "cpu_ddp", "ZeRO-2": "zero2", "ZeRO-3": "zero3"}
GLOBAL_BATCH = 4


def make_data(folder: Path) -> None:
    """Rows and pairs about starter documents; as many documents as fill whole batches."""
    from data_pipeline.build import build
    from data_pipeline.config import DataConfig

    config = {
        "output": str(folder),
        "sources": [{"kind": "starter", "languages": ["en"], "tasks": ["qa"], "limit": 60}],
        "modes": {"verdict": 1.0, "reason": 0.25},
        "preferences": {"pairs": 24},
    }
    build(DataConfig.model_validate(config))


def train(stage: str, setup: str, arguments: argparse.Namespace, folder: Path) -> tuple[list[float], Path]:
    """Launch one run; returns its losses and where its adapter lies."""
    processes = 1 if setup == "one process" else 2
    output = folder / f"{stage}-{SETUPS[setup]}"
    recipe = {
        "model": arguments.model,
        "data": str(folder / "data"),
        "without_leak_gate": True,
        "output": str(output),
        "precision": "float32",
        "lora": {"rank": 8, "alpha": 16},
        "max_length": 2048,
        "batch_size": GLOBAL_BATCH // processes,
        "max_steps": arguments.steps,
        "learning_rate": 1e-3 if stage == "sft" else 1e-4,
        "logging_steps": 1,
        "evaluations": 0,
    }
    file = folder / f"{output.name}.yaml"
    file.write_text(yaml.safe_dump(recipe))
    config = ROOT / "accelerate_configs" / f"{SETUPS[setup]}.yaml"
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config)]
    command += ["--num_processes", str(processes), str(ROOT / "recipes" / f"{stage}.py"), str(file)]
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "DS_ACCELERATOR": "cpu"}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{run.stderr[-4000:]}")
    history = json.loads((output / "judge.json").read_text())["training"]["losses"]
    return [entry["loss"] for entry in history if "loss" in entry], output


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--setups", nargs="+", choices=list(SETUPS)[1:], default=list(SETUPS)[1:])
    arguments = parser.parse_args()
    print("| stage | setup | last loss | losses differ by | weights differ by |")
    print("| --- | --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data(folder / "data")
        for stage in ("sft", "dpo"):
            expected, reference = train(stage, "one process", arguments, folder)
            print(f"| {stage} | one process | {expected[-1]:.5f} | | |", flush=True)
            for setup in arguments.setups:
                losses, output = train(stage, setup, arguments, folder)
                apart = max(abs(mine - other) for mine, other in zip(losses, expected, strict=True))
                weights = [load_file(path / "adapter_model.safetensors") for path in (output, reference)]
                assert weights[0].keys() == weights[1].keys()
                shift = max(
                    (weights[0][key].float() - weights[1][key].float()).abs().max().item()
                    for key in weights[1]
                )
                print(f"| {stage} | {setup} | {losses[-1]:.5f} | {apart:.1e} | {shift:.1e} |", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
