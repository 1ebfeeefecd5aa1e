"""Pairs about short answers, said as sentences."""

from dataclasses import replace

from data_pipeline.pairs.in_full import say_in_full
from judge.types import Label, Sample

BRIDGE = "Ada Holst designed the bridge in 1931. Jan Pohl painted it."


def pair(question: str, right: str, wrong: str, other: str = BRIDGE) -> tuple[Sample, Sample]:
    faithful = Sample("b", BRIDGE, right, question, label=Label.PASS, meta={"pair": "b", "kind": "edit"})
    return faithful, replace(faithful, id="b-twin", document=other, answer=wrong, label=Label.FAIL)


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
    ):
        assert len(list(say_in_full(pair(question, right, wrong), 1.0, 0))) == 2
