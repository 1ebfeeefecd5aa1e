"""Pairs by their document: one supports the answer, one does not, and nothing else tells them apart."""

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import delete
from data_pipeline.pairs.documents.distractor import add_distractor
from data_pipeline.pairs.documents.edit import DocumentEditor
from data_pipeline.pairs.documents.parts import is_table, parts_of, without
from data_pipeline.pairs.documents.passage import other_passage
from data_pipeline.pairs.documents.plausible import can_change
from data_pipeline.pairs.documents.records import alter_record, change_places
from data_pipeline.pairs.documents.supporting import is_gone, supporting_parts
from data_pipeline.pairs.documents.swap import replace_words, swap
from data_pipeline.pairs.make import make_pairs
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.reasoning import explain
from data_pipeline.text.triples import Triple, triples_of
from judge.types import Label, Sample, Task

BRIDGE = (
    "The Tarn Bridge spans the river at Lindmoor. It was designed by Ada Holst in 1931. Once a ferry "
    "crossed the river. The builder Clara Brandt worked on it for 27 months. A fair is held there every June."
)
TRIPLES = "Tarn Bridge | designer | Ada Holst\nTarn Bridge | length | 214 m\nLindmoor | population | 8121"


def gold(answer: str, question: str = "", document: str = BRIDGE, **settings: object) -> Sample:
    return Sample("g", document, answer, question, label=Label.PASS, group="bridge", **settings)  # type: ignore[arg-type]


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


def delete_of(sample: Sample, *siblings: Sample) -> list[Contrast]:
    return list(delete(sample, siblings, rng()))


# --- Another passage ----------------------------------------------------------------------------------------

TOLLS = (
    "The council of Lindmoor wanted the bridge to be paid for by tolls, as the river had few crossings. A "
    "clerk in a small wooden house took the money, and carts had to wait in a long row on busy days."
)
QUARRY = "The quarry gave stone for churches and farms in the hills. " * 4


def passage_of(sample: Sample, *near: str) -> list[str | None]:
    found = list(other_passage(sample, near))
    assert all(one.faithful_document == sample.document_text for one in found)
    assert all(one.faithful is None and one.hallucinated is None for one in found)  # the answer stays
    return [one.hallucinated_document for one in found]


def test_a_near_passage_that_says_nothing_of_the_answer_takes_the_documents_place() -> None:
    question = "Who designed the old stone bridge across the river?"
    assert passage_of(gold("Ada Holst", question), QUARRY, TOLLS) == [TOLLS]  # the other one is off the topic
    assert passage_of(gold("Ada Holst", question), f"{TOLLS} Ada Holst said so.") == []
    assert (
        passage_of(gold("Ada Holst", question), f"{TOLLS} A woman designed the bridge across the river.")
        == []
    )
    claim = "It was designed by Ada Holst."
    [found] = other_passage(gold(claim, question), [TOLLS])
    assert (found.edit_type, found.inserted) == ("other_passage", claim)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Ada Holst", ""), ("yes", "Who designed the bridge across the river?"),
        ("It is old.", "Is the bridge across the river old?"),
        ("There are none.", "What bridges across the river are older?"),
        ("27 months", "How long did the bridge across the river take?"),
    ],
)  # fmt: skip
def test_what_no_passage_can_tell_is_left_alone(answer: str, question: str) -> None:
    assert passage_of(gold(answer, question), f"{TOLLS} All in all 27 men came.") == []


def test_other_windows_of_an_article_come_before_near_documents(store_of: Any) -> None:
    golds = [
        Sample(name, text, "a", "b?", label=Label.PASS, source="s", group=group)
        for name, text, group in (
            ("1", BRIDGE, "g"),
            ("2", TOLLS, "g"),
            ("3", QUARRY, "h"),
            ("4", BRIDGE, "g"),
        )
    ]
    assert Neighbours(store_of(golds), 0).passages(golds[0]) == [TOLLS, QUARRY]


# --- Deletion -----------------------------------------------------------------------------------------------


def test_deletion_takes_out_what_supports_the_answer_and_as_much_elsewhere() -> None:
    [found] = delete_of(gold("Ada Holst", "Who designed the bridge?"))
    assert found.hallucinated_document == BRIDGE.replace("It was designed by Ada Holst in 1931. ", "")
    assert "Ada Holst in 1931" in found.faithful_document and found.faithful_document != BRIDGE
    assert len(parts_of(found.faithful_document)) == len(parts_of(found.hallucinated_document)) == 4
    assert found.faithful_document.startswith("The Tarn Bridge spans")  # what introduces the rest stays
    assert (found.replaced, found.inserted) == ("", "Ada Holst")


def test_one_claim_of_a_long_answer_loses_its_ground() -> None:
    answer = (
        "Ada Holst designed the Tarn Bridge in 1931. The builder Clara Brandt worked on it for 27 months."
    )
    for found in delete_of(gold(answer)):
        assert found.inserted in answer and is_gone(
            found.hallucinated_document, BRIDGE, found.inserted, "", "en"
        )
        assert "Ada Holst" in found.faithful_document and "Clara Brandt" in found.faithful_document


def test_a_faithful_sample_loses_what_supports_another_answer() -> None:
    [found] = delete_of(
        gold("Ada Holst", "Who designed the bridge?"), gold("every June", "When is the fair?")
    )
    assert found.faithful_document == BRIDGE.replace(" A fair is held there every June.", "")


def test_a_faithful_sample_keeps_every_word_of_its_answer() -> None:
    answer = "The builder Clara Brandt worked for 27 months on the bridge, which was designed in 1931."
    for found in delete_of(gold(answer)):
        assert "1931" in (found.faithful_document or "") and "27 months" in (found.faithful_document or "")


def test_front_matter_makes_no_table_of_an_article() -> None:
    front = "The bridge of Tarrow\nAuthors: Ada Holst\nDate: 1931-03-04\nDOI: 10.1/b.1\nLicense: cc-by\n"
    article = f"{front}Abstract: {BRIDGE}\nText: {BRIDGE}"
    assert not is_table(article) and is_table(front + "Net sales 214\nNet income 31")
    talk = ["Ada: Is the bridge open?", "Ben: It is.", "Ada: Since when?", "Ben: Since June."]
    assert is_table("\n".join(talk))


TABLE = "Fiscal year\n2020\n2019\nNet sales\n214.5\n198.2\nNet income\n31.7"


@pytest.mark.parametrize(
    ("answer", "question", "document"),
    [
        ("214.5", "What were net sales in 2020?", TABLE),
        ("214 m", "How long is it?", '{"length": "214 m"}'),
        ("Holst", "Who?", "Holst came. Holst saw. Holst left."),
        ("3", "How many men came?", f"{BRIDGE} There were 3 men."),
        ("yes", "Is it there?", f"{BRIDGE} The answer was yes."),
    ],
)
def test_tables_and_what_cannot_be_missed_lose_nothing(answer: str, question: str, document: str) -> None:
    assert delete_of(gold(answer, question, document)) == []


def test_one_item_of_a_list_loses_its_ground() -> None:
    document = f"{BRIDGE} The toll is paid at the north gate. A lamp was put up at the south gate."
    answers = {
        found.inserted for found in delete_of(gold("north gate, south gate", "Which gates?", document))
    }
    assert answers == {"north gate", "south gate"}


def test_a_mention_that_answers_nothing_may_stay() -> None:
    document = f"{BRIDGE} In a painting of the harbour from 1931 there are only boats. Its frame is oak."
    [found] = delete_of(gold("1931", "When was the Tarn Bridge designed by Ada Holst?", document))
    left = found.hallucinated_document or ""
    assert "Ada Holst in 1931" not in left and "from 1931" in left


def test_a_short_name_beside_words_of_the_question_still_supports_an_answer() -> None:
    document = f"The Lindmoor Labour Party is old. {BRIDGE} In the town council Labour is strongest."
    question = "Which party is strongest in the town council?"
    assert not is_gone(without(document, [0]), document, "Lindmoor Labour Party", question, "en")
    chinese = "秦山是长河流域与黄河流域的分水岭。山上多雪。秦山是长河水系和黄河水系的分水岭。"
    assert not is_gone(without(chinese, [0]), chinese, "长河流域", "秦山是黄河流域和哪个流域的分水岭？", "zh")


def test_an_aim_supports_no_finding() -> None:
    claim = "Slow walking lowers blood pressure and resting pulse in older patients."
    aim = "The aim was to see whether slow walking lowers blood pressure and resting pulse in older patients."
    rest = "Forty people took part. They met on Mondays. It had an effect in most of them."
    assert supporting_parts(f"{aim} {rest}", claim, "", "en") == []
    assert supporting_parts(
        f"Slow walking lowered blood pressure and resting pulse in older patients. {rest}", claim, "", "en"
    ) == [0]


def test_a_conclusion_to_a_question_of_yes_or_no_is_left_alone() -> None:
    answer = "The builder, Karl Brandt, worked on the bridge for all of 27 months."
    assert delete_of(gold(answer, "Why did it cost so much?"))
    assert not delete_of(gold(answer, "Building bridges: does it take long?"))


def test_tokenised_text_has_sentences_too() -> None:
    document = "the bridge was built by ada holst . it is long . `` it holds , '' she said ."
    assert len(parts_of(document)) == 3


# --- Swaps --------------------------------------------------------------------------------------------------


def test_a_number_changes_at_every_mention() -> None:
    document = f"{BRIDGE} The 27 months were cold."
    sample = gold("27 months", "How long did the builder work?", document)
    ways = [next(iter(swap(sample, rng(seed)))) for seed in range(12)]
    for found in ways:
        answer = found.hallucinated or sample.answer
        assert occurs(answer, found.faithful_document or "") and not occurs(
            answer, found.hallucinated_document or ""
        )
        assert (found.hallucinated_document or "").count(found.replaced) == 2
        assert found.inserted in answer
    # Either document is the faithful one, so that neither tells the label.
    assert {found.faithful_document == document for found in ways} == {True, False}


def test_a_bound_stays() -> None:
    """More than 140 is also true of 160."""
    document = "The fair drew more than 160 people. It rained."
    assert list(swap(gold("More than 160 people came to the fair.", document=document), rng())) == []


def test_numbers_that_count_the_same_change_places_unless_they_are_compared() -> None:
    document = "The ferry carries 48 cars. The new barge carries 36 cars. Both are blue."
    found = [each for seed in range(8) for each in swap(gold("48 cars", "", document), rng(seed))]
    both = [each for each in found if occurs("36", each.hallucinated_document or "")]
    assert any(
        "The ferry carries 36 cars. The new barge carries 48" in (e.hallucinated_document or "") for e in both
    )
    compared = "The ferry carries 48 cars, more than the barge with 36 cars."
    for each in swap(gold("48 cars", "", compared), rng()):
        assert not {"48 cars", "36 cars"} <= {each.replaced + " cars", each.inserted + " cars"}


@pytest.mark.parametrize(
    ("old", "new", "document", "can"),
    [
        ("1931", "1936", "It was built in 1931.", True), ("1931", "1999", "It was built in 1931.", False),
        ("1931年", "1999年", "建于1931年。", False),
        ("2.56", "1.97", "It was 2.56 (95% CI: 2.49-2.63) then.", False),
        ("9.6", "6.1", "The mean was 9.6 days (range, 8 to 11 days).", False),
        ("44.6", "61.2", "Of them, 560 (44.6%) came.", False),
        ("1931", "1936", "It was built in 1931. In 1934 it burnt.", False),
        ("27", "31", "They worked for 27 months.", True),
    ],
)  # fmt: skip
def test_numbers_stay_plausible(old: str, new: str, document: str, can: bool) -> None:
    assert can_change(old, new, document) is can


def test_what_the_question_names_and_numbers_in_names_stay() -> None:
    assert list(swap(gold("27 months", "What took 27 months?"), rng())) == []
    document = "The probe Apollo 11 was launched from the coast. It came back after a week."
    assert list(swap(gold("Apollo 11", "Which probe?", document), rng())) == []


def test_words_change_all_at_once() -> None:
    assert replace_words("Ann met Bea; Ann left, Anna stayed.", {"Ann": "Bea", "Bea": "Ann"}) == (
        "Bea met Ann; Bea left, Anna stayed."
    )
    assert replace_words("It cost 21.5, then 21.", {"21": "34"}) == "It cost 21.5, then 34."
    assert replace_words("售出480把，剩1480把。", {"480": "620"}) == "售出620把，剩1480把。"


# --- Triples and records ------------------------------------------------------------------------------------

FORD = [Triple("Ford Bridge", "length", "388 m"), Triple("Ford Bridge", "designer", "Olaf Rehn")]


def test_values_of_two_subjects_change_places() -> None:
    sample = gold("The Tarn Bridge by Ada Holst is 214 m long.", document=TRIPLES, task=Task.DATA2TEXT)
    found = [each for seed in range(10) for each in change_places(sample, FORD, rng(seed))]
    assert {frozenset((each.replaced, each.inserted)) for each in found} == {
        frozenset(("214 m", "388 m")), frozenset(("Ada Holst", "Olaf Rehn")),
    }  # fmt: skip
    assert {each.hallucinated is None for each in found} == {True, False}
    for each in found:
        true, false = (
            triples_of(text or "") for text in (each.faithful_document, each.hallucinated_document)
        )
        assert len(true) == len(false) == 4
        values = [sorted(triple.value for triple in lines) for lines in (true, false)]
        assert values[0] == values[1] and {each.replaced, each.inserted} <= {*values[0]}
        answer = each.hallucinated or sample.answer
        said = {triple.value for triple in true if triple.subject == "Tarn Bridge"}
        assert all(value in answer for value in said)
        assert each.inserted not in {triple.value for triple in false if triple.subject == "Tarn Bridge"}


def test_a_value_that_another_line_repeats_stays() -> None:
    document = "Tarn Bridge | designer | Ada Holst\nTarn Bridge | builder | Ada Holst"
    assert (
        list(change_places(gold("Ada Holst designed the Tarn Bridge.", document=document), FORD, rng())) == []
    )


def test_a_record_gets_another_value_of_its_key() -> None:
    document = '{\n "bridge": "Tarn Bridge",\n "designer": "Ada Holst"\n}'
    sample = gold("Ada Holst designed the Tarn Bridge.", document=document, task=Task.DATA2TEXT)
    [found] = alter_record(sample, [("designer", "Olaf Rehn"), ("town", "Lindmoor")], rng())
    assert {found.replaced, found.inserted} == {"Ada Holst", "Olaf Rehn"}
    assert {found.faithful_document, found.hallucinated_document} == {
        document, document.replace("Ada Holst", "Olaf Rehn"),
    }  # fmt: skip


# --- A passage beside ---------------------------------------------------------------------------------------


def test_a_passage_beside_holds_what_is_gone_and_is_the_same_for_both() -> None:
    sample = gold("1931", "When was the bridge designed?")
    [found] = delete_of(sample)
    town = "The mill in Ostrand was sold in 1931. Its owner had left. It was a hotel for a while."
    both = add_distractor(found, sample, [town], rng())
    assert both is not None
    for before, after in (
        (found.faithful_document, both.faithful_document),
        (found.hallucinated_document, both.hallucinated_document),
    ):
        assert sorted((after or "").split("\n\n")) == sorted([before or "", town])


def test_no_passage_that_is_about_the_question() -> None:
    sample = gold("1931", "When was the Tarn Bridge designed?")
    [found] = delete_of(sample)
    assert (
        add_distractor(found, sample, ["The Tarn Bridge was designed in 1931. Many liked it."], rng()) is None
    )


def test_no_passage_that_says_a_sentence_of_the_document() -> None:
    """Windows of one article overlap: the next one says again what was taken out of this one."""
    sample = gold("1931", "When was the bridge designed?")
    [found] = delete_of(sample)
    gone = next(part for part in BRIDGE.split(". ") if "1931" in part)
    assert add_distractor(found, sample, [f"{gone}. Trains crossed it for a while."], rng()) is None


@pytest.mark.parametrize(
    ("question", "answer", "first", "second"),
    [
        (
            "Which organization declared the pandemic?", "World Health Organization",
            "The World Health Organization was founded in 1948.", "WHO declared the pandemic in March.",
        ),
        (
            "How many people came to the fair?", "1,200",
            "The fair drew 1,200 people.", "In all 1200 people came to the fair, the mayor said.",
        ),
    ],
)  # fmt: skip
def test_initials_and_other_spellings_of_a_number_go_too(
    question: str, answer: str, first: str, second: str
) -> None:
    others = "Geneva lies on a lake. Schools were closed in most towns. Doctors came by train."
    for each in delete_of(gold(answer, question, f"{others} {first} {others} {second}")):
        assert second not in (each.hallucinated_document or "")


# --- Pairs --------------------------------------------------------------------------------------------------


def unedited(golds: Iterable[Sample]) -> list[Any]:
    """A perturber that is given nothing to edit."""
    assert list(golds) == []
    return []


def test_pairs_differ_in_their_document_alone(store_of: Any) -> None:
    golds = load_starter()
    ways = {"document": DocumentEditor(Neighbours(store_of(golds), 0), 0)}
    made = [made.samples for made in make_pairs(golds, unedited, ways, {"document": 1.0}, 0)]
    pairs = [pair for pair in made if pair]
    assert len(made) == len(golds) and len(pairs) > 0.5 * len(golds)
    for faithful, hallucinated in pairs:
        assert (faithful.label, hallucinated.label) == (Label.PASS, Label.FAIL)
        assert faithful.answer == hallucinated.answer and faithful.question == hallucinated.question
        assert faithful.group == hallucinated.group and faithful.document != hallucinated.document
        assert "edit_type" in hallucinated.meta and "edit_type" not in faithful.meta
        assert hallucinated.meta["inserted"] in hallucinated.answer
    told = [bool(explain(faithful) and explain(hallucinated)) for faithful, hallucinated in pairs]
    assert sum(told) > 0.9 * len(pairs)


def test_edits_do_not_depend_on_which_answer_about_a_document_came_first(tmp_path: Path) -> None:
    golds = [gold for gold in load_starter() if gold.language == "en"]
    with SampleStore(tmp_path / "golds.sqlite") as store:
        store.add(golds)
        neighbours = Neighbours(store, 0)
        ordered, reverse = DocumentEditor(neighbours, 0), DocumentEditor(neighbours, 0)
        before = {item.id: list(ordered(item)) for item in golds}
        assert before == {item.id: list(reverse(item)) for item in reversed(golds)}


@pytest.mark.parametrize(("kind", "least"), [("xquad", 0.45), ("webnlg", 0.7), ("covid_qa", 0.15)])
def test_real_answers_get_pairs(kind: str, least: float, shared_data: Path, tmp_path: Path) -> None:
    """The least yields say what strict rules leave, not what is wanted."""
    golds = list(read_source(SourceConfig(kind=kind, path=str(shared_data), limit=2000), 0))
    with SampleStore(tmp_path / "golds.sqlite") as store:
        store.add(golds)
        editor = DocumentEditor(Neighbours(store, 0), 0)
        found = [(item, edit) for item in golds[::10] for edit in editor(item)]
    assert len(found) >= least * len(golds[::10])
    for item, edit in found:
        if edit.edit_type == "deletion" and len(item.answer.split()) <= 8:
            assert bare(edit.inserted) in bare(edit.faithful_document or "")
