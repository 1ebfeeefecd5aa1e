"""Long answers: supported sentences about one document, and errors at places that are known."""

from itertools import pairwise

import pytest

from data_pipeline.pairs.added import _addition, is_supported
from data_pipeline.pairs.contrast import pairs
from data_pipeline.pairs.corrupt import changed_span, is_unsaid
from data_pipeline.pairs.documents.parts import parts_of
from data_pipeline.pairs.long import long_answers
from data_pipeline.pairs.statements import plain, statements
from data_pipeline.text.leaning import depends_on_previous, linked, names_its_subject
from judge.baselines.overlap import units
from judge.types import Label, Language, Sample, Task

BRIDGE = (
    "The Tarn Bridge spans the river Lind at the old market of Lindmoor and carries two lanes of traffic. "
    "It was designed by the engineer Ada Holst, who had won a contest of the town council. "
    "In 1931, the builder Karl Brandt laid the first stone on the northern bank of the river. "
    "Workers from the nearby quarry cut the granite blocks (see below) for all seven arches by hand. "
    "A flood destroyed the wooden scaffolding in the spring and delayed the work by several months. "
    "The town council took a loan from the savings bank of Lindmoor for all of the repairs. "
    "Since then, a fair has been held there every June, with boats and music. "
    "The ferry company lost most of its passengers to the bridge and was closed by its owners. "
    "What did the citizens think?"
)
HARBOUR = (
    "The harbour of Lindmoor was dredged by a company from the coast during a long dry summer. "
    "Divers found the wreck of a cargo boat under the mud, with barrels of tar and pitch still in it. "
    "The town museum shows the anchor of the wreck beside a model of the first lighthouse. "
    "Merchants from the river valley asked the town council for a second crane and a longer quay. "
    "The council refused the loan because the savings bank of the town had doubts about the traffic. "
    "A storm damaged the roof of the customs house and delayed the opening of the market hall."
)
CASTLE = (
    "The castle above Lindmoor belonged to a family of wool traders who rebuilt the northern tower. "
    "Masons from the river valley carved the stone lions that guard the gate of the upper court. "
    "A fire destroyed the great hall of the castle, and the family moved to a house at the old market. "
    "The town council bought the ruin from a bank and opened the cellars as a store for grain. "
    "Visitors reach the tower by a path that starts behind the church and crosses a wooden bridge. "
    "The last owner planted a garden of rare roses and gave the keys of the gate to the town."
)


def gold(name: str, document: str, answer: str, question: str = "", **values: object) -> Sample:
    return Sample(name, document, answer, question, source="s", group=name, label=Label.PASS, **values)  # type: ignore[arg-type]


GOLDS = [
    gold("bridge", BRIDGE, "Karl Brandt", "Which builder laid the first stone?"),
    gold("harbour", HARBOUR, "the anchor of the wreck", "What does the town museum show beside a model?"),
    gold("castle", CASTLE, "wool traders", "What was the trade of the family?"),
    gold("summary", BRIDGE, "A bridge, and the builders who came for it.", ""),
]


@pytest.fixture(scope="module")
def made() -> list[tuple[Sample, Sample, Sample]]:
    """Gold, faithful and hallucinated sample, for many seeds."""
    return [
        (item, *pair)
        for seed in range(40)
        for item in GOLDS
        for pair in [pairs(item, "long", long_answers(item, seed))]
        if pair
    ]


# --- Statements ---------------------------------------------------------------------------------------------


def test_a_text_without_sentences_says_nothing() -> None:
    assert is_unsaid("The Tarn Bridge carries two lanes of traffic.", "", "en")
    claim = _addition("The Tarn Bridge carries two lanes of traffic.", "", "", "en")
    assert not is_supported(claim, ["", " \n"], GOLDS[0])


def test_statements_of_a_document() -> None:
    found = {said.part: said for said in statements(BRIDGE, "en")}
    assert sorted(found) == [0, 1, 2, 3, 4, 5, 6, 7]  # no question
    assert [part for part, said in found.items() if said.depends] == [1, 6]
    assert (
        found[3].text == "Workers from the nearby quarry cut the granite blocks for all seven arches by hand."
    )
    assert found[2].text.endswith("on the northern bank of the river in 1931.")


@pytest.mark.parametrize(
    "text",
    [
        "Table 2 shows how many boats crossed the river in each month.",
        "The boats crossed the river in each month of the year [12].",
        "To find out how many of the boats crossed the river each year.",
        "Patients admitted to the old hospital of the town on the river.",
        "Results: The boats crossed the river in each month of the year.",
        "I think that the boats crossed the river in each month of the year.",
        "The boats of the town crossed the river in the manner of Holst et al.",
    ],
)
def test_what_cannot_stand_in_an_answer(text: str) -> None:
    assert plain(text, "en") is None


@pytest.mark.parametrize(
    ("text", "depends", "language"),
    [
        ("However, the bridge was closed for a year.", True, "en"),
        ("In 1940, it was closed for a year.", True, "en"),
        ("The bridge of the town and its arches were closed.", False, "en"),
        ("In June he closed the bridge.", True, "en"),
        ("Karl Brandt said that he would close it.", False, "en"),
        ("The fair takes place on this bridge.", True, "en"),
        ("它于1931年完工。", True, "zh"),
        ("塔恩桥于1931年完工。", False, "zh"),
    ],
)
def test_what_depends_on_the_sentence_before(text: str, depends: bool, language: Language) -> None:
    assert depends_on_previous(text, language) is depends


def test_rewordings_keep_what_is_said() -> None:
    assert plain("The boats were approximately 30 metres long prior to the flood.", "en") == (
        "The boats were about 30 metres long before the flood."
    )
    assert plain("We measured approximately 30 boats prior to the flood.", "en") is None
    assert plain("The bridge, however, was also closed to the heavy traffic.", "en") == (
        "The bridge was closed to the heavy traffic."
    )
    assert linked("The fair was held.", "Also,", "en") == "Also, the fair was held."
    assert linked("Karl laid it.", "Also,", "en") == "Karl laid it."
    assert not names_its_subject("The network is run by a company.", "en")


# --- Errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "inserted", "wrong", "right"),
    [
        ("It opened in 1931.", "It opened in 1937.", "1937", "1937", "1931"),
        ("Karl Weber came.", "Paul Weber came.", "Paul Weber", "Paul Weber", "Karl Weber"),
        ("It was not built here.", "It was built here.", "was", "was built", "was not built"),
        ("A beat B.", "B beat A.", "B", "B beat A", "A beat B"),
        ("大桥于1931年完工。", "大桥于1937年完工。", "1937年", "1937年", "1931年"),
    ],
)
def test_the_wrong_stretch(old: str, new: str, inserted: str, wrong: str, right: str) -> None:
    start, end, replaced = changed_span(old, new, inserted)
    assert (new[start:end].strip(), replaced.strip()) == (wrong, right)


# --- Pairs --------------------------------------------------------------------------------------------------


def test_pairs_of_every_kind_of_error(made: list[tuple[Sample, Sample, Sample]]) -> None:
    kinds = {error["edit_type"] for _, _, wrong in made for error in wrong.meta["errors"]}
    assert len(kinds) > 1 and "deletion" in kinds
    assert {len(wrong.meta["errors"]) for _, _, wrong in made} >= {1, 2}


def test_errors_stand_where_they_are_said_to(made: list[tuple[Sample, Sample, Sample]]) -> None:
    for _, right, wrong in made:
        places = [(error["start"], error["end"]) for error in wrong.meta["errors"]]
        assert all(end <= start for (_, end), (start, _) in pairwise(places))
        for error in wrong.meta["errors"]:
            assert wrong.answer[error["start"] : error["end"]] == error["inserted"] != ""
            if error["edit_type"] == "deletion":
                assert error["inserted"] in right.answer
                assert is_unsaid(error["inserted"], wrong.document_text, "en")
            else:
                assert error["replaced"] in right.answer
        assert wrong.meta["inserted"] == wrong.meta["errors"][0]["inserted"]
        assert "errors" not in right.meta
        assert 60 <= len(units(right.answer, "en")) <= 200
        assert abs(len(right.answer) - len(wrong.answer)) <= 0.1 * len(right.answer)


def test_the_faithful_sample_says_what_its_document_says(made: list[tuple[Sample, Sample, Sample]]) -> None:
    for item, right, wrong in made:
        rest = right.answer
        for link in ("In addition, t", "Also, t", "In addition, a", "Also, a"):
            rest = rest.replace(link, link[-1].upper())
        for said in statements(item.document_text, "en"):
            rest = rest.replace(said.text, "")
        assert not rest.strip()
        parts = [right.document_text[part.start : part.end] for part in parts_of(right.document_text)]
        assert all(part in item.document_text for part in parts)
        for said in statements(item.document_text, "en"):
            if said.text in right.answer:  # what supports it is still there
                part = parts_of(item.document_text)[said.part]
                assert item.document_text[part.start : part.end] in right.document_text
        assert wrong.group == right.group == item.group


def test_the_question_stays_where_the_first_sentence_answers_it(
    made: list[tuple[Sample, Sample, Sample]],
) -> None:
    for item, right, wrong in made:
        assert right.question == wrong.question and right.task is wrong.task
        if right.question:
            assert item.answer in right.answer[: right.answer.index(". ")] and right.task is Task.QA
        else:
            assert right.task is Task.SUMMARIZATION
    assert {bool(right.question) for _, right, _ in made} == {True, False}
