"""QLoRA from end to end: SFT on 4-bit weights, DPO from its adapter, judged with and without merging.

    python tests/bench/qlora_chain.py --model MODEL --data DATA --out DIR

DATA is a set of ``judge data build`` with a test split, such as the demo's. Shown are how far DPO's policy
and reference are from the SFT judge before the first step, in log-probability of a reply, and each judge on
the test split: AUROC with a 95 % bootstrap interval over documents, and how far its p(FAIL) is from the SFT
judge's. Two rows show what is wrong: the SFT adapter on weights that were not rounded, and its merged weights
rounded once more, as DPO used to start from them. MODEL may be an adapter too, which SFT then goes on from.

On two CPU cores, from the demo's SFT adapter (without its judge.json, since it was trained on other weights)
with ``--sft-steps 4 --learning-rate 1e-4 --dpo-steps 2 --documents 7``, it took three and a half minutes.
"""

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.load import load_judge
from judge.models.weights import load_model
from judge.samples import read_samples
from judge.training import dpo
from judge.training.config import DPORecipe, SFTRecipe
from judge.training.merge import merge
from judge.training.sft import train_sft
from judge.types import Label, Sample

DRAWS = 500


def recipe(options: argparse.Namespace, model: str, output: Path, **more: Any) -> dict[str, Any]:
    return {
        "model": model,
        "data": str(options.data),
        "output": str(output),
        "without_leak_gate": True,
        "quantization": "nf4",
        "max_length": 1024,
        "lora": {"rank": 16, "alpha": 32},
        "evaluations": 0,
        **more,
    }


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


def auroc(samples: Sequence[Sample], p_fail: Sequence[float]) -> tuple[float, float, float]:
    """AUROC, and its 2.5th and 97.5th percentile over draws of documents."""
    from sklearn.metrics import roc_auc_score

    rows: dict[str, list[tuple[bool, float]]] = {}
    for sample, p in zip(samples, p_fail, strict=True):
        rows.setdefault(sample.group or sample.document_text, []).append((sample.label is Label.FAIL, p))
    groups, draw = list(rows.values()), random.Random(0)

    def measure(chosen: Sequence[list[tuple[bool, float]]]) -> float:
        flat = [pair for group in chosen for pair in group]
        return float(roc_auc_score([fail for fail, _ in flat], [p for _, p in flat]))

    draws = sorted(measure(draw.choices(groups, k=len(groups))) for _ in range(DRAWS))
    return measure(groups), draws[DRAWS // 40], draws[-1 - DRAWS // 40]


def main() -> None:
    """Train, merge, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sft-steps", type=int, default=60)
    parser.add_argument("--sft-minutes", type=float, default=8.0)
    parser.add_argument("--learning-rate", type=float, default=5e-4, help="of SFT")
    parser.add_argument("--dpo-steps", type=int, default=6)
    parser.add_argument("--documents", type=int, default=1000, help="judge the test samples of so many")
    options = parser.parse_args()
    sft, preferred = options.out / "sft", options.out / "dpo"

    began = time.monotonic()
    values = recipe(
        options, options.model, sft, max_steps=options.sft_steps, max_minutes=options.sft_minutes,
        batch_size=1, sequence_tokens=1024, learning_rate=options.learning_rate, betas=[0.9, 0.95],
        scheduler="cosine", warmup_ratio=0.05,
    )  # fmt: skip
    done = train_sft(SFTRecipe.model_validate(values))
    print(f"SFT: {done['steps']} steps, {time.monotonic() - began:.0f} s", flush=True)

    plain = load_model(str(sft), precision="float32", quantization="nf4").model.eval()
    started: dict[str, float] = {}
    train_and_save = dpo.train_and_save

    def measured(trainer: Any, *arguments: Any, **named: Any) -> dict[str, Any]:
        started.update(start_of_dpo(trainer, plain))
        return train_and_save(trainer, *arguments, **named)

    dpo.train_and_save = measured  # type: ignore[assignment]
    began = time.monotonic()
    values = recipe(
        options, str(sft), preferred, max_steps=options.dpo_steps, batch_size=4, learning_rate=2e-5,
        logging_steps=1, precision="float32",  # 16 bits would round away what is measured
    )  # fmt: skip
    done = dpo.train_dpo(DPORecipe.model_validate(values))
    losses = ", ".join(f"{entry['loss']:.4f}" for entry in done["losses"])
    print(f"DPO: {done['steps']} steps, {time.monotonic() - began:.0f} s, losses {losses}")
    print("DPO's start, largest distance from the SFT judge in log-probability: "
          + ", ".join(f"{name} {value:.1e}" for name, value in started.items()))  # fmt: skip

    merge(str(sft), options.out / "sft-merged", "base")
    merge(str(preferred), options.out / "dpo-merged", "base")
    samples = list(read_samples(options.data / "test.jsonl"))
    kept = list(dict.fromkeys(sample.group for sample in samples))[: options.documents]
    samples = [sample for sample in samples if sample.group in kept]
    rows: list[tuple[str, str, Any]] = [
        ("SFT, as trained (nf4)", str(sft), "auto"),
        ("DPO, as trained (nf4)", str(preferred), "auto"),
        ("SFT, merged", str(options.out / "sft-merged"), "auto"),
        ("SFT, merged, nf4 again", str(options.out / "sft-merged"), "nf4"),
        ("DPO, merged", str(options.out / "dpo-merged"), "auto"),
        ("SFT on plain weights", str(sft), "none"),
        ("what SFT started from", options.model, "auto"),
    ]
    print(f"\n{len(samples)} test samples about {len(kept)} documents\n")
    print("| judge | AUROC | mean distance of p(FAIL) from SFT's | largest |\n| --- | ---: | ---: | ---: |")
    own: list[float] = []
    for name, folder, quantization in rows:
        judge = load_judge(folder, precision="float32", quantization=quantization)
        p_fail = [verdict.p_fail or 0.0 for verdict in judge.check(samples)]
        own = own or p_fail
        value, low, high = auroc(samples, p_fail)
        apart = [abs(one - other) for one, other in zip(p_fail, own, strict=True)]
        print(f"| {name} | {100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}] | "
              f"{sum(apart) / len(apart):.4f} | {max(apart):.4f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
