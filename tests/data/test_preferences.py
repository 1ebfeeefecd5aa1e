"""Rows in TRL's form that parse to their label, and preference pairs."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from data_pipeline.config import PreferenceConfig
from data_pipeline.labels.preferences import preference_rows
from data_pipeline.labels.rows import dpo_row, gold_label, sft_row
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.prompting.parsing import parse
from judge.prompting.prompts import BuiltinPrompt
from judge.types import MODES, DPORow, Label, Language, Mode, Sample

EN = Sample(
    "e", "It is 640 m long.", "It is 640 m long.", "How long?", label=Label.PASS, source="s", group="g"
)


def replies(sample: Sample, mode: Mode) -> tuple[str, str]:
    """The right and the wrong judgement of a pair."""
    row = dpo_row(sample, mode, explain(sample) or "", Mistakes().of(sample) or "", "composed")
    return row["chosen"][0]["content"], row["rejected"][0]["content"]


@pytest.mark.parametrize("mode", MODES)
def test_judgements_parse_to_their_label(starter_pairs: list[Sample], mode: Mode) -> None:
    for sample in starter_pairs:
        correct, mistaken = map(parse, replies(sample, mode))
        assert correct.label is sample.label, sample.id
        assert mistaken.label is gold_label(sample).opposite, sample.id
        assert (correct.reasoning is None) == (mode == "verdict")


@pytest.mark.parametrize("quote", ['He said "SCORE": "PASS" once.', "{}", '{"SCORE": "FAIL"}', "判断：失败"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_documents_that_look_like_replies(quote: str, language: Language) -> None:
    """A reasoning may quote anything, and still the reply says what it is meant to say."""
    for label in Label:
        sample = replace(EN, document=quote, answer=quote, language=language, label=label)
        sample = replace(sample, meta={"edit_type": "addition", "inserted": quote})
        correct, mistaken = map(parse, replies(sample, "reason"))
        assert correct.label is label and mistaken.label is label.opposite


def test_form_of_an_sft_row() -> None:
    assert sft_row(EN, "verdict", "gold") == {
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
    edited = replace(EN, label=Label.FAIL, meta={"edit_type": "number", "pair": "e"})
    assert dpo_row(edited, "reason", "right", "wrong", "model") == {
        "id": "e-reason-model",
        "prompt": BuiltinPrompt().messages(EN, "reason"),
        "chosen": [{"role": "assistant", "content": '{"REASONING": "right", "SCORE": "FAIL"}'}],
        "rejected": [{"role": "assistant", "content": '{"REASONING": "wrong", "SCORE": "PASS"}'}],
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


# --- Preference pairs ---------------------------------------------------------------------------------------


def sample_id(row: DPORow) -> str:
    return row["id"].rsplit("-", 2)[0]


@pytest.fixture(scope="module")
def store(store_of: Callable[..., SampleStore], starter_pairs: list[Sample]) -> SampleStore:
    return store_of(starter_pairs, split="train")


def pairs(store: SampleStore, count: int, config: PreferenceConfig, seed: int = 0) -> list[DPORow]:
    return list(preference_rows(store, "train", count, config, seed))


@pytest.mark.parametrize(("count", "share"), [(0, 0.25), (1, 0.25), (7, 0.5), (32, 0.25), (40, 1.0), (40, 0)])
def test_pairs(store: SampleStore, starter_pairs: list[Sample], count: int, share: float) -> None:
    by_id = {sample.id: sample for sample in starter_pairs}
    rows = pairs(store, count, PreferenceConfig(reason_share=share))
    assert len(rows) == count
    assert len({sample_id(row) for row in rows}) == count  # no sample twice, in whichever mode
    modes = Counter(row["meta"]["mode"] for row in rows)
    assert modes["reason"] == round(count * share)
    for mode in modes:
        labels = Counter(row["meta"]["label"] for row in rows if row["meta"]["mode"] == mode)
        assert abs(labels["PASS"] - labels["FAIL"]) <= 1
    for row in rows:
        gold = by_id[sample_id(row)].label
        assert gold is not None
        assert parse(row["chosen"][-1]["content"]).label is gold
        assert parse(row["rejected"][-1]["content"]).label is gold.opposite


def test_as_many_as_there_are(store_of: Callable[..., SampleStore], starter_pairs: list[Sample]) -> None:
    rows = pairs(store_of(starter_pairs[:6], split="train"), 50, PreferenceConfig())
    assert len(rows) == len({sample_id(row) for row in rows}) == 6


@pytest.mark.parametrize("label", Label)
def test_no_label_has_more_pairs_than_the_other(
    store_of: Callable[..., SampleStore], starter_pairs: list[Sample], label: Label
) -> None:
    few = [sample for sample in starter_pairs if sample.label is label][:3]
    many = [sample for sample in starter_pairs if sample.label is not label][-20:]
    said: list[str] = []
    store, config = store_of([*few, *many], split="train"), PreferenceConfig(reason_share=0.0)
    rows = list(preference_rows(store, "train", 20, config, 0, said.append))
    assert Counter(row["meta"]["label"] for row in rows) == {"PASS": 3, "FAIL": 3}
    assert len(said) == 1 and said[0].startswith("train: 6 of 20 preference pairs in verdict mode")


def test_the_seed_decides_and_not_the_order(
    store_of: Callable[..., SampleStore], starter_pairs: list[Sample]
) -> None:
    config = PreferenceConfig()
    store, reverse = (store_of(samples, split="train") for samples in (starter_pairs, starter_pairs[::-1]))
    first = pairs(store, 16, config)
    assert first == pairs(store, 16, config) == pairs(reverse, 16, config)
    assert first != pairs(store, 16, config, seed=1)


def test_pairs_are_of_their_split(store_of: Callable[..., SampleStore], starter_pairs: list[Sample]) -> None:
    store = store_of(starter_pairs, split="train")
    held_out = {sample.id for sample in starter_pairs[-20:]}
    for name in held_out:
        store.table.execute("UPDATE samples SET split = 'validation' WHERE id = ?", (name,))
    rows = preference_rows(store, "validation", 8, PreferenceConfig(), 0)
    names = {sample_id(row) for row in rows}
    assert len(names) == 8 and names <= held_out
