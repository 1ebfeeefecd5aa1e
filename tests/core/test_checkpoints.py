"""Runs that are killed, stopped, starved of disk or broken: what they leave, and that they can be resumed."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import judge.training.run as run
from benchmarks.training_drill import difference
from judge.cli.train import run_recipe
from judge.errors import InputError, JudgeError
from judge.files import locked
from judge.load import load_judge
from judge.training.checkpoints import (
    clean,
    complete_checkpoints,
    describe_run,
    finished_run,
    mark_complete,
    resume_point,
)
from judge.training.config import SFTRecipe
from judge.training.sft import train_sft
from judge.training.stopping import Interrupted, StopSignals
from judge.training.weights import move_into
from tests.calling import Refused
from tests.tiny_data import at_step, training

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other
STEPS = 6


def recipe(folder: Path, output: Path, **changes: Any) -> SFTRecipe:
    settings = training(
        folder / "model",
        folder / "data",
        output,
        lora={"rank": 4, "alpha": 8, "dropout": 0.1},
        batch_size=4,
        max_steps=STEPS,
        checkpoints=2,
    )
    return SFTRecipe.model_validate({**settings, **changes})


@pytest.fixture(scope="module")
def undisturbed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("runs") / "undisturbed"
    train_sft(recipe(folder, output))
    return output


def names(output: Path) -> set[str]:
    return {path.name for path in output.iterdir()}


# --- Killed -------------------------------------------------------------------------------------------------


def test_killed_runs_end_as_the_undisturbed_one() -> None:
    """A short form of the drill, in which everything is real: processes, SIGKILL, half-written folders."""
    command = ["-m", "benchmarks.training_drill", "--kills", "2", "--steps", "8", "--runs", "1"]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout.splitlines()[0])
    assert found["kills"] == 2 and found["difference"] <= 1e-5 and found["same_evaluations"]


# --- Stopped ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lora", [{"rank": 4, "alpha": 8, "dropout": 0.1}, None], ids=["adapter", "all weights"]
)
def test_a_stopped_run_goes_on(
    lora: Any,
    folder: Path,
    undisturbed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with pytest.raises(
        Interrupted, match=rf"stopped after step 3 of {STEPS}; .*/checkpoint-3 keeps the state"
    ) as stopped:
        train_sft(recipe(folder, tmp_path / "out", lora=lora), callbacks=[at_step(3)])
    assert stopped.value.exit_code == 143
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers
    assert [checkpoint.step for checkpoint in complete_checkpoints(tmp_path / "out")] == [2, 3]
    assert not list((tmp_path / "out").rglob("training_args.bin"))

    load = torch.load
    safely: list[bool] = []

    def watched(*arguments: Any, **keywords: Any) -> Any:
        safely.append(keywords.get("weights_only", False))
        return load(*arguments, **keywords)

    monkeypatch.setattr(torch, "load", watched)
    summary = train_sft(recipe(folder, tmp_path / "out", lora=lora, resume=True))
    assert safely and all(safely), "a checkpoint is data, never a pickle"
    assert "resuming from" in capsys.readouterr().out
    assert summary["steps"] == STEPS
    assert [entry["step"] for entry in summary["losses"]] == list(range(1, STEPS + 1))
    if lora:
        assert difference(tmp_path / "out", undisturbed) == 0.0
        assert names(tmp_path / "out") == names(undisturbed)
    load_judge(str(tmp_path / "out"))


def test_the_command_ends_with_the_code_of_the_signal(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, output = tmp_path / "recipe.yaml", tmp_path / "out"
    file.write_text(recipe(folder, output, max_steps=2, checkpoints=0).model_dump_json())
    interrupt = at_step(1, lambda _: os.kill(os.getpid(), signal.SIGINT))
    train = partial(train_sft, callbacks=[interrupt])
    with pytest.raises(JudgeError, match=r"stopped after step 1 of 2; .*checkpoint-1 keeps") as stopped:
        run_recipe(SFTRecipe, train, [str(file)])
    assert stopped.value.exit_code == 130
    with pytest.raises(InputError, match="holds checkpoint-1 of a run that is not finished"):
        run_recipe(SFTRecipe, train_sft, [str(file)])
    run_recipe(SFTRecipe, train_sft, [str(file)], resume=True)
    capsys.readouterr()

    def never(_: Any) -> dict[str, Any]:
        raise AssertionError("trained again")

    run_recipe(SFTRecipe, never, [str(file)], resume=True)
    assert f"{output}: finished already; rows " in capsys.readouterr().out
    with pytest.raises(InputError, match=r"recipe\.seed was 0, is 1"):
        run_recipe(SFTRecipe, never, [str(file), "seed=1"], resume=True)
    with pytest.raises(InputError, match="is finished; nothing is left to resume"):
        train_sft(recipe(folder, output, max_steps=2, checkpoints=0, resume=True))


def test_a_signal_after_the_last_step_is_too_late(folder: Path, tmp_path: Path) -> None:
    summary = train_sft(recipe(folder, tmp_path / "out", max_steps=1), callbacks=[at_step(1)])
    assert summary["steps"] == 1 and (tmp_path / "out" / "judge.json").is_file()


def test_a_later_signal_acts_and_the_first_one_sent_twice_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("judge.training.stopping.time.monotonic", lambda: clock[0])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in background
    with pytest.raises(KeyboardInterrupt), StopSignals() as signals:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert signals.received == signal.SIGINT
        clock[0] = 2.0
        signal.raise_signal(signal.SIGINT)
        raise AssertionError("the later signal was only noted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


# --- A full disk --------------------------------------------------------------------------------------------


def fill_disk(_: Any) -> None:
    """No file of this process may grow beyond a few bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.mark.parametrize(
    ("step", "file", "kept"),
    [(4, "checkpoint-4", {2}), (STEPS, r"\.ready", {2, 4})],
    ids=["within", "at the end"],
)
def test_a_full_disk_keeps_the_last_checkpoint(
    step: int, file: str, kept: set[int], folder: Path, undisturbed: Path, tmp_path: Path
) -> None:
    output, limits = tmp_path / "out", resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(JudgeError, match=rf"{file}: could not be written .*resume=true") as full:
            train_sft(recipe(folder, output), callbacks=[at_step(step, fill_disk)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert full.value.exit_code == 1
    assert names(output) == {f"checkpoint-{number}" for number in kept}
    train_sft(recipe(folder, output, resume=True))
    assert difference(output, undisturbed) == 0.0


def test_a_judge_is_whole_before_its_mark(
    folder: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash while files are being renamed: the earlier judge is gone, and the run can be ended."""
    output = shutil.copytree(undisturbed, tmp_path / "out")

    def half_way(target: Path, ready: Path) -> None:
        (ready / "adapter_model.safetensors").replace(target / "adapter_model.safetensors")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(run, "move_into", half_way)
        train_sft(recipe(folder, output, seed=1, evaluations=1, overwrite=True))
    assert not (output / "judge.json").exists()
    train_sft(recipe(folder, output, seed=1, evaluations=1, resume=True))
    assert json.loads((output / "judge.json").read_text())["recipe"]["seed"] == 1
    assert names(output) == names(undisturbed)


# --- A loss that is not a number ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "step", "kept"), [(float("nan"), 4, {"checkpoint-2"}), (float("inf"), 1, set())]
)
def test_a_broken_loss_ends_the_run_at_its_step(
    value: float, step: int, kept: set[str], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge.training.trainer import JudgeSFTTrainer

    honest, calls = JudgeSFTTrainer.compute_loss, []

    def compute_loss(*arguments: Any, **keywords: Any) -> Any:
        calls.append(1)
        loss = honest(*arguments, **keywords)
        return loss * value if len(calls) == step else loss

    monkeypatch.setattr(JudgeSFTTrainer, "compute_loss", compute_loss)
    output = tmp_path / "out"
    told = "checkpoint-2 keeps the last" if kept else "nothing was saved"
    with pytest.raises(JudgeError, match=rf"the loss became {value} at step {step}; .*{told}"):
        train_sft(recipe(folder, output, trainer={"logging_steps": 100}))
    assert len(calls) == step and {path.name for path in output.glob("*")} == kept


@pytest.mark.parametrize(("step", "kept"), [(4, "checkpoint-2"), (STEPS, "checkpoint-4")])
def test_broken_weights_are_no_checkpoint(step: int, kept: str, folder: Path, tmp_path: Path) -> None:
    def spoil(model: Any) -> None:
        next(value for value in model.parameters() if value.requires_grad).data[0] = float("nan")

    with pytest.raises(JudgeError, match=rf"a weight became no number by step {step}; .*{kept} keeps"):
        train_sft(recipe(folder, tmp_path / "out"), callbacks=[at_step(step, spoil)])
    assert [item.folder.name for item in complete_checkpoints(tmp_path / "out")][-1] == kept
    assert not (tmp_path / "out" / "judge.json").exists()


# --- What may be resumed ------------------------------------------------------------------------------------


def make_checkpoint(output: Path, step: int, run: dict[str, Any], best: int | None = None) -> None:
    folder = output / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_text("w")
    if best is not None:
        (output / f"best-{best}").mkdir(exist_ok=True)
    mark_complete(folder, step=step, run=run, seconds=1.0, best=None if best is None else {"step": best})


def test_only_what_is_complete_counts(folder: Path, tmp_path: Path) -> None:
    asked = recipe(folder, tmp_path, resume=True)
    run = describe_run(asked, "sft")
    assert resume_point(asked, run) is None
    for step, best in ((9, 3), (10, 3), (100, 50)):  # by number, not by name
        make_checkpoint(tmp_path, step, run, best)
    (tmp_path / "checkpoint-200").mkdir()
    (tmp_path / "checkpoint-200" / "weights").write_text("w")
    (tmp_path / "best-199").mkdir()
    found = resume_point(asked, run)
    assert found is not None and found.step == 100 and found.best == {"step": 50}
    clean(tmp_path, None)
    assert names(tmp_path) == {"checkpoint-10", "checkpoint-100", "best-3", "best-50"}
    clean(tmp_path, 50)
    assert names(tmp_path) == {"checkpoint-10", "checkpoint-100", "best-3", "best-50"}


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"learning_rate": 1e-4}, "recipe.learning_rate was 0.001, is 0.0001"),
        ({"lora": {"rank": 8, "alpha": 8, "dropout": 0.1}}, "recipe.lora.rank was 4, is 8"),
        ({"lora": None}, "recipe.lora was .*, is not set"),
        ({"max_steps": 7}, "recipe.max_steps was 6, is 7"),
    ],
)
def test_another_recipe_is_refused(
    changes: dict[str, Any], difference: str, folder: Path, tmp_path: Path
) -> None:
    make_checkpoint(tmp_path, 2, describe_run(recipe(folder, tmp_path), "sft"))
    asked = recipe(folder, tmp_path, resume=True, **changes)
    with pytest.raises(InputError, match=f"checkpoint-2: comes from another run: .*{difference}"):
        resume_point(asked, describe_run(asked, "sft"))


def test_what_changes_no_weight_may_change(folder: Path, tmp_path: Path) -> None:
    make_checkpoint(tmp_path, 2, describe_run(recipe(folder, tmp_path), "sft"))
    moved = shutil.copytree(folder / "data", tmp_path / "moved")
    asked = recipe(
        folder,
        tmp_path,
        resume=True,
        data=str(moved),
        checkpoints=9,
        trainer={"logging_steps": 3},
    )
    assert resume_point(asked, describe_run(asked, "sft")) is not None


def test_other_data_stages_or_processes_are_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_checkpoint(tmp_path, 2, describe_run(recipe(folder, tmp_path), "sft"))
    changed = shutil.copytree(folder / "data", tmp_path / "changed")
    with (changed / "sft" / "train.jsonl").open("a") as stream:
        stream.write("\n")
    asked = recipe(folder, tmp_path, resume=True, data=str(changed))
    with pytest.raises(InputError, match=r"another run: data\.sft/train\.jsonl changed\. Undo"):
        resume_point(asked, describe_run(asked, "sft"))
    asked = recipe(folder, tmp_path, resume=True)
    with pytest.raises(InputError, match='stage was "sft", is "dpo"'):
        resume_point(asked, describe_run(asked, "dpo"))
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(InputError, match="processes was 1, is 4"):
        resume_point(asked, describe_run(asked, "sft"))


def test_another_start_is_refused(folder: Path, undisturbed: Path, tmp_path: Path) -> None:
    """A calibration is no other start; where no fingerprint was kept, nothing is known."""
    model, output = shutil.copytree(folder / "model", tmp_path / "model"), tmp_path / "out"
    asked = recipe(folder, output, resume=True, model=str(model))
    run = describe_run(asked, "sft")
    make_checkpoint(output, 2, run)
    make_checkpoint(tmp_path / "earlier", 2, {name: run[name] for name in run if name != "start"})
    (model / "judge.json").write_text("{}")
    assert resume_point(asked, describe_run(asked, "sft")) is not None
    (model / "generation_config.json").write_text("{}")
    with pytest.raises(InputError, match="comes from another run: the starting model changed"):
        resume_point(asked, describe_run(asked, "sft"))
    earlier = asked.model_copy(update={"output": str(tmp_path / "earlier")})
    assert resume_point(earlier, describe_run(earlier, "sft")) is not None
    finished = recipe(folder, undisturbed, resume=True)
    with pytest.raises(InputError, match="starting model changed"):
        finished_run(finished, {**describe_run(finished, "sft"), "start": "0" * 16})


def test_work_is_not_lost_by_starting_anew(folder: Path, tmp_path: Path) -> None:
    asked = recipe(folder, tmp_path)
    make_checkpoint(tmp_path, 2, describe_run(asked, "sft"))
    with pytest.raises(InputError, match="checkpoint-2 of a run that is not finished; resume=true"):
        resume_point(asked, describe_run(asked, "sft"))
    with pytest.raises(InputError, match="overwrite=true removes what resume=true continues with"):
        resume_point(recipe(folder, tmp_path, resume=True, overwrite=True), {})


@pytest.mark.parametrize("name", ["checkpoint-500/model.safetensors", "best-3/x", "config.json", "README.md"])
def test_what_is_not_of_a_run_stays(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    asked = recipe(folder, tmp_path)
    with pytest.raises(InputError, match=f"holds {name.partition('/')[0]}, which a run would repl"):
        train_sft(asked)
    assert (tmp_path / name).read_text() == "mine"


@pytest.mark.parametrize("used", ["model", "data"])
def test_a_run_does_not_write_over_what_it_reads(used: str, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    with pytest.raises(InputError, match=f"{used}: is the recipe's own model or data; give another output"):
        train_sft(recipe(folder, folder / used, overwrite=True))
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_damaged_mark_or_judge(folder: Path, tmp_path: Path) -> None:
    asked = recipe(folder, tmp_path, resume=True)
    make_checkpoint(tmp_path, 2, describe_run(asked, "sft"))
    (tmp_path / "checkpoint-2" / "complete.json").write_text("{")
    assert resume_point(asked, describe_run(asked, "sft")) is None
    (tmp_path / "judge.json").write_text("{")
    with pytest.raises(InputError, match=r"judge\.json:1: "):
        resume_point(asked, describe_run(asked, "sft"))


def test_a_trained_judge_is_replaced_only_where_that_is_asked_for(
    folder: Path, undisturbed: Path, tmp_path: Path, refused: Refused
) -> None:
    """The command says so before it loads a model; a new run removes the checkpoints of an old one."""
    output = shutil.copytree(undisturbed, tmp_path / "out")
    before = (output / "judge.json").read_bytes()
    values = recipe(folder, output, max_steps=1).model_dump(mode="json")
    file = tmp_path / "sft.yaml"
    file.write_text(json.dumps({**values, "model": "none/none"}))  # JSON is YAML
    assert f"{output}: holds a trained judge; give another output, or add" in refused("sft", file)
    with locked(output, folder=True):
        assert "another run is writing here" in refused("sft", file, "--overwrite")
    assert (output / "judge.json").read_bytes() == before
    make_checkpoint(output, 2, {})
    train_sft(recipe(folder, output, max_steps=1, checkpoints=0, overwrite=True))
    assert json.loads((output / "judge.json").read_text())["training"]["steps"] == 1
    assert not list(output.glob("checkpoint-*"))


def test_a_judge_with_checkpoints_beside_it_is_not_finished(
    folder: Path, undisturbed: Path, tmp_path: Path
) -> None:
    output = shutil.copytree(undisturbed, tmp_path / "out")
    asked = recipe(folder, output, resume=True)
    run = describe_run(asked, "sft")
    assert finished_run(asked, run) is not None
    assert finished_run(recipe(folder, output), run) is None  # a new run was asked for
    make_checkpoint(output, 2, run)
    assert finished_run(asked, run) is None and resume_point(asked, run) is not None


def test_an_earlier_judge_leaves_no_part(tmp_path: Path) -> None:
    output, ready = tmp_path / "out", tmp_path / "out" / ".ready"
    ready.mkdir(parents=True)
    earlier = (
        "adapter_config.json",
        "adapter_model.safetensors",
        "config.json",
        "model-00002-of-00002.safetensors",
        "packed.safetensors",
        "token_head.safetensors",
        "chat_template.jinja",
        "tokenizer.model",
        "vocab.txt",
    )
    for name in (*earlier, "notes.txt", "README.md"):
        (output / name).write_text("old")
    for name in ("config.json", "model.safetensors", "README.md"):
        (ready / name).write_text("new")
    move_into(output, ready)
    texts = {path.name: path.read_text() for path in output.iterdir()}
    assert texts == {
        "config.json": "new", "model.safetensors": "new", "README.md": "new", "notes.txt": "old",
    }  # fmt: skip
