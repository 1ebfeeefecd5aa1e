"""Validation while training: which samples, which figures, whose weights are kept; nothing else changes."""

import json
import math
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hypothesis
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import judge.training.callbacks as callbacks
from benchmarks.training_drill import difference
from judge.files import write_jsonl
from judge.load import load_judge
from judge.samples import read_samples, write_samples
from judge.training.config import DPORecipe, SFTRecipe
from judge.training.dpo import train_dpo
from judge.training.sft import train_sft
from judge.training.validation import MEASURES, Evaluation, judge_live, measure, validation_samples
from judge.types import Label, Sample, Verdict
from tests.tiny_data import training

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other


def settings(folder: Path, output: Path, **changes: Any) -> dict[str, Any]:
    steady = {"max_steps": 4, "learning_rate": 1e-2, "scheduler": "constant", "warmup_ratio": 0}
    judged = {"evaluations": 2, "judged_samples": 6}
    return training(folder / "model", folder / "data", output, **{**steady, **judged, **changes})


def sft(folder: Path, output: Path, **changes: Any) -> dict[str, Any]:
    return train_sft(SFTRecipe.model_validate(settings(folder, output, **changes)))


def dpo(folder: Path, output: Path, **changes: Any) -> dict[str, Any]:
    return train_dpo(DPORecipe.model_validate(settings(folder, output, **changes)))


# --- Which samples ------------------------------------------------------------------------------------------


def sample(number: int, group: str, split: str | None, label: Label | None = Label.PASS) -> Sample:
    meta = {} if split is None else {"split": split}
    return Sample(str(number), f"Document {group}.", "An answer.", label=label, group=group, meta=meta)


def test_whole_documents_of_the_validation_split(folder: Path) -> None:
    everything = [
        item for item in read_samples(folder / "data" / "samples.jsonl") if item.meta["split"] == "validation"
    ]
    assert len(everything) > 6
    chosen = validation_samples(folder / "data", 5)
    groups = {item.group for item in chosen}
    assert 5 <= len(chosen) <= 6 and len(groups) == 3
    assert chosen == [item for item in everything if item.group in groups]
    assert validation_samples(folder / "data", 10_000) == everything
    assert validation_samples(folder / "data", 0) == []


def test_samples_without_a_split_go_by_their_group(tmp_path: Path) -> None:
    assert validation_samples(tmp_path, 9) == []  # a data set without samples
    samples = [sample(1, "a", None), sample(2, "b", None), sample(3, "a", None), sample(4, "b", None, None)]
    write_samples(tmp_path / "samples.jsonl", samples)
    assert validation_samples(tmp_path, 9) == []
    (tmp_path / "sft").mkdir()
    write_jsonl(tmp_path / "sft" / "validation.jsonl", [{"id": "1", "group": "b"}])
    assert validation_samples(tmp_path, 9) == [samples[1]]  # the unlabelled one says nothing


# --- Which figures ------------------------------------------------------------------------------------------


def test_measures_by_hand() -> None:
    samples = [sample(n, "g", None, Label.FAIL if n < 2 else Label.PASS) for n in range(5)]
    verdicts = [
        Verdict(Label.FAIL, 0.9),
        Verdict(None, error="too long"),  # a miss
        Verdict(Label.PASS, 0.1),
        Verdict(Label.PASS, 0.2),
        Verdict(Label.FAIL, 0.95),
    ]
    found = measure(samples, verdicts)
    assert found["coverage"] == 0.8
    assert found["balanced_accuracy"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found["auroc"] == pytest.approx(2 / 3)


def test_measures_that_do_not_exist() -> None:
    one_class = [sample(1, "g", None), sample(2, "g", None)]
    assert measure(one_class, [Verdict(Label.PASS, 0.1)] * 2) == {"coverage": 1.0}
    broken = measure(one_class, [Verdict(Label.PASS, float("nan"))] * 2)
    assert broken == {"coverage": 0.0}
    assert measure([], []) == {}


@hypothesis.settings(deadline=None)  # the first example imports scikit-learn
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=30))
def test_measures_are_those_of_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    from sklearn.metrics import balanced_accuracy_score, roc_auc_score

    gold = [fails for fails, _ in rows]
    samples = [sample(0, "g", None, Label.FAIL if fails else Label.PASS) for fails in gold]
    verdicts = [Verdict(Label.FAIL if p >= 0.5 else Label.PASS, p) for _, p in rows]
    found = measure(samples, verdicts)
    if len(set(gold)) < 2:
        assert found == {"coverage": 1.0}
        return
    said = [verdict.label is Label.FAIL for verdict in verdicts]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(gold, said))
    assert found["auroc"] == pytest.approx(roc_auc_score(gold, [p for _, p in rows]))


def test_the_best_is_by_accuracy_then_auroc_then_loss() -> None:
    order = [
        Evaluation(1, loss=float("nan")),
        Evaluation(2, loss=0.9),
        Evaluation(3, loss=0.5),
        Evaluation(4, loss=0.9, balanced_accuracy=0.5, auroc=0.9),
        Evaluation(5, loss=0.9, balanced_accuracy=0.6, auroc=0.1),
        Evaluation(6, loss=0.9, balanced_accuracy=0.6, auroc=0.2),
        Evaluation(7, loss=0.1, balanced_accuracy=0.6, auroc=0.2),
    ]
    assert order[0].better_than(None)
    for worse, better in pairwise(order):
        assert better.better_than(worse) and not worse.better_than(better)
        assert not worse.better_than(worse)  # the earlier of two equals stays


# --- In a run -----------------------------------------------------------------------------------------------


def test_judging_changes_no_weight(folder: Path, tmp_path: Path) -> None:
    """Dropout draws from the random numbers that judging must leave alone."""
    changes = {"lora": {"rank": 4, "alpha": 8, "dropout": 0.3}, "evaluations": 4, "keep_best": False}
    sft(folder, tmp_path / "with", **changes)
    sft(folder, tmp_path / "without", judged_samples=0, **changes)
    assert difference(tmp_path / "with", tmp_path / "without") == 0.0


@pytest.mark.parametrize("train", [sft, dpo])
def test_every_evaluation_is_logged(
    train: Callable[..., dict[str, Any]], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = train(folder, tmp_path / "out", keep_best=False)
    evaluated = [entry for entry in summary["losses"] if "eval_loss" in entry]
    assert [entry["step"] for entry in evaluated] == [2, 4]
    for entry in evaluated:
        assert all(0 <= entry[f"eval_{name}"] <= 1 for name in MEASURES)
    lines = [line for line in capsys.readouterr().out.splitlines() if "samples judged" in line]
    assert [line.partition(":")[0] for line in lines] == ["step 2", "step 4"]
    # The last figures are those of the judge that was saved.
    judge = load_judge(str(tmp_path / "out"), precision="float32", max_length=2048)
    samples = validation_samples(folder / "data", 6)
    found = measure(samples, judge.check(samples))
    for name in MEASURES:
        assert evaluated[-1][f"eval_{name}"] == pytest.approx(found[name], abs=1e-6)


@pytest.mark.parametrize(
    ("train", "changes"), [(sft, {}), (dpo, {}), (sft, {"lora": None})], ids=["sft", "dpo", "all weights"]
)
def test_the_best_weights_are_kept(
    train: Callable[..., dict[str, Any]],
    changes: dict[str, Any],
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = iter([0.9, 0.6, 0.9])  # of both runs
    monkeypatch.setattr(callbacks, "measure", lambda *_: {"balanced_accuracy": next(shares)})
    summary = train(folder, tmp_path / "best", **changes)
    assert summary["best"].pop("loss") > 0
    assert summary["best"] == {"step": 2, "samples": 6, "balanced_accuracy": 0.9, "kept": True}
    train(folder, tmp_path / "two-steps", max_steps=2, evaluations=1, **changes)
    train(folder, tmp_path / "last", judged_samples=0, keep_best=False, **changes)
    if changes:
        from safetensors.torch import load_file

        first, second, last = (
            load_file(tmp_path / name / "model.safetensors") for name in ("best", "two-steps", "last")
        )
        assert all(first[name].equal(second[name]) for name in first)
        assert any(not first[name].equal(last[name]) for name in first)
    else:
        assert difference(tmp_path / "best", tmp_path / "two-steps") == 0.0
        assert difference(tmp_path / "best", tmp_path / "last") > 0
    assert not list((tmp_path / "best").glob("best-*")) and not (tmp_path / "best" / ".ready").exists()
    identity = json.loads((tmp_path / "best" / "judge.json").read_text())
    assert identity["training"]["best"]["step"] == 2 and identity["training"]["steps"] == 4
    card = (tmp_path / "best" / "README.md").read_text()
    assert "| balanced accuracy | 90.0 % |" in card and "| step | 2 |" in card and "chosen by them" in card
    load_judge(str(tmp_path / "best"))


def test_a_time_limit_ends_with_an_evaluation(folder: Path, tmp_path: Path) -> None:
    summary = sft(folder, tmp_path / "out", max_steps=50, evaluations=1, max_minutes=1e-6)
    assert summary["steps"] == 1 and summary["best"]["step"] == 1


def test_without_samples_the_loss_decides(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "data" / "sft"
    rows.mkdir(parents=True)
    for name in ("train", "validation"):
        (rows / f"{name}.jsonl").write_text((folder / "data" / "sft" / f"{name}.jsonl").read_text())
    summary = sft(folder, tmp_path / "out", data=str(tmp_path / "data"))
    assert "no labelled validation samples" in capsys.readouterr().out
    losses = {entry["step"]: entry["eval_loss"] for entry in summary["losses"] if "eval_loss" in entry}
    assert summary["best"]["loss"] == min(losses.values()) and math.isfinite(summary["best"]["loss"])


# --- Several processes --------------------------------------------------------------------------------------


class FakeTrainer(SimpleNamespace):
    def compute_loss_context_manager(self) -> Any:
        return nullcontext()


def test_processes_judge_a_part_each(
    folder: Path, tiny_backend: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = tiny_backend("chatml")
    recipe = SFTRecipe.model_validate(settings(folder, Path("unused")))
    samples = validation_samples(folder / "data", 7)
    assert len(samples) % 2 == 0 and len(samples) > 6
    samples = samples[:-1]  # the parts are of unequal length

    def judged(process: int, processes: int) -> list[Verdict]:
        accelerator = SimpleNamespace(
            num_processes=processes, process_index=process, device=torch.device("cpu")
        )
        trainer = FakeTrainer(accelerator=accelerator, model=backend.model.train())
        verdicts = judge_live(trainer, backend.loaded.tokenizer, recipe, samples)
        assert backend.model.training
        return verdicts

    alone = judged(0, 1)
    parts: dict[int, list[Verdict]] = {}

    def gather(found: list[Any], own: list[Verdict]) -> None:
        parts[len(parts)] = own
        found[:] = [own, own] if len(parts) == 1 else [parts[0], own]

    monkeypatch.setattr(torch.distributed, "all_gather_object", gather)
    with pytest.raises(ValueError):  # here the other process has not judged its part yet
        judged(0, 2)
    together = judged(1, 2)
    assert [verdict.label for verdict in together] == [verdict.label for verdict in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.p_fail == pytest.approx(other.p_fail, abs=1e-4)
    # Where each process holds a part of the weights, each judges all samples, and nothing is gathered.
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.delattr(torch.distributed, "all_gather_object")
    assert judged(1, 2) == alone
