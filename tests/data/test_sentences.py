"""Rows about single sentences, from answers with known spans."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data_pipeline.build.pipeline import build
from data_pipeline.labels.sentence_rows import MOST, known_spans, sentence_rows, split
from data_pipeline.pairs.contrast import Contrast, Error, pairs
from data_pipeline.sources.store import SampleStore
from judge.errors import InputError
from judge.files import read_jsonl
from judge.formats.spans import wrong_spans
from judge.types import Label, Sample, Span
from tests.tiny_data import labelled_recipe

StoreOf = Callable[..., SampleStore]
DOCUMENT = "The Tarn Bridge was designed by Ada Holst in 1931. A fair is held there every June."
ANSWER = (
    "Sure: Karl Brandt designed the old Tarn Bridge. A fair is held there each June. It is free for all of "
    "the guests. Boats cross the river all year."
)


def labelled(name: str, *wrong: str, answer: str = ANSWER) -> Sample:
    spans = [
        {"start": answer.index(text), "end": answer.index(text) + len(text), "text": text} for text in wrong
    ]
    label = Label.FAIL if wrong else Label.PASS
    return Sample(
        name, f"{DOCUMENT} {name}", answer, "Who?", source="s", group=name, label=label, meta={"spans": spans}
    )


def rows_of(sample: Sample) -> dict[str, Sample]:
    spans = known_spans(sample)
    assert spans is not None
    return {row.id.split("-")[-1]: row for row in split(sample, spans)}


def test_sentences_are_labelled_by_the_spans_in_them() -> None:
    found = rows_of(labelled("a", "Karl Brandt", "all year"))
    assert list(found) == ["s1", "s2", "s3", "s4"]
    assert [row.label for row in found.values()] == [Label.FAIL, Label.PASS, Label.PASS, Label.FAIL]
    assert found["s2"].answer == "A fair is held there each June."
    assert found["s4"].answer == "Boats cross the river all year."
    [span] = found["s4"].meta["spans"]
    assert found["s4"].answer[span["start"] : span["end"]] == span["text"] == "all year"
    assert found["s2"].meta["kind"] == "sentence" and found["s2"].meta["spans"] == []
    assert (found["s2"].group, found["s2"].question) == ("a", "Who?")


def test_a_sentence_that_leans_comes_with_what_leads_up_to_it() -> None:
    right, wrong = rows_of(labelled("a")), rows_of(labelled("b", "each June"))
    assert right["s3"].answer == "A fair is held there each June. It is free for all of the guests."
    assert right["s3"].label is Label.PASS
    assert wrong["s3"].label is Label.FAIL  # by the sentence before
    [span] = wrong["s3"].meta["spans"]
    assert wrong["s3"].answer[span["start"] : span["end"]] == "each June"


def test_a_span_over_two_sentences_makes_both_wrong() -> None:
    found = rows_of(labelled("a", "of the guests. Boats cross"))
    assert found["s3"].label is found["s4"].label is Label.FAIL
    assert found["s4"].meta["spans"] == [{"start": 0, "end": 11, "text": "Boats cross"}]


def test_what_is_no_claim_or_undecided_gives_no_row() -> None:
    answer = "Here is the list of them:\nOne. The bridge is old and gray. What else is there to say?"
    assert [row.answer for row in rows_of(labelled("a", answer=answer)).values()] == [
        "The bridge is old and gray."
    ]
    barely = "The bridge is old and gray. Boats cross the river all year."
    assert list(rows_of(labelled("a", "y. B", answer=barely))) == []  # one letter in each


def test_one_sentence_is_the_answer_itself() -> None:
    assert rows_of(labelled("a", answer="The bridge is old and gray.")) == {}


def test_labels_are_balanced(store_of: StoreOf) -> None:
    wrong = [labelled(f"f{number}", "Karl Brandt", "each June", "all year") for number in range(20)]
    store = store_of([*wrong, *(labelled(f"p{number}") for number in range(40))])
    rows = list(sentence_rows(store, 1.0, 0))
    labels = [row.label for row in rows]
    assert labels.count(Label.FAIL) == labels.count(Label.PASS) > 20
    for name in {row.group for row in rows}:
        assert sum(row.group == name for row in rows) <= MOST
    assert len({row.id for row in rows}) == len(rows)
    assert rows == list(sentence_rows(store, 1.0, 0)) != list(sentence_rows(store, 1.0, 1))


def test_a_share_of_the_answers(store_of: StoreOf) -> None:
    store = store_of(labelled(f"f{number}", "Karl Brandt") for number in range(200))
    half = {row.group for row in sentence_rows(store, 0.5, 0)}
    assert 70 <= len(half) <= 130
    assert len({row.group for row in sentence_rows(store, 1.0, 0)}) == 200


def test_samples_behind_dropped_ones_give_rows_too(store_of: StoreOf) -> None:
    store = store_of(labelled(f"f{number}", "Karl Brandt") for number in range(4))
    store.drop("number <= 2")
    assert {row.group for row in sentence_rows(store, 1.0, 0)} == {"f2", "f3"}


def test_long_answers_tell_their_errors() -> None:
    error = {"edit_type": "date", "replaced": "May", "inserted": "June", "start": 73, "end": 77}
    sample = Sample("a", DOCUMENT, ANSWER, label=Label.FAIL, meta={"kind": "long", "errors": [error]})
    assert known_spans(sample) == [Span(73, 77)]
    assert rows_of(sample)["s2"].label is Label.FAIL
    assert "errors" not in rows_of(sample)["s2"].meta
    assert known_spans(Sample("b", DOCUMENT, ANSWER, meta={"kind": "long"})) == []
    assert known_spans(Sample("c", DOCUMENT, ANSWER, meta={"kind": "edit"})) is None


@pytest.mark.parametrize("meta", [{"spans": []}, {"kind": "long"}])
def test_a_wrong_answer_without_a_span_is_wrong_anywhere(meta: dict[str, object]) -> None:
    assert known_spans(Sample("a", DOCUMENT, ANSWER, label=Label.FAIL, meta=meta)) is None


@pytest.mark.parametrize("spans", [[{"text": "June"}], ["June"], 3, [{"start": 0, "end": None}]])
def test_spans_of_another_form_are_an_error(spans: object) -> None:
    sample = Sample("a", DOCUMENT, ANSWER, label=Label.FAIL, meta={"spans": spans})
    with pytest.raises(InputError, match=r"sample 'a': its spans hold .*'sentences' needs objects"):
        known_spans(sample)


def test_pairs_of_marked_answers_do_not_take_their_marks() -> None:
    gold = replace(labelled("a"), meta={"spans": [], "errors": [], "domain": "d"})
    wrong = ANSWER.replace("June", "July")
    contrast = Contrast(edit_type="date", change="", replaced="June", inserted="July", hallucinated=wrong)
    for sample in pairs(gold, "edit", [contrast]):
        assert known_spans(sample) is None and sample.meta["domain"] == "d"
    error = Error("date", "June", "July", wrong.index("July"), wrong.index("July") + 4)
    _, long = pairs(gold, "long", [replace(contrast, errors=(error,))])
    assert wrong_spans(long) == [(error.start, error.end)]


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_recipe_asks_for_them(tmp_path: Path, share: float) -> None:
    golds = [labelled(f"f{n}", "Karl Brandt") for n in range(20)] + [labelled(f"p{n}") for n in range(20)]
    manifest = build(labelled_recipe(tmp_path, golds, sentences=share, preferences={"pairs": 4}))
    assert ("sentence" in manifest["counts"]["kind"]) is (share > 0)
    splits: dict[str, set[str]] = {}
    for _, row in read_jsonl(tmp_path / "data" / "samples.jsonl"):
        splits.setdefault(row["group"], set()).add(row["meta"]["split"])
    assert all(len(found) == 1 for found in splits.values())
