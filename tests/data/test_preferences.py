"""Rows in TRL's form that parse to their label, and preference pairs, the model's own mistakes first."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from data_pipeline.config import PreferenceConfig
from data_pipeline.labels.preferences import Judging, preference_rows
from data_pipeline.labels.rows import dpo_row, gold_label, judgement, opposite, sft_row
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import Mistakes, explain
from judge.prompting.parsing import parse
from judge.prompting.prompts import BuiltinPrompt, format_judgement
from judge.types import MODES, DPORow, Label, Language, Mode, Sample, Verdict

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


# --- Preference pairs ---------------------------------------------------------------------------------------


def sample_id(row: DPORow) -> str:
    return row["id"].rsplit("-", 2)[0]


@pytest.fixture(scope="module")
def store(store_of: Callable[..., SampleStore], starter_twins: list[Sample]) -> SampleStore:
    return store_of(starter_twins, split="train")


def pairs(
    store: SampleStore, count: int, config: PreferenceConfig, judging: Judging | None, seed: int = 0
) -> list[DPORow]:
    return list(preference_rows(store, "train", count, config, seed, judging))


class Scripted:
    """A base model that is wrong on the samples with the given ids, and keeps what it was asked."""

    def __init__(self, wrong: set[str], unparsed: bool = False):
        self.wrong, self.unparsed = wrong, unparsed
        self.asked: list[tuple[Mode, list[str]]] = []

    def __call__(self, samples: Sequence[Sample], mode: Mode) -> list[Verdict]:
        self.asked.append((mode, [sample.id for sample in samples]))
        return [self._answer(sample, mode) for sample in samples]

    def _answer(self, sample: Sample, mode: Mode) -> Verdict:
        assert sample.label is not None
        label = opposite(sample.label) if sample.id in self.wrong else sample.label
        raw = format_judgement(mode, sample.language, label, "Own words.") + "\n"
        return Verdict(None, raw="?", error="no verdict") if self.unparsed else Verdict(label, raw=raw)


@pytest.mark.parametrize(("count", "share"), [(0, 0.25), (1, 0.25), (7, 0.5), (32, 0.25), (40, 1.0), (40, 0)])
@pytest.mark.parametrize("own", [False, True])
def test_pairs(store: SampleStore, starter_twins: list[Sample], count: int, share: float, own: bool) -> None:
    by_id = {sample.id: sample for sample in starter_twins}
    judging = Scripted(set(list(by_id)[::3])) if own else None
    rows = pairs(store, count, PreferenceConfig(reason_share=share), judging)
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
        assert parse(row["rejected"][-1]["content"]).label is opposite(gold)


def test_the_models_own_mistakes_come_first(store: SampleStore, starter_twins: list[Sample]) -> None:
    """It is wrong on every faithful answer; still half of the pairs are about hallucinated ones."""
    judging = Scripted({sample.id for sample in starter_twins if sample.label is Label.PASS})
    config = PreferenceConfig(reason_share=0.5)
    rows = pairs(store, 20, config, judging)
    metas = [row["meta"] for row in rows]
    origins = Counter((meta["mode"], meta["label"], meta["rejected_from"]) for meta in metas)
    assert origins == {
        ("reason", "PASS", "model"): 5,
        ("reason", "FAIL", "composed"): 5,
        ("verdict", "PASS", "model"): 5,
        ("verdict", "FAIL", "composed"): 5,
    }
    by_id = {sample.id: sample for sample in starter_twins}
    mistakes = Mistakes()
    for row in rows:
        rejected = row["rejected"][-1]["content"]
        sample = by_id[sample_id(row)]
        composed = mistakes.of(sample) or ""
        if row["meta"]["rejected_from"] == "composed":
            label = opposite(gold_label(sample))
            assert rejected == judgement(sample, row["meta"]["mode"], label, composed)
        elif row["meta"]["mode"] == "reason":
            assert "Own words." in rejected and rejected == rejected.strip()


def test_few_mistakes_are_filled_up(store: SampleStore) -> None:
    config = PreferenceConfig(reason_share=0.0)
    first = Scripted(set())
    pairs(store, 20, config, first)
    [(_, asked)] = first.asked
    wrong = {asked[0], asked[7], asked[-1]}
    rows = pairs(store, 20, config, Scripted(wrong))
    found = {sample_id(row) for row in rows if row["meta"]["rejected_from"] == "model"}
    assert found == wrong and len(rows) == 20


def test_candidates(store: SampleStore, starter_twins: list[Sample]) -> None:
    judging = Scripted(set())
    pairs(store, 8, PreferenceConfig(reason_share=0.5), judging)
    labels = {sample.id: sample.label for sample in starter_twins}
    assert [mode for mode, _ in judging.asked] == ["reason", "verdict"]
    for _, asked in judging.asked:
        assert Counter(labels[name] for name in asked) == {Label.PASS: 8, Label.FAIL: 8}
    pairs(store, 4, PreferenceConfig(reason_share=0.0), judging)
    assert [mode for mode, _ in judging.asked[2:]] == ["verdict"]  # a mode without pairs is not judged


def test_unparsed_replies_are_no_mistakes(store: SampleStore) -> None:
    """A reply without a verdict is wrong in form; it would not teach the difference between the labels."""
    rows = pairs(store, 12, PreferenceConfig(), Scripted(set(), unparsed=True))
    assert {row["meta"]["rejected_from"] for row in rows} == {"composed"}


def test_as_many_as_there_are(store_of: Callable[..., SampleStore], starter_twins: list[Sample]) -> None:
    rows = pairs(store_of(starter_twins[:6], split="train"), 50, PreferenceConfig(), None)
    assert len(rows) == len({sample_id(row) for row in rows}) == 6


@pytest.mark.parametrize("label", Label)
def test_no_label_has_more_pairs_than_the_other(
    store_of: Callable[..., SampleStore], starter_twins: list[Sample], label: Label
) -> None:
    few = [sample for sample in starter_twins if sample.label is label][:3]
    many = [sample for sample in starter_twins if sample.label is not label][-20:]
    said: list[str] = []
    store, config = store_of([*few, *many], split="train"), PreferenceConfig(reason_share=0.0)
    rows = list(preference_rows(store, "train", 20, config, 0, None, said.append))
    assert Counter(row["meta"]["label"] for row in rows) == {"PASS": 3, "FAIL": 3}
    assert len(said) == 1 and said[0].startswith("train: 6 of 20 preference pairs in verdict mode")


def test_the_seed_decides_and_not_the_order(
    store_of: Callable[..., SampleStore], starter_twins: list[Sample]
) -> None:
    config = PreferenceConfig()
    store, reverse = (store_of(samples, split="train") for samples in (starter_twins, starter_twins[::-1]))
    first = pairs(store, 16, config, None)
    assert first == pairs(store, 16, config, None) == pairs(reverse, 16, config, None)
    assert first != pairs(store, 16, config, None, seed=1)


def test_pairs_are_of_their_split(store_of: Callable[..., SampleStore], starter_twins: list[Sample]) -> None:
    store = store_of(starter_twins, split="train")
    held_out = {sample.id for sample in starter_twins[-20:]}
    for name in held_out:
        store.table.execute("UPDATE samples SET split = 'validation' WHERE id = ?", (name,))
    rows = preference_rows(store, "validation", 8, PreferenceConfig(), 0, None)
    names = {sample_id(row) for row in rows}
    assert len(names) == 8 and names <= held_out
