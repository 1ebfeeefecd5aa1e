"""Twins by their document: one bears the answer, one does not, and nothing else tells them apart."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.contrast import Contrast
from data_pipeline.documents import edit_document
from data_pipeline.documents.bearing import bearing_parts, can_be_missed, is_gone, parts_of
from data_pipeline.documents.deletion import delete, without
from data_pipeline.documents.swap import replace_words, swap
from data_pipeline.perturb.edit import bare, occurs
from data_pipeline.reasoning import explain
from data_pipeline.sources import SourceConfig, read_source
from data_pipeline.starter import load_starter
from data_pipeline.twins import make_twins
from judge.types import Label, Sample, Task

BRIDGE = (
    "The Tarn Bridge spans the river at Lindmoor. It was designed by Ada Holst in 1931. Before that, a ferry "
    "crossed the river. The builder Karl Brandt worked on it for 27 months. A fair is held there every June."
)
TRIPLES = "Tarn Bridge | designer | Ada Holst\nTarn Bridge | length | 214 m\nLindmoor | population | 8121"


def gold(answer: str, question: str = "", document: str = BRIDGE, **settings: object) -> Sample:
    return Sample("g", document, answer, question, label=Label.PASS, group="bridge", **settings)  # type: ignore[arg-type]


def rng() -> random.Random:
    return random.Random(0)


# --- What bears an answer -----------------------------------------------------------------------------------


def test_sentences_and_lines_are_parts() -> None:
    assert len(parts_of(BRIDGE)) == 5
    assert [TRIPLES[part.start : part.end].split(" | ")[1] for part in parts_of(TRIPLES)] == [
        "designer", "length", "population",
    ]  # fmt: skip


def test_a_short_answer_is_borne_wherever_it_stands() -> None:
    assert bearing_parts(BRIDGE, "Ada Holst", "Who designed it?", "en") == [1]
    assert bearing_parts(BRIDGE, "the river", "What does it span?", "en") == [0, 2]
    assert bearing_parts(BRIDGE, "Paul Weber", "Who designed it?", "en") == []


def test_a_long_answer_is_borne_by_the_sentence_that_shares_its_words() -> None:
    claim = "Karl Brandt, the builder, worked on the bridge for 27 months."
    assert bearing_parts(BRIDGE, claim, "", "en") == [3]
    assert not is_gone(BRIDGE, BRIDGE, claim, "", "en")
    assert is_gone(without(BRIDGE, [3]), BRIDGE, claim, "", "en")


@pytest.mark.parametrize(
    ("answer", "can"),
    [("yes", False), ("No.", False), ("3", False), ("1931", True), ("是", False), ("27 months", True)],
)
def test_what_cannot_be_missed_is_left_alone(answer: str, can: bool) -> None:
    assert can_be_missed(answer, "zh" if answer == "是" else "en") is can


# --- Deletion -----------------------------------------------------------------------------------------------


def test_deletion_takes_out_what_bears_the_answer_and_as_much_elsewhere() -> None:
    [found] = delete(gold("Ada Holst", "Who designed the bridge?"), rng())
    assert found.hallucinated_document == BRIDGE.replace("It was designed by Ada Holst in 1931. ", "")
    assert "Ada Holst in 1931" in found.faithful_document and found.faithful_document != BRIDGE
    assert len(parts_of(found.faithful_document)) == len(parts_of(found.hallucinated_document)) == 4
    assert found.faithful_document.startswith("The Tarn Bridge spans")  # what introduces the rest stays
    assert (found.replaced, found.inserted) == ("", "Ada Holst")


def test_one_claim_of_a_long_answer_loses_its_ground() -> None:
    answer = "Ada Holst designed the Tarn Bridge in 1931. The builder Karl Brandt worked on it for 27 months."
    for found in delete(gold(answer), rng()):
        assert found.inserted in answer and is_gone(
            found.hallucinated_document, BRIDGE, found.inserted, "", "en"
        )
        assert "Ada Holst" in found.faithful_document and "Karl Brandt" in found.faithful_document


def test_a_triple_leaves_whole() -> None:
    sample = gold("The Tarn Bridge is 214 m long.", document=TRIPLES, task=Task.DATA2TEXT)
    [found] = delete(sample, rng())
    assert found.hallucinated_document == "Tarn Bridge | designer | Ada Holst\nLindmoor | population | 8121"


def test_chinese_sentences_leave_too() -> None:
    document = (
        "塔恩桥横跨河流。它由安娜·霍尔斯特设计，于1931年完工。此前人们乘渡船过河。每年六月这里举办集市。"
    )
    [found] = delete(gold("安娜·霍尔斯特", "谁设计了这座桥？", document, language="zh"), rng())
    assert "霍尔斯特" not in found.hallucinated_document and "霍尔斯特" in found.faithful_document
    assert found.hallucinated_document.count("。") == found.faithful_document.count("。") == 3


def test_what_stands_everywhere_cannot_be_deleted() -> None:
    document = "Holst came. Holst saw. Holst left."
    assert list(delete(gold("Holst", "Who?", document), rng())) == []


# --- Swaps --------------------------------------------------------------------------------------------------


def test_a_number_changes_at_every_mention() -> None:
    document = f"{BRIDGE} The 27 months were cold."
    found = next(iter(swap(gold("27 months", "How long did the builder work?", document), rng())))
    assert (
        not occurs(found.inserted, found.hallucinated_document)
        and found.hallucinated_document.count(found.replaced) == 2
    )
    assert occurs("27 months", found.faithful_document)


def test_names_change_places() -> None:
    names = list(swap(gold("Ada Holst", "Who designed the bridge?"), rng()))
    assert names and names[0].replaced == "Karl Brandt" and names[0].inserted == "Ada Holst"
    assert (
        "designed by Karl Brandt" in names[0].hallucinated_document
        and "builder Ada Holst" in names[0].hallucinated_document
    )


def test_what_the_question_names_and_numbers_in_names_stay() -> None:
    assert list(swap(gold("27 months", "What took 27 months?"), rng())) == []
    document = "The probe Apollo 11 was launched from the coast. It came back after a week."
    assert list(swap(gold("Apollo 11", "Which probe?", document), rng())) == []


def test_words_change_all_at_once() -> None:
    assert replace_words("Ann met Bea; Ann left, Anna stayed.", {"Ann": "Bea", "Bea": "Ann"}) == (
        "Bea met Ann; Bea left, Anna stayed."
    )
    assert replace_words("It cost 21.5, then 21.", {"21": "34"}) == "It cost 21.5, then 34."


# --- Twins --------------------------------------------------------------------------------------------------


def unedited(golds: Iterable[Sample]) -> list[Any]:
    """A perturber that is given nothing to edit."""
    assert list(golds) == []
    return []


def edited(gold: Sample, seed: int = 0) -> list[Contrast]:
    return list(edit_document(gold, seed))


def test_twins_differ_in_their_document_alone() -> None:
    golds = load_starter()
    made = [
        twins.samples for twins in make_twins(golds, unedited, {"document": edited}, {"document": 1.0}, 0)
    ]
    pairs = [pair for pair in made if pair]
    assert len(made) == len(golds) and len(pairs) > 0.6 * len(golds)
    for faithful, hallucinated in pairs:
        assert (faithful.label, hallucinated.label) == (Label.PASS, Label.FAIL)
        assert faithful.answer == hallucinated.answer and faithful.question == hallucinated.question
        assert faithful.group == hallucinated.group and faithful.document != hallucinated.document
        assert (
            hallucinated.meta["edit_type"] in ("deletion", "document_swap")
            and "edit_type" not in faithful.meta
        )
        assert hallucinated.meta["inserted"] in hallucinated.answer
    told = [bool(explain(faithful) and explain(hallucinated)) for faithful, hallucinated in pairs]
    assert sum(told) > 0.9 * len(pairs)


def test_the_same_seed_gives_the_same_document() -> None:
    golds = load_starter()[:40]
    assert [edited(item, 1) for item in golds] == [edited(item, 1) for item in golds]
    assert [edited(item, 1) for item in golds] != [edited(item, 2) for item in golds]


@pytest.mark.parametrize(("kind", "least"), [("xquad", 0.8), ("covid_qa", 0.5)])
def test_real_questions_get_twins(kind: str, least: float, shared_data: Path) -> None:
    golds = list(read_source(SourceConfig(kind=kind, path=str(shared_data), limit=100), 0))
    found = [(item, edit) for item in golds for edit in edited(item)]
    assert len(found) >= least * len(golds)
    for item, edit in found:
        if edit.edit_type == "deletion" and len(item.answer.split()) <= 8:
            assert bare(item.answer) in bare(edit.faithful_document or "")
            assert not occurs(item.answer.strip(" ."), edit.hallucinated_document or "")
