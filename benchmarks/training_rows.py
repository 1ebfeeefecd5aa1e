"""Token rows for benchmarks of trainers: of fixed lengths, about documents of 700 tokens, or of real data."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.sources.public.wrapped import read_xquad
from data_pipeline.teachers.rules import RulesTeacher
from judge.formats.ragtruth import load_split
from judge.models.weights import load_tokenizer
from judge.prompting.prompts import BuiltinPrompt, format_judgement
from judge.prompting.rendering import Renderer
from judge.training.data import Example
from judge.training.dpo import preference_columns
from judge.types import Label, Mode, Sample

ROWS = 24
DPO_LENGTHS = {"dpo-955": (955, 65, 61), "dpo-1918": (1918, 52, 52)}
"""Tokens of prompt, chosen and rejected completion."""
CASES = (*DPO_LENGTHS, "dpo-short", "sft-700", "dpo-ragtruth", "dpo-xquad", "sft-ragtruth", "sft-xquad")
"""``dpo-short``: random pairs of unequal lengths. Pairs of real data are in reason mode."""
FILLER = "The committee met in the old town hall and spoke for an hour about the bridge and the harbour. "
REASONING = "Each number, name and date of the answer was looked up in the document, one by one. " * 3

GoldPairs = tuple[Sample, Sample]
"""A faithful and a hallucinated answer to one question."""


def make_rows(case: str, model: str, data_dir: Path | None) -> list[dict[str, Any]]:
    """The rows of a case. DPO: ``prompt_ids``, ``chosen_ids``, ``rejected_ids``. SFT: ``prompt``,
    ``completion`` and the ``group`` of a contrast pair.
    """
    draw = random.Random(0)
    if case in DPO_LENGTHS:
        return [random_pair(draw, *DPO_LENGTHS[case]) for _ in range(ROWS)]
    if case == "dpo-short":
        lengths = [[draw.randint(*span) for span in ((60, 180), (2, 20), (2, 20))] for _ in range(ROWS)]
        return [random_pair(draw, *counts) for counts in lengths]
    tokenizer = load_tokenizer(model)
    stage, _, source = case.partition("-")
    if source == "700":
        pairs = long_pairs(tokenizer)
    elif data_dir is None:
        raise SystemExit(f"{case} needs --data-dir")
    else:
        pairs = ragtruth_pairs(data_dir) if source == "ragtruth" else xquad_pairs(data_dir)
    renderer = Renderer(tokenizer)
    samples = [sample for pair in pairs[: ROWS // 2] for sample in pair]
    if stage == "sft":
        return [sft_row(sample, renderer) for sample in samples]
    return [pair_row(sample, renderer) for sample in samples]


def random_pair(draw: random.Random, prompt: int, chosen: int, rejected: int) -> dict[str, Any]:
    """A pair of random tokens."""

    def tokens(count: int) -> list[int]:
        return [draw.randrange(1000, 30000) for _ in range(count)]

    return {
        "prompt_ids": tokens(prompt),
        "chosen_ids": tokens(chosen),
        "rejected_ids": tokens(rejected),
        "length": prompt + chosen + rejected,
    }


def sft_row(sample: Sample, renderer: Renderer) -> dict[str, Any]:
    """The correct verdict on a sample, as a row of verdict mode."""
    messages = BuiltinPrompt().messages(sample, "verdict")
    reply = format_judgement("verdict", sample.language, _label(sample), "")
    prompt, completion = renderer.completion_ids(messages, reply)
    return {"group": sample.group, "prompt": list(prompt), "completion": list(completion)}


def pair_row(sample: Sample, renderer: Renderer) -> dict[str, Any]:
    """The correct and the wrong judgement of a sample, in reason mode."""
    mode: Mode = "reason"
    messages = BuiltinPrompt().messages(sample, mode)
    label = _label(sample)
    wrong = Label.FAIL if label is Label.PASS else Label.PASS
    replies = [format_judgement(mode, sample.language, verdict, REASONING) for verdict in (label, wrong)]
    rows = [renderer.completion_ids(messages, reply) for reply in replies]
    prompt, completions = tuple(rows[0][0]), tuple(tuple(completion) for _, completion in rows)
    return preference_columns(Example(sample.id, sample.group, prompt, completions))


def _label(sample: Sample) -> Label:
    assert sample.label is not None
    return sample.label


def long_pairs(tokenizer: Any) -> list[GoldPairs]:
    """Contrast pairs about documents of 700 tokens."""
    pairs = []
    for number in range(ROWS):
        words = tokenizer(f"Protocol {number}. " + FILLER * 60)["input_ids"][:700]
        gold = Sample(
            id=f"long-{number}",
            document=tokenizer.decode(words),
            question="Where did the committee meet?",
            answer="It met in the old town hall.",
            label=Label.PASS,
            group=f"long-{number}",
        )
        pairs.append((gold, _hallucinated(gold, "It met in the new town hall.")))
    return pairs


def ragtruth_pairs(data_dir: Path) -> list[GoldPairs]:
    """Pairs of answers to one question from RAGTruth's training split, the first of each label."""
    groups: dict[str, dict[Label, Sample]] = {}
    for sample in load_split("train", data_dir):
        groups.setdefault(sample.group, {}).setdefault(_label(sample), sample)
    return [(both[Label.PASS], both[Label.FAIL]) for both in groups.values() if len(both) == 2]


def xquad_pairs(data_dir: Path) -> list[GoldPairs]:
    """English questions of XQuAD with their answer, and a wrong one made from it by rule."""
    golds = [sample for sample in read_xquad(data_dir) if sample.language == "en"][:200]
    found: Sequence[Any] = [*RulesTeacher(RulePerturber(0)).perturb(golds)]
    return [
        (
            replace(gold, label=Label.PASS, group=gold.id),
            _hallucinated(replace(gold, group=gold.id), edit.answer),
        )
        for gold, edit in zip(golds, found, strict=True)
        if isinstance(edit, Edit)
    ]


def _hallucinated(gold: Sample, answer: str) -> Sample:
    return replace(gold, id=f"{gold.id}-wrong", answer=answer, label=Label.FAIL)
