"""The rules judge: what each check finds and cites, that it never sees a label, and how often it is right."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.starter import load_starter
from data_pipeline.teachers.lookup import stands
from data_pipeline.teachers.rules import judge_by_rules
from data_pipeline.text.facts import find_facts
from judge.prompting.evidence import quotes
from judge.types import Label, Language, Sample, Task

BRIDGE = (
    "The Corran Bridge was opened on 4 March 1931 by Mira Holst, the mayor of Tarrow. The engineer Jon Abel "
    "had asked for 640 workers, but only 380 workers came. In 1948 the bridge was closed for 12 weeks, and "
    "Abel never saw it open again. Tolls rose before the war. The budget was 5,870 crowns."
)
LAKE = "林嘉禾1948年3月生于云泊市，1971年进入云泊乐器公司。他一生制琴约620把，从不使用机器。售价低于300元。"

# What is found (an error by its name), language, answer, what the reasoning cites.
CASES: list[tuple[str, Language, str, list[str]]] = [
    (
        "faithful", "en", "The Corran Bridge was opened on March 4 1931.",
        ["opened on 4 March 1931", '"1931"', '"March 4"'],
    ),
    ("faithful", "en", "Only 380 workers came.", ["but only 380 workers came", '"380"']),
    ("faithful", "en", "The budget was 5870 crowns.", ["The budget was 5,870 crowns", '"5870"']),
    ("faithful", "en", "Holst opened the bridge.", ["by Mira Holst"]),
    ("faithful", "en", "The bridge was closed.", ["In 1948 the bridge was closed"]),
    ("faithful", "zh", "林嘉禾一生制琴约620把。", ["制琴约620把", "“620”"]),
    ("faithful", "zh", "他从不使用机器。", ["从不使用机器"]),
    ("missing", "en", "The bridge was opened on 4 March 1936.", ["opened on 4 March 1931", '"1936"']),
    ("missing", "en", "The bridge was opened by Ruth Calder.", ["by Mira Holst", '"Ruth Calder"']),
    ("missing", "zh", "他一生制琴约480把。", ["制琴约620把", "“480”"]),
    (
        "other", "en", "In 1931 it was closed for 12 weeks.",
        ["In 1948 the bridge", '"1931" instead of "1948"'],
    ),
    ("other", "zh", "他于1948年进入公司。", ["1971年进入云泊乐器公司", "把“1971年”说成了“1948年”"]),
    (
        "opposite", "en", "Tolls rose after the war.",
        ["Tolls rose before the war", '"after" instead of "before"'],
    ),
    (
        "polarity", "en", "In 1948 the bridge was not closed for 12 weeks.",
        ["closed for 12 weeks", "denies this"],
    ),
    ("polarity", "en", "Abel saw it open again.", ["never saw it open again", "leaves out"]),
    ("polarity", "zh", "他使用机器。", ["从不使用机器", "否定"]),
    (
        "unknown", "en", "It has carried heavy purple elephants without complaint.",
        ["does not support", "elephants"],
    ),
    ("unknown", "zh", "桥下常有白鹭和野鸭栖息。", ["文档不支持", "白鹭"]),
]  # fmt: skip


def sample(language: Language, answer: str, question: str = "") -> Sample:
    return Sample("s", BRIDGE if language == "en" else LAKE, answer, question, language=language)


@pytest.mark.parametrize(("check", "language", "answer", "cited"), CASES)
def test_facts_pass_and_errors_fail_and_both_are_cited(
    check: str, language: Language, answer: str, cited: list[str]
) -> None:
    found = judge_by_rules(sample(language, answer))
    assert found.label is (Label.PASS if check == "faithful" else Label.FAIL), found.reasoning
    assert all(text in found.reasoning for text in cited), found.reasoning


def test_what_the_question_names_is_not_looked_up() -> None:
    asked = sample("en", "For Ruth Calder 380 workers came.", "How many workers came for Ruth Calder?")
    assert judge_by_rules(asked).label is Label.PASS
    assert judge_by_rules(replace(asked, question="How many workers came?")).label is Label.FAIL


def test_a_yes_or_no_is_no_denial() -> None:
    question = "Was the bridge closed in 1948?"
    assert judge_by_rules(sample("en", "Yes, the bridge was closed.", question)).label is Label.PASS
    assert judge_by_rules(sample("en", "No, Abel never saw it open again.", question)).label is Label.PASS


def test_of_a_translation_the_numbers_are_compared() -> None:
    original = Sample("s", LAKE, "He made some 620 instruments.", task=Task.TRANSLATION)
    assert judge_by_rules(original).label is Label.PASS
    found = judge_by_rules(replace(original, answer="He made some 260 instruments."))
    assert found.label is Label.FAIL and 'nowhere mentions "260"' in found.reasoning


@pytest.mark.parametrize(
    ("text", "document", "there"),
    [
        ("It cost 5,870 crowns.", "5870 crowns", True), ("It took three weeks.", "3 weeks", True),
        ("It took 3 weeks.", "three weeks", True), ("It rose by 40%.", "40 percent", True),
        ("It was on 4 March.", "March 4, 1931", True), ("It was on 4 March.", "4 May", False),
        ("It cost 5,870 crowns.", "15,870 crowns", False),
        ("The engineer was Jon Abel.", "Abel built it", True),
        ("The engineer was Jon Abel.", "Jon Calder built it", False),
    ],
)  # fmt: skip
def test_a_fact_stands_in_other_spellings(text: str, document: str, there: bool) -> None:
    [fact] = find_facts(text, "en")
    assert stands(fact, document, "en") is there


def in_pairs(golds: list[Sample]) -> list[tuple[Sample, Sample]]:
    """Gold samples, each with a hallucinated counterpart."""
    perturber = RulePerturber(0)
    return [
        (gold, replace(gold, answer=edit.answer, label=Label.FAIL, meta={"change": edit.change}))
        for gold in golds
        if (edit := perturber.perturb(gold))
    ]


@pytest.fixture(scope="module")
def starter() -> list[tuple[Sample, Sample]]:
    return in_pairs(load_starter()[::6])


def balanced(pairs: list[tuple[Sample, Sample]]) -> tuple[float, float]:
    """Shares of faithful and of hallucinated answers that are judged right."""
    right = [[judge_by_rules(item).label is item.label for item in pair] for pair in pairs]
    return sum(one for one, _ in right) / len(right), sum(two for _, two in right) / len(right)


def test_it_sees_neither_label_nor_meta_and_quotes_the_document(starter: list[tuple[Sample, Sample]]) -> None:
    for pair in starter[:50]:
        for item in pair:
            found = judge_by_rules(item)
            hidden = replace(item, label=None, meta={}, id="other", group="other", source="other")
            assert judge_by_rules(hidden) == found
            assert any(quote in item.document_text for quote in quotes(found.reasoning))
            assert len(found.reasoning) < 1000


def test_it_is_right_more_often_than_not_on_the_starter_corpus(starter: list[tuple[Sample, Sample]]) -> None:
    faithful, hallucinated = balanced(starter)
    assert faithful > 0.72 and hallucinated > 0.65


@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_finds_exchanged_answers_of_xquad(shared_data: Path, language: Language) -> None:
    source = SourceConfig(kind="xquad", path=str(shared_data), languages=[language])
    golds = [replace(gold, label=Label.PASS) for gold in read_source(source, 0)]
    faithful, hallucinated = balanced(in_pairs(golds[::4]))
    assert faithful > 0.9 and hallucinated > 0.75


def test_it_says_the_same_on_every_run() -> None:
    code = (
        "from data_pipeline.sources.starter import load_starter\n"
        "from data_pipeline.teachers.rules import judge_by_rules\n"
        "from judge.files import sha256_text\n"
        "print(sha256_text(repr([judge_by_rules(item) for item in load_starter()[::30]])))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


PIECES = [*BRIDGE.split(" "), *LAKE, "\n", ".", ",", "。", "No", "是的", "<", "{}", "\\", "(", "]", "½", "٣"]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join) | st.text(max_size=40)


@given(document=texts, question=texts, answer=texts, language=st.sampled_from(["en", "zh"]))
def test_any_text_is_judged(document: str, question: str, answer: str, language: Language) -> None:
    found = judge_by_rules(Sample("s", document, answer, question, language=language))
    assert found.label is not None and found.reasoning and found.problem is None
