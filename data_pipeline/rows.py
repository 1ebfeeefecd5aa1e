"""Rows for trainers, in TRL's conversational form: SFT rows in both modes, and preference pairs."""

import random
from collections.abc import Sequence

from data_pipeline.config import ModesConfig
from data_pipeline.reasoning import explain, mistake
from judge.prompts import BuiltinPrompt, format_judgement
from judge.types import DPORow, Label, Message, Mode, Sample, SFTRow

PROMPT = BuiltinPrompt()


def reply(text: str) -> list[Message]:
    """One turn of the judge."""
    return [{"role": "assistant", "content": text}]


def opposite(label: Label) -> Label:
    """The other label."""
    return Label.PASS if label is Label.FAIL else Label.FAIL


def gold_label(sample: Sample) -> Label:
    """The gold label of a sample that went through the build, where every sample has one."""
    if sample.label is None:
        raise ValueError(f"sample {sample.id} has no gold label")
    return sample.label


def right_judgement(sample: Sample, mode: Mode) -> str | None:
    """What a perfect judge replies; ``None`` in reason mode where nothing can be cited."""
    reasoning = explain(sample) if mode == "reason" else ""
    if reasoning is None:
        return None
    return format_judgement(mode, sample.language, gold_label(sample), reasoning)


def wrong_judgement(sample: Sample, mode: Mode) -> str:
    """A composed reply with the wrong label and, in reason mode, a reasoning that leads there."""
    return format_judgement(mode, sample.language, opposite(gold_label(sample)), mistake(sample))


def chosen_pairs(samples: Sequence[Sample], share: float, seed: int, mode: Mode) -> set[str]:
    """Names of the pairs that get rows in a mode: a seeded share of them, twins always together."""
    pairs = sorted({pair_of(sample) for sample in samples})
    random.Random(f"mode:{mode}:{seed}").shuffle(pairs)
    return set(pairs[: round(share * len(pairs))])


def pair_of(sample: Sample) -> str:
    """The name that twins share; a sample without a twin is a pair of its own."""
    return str(sample.meta.get("pair", sample.id))


def sft_rows(samples: Sequence[Sample], modes: ModesConfig, seed: int) -> list[SFTRow]:
    """SFT rows of samples in the modes that a recipe wants, in the samples' order."""
    wanted: dict[Mode, set[str]] = {
        "verdict": chosen_pairs(samples, modes.verdict, seed, "verdict"),
        "reason": chosen_pairs(samples, modes.reason, seed, "reason"),
    }
    rows: list[SFTRow] = []
    for sample in samples:
        for mode, pairs in wanted.items():
            completion = right_judgement(sample, mode) if pair_of(sample) in pairs else None
            if completion is not None:
                rows.append(
                    {
                        "id": f"{sample.id}-{mode}",
                        "prompt": PROMPT.messages(sample, mode),
                        "completion": reply(completion),
                        "group": sample.group,
                        "meta": row_meta(sample, mode),
                    }
                )
    return rows


def dpo_row(sample: Sample, mode: Mode, rejected: str, origin: str) -> DPORow | None:
    """One preference pair; ``origin`` says whose mistake the rejected judgement is."""
    chosen = right_judgement(sample, mode)
    if chosen is None:
        return None
    return {
        "id": f"{sample.id}-{mode}-pair",
        "prompt": PROMPT.messages(sample, mode),
        "chosen": reply(chosen),
        "rejected": reply(rejected),
        "group": sample.group,
        "meta": {**row_meta(sample, mode), "rejected_from": origin},
    }


def row_meta(sample: Sample, mode: Mode) -> dict[str, str]:
    """What audits and counts need to know of a row."""
    meta = {
        "mode": mode,
        "label": str(sample.label),
        "task": sample.task.value,
        "language": sample.language,
        "source": sample.source,
    }
    return meta | {"edit_type": sample.meta["edit_type"]} if "edit_type" in sample.meta else meta
