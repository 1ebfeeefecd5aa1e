"""Refusals: the same words, true of one document and false of the other."""

import random

import pytest

from data_pipeline.pairs.contrast import pairs
from data_pipeline.pairs.documents.parts import parts_of
from data_pipeline.pairs.question_clause import question_clause
from data_pipeline.pairs.refusal import BARE, WORDINGS, refuse, wording
from judge.types import Label, Language, Sample

BRIDGE = (
    "The Tarn Bridge spans the river at Lindmoor. It was designed by Ada Holst in 1931. Once a ferry "
    "crossed the river. The builder Karl Brandt worked on it for 27 months. A fair is held there every June."
)


def gold(answer: str, question: str, document: str = BRIDGE, language: Language = "en") -> Sample:
    return Sample("g", document, answer, question, label=Label.PASS, group="g", language=language)


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("Who designed the bridge?", "who designed the bridge"),
        ("When was the bridge opened?", "when the bridge was opened"),
        ("When did Karl Brandt build the bridge?", "when Karl Brandt built the bridge"),
        ("What is the length of the bridge?", "what the length of the bridge is"),
        ("How many people were killed in the flood?", "how many people were killed in the flood"),
        ("Where can visitors buy tickets?", "where visitors can buy tickets"),
        ("Who was the first mayor of the town?", "who was the first mayor of the town"),
        ("Where was the second reported case found?", None),
        ("What were the talks being held about?", None), ("Name the designer of the bridge.", None),
        ("The bridge was designed by whom?", None), ("Which bridges do not have tolls?", None),
        ("谁设计了这座桥？", "谁设计了这座桥"),
        ("请问这座桥是什么时候完工的呢?", "这座桥是什么时候完工的"),
        ("这座桥漂亮吗？", None), ("下列哪一项是正确的？", None),
    ],
)  # fmt: skip
def test_what_is_asked(question: str, clause: str | None) -> None:
    assert question_clause(question, "en" if question.isascii() else "zh") == clause


def test_the_same_refusal_with_and_without_the_answer() -> None:
    [contrast] = refuse(gold("Ada Holst", "Who designed the bridge?"), 0)
    right, wrong = pairs(gold("Ada Holst", "Who designed the bridge?"), "refusal", [contrast])
    assert right.answer == wrong.answer and right.question == wrong.question
    assert "Ada Holst" not in right.document_text and "Ada Holst" in wrong.document_text
    assert len(parts_of(right.document_text)) == len(parts_of(wrong.document_text)) == 4
    assert wrong.meta["replaced"] == "Ada Holst" and wrong.meta["inserted"] == wrong.answer
    assert (right.label, wrong.label) == (Label.PASS, Label.FAIL)


def test_all_parts_of_an_answer_have_to_go() -> None:
    document = (
        "大桥横跨河流。大桥由安娜·霍尔斯特设计。此前人们乘船过河。施工方是布兰特公司。"
        "每年六月这里举办集市。城里有博物馆。"
    )
    item = gold("安娜·霍尔斯特,布兰特公司", "谁设计并建造了大桥？", document, "zh")
    [contrast] = refuse(item, 0)
    assert contrast.faithful_document is not None
    assert "霍尔斯特" not in contrast.faithful_document and "布兰特" not in contrast.faithful_document


@pytest.mark.parametrize(
    "item",
    [
        gold("yes", "Is the bridge old?", "The bridge is old, yes. A fair is held there. It is gray."),
        gold("Ada Holst", ""),
        gold("Paul Weber", "Who designed the bridge?"),
        gold("Ada Holst", "Who designed the bridge?", f"{BRIDGE} A woman designed the bridge."),
    ],
)
def test_nothing_where_rules_are_not_sure(item: Sample) -> None:
    assert not list(refuse(item, 0))


@pytest.mark.parametrize(
    ("language", "question"), [("en", "Who designed the bridge?"), ("zh", "谁设计了这座桥？")]
)
def test_many_wordings(language: Language, question: str) -> None:
    found = {wording(question, language, random.Random(seed)) for seed in range(400)}
    clause = question_clause(question, language)
    assert clause is not None
    named = {text.format(clause) for text in WORDINGS[language]}
    assert len(named) >= 10 and found == named | {text.format(question) for text in BARE[language]}
