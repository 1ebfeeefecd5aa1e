"""Preference pairs: balanced, from distinct samples, the model's own mistakes first."""

from collections import Counter
from collections.abc import Sequence

import pytest

from data_pipeline.config import PreferenceConfig
from data_pipeline.preferences import preference_rows
from data_pipeline.rows import opposite, wrong_judgement
from judge.parsing import parse
from judge.prompts import format_judgement
from judge.types import DPORow, Label, Mode, Sample, Verdict


def sample_id(row: DPORow) -> str:
    return row["id"].removesuffix("-pair").rpartition("-")[0]


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
def test_pairs(starter_twins: list[Sample], count: int, share: float, own: bool) -> None:
    by_id = {sample.id: sample for sample in starter_twins}
    judging = Scripted(set(list(by_id)[::3])) if own else None
    rows = preference_rows(starter_twins, count, PreferenceConfig(reason_share=share), 0, judging)
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


def test_the_models_own_mistakes_come_first(starter_twins: list[Sample]) -> None:
    """It is wrong on every faithful answer; still half of the pairs are about hallucinated ones."""
    judging = Scripted({sample.id for sample in starter_twins if sample.label is Label.PASS})
    config = PreferenceConfig(reason_share=0.5, candidates=40)
    rows = preference_rows(starter_twins, 20, config, 0, judging)
    metas = [row["meta"] for row in rows]
    origins = Counter((meta["mode"], meta["label"], meta["rejected_from"]) for meta in metas)
    assert origins == {
        ("reason", "PASS", "model"): 5,
        ("reason", "FAIL", "composed"): 5,
        ("verdict", "PASS", "model"): 5,
        ("verdict", "FAIL", "composed"): 5,
    }
    by_id = {sample.id: sample for sample in starter_twins}
    for row in rows:
        rejected = row["rejected"][-1]["content"]
        if row["meta"]["rejected_from"] == "composed":
            assert rejected == wrong_judgement(by_id[sample_id(row)], row["meta"]["mode"])
        elif row["meta"]["mode"] == "reason":
            assert "Own words." in rejected and rejected == rejected.strip()


def test_few_mistakes_are_filled_up(starter_twins: list[Sample]) -> None:
    config = PreferenceConfig(reason_share=0.0, candidates=400)
    first = Scripted(set())
    preference_rows(starter_twins, 20, config, 0, first)
    [(_, asked)] = first.asked
    wrong = {asked[0], asked[7], asked[-1]}
    rows = preference_rows(starter_twins, 20, config, 0, Scripted(wrong))
    found = {sample_id(row) for row in rows if row["meta"]["rejected_from"] == "model"}
    assert found == wrong and len(rows) == 20


def test_candidates(starter_twins: list[Sample]) -> None:
    judging = Scripted(set())
    config = PreferenceConfig(reason_share=0.5, candidates=10)
    preference_rows(starter_twins, 8, config, 0, judging)
    labels = {sample.id: sample.label for sample in starter_twins}
    assert [mode for mode, _ in judging.asked] == ["reason", "verdict"]
    for _, asked in judging.asked:
        assert Counter(labels[name] for name in asked) == {Label.PASS: 5, Label.FAIL: 5}


def test_a_mode_without_pairs_is_not_judged(starter_twins: list[Sample]) -> None:
    judging = Scripted(set())
    preference_rows(starter_twins, 4, PreferenceConfig(reason_share=0.0), 0, judging)
    assert [mode for mode, _ in judging.asked] == ["verdict"]


def test_unparsed_replies_are_no_mistakes(starter_twins: list[Sample]) -> None:
    """A reply without a verdict is wrong in form; it would not teach the difference between the labels."""
    rows = preference_rows(starter_twins, 12, PreferenceConfig(), 0, Scripted(set(), unparsed=True))
    assert {row["meta"]["rejected_from"] for row in rows} == {"composed"}


def test_as_many_as_there_are(starter_twins: list[Sample]) -> None:
    few = starter_twins[:6]
    rows = preference_rows(few, 50, PreferenceConfig(), 0, None)
    assert len(rows) == len({sample_id(row) for row in rows}) <= 6


def test_the_seed_decides(starter_twins: list[Sample]) -> None:
    config = PreferenceConfig()
    made = [preference_rows(starter_twins, 16, config, seed, None) for seed in (0, 0, 1)]
    assert made[0] == made[1] != made[2]
