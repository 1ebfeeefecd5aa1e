"""Span answers become sentences where the grammar of the question is plain, and nothing elsewhere."""

from dataclasses import replace

import pytest

from data_pipeline.pairs.in_full import say_in_full
from data_pipeline.pairs.verbalise import is_sentence, statement_of
from judge.types import Label, Language, Sample

ENGLISH = [
    ("Who designed the bridge?", "Ada Holst", "Ada Holst designed the bridge."),
    ("Who was elected mayor of Tarrow in 1907?", "Ben Oake", "Ben Oake was elected mayor of Tarrow in 1907."),
    ("Who is the keeper of the mill?", "Ben Oake", "Ben Oake is the keeper of the mill."),
    ("Which team won the cup?", "Orrin Kestrels", "The Orrin Kestrels won the cup."),
    ("What is the capital of Ostmark?", "Harwick", "The capital of Ostmark is Harwick."),
    ("What was the mill originally called?", "Long House", "The mill was originally called the Long House."),
    ("What is Tarrow known for?", "its cheese", "Tarrow is known for its cheese."),
    ("What did Queen Agatha open in Harwick?", "A bridge", "Queen Agatha opened a bridge in Harwick."),
    ("What did the widow sell?", "rye", "The widow sold rye."),
    ("Where does Ada Holst live?", "Harwick", "Ada Holst lives in Harwick."),
    ("When was the mill built?", "1907", "The mill was built in 1907."),
    ("In what year did Ada Holst receive a prize?", "1937", "Ada Holst received a prize in 1937."),
    ("How many horses does the mill keep?", "eleven", "The mill keeps eleven horses."),
    ("How many horses were there in 1907?", "11", "There were 11 horses in 1907."),
    ("How many barns could be seen?", "9", "9 barns could be seen."),
    ("How old was Ada Holst when she died?", "81", "Ada Holst was 81 years old when she died."),
    ("Before the war, who kept the mill?", "Ben Oake", "Before the war, Ben Oake kept the mill."),
]  # fmt: skip
CHINESE = [
    ("谁设计了这座桥？", "霍尔斯特", "霍尔斯特设计了这座桥。"),
    ("这座桥是什么时候建成的？", "1907年", "这座桥是1907年建成的。"),
    ("这座桥建于哪一年？", "1907", "这座桥建于1907年。"), ("磨坊位于哪里？", "榆林镇", "磨坊位于榆林镇。"),
    ("磨坊属于哪个国家？", "法国", "磨坊属于法国。"), ("磨坊有几匹马？", "十一匹", "磨坊有十一匹马。"),
    ("磨坊共有多少名工人？", "30名", "磨坊共有30名工人。"),
    ("磨坊的主人叫什么名字？", "方静姝", "磨坊的主人叫方静姝。"),
    ("他是哪国人？", "奥地利", "他是奥地利人。"), ("什么是磨坊？", "磨面的作坊", "磨坊是磨面的作坊。"),
    ("磨坊为什么关门？", "河水连年干涸", "磨坊关门，因为河水连年干涸。"),
    ("太空旅遊目前只有哪一個國家有這項服務?", "俄國", "太空旅遊目前只有俄國有這項服務。"),
]  # fmt: skip
DOCUMENT = "The Orrin Kestrels won the cup. The mill was first the Long House. Ada Holst lives in Harwick."


# Questions without a rule.
NONE = [
    ("", "Harwick"), ("Is the mill old?", "Yes"), ("Who was it and when did he come?", "Ben Oake"),
    ("What does the mill do?", "it grinds rye"), ("What do millers want?", "that rivers run"),
    ("What happened to the mill?", "it burnt"),
    ("Which miller has the loudest wheels?", "Ada Holst and Ben Oake"),
    ("How did the miller die?", "slowly"),
    ("磨坊如何磨面？", "用水"), ("谁在何时建了磨坊？", "方静姝"), ("磨坊出产哪些东西？", "面粉"),
    ("让人几乎忘记的是什么时候？", "很久以前的事情"), ("台湾的面积约为多少的16倍？", "2,052平方公里"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer", "wanted"), [*ENGLISH, *CHINESE, *((*pair, None) for pair in NONE)]
)
def test_sentences(question: str, answer: str, wanted: str | None) -> None:
    language: Language = "en" if question.isascii() else "zh"
    sample = Sample("a", DOCUMENT, answer, question=question, language=language)
    assert statement_of(sample) == wanted


@pytest.mark.parametrize(
    ("question", "answer", "document", "wanted"),
    [
        ("Where was Ada Holst born?", "Kessel", "A farm lay near Kessel.", "Ada Holst was born near Kessel."),
        ("Where was Ada Holst born?", "Kessel", "A farm lay near Kessel. She was born in Kessel.", None),
        (
            "When was the mill built?", "1907", "It was in use by 1907. It burnt in 1907.",
            "The mill was built in 1907.",
        ),
    ],
)  # fmt: skip
def test_mentions_that_differ_do_not_tell_the_preposition(
    question: str, answer: str, document: str, wanted: str | None
) -> None:
    assert statement_of(Sample("a", document, answer, question=question)) == wanted


def test_a_sentence_is_left_as_it_is() -> None:
    sample = Sample("a", DOCUMENT, "The mill was built by a widow.", question="Who built the mill?")
    assert statement_of(sample) == sample.answer
    assert not is_sentence("Harwick", "en") and is_sentence("磨坊是一位寡妇在1907年建的。", "zh")


# --- Pairs about short answers ------------------------------------------------------------------------------

BRIDGE = "Ada Holst designed the bridge in 1931. Jan Pohl painted it."


def pair(question: str, right: str, wrong: str, other: str = BRIDGE) -> tuple[Sample, Sample]:
    faithful = Sample("b", BRIDGE, right, question, label=Label.PASS, meta={"pair": "b", "kind": "edit"})
    return faithful, replace(faithful, id="b-hallucinated", document=other, answer=wrong, label=Label.FAIL)


def test_short_answers_come_again_as_sentences() -> None:
    first = pair("Who designed the bridge?", "Ada Holst", "Jan Pohl")
    found = list(say_in_full(first, 1.0, 0))
    assert found[:2] == list(first)
    assert [one.answer for one in found[2:]] == [
        "Ada Holst designed the bridge.",
        "Jan Pohl designed the bridge.",
    ]
    assert [one.label for one in found[2:]] == [Label.PASS, Label.FAIL]
    assert len({one.id for one in found}) == 4 and {one.meta["pair"] for one in found[2:]} == {"b-full"}
    assert all(one.meta["kind"] == "edit" and one.meta["in_full"] for one in found[2:])
    assert list(say_in_full(first, 0.0, 0)) == list(first)


def test_an_edited_document_keeps_the_sentence() -> None:
    other = BRIDGE.replace("Ada Holst", "Eva Lund")
    *_, right, wrong = say_in_full(pair("Who designed the bridge?", "Ada Holst", "Ada Holst", other), 1.0, 0)
    assert right.answer == wrong.answer == "Ada Holst designed the bridge." and wrong.document == other


def test_no_sentence_where_a_rule_is_not_sure_of_both() -> None:
    for question, right, wrong in (
        ("Who designed the bridge?", "It was designed by Ada Holst.", "It was designed by Jan Pohl."),
        ("Who designed the bridge, and who painted it?", "Ada Holst", "Jan Pohl"),
        ("", "Ada Holst", "Jan Pohl"),
        ("Who designed the bridge?", "The document doesn't say.", "The document doesn't say."),
        ("谁设计了这座桥？", "文中没有相关内容。", "文中没有相关内容。"),
    ):
        assert len(list(say_in_full(pair(question, right, wrong), 1.0, 0))) == 2
