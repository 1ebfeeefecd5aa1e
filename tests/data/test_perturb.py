"""The rule perturber: golden cases for each edit type, properties on any text, and yields on real data."""

# ruff: noqa: E501 (one golden case a line)

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.edits.edit import occurs
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.types import EDIT_TYPES, EDITS, FOREIGN_EDITS
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.starter import load_starter
from data_pipeline.text.facts import find_entities, find_facts
from data_pipeline.text.words import FOLDER, pairs, words
from judge.types import Language, Sample, Task

BRIDGE = (
    "The Corran Bridge was opened on 4 March 1931 by Mira Holst, the mayor of Tarrow. The engineer Jon Abel had "
    "asked for 640 workers, but only 380 workers came. In 1948 the bridge was closed for 12 weeks, and Abel "
    "never saw it open again. The engineer Ruth Calder wrote its history. The road from Kessel Bay is 14 km long."
)
LAKE = (
    "林嘉禾1948年3月生于云泊市，1971年进入云泊乐器公司。贺松涛是林嘉禾的师兄，贺松涛的作品列第3名。"
    "林嘉禾一生制琴约620把，售出480把，从不使用机器。2009年，林嘉禾退休，云泊市在湖的北岸建了博物馆。"
)

PLACES = (
    "The singer was born in Lisbon. A year later her father opened a shop in Madrid. A ferry ends in Norway, and "
    "its fish is sold in Denmark. The Treaty of Larn covers fish. Whaling came to an end with the Treaty of Ovel."
)

# edit type, language, document, question, gold answer, the answers that may come out
GOLDEN: list[tuple[str, Language, str, str, str, set[str]]] = [
    ("number", "en", BRIDGE, "How many workers came?", "In the end 380 workers came.",
     {"In the end 640 workers came."}),
    ("date", "en", BRIDGE, "When was it opened?", "The mayor opened it in 1931.", {"The mayor opened it in 1948."}),
    ("date", "en", BRIDGE, "When was the bridge opened by the mayor?", "1931", {"1948"}),
    ("date", "en", "The mill opened on the 3rd of May.", "", "It opened on the 3rd of May.",
     {f"It opened on the {day} of May." for day in
      ("1st", "2nd", "21st", "22nd", "23rd", "31st", *(f"{n}th" for n in (*range(4, 21), *range(24, 31))))}),
    ("entity", "en", BRIDGE, "Who was the engineer?", "Jon Abel was the engineer.",
     {"Mira Holst was the engineer."}),
    ("entity", "en", PLACES, "Where was she born?", "She was born in Lisbon.", {"She was born in Madrid."}),
    ("entity", "en", PLACES, "In which country does the ferry end?", "Norway", {"Denmark"}),
    ("entity", "en", PLACES, "What agreement covers fish?", "the Treaty of Larn", {"the Treaty of Ovel"}),
    ("negation", "en", BRIDGE, "Is the road required?", "No, the road is not required.",
     {"Yes, the road is required."}),
    ("negation", "en", BRIDGE, "Does the toll affect traffic?", "The toll did not affect traffic. Ruth Calder wrote it down.",
     {"The toll affected traffic. Ruth Calder wrote it down."}),
    ("negation", "en", BRIDGE, "Does the toll affect traffic?", "The toll affected traffic on the bridge.",
     {"The toll did not affect traffic on the bridge."}),
    ("negation", "en", BRIDGE, "Is the toll linked to traffic?", "We found that the toll was linked to traffic.",
     {"We found that the toll was not linked to traffic."}),
    ("negation", "en", BRIDGE, "", "The council will rebuild the bridge.", {"The council will not rebuild the bridge."}),
    ("negation", "en", BRIDGE, "", "The results did not support the engineer.", {"The results supported the engineer."}),
    ("negation", "en", BRIDGE, "Is the road required?", "Yes, the road is required.",
     {"No, the road is not required."}),
    ("negation", "en", BRIDGE, "Is it short?", "No.", {"Yes."}),
    ("comparative", "en", BRIDGE, "", "Costs increased before the war.",
     {"Costs decreased before the war.", "Costs increased after the war."}),
    ("comparative", "en", BRIDGE, "", "The toll is lower than planned.", {"The toll is higher than planned."}),
    ("comparative", "en", BRIDGE, "Is it longer?", "Yes, it is longer than the old one.",
     {"No, it is shorter than the old one."}),
    ("comparative", "en", BRIDGE, "Did the costs increase?", "Yes. They increased by far.",
     {"No. They decreased by far."}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "language", "document", "question", "answer", "expected"), GOLDEN)
def test_golden(
    kind: str, language: Language, document: str, question: str, answer: str, expected: set[str]
) -> None:
    for seed in range(5):
        edit = EDITS[kind](answer, document, question, language, Random(seed))
        assert edit is not None
        assert edit.answer in expected
        assert edit.edit_type == kind
        assert edit.from_document == occurs(edit.inserted, document)


@pytest.mark.parametrize(
    ("kind", "language", "answer"),
    [
        ("comparative", "en", "The North Shore Hotel kept its name."),
        ("comparative", "en", "At first nobody knew it, not even last year."),
        ("comparative", "en", "The road was named after a mayor."),
        ("negation", "en", "There is a bridge."),
        ("negation", "en", "The bridge was closed for 12 weeks."),
        ("negation", "en", "The wood was not stolen, but bought."),
        ("negation", "en", "Abel never saw it open again."),
        ("negation", "en", "The results did not always support the engineer."),
        ("number", "en", "The levy of 1931 and type 2 roads, as in [12]."),
        ("number", "en", "A 3D model shows the three dimensions."),
        ("number", "en", "The planet (66391) 1999 KW4 is small."),
        ("comparative", "en", "The pool has 32 degrees and is warmer than the lake at 27 degrees."),
        ("date", "en", "The day is known as Black Friday."), ("number", "en", "These 12 weeks were cold."),
        ("date", "en", "The span holds (Abel et al., 1931)."),
        ("comparative", "en", "The toll rose from 20 to 30 marks."),
        ("comparative", "en", "The plant lies 40 metres above sea level."),
        ("negation", "en", "It did not have any lights."), ("negation", "zh", "不但如此，他总是这样。"),
        ("entity", "en", "The bridge is old."), ("number", "en", "The H2O and the A4 road."),
        ("date", "en", "It may march on."),
        # The bridge cost 640 workers no more than it cost 380 of them, nor less: both denials may hold.
        ("comparative", "en", "The toll was not linked to increased traffic."),
        ("comparative", "en", "Traffic was not higher than before."),
        ("comparative", "en", "There was no increase in traffic."),
        ("comparative", "en", "The bridge didn't raise the tolls."),
        # Bounds of what the document states otherwise: more than 300 came, and more than 350 did.
        ("number", "en", "More than 300 workers came."), ("number", "en", "Fewer than 500 workers came."),
        ("date", "en", "The bridge was closed after 1944."), ("date", "en", "It was closed by 3 May."),
    ],
)  # fmt: skip
def test_an_edit_that_would_be_wrong_is_not_made(kind: str, language: Language, answer: str) -> None:
    document = BRIDGE if language == "en" else LAKE
    assert all(EDITS[kind](answer, document, "", language, Random(seed)) is None for seed in range(5))


def test_a_direction_that_the_question_names_stays() -> None:
    question, answer = "Which road is the longest?", "The road from Kessel Bay is the longest of all."
    assert EDITS["comparative"](answer, BRIDGE, question, "en", Random(0)) is None
    assert EDITS["comparative"](answer, BRIDGE, "Where do we go?", "en", Random(0)) is not None


def test_a_rise_stays_a_rise() -> None:
    """Also where one of the two shares has decimals and the other has none."""
    document, answer = (
        "It rose from 20% to 30.1%, and others from 13.7%.",
        "The share rose from 20% to 30.1%.",
    )
    for seed in range(20):
        edit = EDITS["number"](answer, document, "", "en", Random(seed))
        low, high = re.findall(r"[\d.]+(?=%)", edit.answer if edit else answer)
        assert float(low) < float(high)


def test_what_the_document_lists_together_is_not_exchanged() -> None:
    document = "Jon Abel and Ruth Calder founded the school. The teacher Jon Abel led it; Ruth Calder wrote its history."
    assert EDITS["entity"]("Jon Abel founded the school.", document, "", "en", Random(0)) is None


def test_a_part_of_a_name_is_no_other_name() -> None:
    document = "The painter Mira Holst lived in Tarrow. Holst said little. Holst sold nothing."
    assert EDITS["entity"]("The painter was Mira Holst.", document, "", "en", Random(0)) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [("$11588.00", "$dec"), ("$2,018mn", "$intmn"), ("$2.5bn", "$decbn"), ("0.49%", "dec%")],
)
def test_amounts_of_filings_are_numbers(text: str, form: str) -> None:
    [fact] = find_facts(f"It was {text} in total.", "en")
    assert (fact.kind, fact.text, fact.form) == ("number", text, form)


def test_translation_is_compared_by_digits() -> None:
    sample = Sample(
        id="t", document="该桥于1931年建成，1948年关闭，雇用了640人。", answer="The bridge was built in 1931.",
        task=Task.TRANSLATION,
    )  # fmt: skip
    made = RulePerturber(0, ("date", "number", "entity")).perturb(sample)
    assert made is not None and made.answer == "The bridge was built in 1948." and made.from_document


def test_from_document_decides_what_is_tried_first() -> None:
    """Both sorts stay in reach: the one that was not wished comes after the other."""
    sample = Sample(id="a", document=BRIDGE, answer="Mira Holst opened the bridge on 4 March 1931.")
    for share in (0.0, 1.0):
        found = RulePerturber(3, from_document=share).candidates(sample)
        made = [item.from_document for item in found]
        assert len({item.answer for item in found}) == len(found) >= 2
        assert made == sorted(made, reverse=share == 1.0) and set(made) == {True, False}


def test_from_document_is_held_where_both_sorts_are() -> None:
    """The share of the samples that have a choice; the starter's other samples get what they have."""
    samples = [sample for sample in load_starter() if sample.language == "en"][::3]
    never, held, always = (
        [RulePerturber(0, from_document=share).perturb(item) for item in samples] for share in (0, 0.6, 1)
    )
    chosen = [
        one.from_document
        for no, one, yes in zip(never, held, always, strict=True)
        if no and one and yes and no.from_document != yes.from_document
    ]
    assert len(chosen) >= 60 and sum(chosen) / len(chosen) == pytest.approx(0.6, abs=0.12)


@pytest.mark.parametrize(
    ("document", "name", "form"),
    [
        ("In May the engineer Jon Abel came.", "Jon Abel", "person-long"),
        ("Dr Sorrel came to the inn. It rained, and Sorrel left.", "Sorrel", "person-short"),
        ("He left for Norway.", "Norway", "country"), ("He left for Lisbon.", "Lisbon", "city"),
        ("They took oseltamivir and then Remdesivir.", "Remdesivir", "other"),
        ("We tested for SARS-CoV-2 first.", "SARS-CoV-2", "virus"),
        ("He joined the Varn University in May.", "Varn University", "organisation"),
        ("Nobody knew what Kuznets Wave meant.", "Kuznets Wave", "thing"),
        ("After the Quorn came.", "Quorn", "other"),
        ("Bread was dear. The climbing of towers began late.", "Bread", None),
        ('Varn_Airport | cityServed | "Varn"\nMira Holst | birthPlace | Varn', "Place", None),
    ],
)  # fmt: skip
def test_names_are_of_the_kind_that_something_shows(document: str, name: str, form: str | None) -> None:
    """``None``: starts of sentences and predicates of triples are no names."""
    forms = {fact.form for fact in find_entities(document, "en") if fact.text == name}
    assert forms == ({form} if form else set())


@pytest.mark.parametrize(
    ("kind", "document", "question", "answer"),
    [
        ("entity", "Jon Abel took Remdesivir.", "Who took it?", "Jon Abel"),
        ("entity", "She left Norway for Lisbon.", "Which country did she leave?", "Norway"),
        ("entity", "Peter Sand sold his boat. Later Mary Holst came.", "", "Peter Sand sold his boat."),
        (
            "entity", "The Scottish Parliament met. Nobody saw the Scotland Parliament.", "Who met?",
            "Scottish Parliament",
        ),
        (
            "entity", "Among the founders were the poet Jon Abel, the painter Max Sorrel.",
            "Who founded it?", "Jon Abel",
        ),
        ("entity", "It began in Wuhan, China. Cases came to Norway.", "", "It began in Wuhan, China."),
    ],
)  # fmt: skip
def test_what_would_not_fit_or_be_true_all_the_same_is_not_made(
    kind: str, document: str, question: str, answer: str
) -> None:
    assert all(EDITS[kind](answer, document, question, "en", Random(seed)) is None for seed in range(5))


@pytest.mark.parametrize(
    ("kind", "answer", "wanted"),
    [
        ("date", "It lasted from 1990 to 1994.", lambda found: int(found[0]) < int(found[1])),
        ("date", "It opened in 2024.", lambda found: int(found[0]) <= 2026),
        ("date", "It will open in 2031.", lambda found: int(found[0]) > 2031),
        ("date", "It was sold in 1931.", lambda found: 1916 <= int(found[0]) <= 1946),
        ("date", "It is open from 09:00 to 16:00.", lambda found: found == sorted(found)),
        ("date", "It was sold after 1931.", lambda found: int(found[0]) > 1931),
        ("date", "It was built in 1004.", lambda found: len(found[0]) == 4),
        ("date", "It was sold by 1931.", lambda found: int(found[0]) < 1931),
        ("number", "At least 380 people came.", lambda found: int(found[0]) > 380),
        ("number", "Up to 380 people came.", lambda found: int(found[0]) < 380),
        ("number", "About 380 people came.", lambda found: abs(int(found[0]) - 380) >= 95),
        ("number", "It costs $12.50 now.", lambda found: re.fullmatch(r"\d\d\.\d\d", found[0])),
        ("number", "It grew by 64% then.", lambda found: int(found[0]) <= 100),
        ("number", "It took 9 hours 56 minutes.", lambda found: int(found[-1]) < 60),
        ("number", "It fell from 51 to 37 marks.", lambda found: int(found[0]) > int(found[1])),
    ],
)
def test_a_near_fact_is_possible_and_contradicts(kind: str, answer: str, wanted: Any) -> None:
    for seed in range(20):
        if edit := FOREIGN_EDITS[kind](answer, answer, "", "en", Random(seed)):
            found = re.findall(r"\d\d:\d\d|\d+(?:\.\d+)?", edit.answer)
            assert wanted(found), edit.answer


def test_what_may_hold_as_well_is_no_error() -> None:
    """Two estimates of one thing; a rise and a fall that both are told."""
    document = "One team put the spread at 2.1 days. Another team put the spread at 3.4 days. It rained for 2.8 days."
    edit = EDITS["number"]("The spread was put at 2.1 days.", document, "", "en", Random(0))
    assert edit is not None and edit.inserted != "3.4"


def test_data_put_into_words_is_not_negated() -> None:
    sample = Sample(
        id="d", document="Varn | leader | Holst", answer="Varn will elect Holst.", task=Task.DATA2TEXT
    )
    assert RulePerturber(0, ("negation",)).perturb(sample) is None
    assert RulePerturber(0, ("negation",)).perturb(replace(sample, task=Task.SUMMARIZATION)) is not None


@pytest.mark.parametrize("language", ["en", "zh"])
def test_starter_shares(language: Language) -> None:
    """Nearly every sample has an edit, and on English no type takes over or goes missing."""
    perturber = RulePerturber(0)
    samples = [sample for sample in load_starter() if sample.language == language][::2]
    made = [item for sample in samples if (item := perturber.perturb(sample))]
    assert len(made) >= 0.75 * len(samples)  # denied answers get pairs of other kinds
    counts = Counter(item.edit_type for item in made)
    if language == "en":
        facts = ("number", "date", "entity", "negation", "comparative")
        assert all(0.02 <= counts[kind] / len(made) <= 0.55 for kind in facts)


def test_word_tables_are_clean() -> None:
    for path in FOLDER.glob("*.txt"):
        entries = words(path.stem)
        assert path.read_text(encoding="utf-8").startswith("# ")
        assert entries and len(set(entries)) == len(entries), path.name
    assert pairs("rewordings_en")[0] == ("a total of", "altogether")


PIECES = ("not ", "never ", "Yes, ", "No, ", "more than ", "12%", "$3.5 million ", "没有", "是的，")
WORDS = st.sampled_from((*re.findall(r"\S+|\s", BRIDGE), *LAKE, *PIECES))
TEXT = st.text(max_size=60) | st.lists(WORDS, max_size=30).map(
    lambda parts: " ".join(parts).replace("  ", " ")
)


@settings(max_examples=150, deadline=None)
@given(TEXT, TEXT | st.just(BRIDGE) | st.just(LAKE), TEXT, st.sampled_from(("en", "zh")), st.integers(0, 9))
def test_properties(answer: str, document: str, question: str, language: Language, seed: int) -> None:
    sample = Sample(id="x", document=document, answer=answer, question=question, language=language)
    made = RulePerturber(seed).candidates(sample)
    assert made == RulePerturber(seed).candidates(sample)
    for item in made:
        assert item.answer != answer
        assert item.from_document == occurs(item.inserted, document)
        assert item.edit_type in EDIT_TYPES
        assert abs(len(item.answer) - len(answer)) <= max(12, 0.2 * len(answer))
        assert item.edit_type != "entity" or item.from_document


def _sentence(item: Sample) -> Sample:
    """The sentence that holds an answer, in its place."""
    pattern = r"[^。！？]+[。！？]?" if item.language == "zh" else r".+?(?:[.!?](?=\s+[A-Z])|$)"
    sentences = re.findall(pattern, item.document_text, re.S)
    return replace(item, answer=next((s.strip() for s in sentences if item.answer in s), item.answer))


@pytest.mark.parametrize(
    ("kind", "language", "share", "from_document"),
    [
        ("xquad", "en", 0.45, 0.15),
        ("xquad", "zh", 0.45, 0.2),
        ("pubmedqa", "en", 0.15, 0.05),  # several sentences of an abstract speak against a turned conclusion
    ],
)
def test_real_sentences(
    kind: str, language: Language, share: float, from_document: float, shared_data: Path
) -> None:
    """Rules make nothing where they are not sure; samples have an edit in at least this share."""
    split = "pqal" if kind == "pubmedqa" else None
    source = SourceConfig(kind=kind, path=str(shared_data), split=split, languages=[language])
    golds = list(read_source(source, 0))[::8]
    perturber = RulePerturber(0, from_document=1.0)
    golds = [_sentence(item) for item in golds] if kind == "xquad" else golds
    made = [(item, edit) for item in golds if (edit := perturber.perturb(item))]
    assert len(made) >= share * len(golds)
    assert sum(edit.from_document for _, edit in made) >= from_document * len(made)
    assert abs(sum(len(edit.answer) - len(item.answer) for item, edit in made)) <= 3 * len(made)
    assert len({edit.edit_type for _, edit in made}) >= (4 if language == "en" else 3)
