"""Reasonings quote what decides about each claim, name every error, and lead to their label."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from data_pipeline.edits.edit import occurs
from data_pipeline.teachers.reasoning import Mistakes, explain
from data_pipeline.teachers.reasoning.claims import COVERED, claims_of, findings
from data_pipeline.teachers.reasoning.places import MAX_QUOTE, Places
from data_pipeline.teachers.reasoning.wording import MOST_LINES
from data_pipeline.text.content import keys
from data_pipeline.text.refusals import refuses
from judge.prompting.evidence import cite
from judge.types import Label, Language, Sample, Task

BRIDGE = (
    "The bridge was built in 1931. It is 640 m long. Jon Abel designed it, and Ruth Calder paid for the "
    "two towers. Sailors feared the shoals below it, where the ferry Maid of Tarrow had gone down with all "
    "hands one night in the spring of 1904, and for many years no pilot would pass the arches after dark "
    "unless the keeper had lit the nine red lamps on the pier. Tolls were raised in 1948. "
    "Boats pass free of charge."
)
LAKE = (
    "林嘉禾1948年3月生于云泊市，1971年进入云泊乐器公司。"
    "他一生制琴约620把，从不使用机器。湖边的作坊由贺松涛建造。"
)


def sample(answer: str, label: Label = Label.PASS, question: str = "", **meta: Any) -> Sample:
    language: Language = "zh" if re.search("[一-龥]", answer) else "en"
    document = LAKE if language == "zh" else BRIDGE
    return Sample("s", document, answer, question, language=language, label=label, meta=meta)


def wrong(answer: str, kind: str, replaced: str, inserted: str, question: str = "") -> Sample:
    return sample(answer, Label.FAIL, question, edit_type=kind, replaced=replaced, inserted=inserted)


def quotes_of(item: Sample) -> list[str]:
    return [text for finding in findings(item) for text in finding.quotes]


# --- What is said -------------------------------------------------------------------------------------------

TOLD: list[tuple[str, Sample, list[str]]] = [
    ("a fact", sample("It is 640 m long."), ['"It is 640 m long"']),
    ("a fact", sample("他一生制琴约620把。"), ["制琴约620把"]),
    (
        "an edit", wrong("It is 460 m long.", "number", "640", "460"),
        ['"It is 640 m long"', '"640"', '"460"'],
    ),
    ("an edit", wrong("他一生制琴约480把。", "number", "620", "480"), ["制琴约620把", "“620”", "“480”"]),
    (
        "a span without its text", sample("It is 460 m long.", Label.FAIL, spans=[{"start": 6, "end": 11}]),
        ['does not say "460 m"'],
    ),
    (
        "a span that is its text alone", sample("It is 460 m long.", Label.FAIL, spans=["460 m"]),
        ['does not say "460 m"'],
    ),
    (
        "a fact deep in a sentence", wrong("The pier had six red lamps.", "number", "nine", "six"),
        ["nine red lamps on the pier", '"nine"', '"six"'],
    ),
    (
        "a negation", wrong("Boats do not pass free of charge.", "negation", "pass", "do not pass"),
        ["Boats pass free of charge", "do not pass"],
    ),
    (
        "an addition", wrong("It is 640 m long. Otters built it.", "addition", "", "Otters built it."),
        ["640 m long", '"Otters built it"', "- It is 640 m long: "],
    ),
    (
        "a deletion", wrong("The bridge is blue.", "deletion", "", "The bridge is blue."),
        ['"The bridge is blue"'],
    ),
    (
        "an edited document", wrong("It was built in 1926.", "document_swap", "1931", "1926"),
        ["built in 1931", '"1926"'],
    ),
    (
        "another question's answer",
        wrong("Ruth Calder", "other_answer", "Jon Abel", "Ruth Calder", "Who designed the bridge?"),
        ['"Ruth Calder"', "Jon Abel designed it"],
    ),
    (
        "marked spans",
        sample("It is 640 m long and made of oak.", Label.FAIL, spans=[{"start": 20, "text": "made of oak"}]),
        ["640 m long", '"made of oak"'],
    ),
    (
        "a refusal",
        sample("The document does not say who owns the bridge.", question="Who owns the bridge?"),
        ['"The bridge was built in 1931"', "does not answer"],
    ),
    (
        "a wrong refusal",
        wrong(
            "The document does not say who designed it.",
            "refusal",
            "Jon Abel",
            "The document does not say who designed it.",
            "Who designed the bridge?",
        ),
        ["Jon Abel designed it", "does answer"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("what", "item", "told"), TOLD)
def test_each_kind_of_claim_and_error_is_told_and_mistaken(what: str, item: Sample, told: list[str]) -> None:
    reasoning, mistaken = explain(item), Mistakes().of(item)
    assert reasoning is not None and mistaken is not None, what
    assert all(text in reasoning for text in told), reasoning
    assert reasoning != mistaken and reasoning.count("\n") == mistaken.count("\n")
    if item.label is Label.FAIL:
        assert quotes_of(item)[0].rstrip(".。") in mistaken and "instead" not in mistaken


@pytest.mark.parametrize(
    "item",
    [
        sample("Otters live there."), sample("It is 640 m long. Otters live under purple roofs."),
        sample("It is 999 m long."), sample("It is 7 m long.", Label.FAIL),
        sample("It is 7 m long.", Label.FAIL, spans=[{"start": 1}]),
        sample("It is 7 m long.", Label.FAIL, spans="7 m"), sample("It is 7 m long.", Label.FAIL, errors=2),
        sample("The document does not say who designed it.", Label.FAIL, "Who?"),
        wrong("Tolls were raised.", "omission", " in 1948", ""),
    ],
)  # fmt: skip
def test_without_a_quote_there_is_no_reasoning(item: Sample) -> None:
    assert explain(item) is None and Mistakes().of(item) is None


def test_errors_of_one_sentence_share_a_line() -> None:
    errors = [
        {"edit_type": "entity", "replaced": "Jon Abel", "inserted": "Mira Holst", "start": 0, "end": 10},
        {"edit_type": "number", "replaced": "two", "inserted": "six", "start": 40, "end": 43},
    ]
    item = sample("Mira Holst designed it, Calder paid for six towers.", Label.FAIL, errors=errors)
    reasoning = explain(item) or ""
    assert "\n" not in reasoning and all(
        f'"{x}"' in reasoning for x in ("Mira Holst", "Jon Abel", "six", "two")
    )


def test_long_answers_have_few_lines_and_all_errors() -> None:
    document = " ".join(f"The tower of town{n} is {n} m high." for n in range(11, 31))
    answer = document.replace("is 24 m", "is 42 m").replace("is 29 m", "is 92 m")
    errors = [
        {"edit_type": "number", "replaced": "24", "inserted": "42", "start": answer.find("42 m"), "end": -1},
        {"edit_type": "number", "replaced": "29", "inserted": "92", "start": answer.find("92 m"), "end": -1},
    ]
    item = Sample("s", document, answer, label=Label.FAIL, meta={"errors": errors})
    lines = (explain(item) or "").split("\n")
    assert len(lines) == MOST_LINES + 1 and "the rest" in lines[-1]
    assert sum('"42"' in line or '"92"' in line for line in lines) == 2
    assert (
        len((explain(replace(item, answer=document, label=Label.PASS)) or "").split("\n")) == MOST_LINES + 1
    )


def test_a_translation_is_set_beside_the_sentence_of_the_same_number() -> None:
    answer = "Lin was born in 1948. He made 620 instruments. He Songtao built the workshop."
    item = Sample("s", LAKE, answer, task=Task.TRANSLATION, label=Label.PASS)
    assert "620把" in (explain(item) or "").split("\n")[1]
    assert explain(replace(item, answer=answer + " It rained.")) is None


# --- Mistakes -----------------------------------------------------------------------------------------------


def test_mistakes_find_the_faults_that_right_reasonings_find() -> None:
    mistakes = Mistakes()
    mistakes.of(wrong("The bridge is blue.", "deletion", "", "The bridge is blue."))
    mistakes.of(wrong("It is 460 m long.", "number", "640", "460"))
    found = [mistakes.of(replace(sample("The bridge was built in 1931."), id=name)) or "" for name in "ab"]
    assert any("1948" in text or "1904" in text for text in found)  # another year, said to be the right one
    assert any('say "The bridge was built in 1931"' in text for text in found)


def test_claims_are_sentences_or_points_of_a_list() -> None:
    for text, wanted in (
        ("Yes. It is long.\n* It is old.\n2. Boats pass.", ["Yes. It is long.", "It is old.", "Boats pass."]),
        ("它很长。它很旧。", ["它很长。", "它很旧。"]),
        ("broken over\ntwo lines", ["broken over\ntwo lines"]),
    ):
        assert [claim.text for claim in claims_of(text)] == wanted


# --- Refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("The document does not say when.", True), ("The passages do not mention any cost.", True),
        ("Unable to answer based on given passages.", True),
        ("This cannot be determined from the given text.", True),
        ("The bridge does not carry trains.", False), ("He did not answer the letter.", False),
        ("文档没有说是谁建造的。", True), ("根据文档无法确定时间。", True), ("他从不使用机器。", False),
    ],
)  # fmt: skip
def test_refusals_are_known(text: str, refusal: bool) -> None:
    assert refuses(text, "zh" if re.search("[一-龥]", text) else "en") is refusal


# --- Quotes -------------------------------------------------------------------------------------------------

words = st.sampled_from([*BRIDGE.split(), *LAKE, "\n", " ", "640", "1,000", "…", '"'])
texts = st.lists(words, min_size=1, max_size=80).map(" ".join)


@given(document=texts, wanted=texts, must=texts)
def test_every_quote_is_a_stretch_of_the_document(document: str, wanted: str, must: str) -> None:
    flat = " ".join(document.split())
    for quote in Places(document).quotes(keys(wanted), musts=[must]):
        assert quote.strip("… ") in flat and quote.strip()
        assert len(quote) <= MAX_QUOTE + 2


@given(
    document=texts,
    answer=texts,
    label=st.sampled_from(Label),
    kind=st.sampled_from(["number", "added_sentence", "other_answer", "deletion", "omission"]),
    replaced=texts,
    inserted=texts,
)
def test_any_text_gets_a_reasoning_or_none(
    document: str, answer: str, label: Label, kind: str, replaced: str, inserted: str
) -> None:
    meta = {"edit_type": kind, "replaced": replaced, "inserted": inserted}
    item = Sample("s", document, f"{answer} {inserted}", "How long?", label=label, meta=meta)
    reasoning = explain(item)
    assert (reasoning is None) == (Mistakes().of(item) is None)
    assert reasoning is None or reasoning.strip()


# --- On the starter corpus ----------------------------------------------------------------------------------


def test_right_reasonings_quote_what_decides(starter_pairs: list[Sample]) -> None:
    told: Counter[Label | None] = Counter()
    held = edited = 0
    for item in starter_pairs:
        found = findings(item)
        told[item.label] += bool(found)
        flat = " ".join(item.document_text.split())
        assert all(quote.strip("… ") in flat for quote in quotes_of(item))
        assert any(finding.errors for finding in found) == (bool(found) and item.label is Label.FAIL)
        if item.label is Label.PASS and item.task is not Task.TRANSLATION:
            for finding in found:
                wanted, quoted_words = keys(finding.claim.text), keys("\n".join(finding.quotes))
                assert len(wanted & quoted_words) >= COVERED * len(wanted)
        there = item.meta.get("replaced")
        if found and item.meta.get("edit_type") != "added_sentence" and there and occurs(there, flat):
            edited += 1
            held += any(occurs(there, quote) for quote in quotes_of(item))
    assert min(told[label] for label in Label) > 0.85 * len(starter_pairs) / 2
    assert held >= 0.95 * edited > 0


def test_the_judge_finds_its_quotes_again(starter_pairs: list[Sample]) -> None:
    for item in starter_pairs[::7]:
        if reasoning := explain(item):
            evidence, _ = cite(item.document_text, item.answer, item.label, reasoning)
            assert evidence


def test_each_sample_has_one_reasoning(starter_pairs: list[Sample]) -> None:
    first, second = Mistakes(), Mistakes()
    for item in starter_pairs[::9]:
        assert explain(item) == explain(item) and first.of(item) == second.of(item)


def test_wording_does_not_tell_right_from_wrong(starter_pairs: list[Sample]) -> None:
    """What is chosen and what is rejected cannot be told apart without the sample."""
    mistakes = Mistakes()
    rows: list[tuple[str, int, str]] = []
    for item in sorted(starter_pairs, key=lambda item: item.label is Label.PASS):
        right, mistaken = explain(item), mistakes.of(item)
        if item.language == "en" and right and mistaken:
            rows += [(right, 1, item.group), (mistaken, 0, item.group)]
    told, labels, groups = zip(*rows, strict=True)
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+|[^\w\s]"), LogisticRegression(max_iter=500)
    )
    scores = cross_val_predict(model, told, labels, groups=groups, cv=GroupKFold(4), method="predict_proba")
    assert roc_auc_score(labels, scores[:, 1]) < 0.65
