"""Reasonings cite the document, name what is wrong, and lead to the label that they are made for."""

import pytest

from data_pipeline.reasoning import MAX_QUOTE, best_sentence, explain, mistake, sentences
from judge.types import Label, Language, Sample

DOCUMENTS: dict[Language, str] = {
    "en": "The bridge was built in 1931. It is 640 m long. Jon Abel designed it.",
    "zh": "这座桥建于1931年。桥长640米。设计师是林嘉禾。",
}
ANSWERS: dict[Language, str] = {"en": "It is 640 m long.", "zh": "桥长640米。"}


def sample(language: Language, label: Label, answer: str | None = None, **meta: object) -> Sample:
    text = ANSWERS[language] if answer is None else answer
    return Sample("s", DOCUMENTS[language], text, language=language, label=label, meta=meta)


def edited(language: Language) -> Sample:
    return sample(
        language,
        Label.FAIL,
        ANSWERS[language].replace("640", "1931"),
        edit_type="number",
        replaced="640",
        inserted="1931",
    )


def added(language: Language) -> Sample:
    extra = {"en": "It is red.", "zh": "桥是红色的。"}[language]
    answer = {"en": f"It is 640 m long. {extra}", "zh": f"桥长640米。{extra}"}[language]
    return sample(language, Label.FAIL, answer, edit_type="addition", inserted=extra)


@pytest.mark.parametrize(
    ("case", "reasoning"),
    [
        (sample("en", Label.PASS), 'The document says: "It is 640 m long." The answer says the same.'),
        (sample("zh", Label.PASS), "文档中写道：“桥长640米。”答案与此一致。"),
        (
            edited("en"),
            'The document says: "It is 640 m long." The answer says "1931" instead of "640".',
        ),
        (edited("zh"), "文档中写道：“桥长640米。”答案却把“640”说成了“1931”。"),
        (added("en"), 'The document says: "It is 640 m long." It does not mention "It is red.".'),
        (added("zh"), "文档中写道：“桥长640米。”文档没有提到“桥是红色的。”。"),
        (
            sample("en", Label.FAIL, "It is 7 m long.", spans=[{"text": "7 m"}]),
            'The document says: "It is 640 m long." It does not support "7 m".',
        ),
        (sample("en", Label.FAIL, "It is 7 m long."), None),
        (sample("en", Label.FAIL, "It is 7 m long.", spans=[{"start": 1}]), None),
    ],
)
def test_explain(case: Sample, reasoning: str | None) -> None:
    assert explain(case) == reasoning


@pytest.mark.parametrize(
    ("case", "reasoning"),
    [
        (
            sample("en", Label.PASS),
            'The document says: "It is 640 m long." The answer does not agree with this.',
        ),
        (sample("zh", Label.PASS), "文档中写道：“桥长640米。”答案与此不符。"),
        (added("zh"), "文档中写道：“桥长640米。”答案与此一致。"),
        (added("en"), 'The document says: "It is 640 m long." The answer says the same.'),
    ],
)
def test_mistake(case: Sample, reasoning: str) -> None:
    assert mistake(case) == reasoning


def test_sentences() -> None:
    assert sentences("One. Two at 3.5 m!\n\nThree?  Four") == ["One.", "Two at 3.5 m!", "Three?", "Four"]
    assert sentences("一。二！三？\n四") == ["一。", "二！", "三？", "四"]


def test_the_best_sentence() -> None:
    document = "The river is long. The river is wide. The otter is rare."
    assert best_sentence(document, "The otter is long.") == "The river is long."
    assert best_sentence(document, "The river otter.") == "The otter is rare."  # the rarer word counts more
    assert best_sentence(document, "The otter.", must_hold="wide") == "The river is wide."
    assert best_sentence(document, "The otter.", must_hold="nowhere") == "The otter is rare."
    assert best_sentence(document, "!?") in sentences(document)


def test_quotes_are_short(starter_twins: list[Sample]) -> None:
    long = Sample("s", "word " * 200, "word", label=Label.PASS)
    assert len(explain(long) or "") < MAX_QUOTE + 60
    for item in starter_twins:
        for reasoning in (explain(item), mistake(item)):
            assert reasoning
            assert len(reasoning) <= MAX_QUOTE + len(item.meta.get("inserted", "")) + 120


def test_quotes_are_of_the_document(starter_twins: list[Sample]) -> None:
    for item in starter_twins:
        reasoning = explain(item)
        assert reasoning is not None
        # A long one is cut at a word.
        assert any(sentence[:60] in reasoning for sentence in sentences(item.document_text))


def test_no_reasoning_tells_where_a_label_comes_from(starter_twins: list[Sample]) -> None:
    for item in starter_twins:
        text = f"{explain(item)} {mistake(item)}".replace(item.answer, "")
        assert "twin" not in text and "perturb" not in text and "gold answer" not in text
