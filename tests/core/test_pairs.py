"""Prefix-shared preference pairs are exact: losses, log-probabilities and gradients are TRL's own."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer

from judge.training.pairs import collate_pairs, share_prompts
from judge.training.trainer import JudgeDPOTrainer, LengthSampler

LOSSES = (
    "sigmoid", "hinge", "ipo", "exo_pair", "nca_pair", "robust", "bco_pair", "sppo_hard", "aot",
    "aot_unpaired", "apo_zero", "apo_down", "discopop", "sft", "sigmoid_norm",
)  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries' advice to each other


def make_pairs(lengths: Sequence[tuple[int, int, int]], seed: int = 0) -> list[dict[str, Any]]:
    """Pairs with given lengths of prompt, chosen and rejected completion."""
    draw = random.Random(seed)
    names = ("prompt_ids", "chosen_ids", "rejected_ids")
    return [
        {
            "length": sum(counts),
            **{
                name: [draw.randrange(5, 400) for _ in range(count)]
                for name, count in zip(names, counts, strict=True)
            },
        }
        for counts in lengths
    ]


UNEQUAL = make_pairs([(60, 9, 3), (31, 2, 17), (84, 5, 5), (12, 1, 1), (45, 20, 2), (70, 2, 2)])


def make_trainer(
    folder: Path,
    output: Path,
    sharing: bool,
    lora: bool = True,
    dtype: torch.dtype = torch.float32,
    **changes: Any,
) -> Any:
    """TRL's trainer on the tiny model, on trees or on rows of its own collator; the policy is random."""
    from datasets import Dataset
    from trl import DPOConfig

    def load() -> Any:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
        if sharing:
            share_prompts(model)
        return model

    arguments: dict[str, Any] = {
        "output_dir": str(output),
        "use_cpu": True,
        "bf16": False,
        "per_device_train_batch_size": 3,
        "report_to": "none",
        "max_length": None,
        "remove_unused_columns": False,
        "label_smoothing": 0.1,
        "gradient_checkpointing": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "learning_rate": 1e-3,
        "disable_tqdm": True,
        "data_seed": 0,
        **changes,
    }
    trainer = JudgeDPOTrainer(
        model=load(),
        ref_model=None if lora or arguments.get("precompute_ref_log_probs") else load(),
        args=DPOConfig(**arguments),
        train_dataset=Dataset.from_list(UNEQUAL),
        processing_class=tokenizer_of(folder),
        data_collator=partial(collate_pairs, pad_id=0) if sharing else None,
        peft_config=LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM") if lora else None,
    )
    torch.manual_seed(3)
    with torch.no_grad():  # away from the reference, so that no loss is that of equal models
        for parameter in trainer.model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.05)
    return trainer


def tokenizer_of(folder: Path) -> Any:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.pad_token = tokenizer.eos_token
    return tokenizer


def one_step(trainer: Any, pairs: Sequence[Any]) -> tuple[float, dict[str, torch.Tensor], dict[str, float]]:
    """Loss, gradients and logged figures of one batch."""
    trainer.model.train()
    trainer.model.zero_grad()
    loss = trainer.compute_loss(trainer.model, trainer.data_collator(list(pairs)))
    loss.backward()
    gradients = {
        name: parameter.grad
        for name, parameter in trainer.model.named_parameters()
        if parameter.grad is not None
    }
    figures = {name: values[-1] for name, values in trainer._metrics["train"].items()}
    return loss.item(), gradients, figures


def assert_same_step(shared: Any, rows: Any, pairs: Sequence[Any], tolerance: float = 1e-5) -> None:
    loss, gradients, figures = one_step(shared, pairs)
    expected_loss, expected, expected_figures = one_step(rows, pairs)
    assert loss == pytest.approx(expected_loss, rel=tolerance, abs=1e-7)
    assert gradients.keys() == expected.keys() and expected
    whole, other = (
        torch.cat([grads[name].flatten() for name in expected]) for grads in (expected, gradients)
    )
    assert ((other - whole).norm() / whole.norm()).item() <= tolerance
    assert figures.pop("num_tokens") <= expected_figures.pop("num_tokens")
    assert figures == pytest.approx(expected_figures, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("loss", "precomputed"),
    [*((loss, False) for loss in LOSSES), *((loss, True) for loss in ("sigmoid", "bco_pair", "aot"))],
)
def test_every_loss_of_trl(
    loss: str, precomputed: bool, model_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    shared, rows = (
        make_trainer(
            model_folder("chatml"),
            tmp_path,
            sharing,
            loss_type=[loss],
            precompute_ref_log_probs=precomputed,
        )
        for sharing in (True, False)
    )
    pairs = [shared.train_dataset[index] for index in range(len(UNEQUAL))]
    assert ("ref_chosen_logps" in pairs[0]) is precomputed
    if precomputed:
        for mine, own in zip(pairs, rows.train_dataset, strict=True):
            assert mine["ref_chosen_logps"] == pytest.approx(own["ref_chosen_logps"], rel=1e-5)
            assert mine["ref_rejected_logps"] == pytest.approx(own["ref_rejected_logps"], rel=1e-5)
    # This loss takes the exponential of twenty times the margin, and so enlarges the rounding.
    assert_same_step(shared, rows, pairs, 1e-4 if loss == "discopop" else 1e-5)


@pytest.mark.parametrize(
    "changes",
    [{"lora": False}, {"gradient_checkpointing": True}, {"lora": False, "precompute_ref_log_probs": True}],
)
def test_every_way_to_train(
    changes: dict[str, Any], model_folder: Callable[[str], Path], tmp_path: Path
) -> None:
    shared, rows = (
        make_trainer(model_folder("chatml"), tmp_path, sharing, **changes) for sharing in (True, False)
    )
    assert_same_step(shared, rows, [shared.train_dataset[index] for index in range(len(UNEQUAL))])


@pytest.fixture(scope="module")
def both(model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    folder, output = model_folder("chatml"), tmp_path_factory.mktemp("both")
    return make_trainer(folder, output, True), make_trainer(folder, output, False)


@settings(max_examples=15, deadline=None)
@given(
    lengths=st.lists(
        st.tuples(st.integers(1, 60), st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=5
    ),
    seed=st.integers(0, 99),
)
def test_lengths_of_every_kind(lengths: list[tuple[int, int, int]], seed: int, both: tuple[Any, Any]) -> None:
    pairs = make_pairs(lengths, seed)
    assert_same_step(*both, pairs)
    shared, rows = (trainer.data_collator(pairs) for trainer in both)
    with torch.no_grad():
        found = both[0].model(**inputs_of(shared)).log_probs
        expected = both[1].model(**inputs_of(rows)).log_probs
    for index, (mine, own) in enumerate(zip(found, expected, strict=True)):
        mask, own_mask = (batch["completion_mask"][index, 1:].bool() for batch in (shared, rows))
        torch.testing.assert_close(mine[mask], own[own_mask], rtol=1e-5, atol=1e-5)


def test_a_pair_that_is_too_long_for_a_tree_trains_as_two_rows(
    both: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = make_pairs([(30, 4, 3), (80, 5, 9)])
    monkeypatch.setattr("judge.training.pairs.TREE_TOKENS", 60)
    assert "tree_ids" in collate_pairs(pairs[:1], 0)
    batch = collate_pairs(pairs, 0)
    assert "tree_ids" not in batch and batch["input_ids"].shape == (4, 89)
    assert_same_step(*both, pairs)


def inputs_of(batch: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What the trainer gives the model for a batch."""
    labels = batch["input_ids"].masked_fill(batch["completion_mask"] == 0, -100)
    rest = {name: value for name, value in batch.items() if name != "completion_mask"}
    return {**rest, "labels": labels, "fused_lm_head": True}


@pytest.mark.parametrize("sharing", [True, False], ids=["shared", "rows"])
def test_the_head_runs_in_float32(sharing: bool, model_folder: Callable[[str], Path], tmp_path: Path) -> None:
    """The policy's and the reference's, computed before training or in it; the layers stay in bfloat16."""
    from trl.trainer import dpo_trainer, utils

    trainer = make_trainer(
        model_folder("chatml"), tmp_path, sharing, dtype=torch.bfloat16, precompute_ref_log_probs=True
    )
    assert dpo_trainer.add_fused_lm_head is utils.add_fused_lm_head  # TRL's own stays as it was
    batch = trainer.data_collator([trainer.train_dataset[row] for row in range(len(UNEQUAL))])
    plain = trainer.model.get_base_model()
    inputs = inputs_of(batch)
    labels = inputs.pop("labels")
    inputs.pop("fused_lm_head")
    rest = {name: value for name, value in inputs.items() if not name.startswith("ref_")}

    def expected() -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            hidden = plain.base_model(**rest, use_cache=False).last_hidden_state[:, :-1]
        assert hidden.dtype == torch.bfloat16
        logps = (hidden.float() @ plain.lm_head.weight.float().T).log_softmax(-1)
        return logps.gather(-1, labels[:, 1:].clamp(min=0).unsqueeze(-1)).squeeze(-1)

    mask = labels[:, 1:] != -100
    trainer.model.eval()
    with torch.no_grad():
        with torch.autocast("cpu", torch.bfloat16):
            found = trainer.model(**rest, labels=labels, fused_lm_head=True).log_probs
        torch.testing.assert_close(found[mask], expected()[mask], rtol=0, atol=1e-4)
        with trainer.model.disable_adapter():
            sums = (expected() * mask).sum(1).chunk(2)
    for side, wanted in zip(("chosen", "rejected"), sums, strict=True):
        torch.testing.assert_close(batch[f"ref_{side}_logps"], wanted, rtol=0, atol=0.05)


# --- The order of batches -----------------------------------------------------------------------------------


@given(lengths=st.lists(st.integers(1, 50), max_size=40), batch=st.integers(1, 7), seed=st.integers(0, 9))
def test_an_order_holds_every_row_once(lengths: list[int], batch: int, seed: int) -> None:
    sampler = LengthSampler(lengths, batch, seed)
    order = list(sampler)
    assert sorted(order) == list(range(len(lengths))) and len(sampler) == len(lengths)
    assert order == list(LengthSampler(lengths, batch, seed))
    sampler.set_epoch(1)
    assert sorted(sampler) == sorted(order)
