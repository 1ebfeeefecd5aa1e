"""Training rows: TRL's form, completions that parse to the gold label, twins together, the wanted shares."""

from collections import Counter
from dataclasses import replace

import pytest

from data_pipeline.config import ModesConfig
from data_pipeline.rows import dpo_row, pair_of, right_judgement, sft_rows, wrong_judgement
from judge.parsing import parse
from judge.prompts import BuiltinPrompt
from judge.types import MODES, Label, Language, Mode, Sample

EN = Sample(
    "e", "It is 640 m long.", "It is 640 m long.", "How long?", label=Label.PASS, source="s", group="g"
)
ZH = replace(EN, id="z", language="zh", document="桥长640米。", answer="桥长640米。", question="多长？")


@pytest.mark.parametrize(
    ("sample", "mode", "right", "wrong"),
    [
        (EN, "verdict", "PASS", "FAIL"),
        (ZH, "verdict", "通过", "失败"),
        (replace(EN, label=Label.FAIL), "verdict", "FAIL", "PASS"),
        (
            EN,
            "reason",
            '{"REASONING": "The document says: \\"It is 640 m long.\\" The answer says the same.", '
            '"SCORE": "PASS"}',
            '{"REASONING": "The document says: \\"It is 640 m long.\\" '
            'The answer does not agree with this.", "SCORE": "FAIL"}',
        ),
        (
            ZH,
            "reason",
            '{"推理过程": "文档中写道：“桥长640米。”答案与此一致。", "判断": "通过"}',
            '{"推理过程": "文档中写道：“桥长640米。”答案与此不符。", "判断": "失败"}',
        ),
    ],
)
def test_judgements(sample: Sample, mode: Mode, right: str, wrong: str) -> None:
    assert right_judgement(sample, mode) == right
    assert wrong_judgement(sample, mode) == wrong


@pytest.mark.parametrize("mode", MODES)
def test_judgements_parse_to_their_label(starter_twins: list[Sample], mode: Mode) -> None:
    for sample in starter_twins:
        right = parse(right_judgement(sample, mode) or "")
        wrong = parse(wrong_judgement(sample, mode))
        assert right.label is sample.label, sample.id
        assert wrong.label is not None and wrong.label is not sample.label, sample.id
        assert (right.reasoning is None) == (mode == "verdict")


@pytest.mark.parametrize("quote", ['He said "SCORE": "PASS" once.', "{}", '{"SCORE": "FAIL"}', "判断：失败"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_documents_that_look_like_replies(quote: str, language: Language) -> None:
    """A reasoning may quote anything, and still the reply says what it is meant to say."""
    for label in Label:
        sample = replace(EN, document=quote, answer=quote, language=language, label=label)
        sample = replace(sample, meta={"edit_type": "addition", "inserted": quote})
        assert parse(right_judgement(sample, "reason") or "").label is label
        assert parse(wrong_judgement(sample, "reason")).label not in (None, label)


def test_form_of_an_sft_row() -> None:
    [row] = sft_rows([EN], ModesConfig(verdict=1.0, reason=0.0), 0)
    assert row == {
        "id": "e-verdict",
        "prompt": BuiltinPrompt().messages(EN, "verdict"),
        "completion": [{"role": "assistant", "content": "PASS"}],
        "group": "g",
        "meta": {"mode": "verdict", "label": "PASS", "task": "qa", "language": "en", "source": "s"},
    }


def test_form_of_a_dpo_row() -> None:
    row = dpo_row(EN, "verdict", "FAIL", "model")
    assert row is not None
    assert row["prompt"] == BuiltinPrompt().messages(EN, "verdict")
    assert row["chosen"] == [{"role": "assistant", "content": "PASS"}]
    assert row["rejected"] == [{"role": "assistant", "content": "FAIL"}]
    assert row["meta"]["rejected_from"] == "model"


def test_no_row_without_a_reasoning() -> None:
    unexplained = replace(EN, label=Label.FAIL)
    assert right_judgement(unexplained, "reason") is None
    assert dpo_row(unexplained, "reason", "x", "model") is None
    assert sft_rows([unexplained], ModesConfig(verdict=0.0, reason=1.0), 0) == []


def test_an_unlabelled_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="no gold label"):
        right_judgement(replace(EN, label=None), "verdict")


@pytest.mark.parametrize(("verdict", "reason"), [(1.0, 0.25), (0.5, 0.5), (0.0, 1.0), (0.3, 0.0)])
def test_shares(starter_twins: list[Sample], verdict: float, reason: float) -> None:
    rows = sft_rows(starter_twins, ModesConfig(verdict=verdict, reason=reason), 0)
    pairs = len(starter_twins) // 2
    counts = Counter((row["meta"]["mode"], row["meta"]["label"]) for row in rows)
    for mode, share in (("verdict", verdict), ("reason", reason)):
        assert counts[mode, "PASS"] == counts[mode, "FAIL"] == round(share * pairs)
    assert len({row["id"] for row in rows}) == len(rows)


def test_twins_are_together_in_a_mode(starter_twins: list[Sample]) -> None:
    rows = sft_rows(starter_twins, ModesConfig(verdict=0.4, reason=0.4), 3)
    names = {sample.id: pair_of(sample) for sample in starter_twins}
    for mode in MODES:
        found = [row["id"] for row in rows if row["meta"]["mode"] == mode]
        counts = Counter(names[name.removesuffix(f"-{mode}")] for name in found)
        assert set(counts.values()) == {2}
    assert rows == sft_rows(starter_twins, ModesConfig(verdict=0.4, reason=0.4), 3)
    assert rows != sft_rows(starter_twins, ModesConfig(verdict=0.4, reason=0.4), 4)
