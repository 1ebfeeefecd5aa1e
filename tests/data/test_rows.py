"""Training rows: TRL's form, completions that parse to the gold label, one row a sample, mode and teacher."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from data_pipeline.build.write import sft_rows, teacher_pairs
from data_pipeline.labels.rows import dpo_row, gold_label, judgement, opposite, sft_row
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.prompting.parsing import parse
from judge.prompting.prompts import BuiltinPrompt
from judge.types import MODES, Label, Language, Mode, Sample

EN = Sample(
    "e", "It is 640 m long.", "It is 640 m long.", "How long?", label=Label.PASS, source="s", group="g"
)
ZH = replace(EN, id="z", language="zh", document="桥长640米。", answer="桥长640米。", question="多长？")


def right(sample: Sample, mode: Mode) -> str:
    return judgement(sample, mode, gold_label(sample), explain(sample) or "")


def wrong(sample: Sample, mode: Mode) -> str:
    return judgement(sample, mode, opposite(gold_label(sample)), Mistakes().of(sample) or "")


# --- Judgements ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "mode", "correct", "mistaken"),
    [
        (EN, "verdict", "PASS", "FAIL"),
        (ZH, "verdict", "通过", "失败"),
        (replace(EN, label=Label.FAIL), "verdict", "FAIL", "PASS"),
    ],
)
def test_verdicts(sample: Sample, mode: Mode, correct: str, mistaken: str) -> None:
    assert right(sample, mode) == correct
    assert wrong(sample, mode) == mistaken


def test_judgements_with_a_reasoning() -> None:
    for sample, keys in ((EN, ("REASONING", "SCORE")), (ZH, ("推理过程", "判断"))):
        found, erring = (json.loads(text) for text in (right(sample, "reason"), wrong(sample, "reason")))
        assert tuple(found) == tuple(erring) == keys
        assert sample.answer in found[keys[0]] and sample.answer in erring[keys[0]]
        assert found[keys[0]] != erring[keys[0]] and found[keys[1]] != erring[keys[1]]


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


def test_an_unlabelled_sample_has_no_gold_label() -> None:
    with pytest.raises(ValueError, match="sample e has no gold label"):
        gold_label(replace(EN, label=None))


# --- Form ---------------------------------------------------------------------------------------------------


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


# --- Rows of a store ----------------------------------------------------------------------------------------


@pytest.fixture
def store(store_of: Callable[..., SampleStore]) -> SampleStore:
    """Four samples, one in the test split: of two the first teacher is right, once against two wrong ones."""
    samples = [replace(EN, id=name) for name in "abcd"]
    store = store_of(samples, split="train")
    store.table.execute("UPDATE samples SET split = 'test' WHERE id = 'd'")
    store.table.execute("UPDATE samples SET verdict = 1 WHERE id != 'c'")
    store.table.execute("UPDATE samples SET reason = 1 WHERE id != 'a'")
    _, b, c, d = samples
    for sample in (b, c, d):
        store.add_reasoning(sample, "one", f"{sample.id} is right", right=True)
    store.add_reasoning(b, "two", "two errs", right=False)
    store.add_reasoning(b, "three", "three errs", right=False)
    return store


def test_sft_rows_are_in_order_and_in_the_modes_that_are_wanted(store: SampleStore) -> None:
    rows = list(sft_rows(store, "train"))
    found = [(row["id"], row["meta"]["teacher"], row["completion"][0]["content"]) for row in rows]
    assert found == [
        ("a-verdict", "gold", "PASS"),
        ("b-verdict", "gold", "PASS"),
        ("b-reason", "one", '{"REASONING": "b is right", "SCORE": "PASS"}'),
        ("c-reason", "one", '{"REASONING": "c is right", "SCORE": "PASS"}'),
    ]


def test_no_row_without_a_reasoning(store_of: Callable[..., SampleStore]) -> None:
    store = store_of([EN], split="train")
    store.table.execute("UPDATE samples SET reason = 1")
    assert list(sft_rows(store, "train")) == []
    store.add_reasoning(EN, "one", "wrong", right=False)
    assert list(sft_rows(store, "train")) == list(teacher_pairs(store, "train")) == []


def test_the_right_judgement_against_each_wrong_one(store: SampleStore) -> None:
    rows = list(teacher_pairs(store, "train"))
    assert [(row["id"], row["meta"]["rejected_from"]) for row in rows] == [
        ("b-reason-two", "two"),
        ("b-reason-three", "three"),
    ]
    for row, teacher in zip(rows, ("two", "three"), strict=True):
        assert row["chosen"][0]["content"] == '{"REASONING": "b is right", "SCORE": "PASS"}'
        assert row["rejected"][0]["content"] == f'{{"REASONING": "{teacher} errs", "SCORE": "FAIL"}}'
    assert list(teacher_pairs(store, "validation")) == []
