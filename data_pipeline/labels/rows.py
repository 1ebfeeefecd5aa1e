"""Rows for trainers, in TRL's conversational form: SFT rows in both modes, and preference pairs."""

from judge.prompting.prompts import BuiltinPrompt, format_judgement
from judge.types import DPORow, Label, Message, Mode, Sample, SFTRow

PROMPT = BuiltinPrompt()


def gold_label(sample: Sample) -> Label:
    """The gold label of a sample that went through the build, where every sample has one."""
    if sample.label is None:
        raise ValueError(f"sample {sample.id} has no gold label")
    return sample.label


def _reply(sample: Sample, mode: Mode, label: Label, reasoning: str) -> list[Message]:
    """The reply of a judge with this verdict, in the sample's language."""
    return [{"role": "assistant", "content": format_judgement(mode, sample.language, label, reasoning)}]


def sft_row(sample: Sample, mode: Mode, teacher: str, reasoning: str = "") -> SFTRow:
    """One row to imitate: the gold label, with a reasoning in reason mode; ``teacher`` says whose it is."""
    return {
        "id": f"{sample.id}-{mode}",
        "prompt": PROMPT.messages(sample, mode),
        "completion": _reply(sample, mode, gold_label(sample), reasoning),
        "group": sample.group,
        "meta": {**row_meta(sample, mode), "teacher": teacher},
    }


def dpo_row(sample: Sample, mode: Mode, right: str, wrong: str, origin: str) -> DPORow:
    """One preference pair: the gold label is preferred to the other one, each with its reasoning in reason
    mode; ``origin`` says whose mistake the rejected judgement is."""
    label = gold_label(sample)
    return {
        "id": f"{sample.id}-{mode}-{origin}",
        "prompt": PROMPT.messages(sample, mode),
        "chosen": _reply(sample, mode, label, right),
        "rejected": _reply(sample, mode, label.opposite, wrong),
        "group": sample.group,
        "meta": {**row_meta(sample, mode), "rejected_from": origin},
    }


def row_meta(sample: Sample, mode: Mode) -> dict[str, str]:
    """The fields of a row that audits and counts need."""
    meta = {
        "mode": mode,
        "label": str(sample.label),
        "task": sample.task.value,
        "language": sample.language,
        "source": sample.source,
    }
    return meta | {"edit_type": sample.meta["edit_type"]} if "edit_type" in sample.meta else meta
