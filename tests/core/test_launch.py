"""Which device a process trains on: what the launcher asked for, what torch has, and nothing in silence."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judge.errors import InputError
from judge.models.hardware import GIB, this_device
from judge.training import launch
from judge.training.arguments import common_arguments, precision_of, weight_precision_of
from judge.training.config import EncoderRecipe, SFTRecipe
from judge.training.launch import check_gpu, obey_launcher, use_one_gpu
from tests.calling import Refused

ROOT = Path(__file__).resolve().parents[2]
MARKS = ("ACCELERATE_MIXED_PRECISION", "ACCELERATE_USE_CPU", "LOCAL_RANK", "CUDA_VISIBLE_DEVICES")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in MARKS:
        monkeypatch.setenv(name, "0")  # so that what a test sets is undone, whoever set it
        monkeypatch.delenv(name)


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> list[SimpleNamespace]:
    """Two T4s, as Kaggle has them; a test may take one away."""
    import bitsandbytes  # noqa: F401  (what looks for GPUs while it is imported comes first)
    import torch
    import trl.trainer.sft_trainer  # noqa: F401

    cards = [SimpleNamespace(name="Tesla T4", total_memory=15 * GIB, major=7, minor=5) for _ in range(2)]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: bool(cards))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(cards))
    monkeypatch.setattr(torch.cuda, "get_device_properties", cards.__getitem__)
    monkeypatch.setattr(torch.cuda, "set_device", lambda _: None)
    return cards


def recipe(**more: Any) -> SFTRecipe:
    return SFTRecipe.model_validate({"model": "m", "data": "d", "output": "o", **more})


def environment_of(config: str) -> dict[str, str]:
    """What ``accelerate launch`` with one of the project's configs puts into a process's environment."""
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils.launch import prepare_multi_gpu_env, prepare_simple_launcher_cmd_env

    path = ROOT / "accelerate_configs" / f"{config}.yaml"
    parsed = launch_command_parser().parse_args(["--config_file", str(path), "recipes/sft.py"])
    arguments, *_ = _validate_launch_command(parsed)
    if arguments.multi_gpu:
        found = {**prepare_multi_gpu_env(arguments), "LOCAL_RANK": "0"}  # this one by torch's own launcher
    else:
        _, found = prepare_simple_launcher_cmd_env(arguments)
    return {name: found[name] for name in MARKS if name in found}


# --- No quiet fall back to the CPU --------------------------------------------------------------------------


def fake_torch(monkeypatch: pytest.MonkeyPatch, cuda: str | None, says: str, driver: str | None) -> None:
    import torch

    def init() -> None:
        raise RuntimeError(says)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "init", init)
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(launch.shutil, "which", lambda _: driver)


def test_an_old_driver_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    says = "The NVIDIA driver on your system is too old (found version 12040).\nPlease update"
    fake_torch(monkeypatch, "13.0", says, "nvidia-smi")
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "fp16")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "False")
    for ask in (precision_of, weight_precision_of, lambda recipe: common_arguments(recipe, 8)):
        with pytest.raises(InputError) as caught:
            ask(recipe(lora=None))
    for part in ("driver on your system is too old (found version 12040)", "cpu.yaml"):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("cuda", "driver", "parts"),
    [
        (None, "nvidia-smi", ("a build without CUDA", "requirements/gpu.txt")),
        ("12.6", None, ("no NVIDIA driver", "cpu.yaml")),
    ],
)
def test_a_build_without_cuda_and_a_machine_without_a_driver(
    cuda: str | None, driver: str | None, parts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_torch(monkeypatch, cuda, "no NVIDIA driver", driver)
    monkeypatch.setenv("LOCAL_RANK", "0")  # torchrun
    with pytest.raises(InputError) as caught:
        obey_launcher()
    for part in parts:
        assert part in str(caught.value)


def test_the_command_refuses_before_it_reads_anything(
    monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    fake_torch(monkeypatch, "13.0", "too old", "nvidia-smi")
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    assert "the launch config is for GPUs" in refused("sft", "nowhere.yaml")


@pytest.mark.parametrize(
    "chosen",
    [
        {},  # no launcher
        {"ACCELERATE_MIXED_PRECISION": "no", "ACCELERATE_USE_CPU": "True"},
        {"ACCELERATE_MIXED_PRECISION": "no", "LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "-1,-1"},
    ],
)
def test_the_cpu_can_be_chosen(chosen: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    fake_torch(monkeypatch, "13.0", "too old", "nvidia-smi")
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    check_gpu()
    assert common_arguments(recipe(), 8)["use_cpu"]


def test_a_chosen_cpu_is_used_beside_gpus(
    cards: list[SimpleNamespace], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert this_device().kind == "cuda"
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "no")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "True")
    assert this_device().kind == "cpu" and common_arguments(recipe(), 8)["use_cpu"]
    obey_launcher()  # for whoever asks torch itself
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"


@pytest.mark.parametrize(("config", "cpu"), [("cpu", True), ("cpu_ddp", True), ("t4", False), ("ddp", False)])
def test_launch_configs_reach_the_process(config: str, cpu: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.models.hardware import cpu_is_chosen

    for name, value in environment_of(config).items():
        monkeypatch.setenv(name, value)
    assert launch.launched() and cpu_is_chosen() is cpu


# --- As typed: accelerate launch without a config -----------------------------------------------------------


class Parent:
    """``accelerate launch`` as the parent of this process, by its command line."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path):
        self.words = ["bash"]
        process = SimpleNamespace(cmdline=lambda: self.words, environ=lambda: {"OMP_NUM_THREADS": "1"})
        monkeypatch.setattr("psutil.Process", lambda number: process)
        monkeypatch.setattr(
            "accelerate.commands.config.config_args.default_config_file", str(folder / "default.yaml")
        )

    def typed(self, *words: str) -> None:
        self.words = ["python", "/bin/accelerate", "launch", *words]


def test_a_launch_without_a_config_takes_the_cpu_of_a_machine_without_a_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_torch(monkeypatch, None, "no NVIDIA driver", None)
    parent = Parent(monkeypatch, tmp_path)
    bare = {"ACCELERATE_MIXED_PRECISION": "no", "ACCELERATE_USE_CPU": "False"}
    refused = [
        ("--config_file", "single_gpu.yaml", "recipes/sft.py"),
        ("--mixed_precision", "fp16", "recipes/sft.py"),
    ]
    for name, value in bare.items():
        monkeypatch.setenv(name, value)
    for words in refused:
        parent.typed(*words)
        with pytest.raises(InputError, match="the launch config is for GPUs"):
            obey_launcher()
    parent.typed("recipes/sft.py")
    with monkeypatch.context() as patch:
        patch.setattr(
            launch.shutil, "which", lambda _: "nvidia-smi"
        )  # there is a GPU, and this torch cannot use it
        with pytest.raises(InputError, match="the launch config is for GPUs"):
            obey_launcher()
    capsys.readouterr()
    obey_launcher()
    assert capsys.readouterr().out.startswith("no GPU on this machine, and no launch config: training on")
    check_gpu()
    assert common_arguments(recipe(), 8)["use_cpu"] and precision_of(recipe()) != "float16"


# --- Several GPUs, one process ------------------------------------------------------------------------------


def test_one_process_uses_one_gpu(
    cards: list[SimpleNamespace], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformers.training_args import ParallelMode
    from trl import SFTConfig

    def arguments() -> Any:
        return SFTConfig(
            bf16=False, output_dir=str(tmp_path), report_to="none", per_device_train_batch_size=3
        )

    several = arguments()
    if several.n_gpu != 2:
        pytest.fail("the trainer no longer counts GPUs as it did; what is tested here may be needless")
    use_one_gpu(several)
    assert several.n_gpu == 1 and several.train_batch_size == 3
    assert several.parallel_mode is ParallelMode.NOT_PARALLEL
    [line] = capsys.readouterr().out.splitlines()
    assert "2 GPUs are visible" in line and "ddp.yaml --num_processes 2" in line
    cards.pop()
    use_one_gpu(arguments())
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["JudgeSFTTrainer", "JudgeDPOTrainer", "BatchTrainer"])
def test_all_trainers_use_one_gpu(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Before the constructor of their library, which refuses several or splits batches."""
    from judge.training import batches, trainer

    seen: list[int] = []
    kind: Any = getattr(batches if name == "BatchTrainer" else trainer, name)
    monkeypatch.setattr(kind.__bases__[-1], "__init__", lambda self, args, **_: seen.append(args.n_gpu))

    class Arguments:
        _n_gpu = 2
        n_gpu = property(lambda self: self._n_gpu)

    if name == "BatchTrainer":
        monkeypatch.setattr(batches, "make_arguments", lambda *_, **__: Arguments())
        recipe = EncoderRecipe(model="encoder", data=str(tmp_path), output=str(tmp_path), evaluations=0)
        kind(None, recipe, [[]], [], collate=print, save=print)
    else:
        kind(args=Arguments())
    assert seen == [1]
