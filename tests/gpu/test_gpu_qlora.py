"""QLoRA from end to end: SFT, DPO from its adapter, both judged. DPO starts exactly at the SFT judge."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.gpu.child import in_process
from tests.gpu.world import size
from tests.tiny_data import build_towers, training

MINUTES = 3
LIMIT = 1e-3  # of a reply's log-probability, in float32


def start_of_dpo(trainer: Any, judge: Any) -> dict[str, float]:
    """Largest distance of policy and reference from the judge, in log-probability of a reply."""
    import torch

    pairs = [trainer.train_dataset[row] for row in range(min(8, len(trainer.train_dataset)))]
    batch = trainer._prepare_inputs(trainer.data_collator(pairs))
    labels = batch["input_ids"].masked_fill(batch["completion_mask"] == 0, -100)
    inputs = {name: value for name, value in batch.items() if name != "completion_mask"}
    trainer.model.eval()
    with torch.no_grad(), trainer.accelerator.autocast():
        policy = trainer.model(**inputs, labels=labels, fused_lm_head=True, use_cache=False)
        reference = trainer.compute_ref_log_probs(trainer.model, batch)
    own = [reply_log_probability(judge, pair, side) for side in ("chosen", "rejected") for pair in pairs]
    return {
        "policy": largest(policy.log_probs.sum(1), own),
        "reference": largest(torch.cat(list(reference)), own),
    }


def largest(found: Any, expected: Sequence[float]) -> float:
    """The largest distance between log-probabilities."""
    return max(abs(one - two) for one, two in zip(found.float().tolist(), expected, strict=True))


def reply_log_probability(judge: Any, pair: dict[str, Any], side: str) -> float:
    """Of one reply, by the judge's own forward pass on one row."""
    import torch

    prompt, reply = pair["prompt_ids"], pair[f"{side}_ids"]
    ids = torch.tensor([[*prompt, *reply]], device=judge.device)
    with torch.inference_mode():
        scores = judge(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1].float().log_softmax(-1)
    return float(scores.gather(1, ids[0, len(prompt) :].unsqueeze(1)).sum())


def chain(model: str, folder: str, precision: str) -> dict[str, float]:
    """Train and judge; how far DPO's start is from the SFT judge, and what the judges say."""
    from judge.load import load_judge
    from judge.models.weights import load_model
    from judge.samples import read_samples
    from judge.training import dpo
    from judge.training.config import DPORecipe, SFTRecipe
    from judge.training.sft import train_sft

    data, sft, preferred = (Path(folder) / name for name in ("data", "sft", "dpo"))
    common = {"quantization": "nf4", "precision": precision, "max_steps": size(20, 2)}
    train_sft(SFTRecipe.model_validate(training(Path(model), data, sft, **common)))
    judge = load_model(str(sft), precision=precision, quantization="nf4").model.eval()
    apart: dict[str, float] = {}
    train_and_save = dpo.train_and_save

    def measured(trainer: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        apart.update(start_of_dpo(trainer, judge))
        return train_and_save(trainer, *arguments, **named)

    dpo.train_and_save = measured  # type: ignore[assignment]
    done = dpo.train_dpo(
        DPORecipe.model_validate(training(sft, data, preferred, **common | {"learning_rate": 1e-4}))
    )
    samples = list(read_samples(data / "test.jsonl"))
    said = {
        name: load_judge(str(path), precision=precision, quantization="nf4").check(samples)
        for name, path in (("sft", sft), ("dpo", preferred))
    }
    moved = [abs(one.p_fail - two.p_fail) for one, two in zip(said["sft"], said["dpo"], strict=True)]
    return {
        **apart,
        "first_loss": done["losses"][0]["loss"],
        "samples": len(samples),
        "p_fail_moved_by": sum(moved) / len(moved),
    }


@pytest.mark.parametrize("number_format", ["float32", "own"])
def test_dpo_starts_at_the_sft_judge(number_format, record, model_of, precision, tmp_path: Path):
    chosen = precision if number_format == "own" else number_format
    if number_format == "own" and precision == "float32":
        pytest.skip("the device's own format is float32")
    build_towers(tmp_path, documents=40, pairs=32)
    found = in_process(
        "tests.gpu.test_gpu_qlora:chain", model=model_of("0.5B"), folder=str(tmp_path), precision=chosen
    )
    record(f"qlora/0.5B, {chosen}", **found)
    assert found["p_fail_moved_by"] > 0  # DPO trained something
    if chosen == "float32":  # 16 bits round away what is measured
        assert max(found["policy"], found["reference"]) <= LIMIT
