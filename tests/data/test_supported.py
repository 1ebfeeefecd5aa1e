"""Gold answers that their document does not support are found, trimmed or left out; good ones stay."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.build.pipeline import build
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.supported import only_supported, supported
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.workers import Workers
from data_pipeline.text.numbers import values
from judge.types import LANGUAGES, Label, Language, Sample, Task
from tests.tiny_data import labelled_recipe

BRIDGE = (
    "The bridge at Lindmoor was built in 1931 by Jon Abel and cost 1,250,000 crowns. It is 22.7 m wide. On 4 "
    "March twenty-three ferries were sold; 40 percent of the tolls went to the Harbour Office in 2014-15."
)
LAKE = "林嘉禾1948年12月生于云泊市。他一生制琴约三百二十把，其中两成卖到国外，总价1.4亿元。"


def gold(answer: str, question: str = "", document: str = "") -> Sample:
    language: Language = "zh" if any("\u4e00" <= char <= "\u9fff" for char in answer) else "en"
    return Sample(
        "g",
        document or (LAKE if language == "zh" else BRIDGE),
        answer,
        question,
        language=language,
        source="s",
    )


@pytest.mark.parametrize(
    "answer",
    [
        "It cost 1250000 crowns.", "It cost 1.25 million crowns.", "It is about 25 m wide.",
        "It is 23 m wide.", "23 ferries were sold on March 4.", "40% of the tolls went to the HO in 2015.",
        "The two engineers were Abel and his wife.", "Mr Able built the bridge.",
        "It was opened in 04.03.1931.", "他一生制琴320把。", "20%卖到国外。", "总价14000万元。",
        "The document doesn't say who paid.",
    ],
)  # fmt: skip
def test_what_is_supported_in_other_words_stays(answer: str) -> None:
    sample = gold(answer)
    assert supported(sample) is sample


def test_and_makes_one_number_only_behind_a_magnitude() -> None:
    assert values("between twenty and thirty people") == {20, 30}
    assert values("the first two weeks") == {1, 2}
    assert 205 in values("two hundred and five") and 1_200_000 in values("one million two hundred thousand")
    assert values("twenty-third of them") == {23}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("It cost 1350000 crowns.", "number"), ("It was built in 1936.", "number"),
        ("The bridge was built by Ruth Calder.", "name"),
        ("Further studies are needed to confirm such effects elsewhere.", "recommendation"),
        ("Otters swim happily through purple elephants without complaint.", "words"),
        ("他一生制琴约480把。", "number"),
        # A refusal tells nothing of its own but for its numbers.
        ("The document does not say who paid the 900 workers' rent.", "number"),
    ],
)  # fmt: skip
def test_what_is_not_supported_is_left_out_with_the_reason(answer: str, reason: str) -> None:
    found = supported(gold(answer))
    assert isinstance(found, Rejected) and found.reason == reason


def test_what_the_question_says_is_known() -> None:
    assert isinstance(supported(gold("All 77 workers came.", "Did the 77 workers come?")), Sample)


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        (
            "The bridge at Lindmoor was built in 1931. Further studies should be made.",
            "The bridge at Lindmoor was built in 1931.",
        ),
        (
            "30日12时，晨报发布《琴师！林嘉禾：一生》报道：林嘉禾1948年生于云泊市，制琴约三百二十把。",
            "林嘉禾1948年生于云泊市，制琴约三百二十把。",
        ),
    ],
)
def test_whole_sentences_are_trimmed_off(answer: str, left: str) -> None:
    found = supported(gold(answer))
    assert isinstance(found, Sample) and found.answer == left


@pytest.mark.parametrize(
    "answer",
    [
        "It was built in 1936. The bridge at Lindmoor cost 1,250,000 crowns.",  # the answer itself is wrong
        "The bridge was built in 1931. It was sold in 1777. This was bad for the bridge.",  # leans on it
        "Jon Abel. It was sold in 1777. It was torn down in 1778.",  # too little is left
        "* The bridge was built by Jon Abel in 1931.\n* It was sold in 1777.",  # a list
    ],
)
def test_what_cannot_be_trimmed_is_left_out(answer: str) -> None:
    assert isinstance(supported(gold(answer)), Rejected)


def test_of_a_translation_only_numbers_are_compared() -> None:
    item = Sample("t", LAKE, "Lin, born in Cloudport, made 320 instruments.", task=Task.TRANSLATION)
    assert supported(item) is item
    assert isinstance(supported(gold("Lin made 480 instruments.", document=LAKE)), Rejected)


@given(st.text(max_size=60), st.text(alphabet="0123456789一二十百千万亿.,: -ab", max_size=30))
def test_any_text_is_looked_at(document: str, answer: str) -> None:
    assert values(answer) is not None
    for language in LANGUAGES:
        supported(Sample("s", document, answer, "Q?", language=language))


def test_a_number_longer_than_decimals_are_precise() -> None:
    number = f"0.{'1' * 40}"
    claim = gold(f"It weighs {number} tonnes.", document="It weighs 811.6 tonnes.")
    assert isinstance(supported(claim), Rejected)
    item = gold("It weighs 812 tonnes.", document=f"It weighs 811.6 tonnes, not {number}.")
    assert supported(item) is item


def test_golds_of_the_starter_corpus_stay() -> None:
    dropped, trimmed = Dropped(), Dropped()
    golds = load_starter()
    kept = list(only_supported(golds, dropped, trimmed, Workers()))
    assert len(kept) >= 0.99 * len(golds) and sum(trimmed.counts.values()) <= 0.01 * len(golds)


def test_hallucinated_samples_pass() -> None:
    wrong = Sample("w", BRIDGE, "It was built in 1777.", label=Label.FAIL)
    assert list(only_supported([wrong], Dropped(), Dropped(), Workers())) == [wrong]


@pytest.mark.parametrize("check", [True, False])
def test_a_build_counts_and_lists_them(tmp_path: Path, check: bool) -> None:
    golds = [
        Sample(f"g{n}", BRIDGE.replace("1931", str(1931 + n)), f"It was built in {1931 + n}.", group=f"g{n}")
        for n in range(40)
    ]
    golds[3] = gold("It was built in 1777.")
    answer = "The bridge at Lindmoor was built in 1931. More studies are needed."
    golds[4] = Sample("t", BRIDGE, answer, group="t")
    settings = {"perturb": True, "check_golds": check, "preferences": {"pairs": 2}}
    manifest = build(labelled_recipe(tmp_path, golds, **settings))
    left_out = manifest["dropped"].get("gold answer not supported: number", {"ids": []})
    assert left_out["ids"] == (["g"] if check else [])
    assert manifest["trimmed"] == ({"mine": {"count": 1, "ids": ["t"]}} if check else {})
    assert json.loads((tmp_path / "data/manifest.json").read_text())["trimmed"] == manifest["trimmed"]
