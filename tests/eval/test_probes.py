"""The bundled contrast pairs: their data, their dressings, and what is measured on them."""

import json
import re
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks.probes import PROBES, dressings
from eval.benchmarks.probes.benchmark import CATEGORIES, CLEAN, DATA, LOWEST, read_folder
from eval.benchmarks.probes.dressings import DRESSINGS, dressed_pairs
from eval.cli import eval_command as app
from judge.errors import InputError
from judge.files import read_jsonl, write_jsonl
from judge.types import Label, Sample, Task, Verdict
from tests.calling import invoke

SHINGLE = 12
PAIR = {"category": "time", "question": "When?", "faithful": "At two.", "hallucinated": "At three."}


def folder_of(path: Path, *documents: list[dict[str, Any]]) -> Path:
    """A folder with one file: a document for each list of pairs."""
    rows = [
        {"id": f"d{number}", "domain": "clubs", "document": f"Club {number} meets at two.", "pairs": pairs}
        for number, pairs in enumerate(documents)
    ]
    write_jsonl(path / "x.jsonl", rows)
    return path


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    return [row for path in sorted(DATA.glob("*.jsonl")) for _, row in read_jsonl(path)]


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return PROBES.load()


@pytest.fixture(scope="module")
def clean(samples: list[Sample]) -> list[Sample]:
    return [sample for sample in samples if sample.meta["dressing"] == CLEAN]


def test_there_is_enough_of_everything(documents: list[dict[str, Any]]) -> None:
    pairs = [pair for document in documents for pair in document["pairs"]]
    assert len(documents) >= 100 and len(pairs) >= 300
    counts = Counter(pair["category"] for pair in pairs)
    assert set(counts) == set(CATEGORIES) and min(counts.values()) >= 5


def test_no_two_documents_share_a_passage(documents: list[dict[str, Any]]) -> None:
    owners: dict[tuple[str, ...], str] = {}
    for document in documents:
        words = re.findall(r"\w+", document["document"].casefold())
        for start in range(len(words) - SHINGLE + 1):
            shingle = tuple(words[start : start + SHINGLE])
            assert owners.setdefault(shingle, document["id"]) == document["id"], " ".join(shingle)


def test_a_pair_gives_two_samples_and_dressed_ones(tmp_path: Path) -> None:
    samples = list(read_folder(folder_of(tmp_path, [PAIR, {**PAIR, "question": ""}], [PAIR])))
    clean = [sample for sample in samples if sample.meta["dressing"] == CLEAN]
    assert [sample.id for sample in clean] == [
        f"{name}-{side}" for name in ("d0-1", "d0-2", "d1-1") for side in ("pass", "fail")
    ]
    first, second = clean[:2]
    assert (first.label, first.answer, second.label, second.answer) == (
        Label.PASS, "At two.", Label.FAIL, "At three.",
    )  # fmt: skip
    assert (first.task, first.language, first.source, first.group) == (Task.QA, "en", "probes", "d0")
    assert first.meta == {"category": "time", "domain": "clubs", "dressing": CLEAN}
    assert (first.question, clean[2].question) == ("When?", "")
    by_id = {sample.id: sample for sample in clean}
    dressed = [sample for sample in samples if sample.meta["dressing"] != CLEAN]
    assert {sample.id for sample in dressed} >= {"d0-1-pass:citation", "d0-1-fail:citation"}
    for sample in dressed:
        base = by_id[sample.meta["base"]]
        assert sample.source == "probes_dressed" and sample.answer != base.answer
        kept = replace(sample, id=base.id, answer=base.answer, source=base.source, meta=base.meta)
        assert kept == base
    assert PROBES.tables(samples) == {
        "form": {
            "clean": [place for place, sample in enumerate(samples) if sample in clean],
            "dressed": [place for place, sample in enumerate(samples) if sample in dressed],
        }
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category": "tone"}, r"x\.jsonl:1.*pairs\.0\.category.*'tone'"),
        ({"hallucinated": "At two."}, r"pairs\.0\.hallucinated.*the same as"),
    ],
)
def test_wrong_rows(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        list(read_folder(folder_of(tmp_path, [{**PAIR, **change}])))


def undressed(answer: str) -> list[str]:
    """The words of an answer without what a dressing adds, in one spelling."""
    for added in (*dressings.OPENINGS, *dressings.CLOSINGS, dressings.EMOJI, dressings.BULLET, "**"):
        answer = answer.replace(added, "")
    answer = re.sub(r"\s*\[1\]", "", answer)
    return unicodedata.normalize("NFC", answer).casefold().split()


def test_what_dressings_look_like() -> None:
    first = 'Dr. Ana Li said "no." The café on Lake St. opens at 9:30. It is full'
    assert DRESSINGS["sentence citations"](first, 0) == (
        'Dr. Ana Li said "no [1]." The café on Lake St. opens at 9:30 [1]. It is full [1]'
    )
    assert DRESSINGS["citation"]("Yes.", 0) == "Yes. [1]"
    assert DRESSINGS["bold"](first, 0).count("**9:30**") == 1
    assert DRESSINGS["bold"]("It was Ms Abernathy.", 0) == "It was Ms **Abernathy**."
    assert DRESSINGS["upper case"]("A café.", 0) == "A CAFÉ."
    assert DRESSINGS["spacing"]("a b c", 0) == "  a  b\nc \n\n"
    assert DRESSINGS["Unicode"]("A café.", 0) == "A\u00a0cafe\u0301."
    assert DRESSINGS["bullet"]("-5 degrees", 0) == "\u2022 -5 degrees"
    assert DRESSINGS["opening"]("Yes.", 0) == "Based on the context: Yes."
    assert DRESSINGS["closing"]("Yes.", 0).startswith("Yes.\n\nLet me know")
    assert DRESSINGS["closing"]("Yes.", 5) == "Yes. I hope that answers your question."


def test_a_dressing_meets_both_answers_of_every_fourth_pair() -> None:
    answers = "The café is open.", "The café is shut."
    met = [dict(dressed_pairs(number, "time", "A café.", answers)) for number in range(8)]
    assert [set(found) for found in met[:4]] == [set(found) for found in met[4:]]
    assert sorted(name for found in met[:4] for name in found) == sorted(DRESSINGS)
    for number, found in enumerate(met):
        for name, dressed in found.items():
            assert dressed == tuple(DRESSINGS[name](answer, number) for answer in answers)


@pytest.mark.parametrize(
    ("category", "document", "answer", "without"),
    [
        ("time", "A club.", "At two [2].", {"citation", "sentence citations"}),
        ("time", "A club [1].", "At two.", {"citation", "sentence citations"}),
        ("place", "A club.", "In the cellar of no. 8.", {"sentence citations"}),
        ("list", "A club.", "Only the -d option.", {"bold", "upper case", "spacing"}),
        ("code", "A club.", "It restarts.", {"bold", "upper case", "spacing"}),
        ("unit", "A club.", "It draws 5 mW.", {"bold", "upper case", "spacing"}),
        ("list", "A club.", "- tea\n- milk", {"bold", "upper case", "spacing"}),
    ],
)
def test_what_could_touch_the_meaning_is_left_out(
    category: str, document: str, answer: str, without: set[str]
) -> None:
    for pair in ((answer, "At noon."), ("At noon.", answer)):
        met = [name for number in range(4) for name, _ in dressed_pairs(number, category, document, pair)]
        assert set(DRESSINGS) - set(met) == without


def test_the_bundled_dressings_keep_the_words(samples: list[Sample], clean: list[Sample]) -> None:
    answers = {sample.id: sample.answer for sample in clean}
    dressed = [sample for sample in samples if sample.meta["dressing"] != CLEAN]
    assert {sample.meta["dressing"] for sample in dressed} == set(DRESSINGS)
    for sample in dressed:
        base = answers[sample.meta["base"]]
        assert undressed(sample.answer) == undressed(base) and sample.answer != base
    assert 2.5 * len(clean) < len(samples) < 4 * len(clean)


def given(samples: list[Sample], said: dict[str, float | None]) -> list[Verdict]:
    """Verdicts by probability, FAIL from one half; what is not named could not be parsed."""
    return [
        Verdict(None)
        if (p := said.get(sample.id)) is None
        else Verdict(Label("FAIL" if p >= 0.5 else "PASS"), p)
        for sample in samples
    ]


@pytest.fixture
def four(tmp_path: Path) -> list[Sample]:
    """Two pairs about times in one document, one about places in each of two others; dressed ones too."""
    place = {**PAIR, "category": "place"}
    return list(read_folder(folder_of(tmp_path, [PAIR, PAIR], [place], [place])))


def test_the_order_of_the_answers_counts(four: list[Sample]) -> None:
    said = {
        "d0-1-pass": 0.1, "d0-1-fail": 0.9,  # right, and both labels right
        "d0-2-pass": 0.6, "d0-2-fail": 0.7,  # right, one label right
        "d1-1-pass": 0.3, "d1-1-fail": 0.3,  # a tie
        "d2-1-pass": 0.8, "d2-1-fail": 0.2,  # wrong
    }  # fmt: skip
    found = PROBES.figures(four, given(four, said))
    whole, lowest = found["pairs"].values()
    assert list(found["pairs"]) == ["all", LOWEST] and list(whole) == list(lowest)
    assert (whole["pairs"], whole["right_order"]) == (4, 2.5 / 4)
    assert whole["accuracy"] == pytest.approx(4 / 8)
    assert whole["low"] == 0 and whole["high"] == 1  # a resample of three documents may be any of them
    assert found["pairs by category"] == {
        "place": {"pairs": 2, "right_order": 0.25, "accuracy": 0.25},
        "time": {"pairs": 2, "right_order": 1.0, "accuracy": 0.75},
    }
    assert list(found["pairs by category"]) == ["place", "time"]
    assert lowest == {"pairs": 2, "right_order": 0.25, "low": None, "high": None, "accuracy": 0.25}


def test_pairs_without_probabilities_have_labels_alone(four: list[Sample]) -> None:
    said = {"d0-1-pass": 0.1, "d0-1-fail": 0.9, "d0-2-pass": 0.2, "d1-1-fail": 0.7, "d2-1-pass": 0.9}
    found = PROBES.figures(four, given(four, said))
    assert found["pairs"]["all"] == {
        "pairs": 1, "right_order": 1.0, "low": None, "high": None, "accuracy": pytest.approx(0.5),
    }  # fmt: skip
    labels = [Verdict(sample.label if sample.meta["category"] == "time" else None) for sample in four]
    found = PROBES.figures(four, labels)
    assert found["pairs"]["all"]["right_order"] is None and found["pairs"]["all"]["accuracy"] == 0.5
    assert found["pairs"][LOWEST]["accuracy"] == 0.0
    assert all(row["p_fail_shift"] is None for row in found["harmless dressings"].values())


def test_a_draw_may_hold_half_a_pair(four: list[Sample]) -> None:
    said = {sample.id: 0.1 if sample.label is Label.PASS else 0.9 for sample in four}
    some = [sample for sample in four if sample.id in ("d0-1-pass", "d0-2-fail", "d2-1-fail:opening")]
    found = PROBES.figures(some, given(some, said))
    assert found["pairs"]["all"] == {
        "pairs": 0, "right_order": None, "low": None, "high": None, "accuracy": 1.0,
    }  # fmt: skip
    assert "harmless dressings" not in found
    assert PROBES.figures(some[:0], []) == {}


def test_what_dressings_turn(four: list[Sample]) -> None:
    """The citation turns both answers of the first pair, and no other dressing anything."""
    said: dict[str, float | None] = {sample.id: 0.2 if sample.label is Label.PASS else 0.9 for sample in four}
    said |= {"d0-1-pass:citation": 0.7, "d0-1-fail:citation": 0.4, "d0-2-fail:bullet": 0.95}
    found = PROBES.figures(four, given(four, said))["harmless dressings"]
    assert next(iter(found)) == "all" and set(found) == {"all", *DRESSINGS}
    assert found["citation"] == {
        "answers": 2, "turned": 1.0, "to_fail": 0.5, "to_pass": 0.5, "p_fail_shift": pytest.approx(0.5),
    }  # fmt: skip
    every = found["all"]
    assert every["answers"] == sum(row["answers"] or 0 for row in list(found.values())[1:]) == 20
    assert every["turned"] == pytest.approx(2 / 20)
    still = [name for name, row in found.items() if row["turned"] == 0]
    assert len(still) == len(found) - 2
    said["d0-1-pass:citation"] = None
    row = PROBES.figures(four, given(four, said))["harmless dressings"]["citation"]
    assert (row["turned"], row["to_fail"], row["to_pass"]) == (1.0, 0.0, 0.5)
    assert row["p_fail_shift"] == pytest.approx(0.5)


def test_a_limit_draws_whole_pairs_of_all_categories(samples: list[Sample]) -> None:
    drawn = PROBES.draw(samples, 400, 1)
    assert len(drawn) == 400 and drawn == PROBES.draw(samples, 400, 1) != PROBES.draw(samples, 400, 2)
    places = [samples.index(sample) for sample in drawn]
    assert places == sorted(set(places))
    clean = [sample for sample in drawn if sample.meta["dressing"] == CLEAN]
    assert Counter(sample.label for sample in clean) == dict.fromkeys(Label, len(clean) / 2)
    assert {sample.meta["category"] for sample in drawn} == set(CATEGORIES)
    names = {sample.id for sample in drawn}
    whole = {sample.id for sample in samples if sample.meta.get("base", sample.id) in names}
    assert len(whole - names) < 8  # of the last pair
    assert PROBES.draw(samples, None, 0) == PROBES.draw(samples, len(samples), 0) == samples
    with pytest.raises(InputError, match="limit 0"):
        PROBES.draw(samples, 0, 0)


def test_it_is_measured_by_name(tmp_path: Path) -> None:
    asked = ("--model", "baseline:overlap", "--benchmarks", "probes", "--limit", 400, "--set", "bootstrap=0")
    shown = " ".join(invoke(app, *asked, "--out", tmp_path / "out").stdout.split())
    for text in ("By form", "pairs by category", LOWEST, "harmless dressings", "right_order"):
        assert text in shown
    (report,) = json.loads((tmp_path / "out" / "report.json").read_text())["reports"]
    assert report["counts"]["n"] == 400
