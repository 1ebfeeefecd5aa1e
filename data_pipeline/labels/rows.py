"""Rows for trainers, in TRL's conversational form: SFT rows in both modes, and preference pairs."""

from judge.prompting.prompts import BuiltinPrompt, format_judgement
from judge.types import DPORow, Label, Message, Mode, Sample, SFTRow

PROMPT = BuiltinPrompt()


def message(text: str) -> list[Message]:
    """One message of the judge."""
    return [{"role": "assistant", "content": text}]


def gold_label(sample: Sample) -> Label:
    """The gold label of a sample that went through the build, where every sample has one."""
    if sample.label is None:
        raise ValueError(f"sample {sample.id} has no gold label")
    return sample.label


def judgement(sample: Sample, mode: Mode, label: Label, reasoning: str = "") -> str:
    """The reply of a judge with this verdict, in the sample's language."""
    return format_judgement(mode, sample.language, label, reasoning)


def sft_row(sample: Sample, mode: Mode, completion: str, teacher: str) -> SFTRow:
    """One row to imitate; ``teacher`` says whose judgement it is."""
    return {
        "id": f"{sample.id}-{mode}",
        "prompt": PROMPT.messages(sample, mode),
        "completion": message(completion),
        "group": sample.group,
        "meta": {**row_meta(sample, mode), "teacher": teacher},
    }


def dpo_row(sample: Sample, mode: Mode, chosen: str, rejected: str, origin: str) -> DPORow:
    """One preference pair; ``origin`` says whose mistake the rejected judgement is."""
    return {
        "id": f"{sample.id}-{mode}-{origin}",
        "prompt": PROMPT.messages(sample, mode),
        "chosen": message(chosen),
        "rejected": message(rejected),
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
