"""The starter corpus is as large and as clean as the documents say, and its checker sees every fault."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.starter.check import FILES, HERE, check_file, main, missing_numbers
from judge.types import Label, Task

Row = dict[str, Any]


def rows_of(name: str) -> list[Row]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def check_rows(folder: Path, name: str, rows: list[Any]) -> list[str]:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return check_file(path)


# --- The corpus ---------------------------------------------------------------------------------------------


def test_the_corpus_has_no_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out == "4 files, 0 problems\n"


@pytest.mark.parametrize(("name", "least"), [("en.jsonl", 120), ("zh.jsonl", 40)])
def test_documents(name: str, least: int) -> None:
    rows = rows_of(name)
    assert len(rows) >= least
    assert all(2 <= len(row["questions"]) <= 4 for row in rows)
    assert sum(row["summary"] is not None for row in rows) >= len(rows) // 3
    assert len({row["domain"] for row in rows}) >= 4


@pytest.mark.parametrize("name", ["records.jsonl", "translation.jsonl"])
def test_records_and_translations(name: str) -> None:
    assert len(rows_of(name)) >= 20


def test_samples() -> None:
    samples = load_starter()
    assert len({sample.id for sample in samples}) == len(samples)
    assert {sample.label for sample in samples} == {Label.PASS}
    assert {sample.task for sample in samples} == set(Task) - {Task.DIALOGUE}
    assert len({sample.group for sample in samples}) == sum(len(rows_of(name)) for name in FILES)
    assert all(bool(sample.question) == (sample.task is Task.QA) for sample in samples)
    assert all(sample.meta["domain"] for sample in samples)


def test_a_group_is_a_document() -> None:
    texts: dict[str, set[str]] = {}
    for sample in load_starter():
        # A translation pair is one document in two languages.
        texts.setdefault(sample.group, set()).update(
            {sample.document_text, sample.answer}
            if sample.task is Task.TRANSLATION
            else {sample.document_text}
        )
    assert all(len(found) == (2 if name.startswith("tr-") else 1) for name, found in texts.items())
    every = [text for found in texts.values() for text in found]
    assert len(set(every)) == len(every)


# --- The checker --------------------------------------------------------------------------------------------


def change(**values: Any) -> Callable[[Row], Row]:
    return lambda row: {**row, **values}


def drop(name: str) -> Callable[[Row], Row]:
    return lambda row: {key: value for key, value in row.items() if key != name}


def asked(*pairs: tuple[str, str]) -> Callable[[Row], Row]:
    return change(questions=[{"question": question, "answer": answer} for question, answer in pairs])


GOOD = ("Who was it?", "It was her.")
FAULTS: list[tuple[str, str, Callable[[Row], Any], str]] = [
    ("en.jsonl", "missing field", drop("title"), r"'title'\] are missing or unknown"),
    ("en.jsonl", "unknown field", change(author="me"), r"'author'\] are missing or unknown"),
    ("en.jsonl", "empty field", change(title=""), r"empty fields \['title'\]"),
    ("en.jsonl", "too short", change(document="A few words."), "length 3, wanted 60 to 160"),
    ("en.jsonl", "too long", change(document="word " * 161), "length 161"),
    ("en.jsonl", "language", change(language="zh"), "language is 'zh', wanted 'en'"),
    ("en.jsonl", "one question", asked(GOOD), "1 questions"),
    ("en.jsonl", "five questions", asked(*[(f"{n}?", "Yes.") for n in "abcde"]), "5 questions"),
    ("en.jsonl", "a question twice", asked(GOOD, GOOD), "a question occurs twice"),
    ("en.jsonl", "no question mark", asked(GOOD, ("Tell me.", "Yes.")), "without question mark: 'Tell me.'"),
    ("en.jsonl", "no full sentence", asked(GOOD, ("Who?", "Her")), "not a full sentence: 'Her'"),
    ("en.jsonl", "a new number", asked(GOOD, ("When?", "In 7777.")), r"numbers \['7777'\]"),
    ("en.jsonl", "a new number", change(summary="It was 7777."), r"numbers \['7777'\] of the summary"),
    (
        "en.jsonl",
        "a question's fields",
        change(questions=[{"question": "Who?"}, {"question": "Who else?"}]),
        "wanted question and answer",
    ),
    ("zh.jsonl", "too short", change(document="太短。"), "length 3, wanted 100 to 270"),
    ("zh.jsonl", "no question mark", asked(("谁？", "他。"), ("说。", "他。")), "question mark: '说。'"),
    ("records.jsonl", "a new number", change(description="It has 7777."), "of the description"),
    ("records.jsonl", "empty", change(record={}), r"empty fields \['record'\]"),
    ("translation.jsonl", "numbers", change(zh="共7777名。", en="There are 7778."), "different numbers"),
    ("translation.jsonl", "missing field", drop("zh"), "missing or unknown"),
    ("en.jsonl", "no object", lambda row: [row["id"]], "no JSON object"),
]


@pytest.mark.parametrize(("name", "_fault", "plant", "message"), FAULTS)
def test_planted_faults(
    name: str, _fault: str, plant: Callable[[Row], Any], message: str, tmp_path: Path
) -> None:
    first, second, *_ = rows_of(name)
    assert check_rows(tmp_path, name, [first, second]) == []
    problems = check_rows(tmp_path, name, [first, plant(second)])
    assert problems and all(problem.startswith(f"{name}:2: ") for problem in problems)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError("\n".join(problems))


@pytest.mark.parametrize("name", FILES)
def test_the_same_id_or_text_twice(name: str, tmp_path: Path) -> None:
    first, second, *_ = rows_of(name)
    twice = [f"{name}:2: id or text occurs twice"]
    assert check_rows(tmp_path, name, [first, {**second, "id": first["id"]}]) == twice
    assert check_rows(tmp_path, name, [first, {**first, "id": "other"}]) == twice


def test_a_line_that_is_no_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "en.jsonl"
    path.write_text("{broken\n")
    assert main([str(path)]) == 1
    assert "en.jsonl:1: no JSON" in capsys.readouterr().out


def test_numbers_are_compared_whole() -> None:
    assert missing_numbers("14 of 3,400 at 9:41 for 2.5", "14, then 3,400, at 9:41 and 2.5.") == []
    assert missing_numbers("40 people", "3,400 people in 1940") == ["40"]
