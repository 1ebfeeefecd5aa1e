"""Forms of labelled sets on small rows of our own, in the public layout of each set; folders; licences."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.forms import FORMS, read_row
from data_pipeline.sources.forms.base import Asked, LeftOut
from data_pipeline.sources.reading import read_source
from judge.configs import load_config
from judge.errors import InputError
from judge.files import write_jsonl
from judge.formats.records import Record
from judge.types import Label, Sample

Row = dict[str, Any]
PASS, FAIL = Label.PASS, Label.FAIL

# --- Each set in its public columns -------------------------------------------------------------------------

TEXT = "The mill burned down in 1901. Ann Bell rebuilt it."
RACE_COLUMNS = {"document": "article", "question": "question", "options": "options", "answer": "answer"}
RACE = [
    {"example_id": "h1.txt", "article": TEXT, "question": q, "options": options, "answer": answer}
    for q, options, answer in (
        ("Who rebuilt the mill?", ["Cid Drew", "Ann Bell", "Nobody", "A monk"], "B"),
        ("Which of these is NOT true?", ["It burned.", "It stands on a hill."], "B"),
        ("When did it burn?", ["1901", "1902", "Both A and B", "1801"], "A"),
        ("What is true?", ["It burned.", "It was rebuilt.", "All of the above"], "C"),
    )
]
MULTIRC = [
    {"paragraph": TEXT, "question": "Who?", "answer": answer, "label": label}
    for answer, label in (("Ann Bell", 1), ("Cid Drew", 0))
]
ANLI = [
    {"uid": f"u{n}", "context": TEXT, "hypothesis": f"It burned {n}.", "label": label}
    for n, label in enumerate("enc-")
]
VITAMINC = [
    {"unique_id": f"v{n}", "claim": f"The mill {n}.", "evidence": TEXT, "label": label, "page": "Mill"}
    for n, label in enumerate(("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"))
]
WICE = [
    {
        "label": label,
        "supporting_sentences": [[0]],
        "claim": f"Bell {n}.",
        "evidence": ["The mill burned down in 1901.", "Ann Bell rebuilt it."],
        "meta": {"id": f"t{n}", "claim_title": "Mill"},
    }
    for n, label in enumerate(("supported", "partially_supported", "not_supported"))
]
SQUAD2_FLAT = [
    {
        "id": "a", "context": TEXT, "question": "Who?",
        "answers": {"text": ["Ann Bell", "Bell"], "answer_start": [30]},
    },
    {"id": "b", "context": TEXT, "question": "Who burned it?", "answers": {"text": [], "answer_start": []}},
]  # fmt: skip
SPANNED = [
    {"prompt": TEXT, "response": "It burned in 1905.", "labels": '[{"start": 13, "end": 17}]'},
    {"prompt": TEXT, "response": "It burned in 1901.", "labels": []},
]
SETS: dict[str, tuple[list[Row], Row, list[tuple[str, Label]]]] = {
    "race": (
        RACE, {"form": "multiple_choice", "columns": RACE_COLUMNS},
        [("Cid Drew", FAIL), ("Ann Bell", PASS), ("1901", PASS), ("1902", FAIL)],
    ),
    "multirc": (
        MULTIRC,
        {
            "form": "claims",
            "columns": {
                "document": "paragraph", "question": "question", "answer": "answer", "label": "label",
            },
        },
        [("Ann Bell", PASS), ("Cid Drew", FAIL)],
    ),
    "anli": (
        ANLI,
        {
            "form": "nli",
            "columns": {"id": "uid", "document": "context", "answer": "hypothesis", "label": "label"},
        },
        [("It burned 0.", PASS), ("It burned 1.", FAIL), ("It burned 2.", FAIL)],
    ),
    "vitaminc": (
        VITAMINC,
        {
            "form": "claims",
            "columns": {"id": "unique_id", "document": "evidence", "answer": "claim", "label": "label"},
        },
        [("The mill 0.", PASS), ("The mill 1.", FAIL), ("The mill 2.", FAIL)],
    ),
    "wice": (
        WICE, {"form": "claims", "columns": {"document": "evidence", "answer": "claim", "label": "label"}},
        [("Bell 0.", PASS), ("Bell 1.", FAIL), ("Bell 2.", FAIL)],
    ),
    "squad2": (
        SQUAD2_FLAT,
        {
            "form": "unanswerable",
            "columns": {"id": "id", "document": "context", "question": "question", "answers": "answers"},
        },
        [("Ann Bell", PASS)],
    ),
    "spans": (
        SPANNED,
        {"form": "spans", "columns": {"document": "prompt", "answer": "response", "spans": "labels"}},
        [("It burned in 1905.", FAIL), ("It burned in 1901.", PASS)],
    ),
}  # fmt: skip


def write(path: Path, rows: list[Row]) -> Path:
    write_jsonl(path, rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return path


def read(note: Any = lambda reason, name: None, licences: Any = None, **values: Any) -> list[Sample]:
    return list(read_source(SourceConfig.model_validate(values), 0, licences, note))


@pytest.mark.parametrize("name", SETS)
def test_sets_in_their_public_columns(tmp_path: Path, name: str) -> None:
    rows, settings, expected = SETS[name]
    path = write(tmp_path / f"{name}.jsonl.gz", rows)
    samples = read(kind="file", path=str(path), licence="MIT", **settings)
    found = [(sample.answer, sample.label) for sample in samples]
    if name == "race":  # which distractor is taken is up to the seed
        assert [answer for answer, label in found if label is PASS] == ["Ann Bell", "1901"]
        assert [label for _, label in found].count(FAIL) == 2
        assert not {"Both A and B", "All of the above", "It stands on a hill."} & {s.answer for s in samples}
        assert len({sample.meta["pair"] for sample in samples}) == 2
    else:
        assert found == expected
    assert {sample.source for sample in samples} == {name}
    assert {sample.meta["licence"] for sample in samples} == {"MIT"}
    assert len({sample.group for sample in samples}) == 1 and len({s.id for s in samples}) == len(samples)
    # The same rows as a data set of the Hub
    folder = tmp_path / "hub"
    write(folder / "train.jsonl", rows)
    again = read(kind="hub", path=str(folder), **settings)
    assert Counter(s.label for s in again) == Counter(s.label for s in samples)


def test_squad_2_in_its_original_file(tmp_path: Path) -> None:
    answers = [{"text": "Ann Bell", "answer_start": 30}]
    questions = [
        {"id": "1", "question": "Who?", "answers": answers, "is_impossible": False},
        {"id": "2", "question": "Who burned it?", "answers": [], "plausible_answers": answers,
         "is_impossible": True},
        {"id": "3", "question": "Why?", "answers": [], "is_impossible": True},
    ]  # fmt: skip
    path = tmp_path / "dev.json"
    data = {"version": "v2.0", "data": [{"paragraphs": [{"context": TEXT, "qas": questions}]}]}
    path.write_text(json.dumps(data))
    left: list[tuple[str, str]] = []
    samples = read(
        lambda reason, name: left.append((reason, name)), kind="squad", path=str(path), form="unanswerable"
    )
    assert [(s.id, s.question, s.answer, s.label) for s in samples] == [
        ("dev-1", "Who?", "Ann Bell", PASS),
        ("dev-2", "Who burned it?", "Ann Bell", FAIL),
    ]
    assert left == [("form unanswerable: no answer and no plausible one", "dev-3")]


def test_labels_of_the_hub_have_their_declared_names(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    names = ["entailment", "neutral", "contradiction"]
    features = datasets.Features(
        {**dict.fromkeys(("p", "h"), datasets.Value("string")), "label": datasets.ClassLabel(names=names)}
    )
    rows = {"p": [TEXT] * 4, "h": ["a", "b", "c", "d"], "label": [0, 1, 2, -1]}
    made = datasets.Dataset.from_dict(rows, features=features).to_iterable_dataset()
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: made)
    columns = {"document": "p", "answer": "h", "label": "label"}
    samples = read(kind="hub", path="me/nli", form="nli", columns=columns)
    assert [sample.label for sample in samples] == [PASS, FAIL, FAIL]


# --- What forms leave out, and what they refuse -------------------------------------------------------------


def row(form: str, **values: Any) -> list[Sample] | LeftOut:
    return read_row(form, Record({"id": "x", "document": TEXT, **values}, "f.jsonl", 3), Asked())


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Which is NOT mentioned?", "negated question"), ("All are true except", "negated question"),
        ("Who didn't come?", "negated question"), ("Which statement is false?", "negated question"),
        ("下列说法错误的是", "negated question"), ("他没去哪里?", "negated question"),
        ("Why didn't she come?", None), ("Who wrote the note?", None), ("他是不是来了?", None),
        ("他为什么来?", None),
    ],
)  # fmt: skip
def test_negated_questions_are_left_out(question: str, reason: str | None) -> None:
    found = row("multiple_choice", question=question, options=["a", "b"], answer=0)
    assert (found == LeftOut("x", f"form multiple_choice: {reason}")) == (reason is not None)


@given(size=st.integers(2, 6), right=st.integers(0, 5), seed=st.integers(0, 9))
def test_one_right_option_and_one_wrong_one(size: int, right: int, seed: int) -> None:
    right %= size
    options = [f"option {n}" for n in range(size)]
    values = {"id": "x", "document": TEXT, "question": "Who?", "options": options, "answer": right}
    samples = read_row("multiple_choice", Record(values, "f"), Asked(seed=seed))
    assert isinstance(samples, list) and len(samples) == 2
    assert [s.answer for s in samples if s.label is PASS] == [options[right]]
    assert len({s.id for s in samples}) == len(samples)
    assert samples == read_row("multiple_choice", Record(values, "f"), Asked(seed=seed))


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        *((["one", "two"], answer) for answer in ("B", "two", 1)),
        ({"label": ["1", "2"], "text": ["one", "two"]}, "2"),
    ],
)  # fmt: skip
def test_the_right_option_by_letter_text_place_or_name(options: object, answer: object) -> None:
    found = row("multiple_choice", question="?", options=options, answer=answer)
    assert isinstance(found, list) and [s.answer for s in found if s.label is PASS] == ["two"]


CHOICE = {"question": "?", "options": ["one", "two"], "answer": "A"}
CLAIM = {"answer": "It burned.", "label": "SUPPORTS"}


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        ("multiple_choice", {**CHOICE, "optoins": 1}, r"jsonl:3: field 'optoins': .*'options'.*columns"),
        ("multiple_choice", {**CHOICE, "answer": "C"}, r"field 'answer': 'C' is not an option"),
        ("multiple_choice", {**CHOICE, "answer": 2}, "'answer': is 2, but there are 2 options"),
        ("multiple_choice", {**CHOICE, "options": ["one", "A"]}, "'A' names more than one"),
        ("multiple_choice", {**CHOICE, "options": "one"}, "'options': holds 'one', expected a list"),
        ("multiple_choice", {**CHOICE, "options": {"label": ["A"], "text": ["x", "y"]}}, "names 1 options"),
        ("claims", {**CLAIM, "label": "SUPORTS"}, r"jsonl:3: field 'label': unknown label 'SUPORTS'.*labels"),
        ("claims", {**CLAIM, "label": 1.0}, "'label': holds 1.0"),
        ("claims", {**CLAIM, "answer": " "}, "'answer': is empty"),
        ("nli", {**CLAIM, "label": 0}, "unknown label '0'"),
        ("spans", {"answer": "abc", "spans": [{"start": 1, "end": 9}]}, "'spans': has a span outside"),
        ("spans", {"answer": "abc", "spans": "[{"}, "'spans': is not valid JSON"),
    ],
)  # fmt: skip
def test_what_a_form_does_not_know_is_one_clear_error(form: str, values: Row, message: str) -> None:
    with pytest.raises(InputError, match=message):
        row(form, **values)


ODD: list[Any] = [None, 3, 1.5, True, "", " \n", "x", "\ud800", [], [None], [""], {}, {"x": "y"}, [{}], [[1]]]


@pytest.mark.parametrize("form", FORMS)
def test_whatever_a_row_holds_there_are_samples_a_reason_or_one_error(form: str) -> None:
    good: Row = {
        "multiple_choice": CHOICE, "nli": {**CLAIM, "label": "e"}, "claims": CLAIM,
        "unanswerable": {"question": "?", "answers": [], "plausible_answers": ["Bell"]},
        "spans": {"answer": "abc", "spans": [{"start": 0, "end": 1}]},
    }[form]  # fmt: skip
    assert isinstance(row(form, **good), list)
    errors = 0
    for field in (*good, "document", "group", "licence", "task", "language", "source", "id"):
        for odd in ODD:
            try:
                found = row(form, **{**good, field: odd})
            except InputError as error:
                assert "f.jsonl:3" in str(error)
                errors += 1
                continue
            assert isinstance(found, LeftOut) or all(s.answer.strip() and s.label and s.group for s in found)
    assert errors > 20


def test_a_recipe_explains_labels(tmp_path: Path) -> None:
    rows = [{"document": TEXT, "answer": str(n), "label": n} for n in range(3)]
    path, recipe = write(tmp_path / "x.jsonl", rows), tmp_path / "data.yaml"
    labels = "labels: {0: PASS, 1: null, 2: FAIL}"
    recipe.write_text(f"output: out\nsources:\n  - {{kind: file, path: {path}, form: nli, {labels}}}\n")
    config = load_config(DataConfig, recipe)
    assert [s.label for s in read_source(config.sources[0], 0)] == [PASS, FAIL]
    assert DataConfig.model_validate(config.model_dump(mode="json")) == config


@pytest.mark.parametrize(
    ("column", "labels", "wanted"),
    [
        ("is_hallucinated", None, [FAIL, PASS, FAIL]),
        ("faithful", None, [PASS, FAIL, PASS]),
        ("label", {0: "PASS", 1: "FAIL", "yes": None}, [FAIL, PASS]),
    ],
)
def test_labels_of_samples_in_the_words_of_a_set(
    column: str, labels: Any, wanted: list[Label], tmp_path: Path
) -> None:
    rows = [{"document": TEXT, "answer": str(label), column: label} for label in (1, "0", "Yes")]
    path = str(write(tmp_path / "x.jsonl", rows))
    found = read(kind="file", path=path, columns={"label": column}, labels=labels)
    assert [sample.label for sample in found] == wanted
    with pytest.raises(InputError, match=r"x\.jsonl:1: field 'label': 1 may mean .*labels: \{0: PASS"):
        write(tmp_path / "x.jsonl", [{"document": TEXT, "answer": "a", "label": 1}])
        read(kind="file", path=path)


def test_fields_that_columns_do_not_name_are_read_by_their_own_names(tmp_path: Path) -> None:
    row = {"id": "q7", "context": TEXT, "question": "Which?", "response": "That.", "label": "FAIL", "more": 1}
    path = str(write(tmp_path / "x.jsonl", [{**row, "meta": {"a": 1}, "group": "g"}]))
    [found] = read(kind="file", path=path, columns={"document": "context", "answer": "response"})
    assert (found.id, found.question, found.label, found.group) == ("q7", "Which?", FAIL, "g")
    assert found.meta["a"] == 1
    with pytest.raises(InputError, match=r"'answer': is missing \(the row has: id, .*, group\)"):
        read(kind="file", path=path, columns={"document": "context"})


# --- Folders and globs --------------------------------------------------------------------------------------


def labelled(licence: str | None, start: str = "") -> list[Row]:
    meta = {} if licence is None else {"licence": licence}
    return [
        {"document": f"Document {start}{n}.", "answer": f"{label} {n}", "label": label, "meta": meta}
        | {"group": f"{start}{n}", **({"id": f"{start}{n}-{label}"} if start else {})}
        for n in range(12)
        for label in ("PASS", "FAIL")
    ]


def test_a_folder_and_a_glob_are_one_source(tmp_path: Path) -> None:
    write(tmp_path / "b.jsonl.gz", labelled("MIT"))
    write(tmp_path / "a.jsonl", labelled("Apache-2.0"))
    (tmp_path / "c.json").write_text(json.dumps(labelled("MIT")))
    (tmp_path / "README.md").write_text("x")
    folder = read(kind="file", path=str(tmp_path))
    assert folder == read(kind="file", path=f"{tmp_path}/*.json*")
    assert [s.source for s in folder] == ["a"] * 24 + ["b"] * 24 + ["c"] * 24
    assert [s.id for s in folder[:2]] == ["a-1", "a-2"] and len({s.id for s in folder}) == 72
    assert {s.meta["licence"] for s in folder if s.source == "b"} == {"MIT"}
    alone = read(kind="file", path=str(tmp_path / "b.jsonl.gz"))
    assert (alone[0].id, alone[0].source) == ("b-1", "b")


def test_errors_name_the_file_of_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "d/a.jsonl", labelled("MIT"))
    bad = write(tmp_path / "d/b.jsonl", [*labelled("MIT"), {"document": "x"}])
    with pytest.raises(InputError, match=r"d/b\.jsonl:25: field 'answer': is missing"):
        read(kind="file", path=str(tmp_path / "d"))
    bad.write_text("")
    with pytest.raises(InputError, match=r"d/b\.jsonl: holds no sample"):
        read(kind="file", path=str(tmp_path / "d"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: is a folder without a file of samples \(\.jsonl"):
        read(kind="file", path=str(tmp_path / "empty"))
    with pytest.raises(InputError, match=r"x\*\.jsonl: matches no file"):
        read(kind="file", path=str(tmp_path / "x*.jsonl"))


def recipe(folder: Path, sources: list[Row], **changes: Any) -> DataConfig:
    values = {
        "perturb": False, "splits": {"validation": 0.2, "test": 0.0}, "preferences": {"pairs": 0},
        "modes": {"reason": 0.0},
    }  # fmt: skip
    return DataConfig.model_validate({**values, "output": str(folder), "sources": sources, **changes})


def test_an_id_that_stands_in_two_files_is_named_with_both_places(tmp_path: Path) -> None:
    write(tmp_path / "in/a.jsonl", labelled("MIT", "s"))
    write(tmp_path / "in/b.jsonl.gz", [*labelled("MIT", "t"), labelled("MIT", "s")[2]])
    places = r"'s1-PASS' occurs twice.*\(.*in/a\.jsonl:3, .*in/b\.jsonl\.gz:25\)"
    with pytest.raises(InputError, match=places):
        build(recipe(tmp_path / "out", [{"kind": "file", "path": str(tmp_path / "in")}]))


# --- Licences -----------------------------------------------------------------------------------------------


def test_licences_are_asked_for_counted_and_named(tmp_path: Path) -> None:
    for name, licence in (("a", "MIT"), ("b", "CC BY-NC 4.0"), ("c", None)):
        write(tmp_path / f"in/{name}.jsonl", labelled(licence, name))
    own = write(tmp_path / "own.jsonl", labelled(None, "o"))
    sources = [
        {"kind": "file", "path": str(tmp_path / "in")},
        {"kind": "file", "path": str(own), "licence": "Apache 2.0"},
        {"kind": "file", "path": str(write(tmp_path / "nc.jsonl", labelled("CC BY-NC 4.0", "n"))),
         "licences": ["cc-by-nc-4.0"], "limit": 8},
    ]  # fmt: skip
    manifest = build(recipe(tmp_path / "out", sources, licences=["MIT", "Apache-2.0"]))
    assert manifest["counts"]["licence"] == {"Apache 2.0": 24, "CC BY-NC 4.0": 8, "MIT": 24}
    assert manifest["licences"] == {
        "a": {"MIT": 24}, "nc": {"CC BY-NC 4.0": 8}, "own": {"Apache 2.0": 24},
    }  # fmt: skip
    left = {reason: items["count"] for reason, items in manifest["dropped"].items()}
    assert left == {"licence: CC BY-NC 4.0": 24, "licence: none named": 24}
    assert manifest["dropped"]["licence: none named"]["ids"][0] == "c0-PASS"
    card = (tmp_path / "out/card.md").read_text()
    assert "| nc | CC BY-NC 4.0 | 8 |" in card and "| licence: none named | 24 |" in card
    every = build(recipe(tmp_path / "every", sources[:2]))
    assert every["counts"]["licence"]["none named"] == 24 and every["dropped"] == {}


def test_a_limit_counts_only_what_may_be_taken_and_names_each_row_once(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", labelled("MIT", "a") + labelled("GPL", "b"))
    left: list[str] = []
    samples = read(lambda reason, name: left.append(name), ["MIT"], kind="file", path=str(path), limit=20)
    assert len(samples) == 20 and {s.meta["licence"] for s in samples} == {"MIT"}
    assert len(left) == len(set(left)) == 24
    with pytest.raises(InputError, match=r"x\.jsonl: source file: none of its 48.*licences BSD"):
        read(licences=["BSD"], kind="file", path=str(path))


def test_public_sets_name_theirs() -> None:
    assert {s.meta["licence"] for s in read(kind="starter", limit=20)} == {"Apache-2.0"}
