"""One process against two: {SFT, DPO} x {LoRA, full} under DDP, ZeRO-2, ZeRO-3 and FSDP2, resumed runs too.

    python -m tests.bench.launch
    python -m tests.bench.launch optimizer=lion gradient_checkpointing=true learning_rate=1e-4 --setups FSDP2

Every setup is an ``accelerate launch`` with the project's own config, on two GPUs where there are two, else
on the CPU over gloo. Runs are in float32 at the same global batch, on a tiny random model, with evaluations
and checkpoints; each is done once without a break, once stopped half-way by a SIGTERM to one process and then
resumed, and once with a weight that becomes no number in one process, which has to end it. Prints a Markdown
table: the loss of the last step; how far the losses of all steps and evaluations are from those of one
process, and the weights; how far the resumed run is from the unbroken one, in both; whether the broken weight
was found. A combination that is refused shows why.

Within a launch every run is a fork of its process: the libraries, which take seconds, are loaded once.
accelerate runs FSDP on GPUs alone; on a CPU this bench tells it that gloo is a GPU's backend.
"""

import argparse
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from tests.bench.training_drill import prepare

ROOT = Path(__file__).resolve().parents[2]
SETUPS = {  # the launch config on a CPU, and on GPUs
    "one process": ("cpu", "single_gpu"),
    "DDP": ("cpu_ddp", "ddp"),
    "ZeRO-2": ("zero2", "zero2"),
    "ZeRO-3": ("zero3", "zero3"),
    "FSDP2": ("fsdp2", "fsdp2"),
}
KINDS = {"sft LoRA": True, "sft full": False, "dpo LoRA": True, "dpo full": False}
GLOBAL_BATCH, ACCUMULATION = 4, 2
TOLERANCE, SAME = 1e-3, 1e-6  # of losses from one process; of a resumed run
LIMIT = 300  # seconds for one run


# --- Within a launched process ------------------------------------------------------------------------------


def work(folder: Path, setup: str, steps: int, overrides: list[str]) -> None:
    """Every run of a setup, one after the other, each in a fork of this process."""
    import judge.training.callbacks
    import judge.training.trainer  # noqa: F401 (loaded here, the forks need not)

    if setup.startswith("ZeRO") and not os.environ.get("CUDA_VISIBLE_DEVICES", "all"):
        leave_cpus_to_gloo()
    fork = multiprocessing.get_context("fork")
    port = int(os.environ.get("MASTER_PORT", "29500"))
    os.environ.pop("TORCHELASTIC_USE_AGENT_STORE", None)  # each run meets at a port of its own
    for name in KINDS:
        for life in ("whole", "stopped", "resumed", "spoiled"):
            if setup == "one process" and life != "whole":
                continue
            port += 1
            os.environ["MASTER_PORT"] = str(port)
            process = fork.Process(target=live, args=(folder, setup, name, life, steps, overrides))
            process.start()
            process.join(LIMIT)
            process.kill()
            process.join()


def live(folder: Path, setup: str, name: str, life: str, steps: int, overrides: list[str]) -> None:
    """One run, or its part before or after a stop, with its output in a file beside the judge."""
    from judge.configs import make_config
    from judge.errors import JudgeError
    from judge.training import callbacks
    from judge.training.config import DPORecipe, SFTRecipe
    from judge.training.dpo import train_dpo
    from judge.training.sft import train_sft

    rank, processes = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    output = output_of(folder, setup, name, life)
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.with_name(f"{output.name}-{life}-{rank}.log").open("ab", buffering=0) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    if setup == "FSDP2":
        let_fsdp_run_on_a_cpu()
    if life in ("stopped", "spoiled") and rank == processes - 1:
        callbacks.Durability = meddling(life, steps)  # type: ignore[misc]
    recipe = {
        "model": str(folder / "model"),
        "data": str(folder / "data"),
        "output": str(output),
        "without_leak_gate": True,
        "precision": "float32",
        "lora": {"rank": 4, "alpha": 8} if KINDS[name] else None,
        "batch_size": GLOBAL_BATCH // ACCUMULATION // processes,
        "gradient_accumulation": ACCUMULATION,
        "max_steps": steps,
        "learning_rate": 1e-3 if name.startswith("sft") else 1e-4,
        "logging_steps": 1,
        "evaluations": 2,
        "judged_samples": 8,
        "checkpoints": 2,
        "resume": life == "resumed",
    }
    try:
        if name.startswith("sft"):
            train_sft(make_config(SFTRecipe, recipe, overrides))
        else:
            train_dpo(make_config(DPORecipe, recipe, overrides))
    except JudgeError as error:
        print(f"error: {error}", flush=True)
        os._exit(error.exit_code)
    os._exit(0)


def meddling(life: str, steps: int) -> Any:
    """Durability in a process that gets a SIGTERM half-way, or has a broken weight before a checkpoint."""
    from judge.training.callbacks import Durability
    from judge.training.weights import own_part

    class Meddling(Durability):
        def on_step_end(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
            if life == "stopped" and state.global_step == steps // 2:
                signal.raise_signal(signal.SIGTERM)
            super().on_step_end(args, state, control, **parts)
            if life == "spoiled" and control.should_save:
                own = (own_part(value) for value in parts["model"].parameters() if value.requires_grad)
                next(part for part in own if part.numel()).data[0] = float("nan")

    return Meddling


def leave_cpus_to_gloo() -> None:
    """DeepSpeed has all-reduce kernels of its own for CPUs, which it would compile first, for minutes."""
    backend = import_module("deepspeed.comm.torch")  # as an attribute the name is torch's
    backend.build_shm_op = lambda: None  # type: ignore[attr-defined]


def let_fsdp_run_on_a_cpu() -> None:
    """accelerate shards under the types of GPUs alone: make it take gloo on the CPU for one."""
    import torch
    from accelerate.state import DistributedType, PartialState

    if torch.cuda.is_available():
        return

    def backend(*_: Any, **__: Any) -> tuple[str, DistributedType]:
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("gloo")
        return "gloo", DistributedType.MULTI_GPU

    PartialState._prepare_backend = backend
    os.environ["ACCELERATE_TORCH_DEVICE"] = "cpu"


# --- Around them --------------------------------------------------------------------------------------------


def output_of(folder: Path, setup: str, name: str, life: str) -> Path:
    """Where a run leaves its judge; a stopped run and its resumption are one."""
    return folder / f"{setup} {name} {'resumed' if life == 'stopped' else life}".replace(" ", "-")


def launch(folder: Path, setup: str, settings: argparse.Namespace) -> None:
    """All runs of a setup; what went wrong in one is read from its files."""
    import torch

    gpus = torch.cuda.device_count() >= 2
    file = ROOT / "accelerate_configs" / f"{SETUPS[setup][gpus]}.yaml"
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    processes = 1 if setup == "one process" else 2
    config |= {"num_processes": processes, "use_cpu": not gpus}
    (folder / file.name).write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(folder / file.name)]
    command += ["-m", "tests.bench.launch", "--work", str(folder), setup, "--steps", str(settings.steps)]
    environment = {
        **os.environ,
        "TQDM_DISABLE": "1",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    environment["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # asks for GPUs without starting CUDA before a fork
    if not gpus:
        environment |= {"OMP_NUM_THREADS": "1", "DS_ACCELERATOR": "cpu", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [*command, *settings.overrides],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")


def losses_of(output: Path) -> list[float]:
    """Training and validation losses, in the order of the log."""
    history = json.loads((output / "judge.json").read_text())["training"]["losses"]
    return [entry[key] for entry in history for key in ("loss", "eval_loss") if key in entry]


def weights_apart(one: Path, other: Path) -> float:
    """Largest absolute difference of two judges' weights."""
    from safetensors.torch import load_file

    first, second = (
        {name: value for file in path.glob("*.safetensors") for name, value in load_file(file).items()}
        for path in (one, other)
    )
    assert first.keys() == second.keys() and first, first.keys() ^ second.keys()
    return max(float((first[name].float() - second[name].float()).abs().max()) for name in first)


def failure(output: Path) -> str:
    """Why a run has no judge: our own error, or the last line of a traceback."""
    lines = [
        line
        for log in sorted(output.parent.glob(f"{output.name}-*.log"))
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    refused = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    broken = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    return f"refused: {refused[0]}" if refused and not broken else f"FAILED: {(broken or lines or ['?'])[0]}"


def row(folder: Path, setup: str, name: str) -> tuple[str, bool]:
    """A line of the table, and whether it is as it should be."""
    whole, resumed, spoiled = (
        output_of(folder, setup, name, life) for life in ("whole", "resumed", "spoiled")
    )
    if not (whole / "judge.json").is_file():
        why = failure(whole)
        return f"| {name} | {setup} | {why} | | | | | |", why.startswith("refused")
    losses = losses_of(whole)
    if setup == "one process":
        return f"| {name} | {setup} | {losses[-2]:.5f} | | | | | |", True
    alone = output_of(folder, "one process", name, "whole")
    apart = furthest(losses, losses_of(alone))
    start = f"| {name} | {setup} | {losses[-2]:.5f} | {apart:.1e} | {weights_apart(whole, alone):.1e}"
    if not (resumed / "judge.json").is_file():
        return f"{start} | {failure(resumed)} | | |", False
    again = furthest(losses_of(resumed), losses), weights_apart(resumed, whole)
    found = "a weight became no number" in failure(spoiled) and not (spoiled / "judge.json").exists()
    line = f"{start} | {again[0]:.1e} | {again[1]:.1e} | {'yes' if found else 'NO: ' + failure(spoiled)} |"
    return line, apart <= TOLERANCE and max(again) <= SAME and found


def furthest(one: list[float], other: list[float]) -> float:
    """Largest absolute difference of two lists of losses."""
    return max(abs(mine - its) for mine, its in zip(one, other, strict=True))


def main() -> int:
    """Run everything and print the table; 1 if a row is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--setups", nargs="+", choices=list(SETUPS)[1:], default=list(SETUPS)[1:])
    parser.add_argument("--keep", type=Path, help="folder for runs and logs")
    parser.add_argument("--work", nargs=2, metavar=("FOLDER", "SETUP"), help=argparse.SUPPRESS)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="changes of every recipe")
    settings = parser.parse_intermixed_args()
    if settings.work:
        work(Path(settings.work[0]), settings.work[1], settings.steps, settings.overrides)
        return 0
    print("| run | setup | last loss | off alone: losses | weights | resumed: losses | weights | NaN found |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = settings.keep or Path(name)
        prepare(folder)
        for setup in ["one process", *settings.setups]:
            launch(folder, setup, settings)
            for kind in KINDS:
                line, right = row(folder, setup, kind)
                print(line, flush=True)
                good &= right
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
