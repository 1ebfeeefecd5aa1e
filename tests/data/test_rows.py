"""Training rows: TRL's form, completions that parse to the gold label, one row a sample, mode and teacher."""

from dataclasses import replace

import pytest

from data_pipeline.labels.rows import dpo_row, gold_label, judgement, opposite, sft_row
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.prompting.parsing import parse
from judge.prompting.prompts import BuiltinPrompt
from judge.types import MODES, Label, Language, Mode, Sample

EN = Sample(
    "e", "It is 640 m long.", "It is 640 m long.", "How long?", label=Label.PASS, source="s", group="g"
)


def right(sample: Sample, mode: Mode) -> str:
    return judgement(sample, mode, gold_label(sample), explain(sample) or "")


def wrong(sample: Sample, mode: Mode) -> str:
    return judgement(sample, mode, opposite(gold_label(sample)), Mistakes().of(sample) or "")


@pytest.mark.parametrize("mode", MODES)
def test_judgements_parse_to_their_label(starter_twins: list[Sample], mode: Mode) -> None:
    for sample in starter_twins:
        correct, mistaken = parse(right(sample, mode)), parse(wrong(sample, mode))
        assert correct.label is sample.label, sample.id
        assert mistaken.label is opposite(gold_label(sample)), sample.id
        assert (correct.reasoning is None) == (mode == "verdict")


@pytest.mark.parametrize("quote", ['He said "SCORE": "PASS" once.', "{}", '{"SCORE": "FAIL"}', "判断：失败"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_documents_that_look_like_replies(quote: str, language: Language) -> None:
    """A reasoning may quote anything, and still the reply says what it is meant to say."""
    for label in Label:
        sample = replace(EN, document=quote, answer=quote, language=language, label=label)
        sample = replace(sample, meta={"edit_type": "addition", "inserted": quote})
        assert parse(right(sample, "reason")).label is label
        assert parse(wrong(sample, "reason")).label not in (None, label)


def test_form_of_an_sft_row() -> None:
    assert sft_row(EN, "verdict", "PASS", "gold") == {
        "id": "e-verdict",
        "prompt": BuiltinPrompt().messages(EN, "verdict"),
        "completion": [{"role": "assistant", "content": "PASS"}],
        "group": "g",
        "meta": {
            "mode": "verdict",
            "label": "PASS",
            "task": "qa",
            "language": "en",
            "source": "s",
            "teacher": "gold",
        },
    }


def test_form_of_a_dpo_row() -> None:
    twin = replace(EN, label=Label.FAIL, meta={"edit_type": "number", "pair": "e"})
    assert dpo_row(twin, "reason", "right", "wrong", "model") == {
        "id": "e-reason-model",
        "prompt": BuiltinPrompt().messages(EN, "reason"),
        "chosen": [{"role": "assistant", "content": "right"}],
        "rejected": [{"role": "assistant", "content": "wrong"}],
        "group": "g",
        "meta": {
            "mode": "reason",
            "label": "FAIL",
            "task": "qa",
            "language": "en",
            "source": "s",
            "edit_type": "number",
            "rejected_from": "model",
        },
    }
