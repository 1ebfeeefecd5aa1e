"""The starter corpus is as large and as clean as the documents say."""

import json
import re
from typing import Any

import pytest

from data_pipeline.sources.starter import HERE, load_starter
from judge.types import Label, Task
from tests.tiny_data import rows_of

Row = dict[str, Any]


@pytest.mark.parametrize(("language", "shortest", "longest"), [("en", 60, 160), ("zh", 100, 270)])
def test_documents_are_of_a_length_and_hold_the_numbers_of_their_answers(
    language: str, shortest: int, longest: int
) -> None:
    for row in rows_of(HERE / f"{language}.jsonl"):
        document, asked = row["document"], [pair["question"] for pair in row["questions"]]
        size = len(document.split()) if language == "en" else len(re.sub(r"\s", "", document))
        assert shortest <= size <= longest and row["language"] == language, row["id"]
        assert len(set(asked)) == len(asked) and all(text.endswith(("?", "？")) for text in asked)
        for text in [*(pair["answer"] for pair in row["questions"]), row["summary"] or "."]:
            assert text.endswith((".", "。", '."', ".”", "。”")), text
            assert numbers_of(text) <= numbers_of(document), text


def numbers_of(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,:]\d+)*", text))


def test_descriptions_and_translations_hold_the_numbers_of_their_originals() -> None:
    for row in rows_of(HERE / "records.jsonl"):
        assert numbers_of(row["description"]) <= numbers_of(json.dumps(row["record"])), row["id"]
    for row in rows_of(HERE / "translation.jsonl"):
        assert numbers_of(row["en"]) == numbers_of(row["zh"]), row["id"]


@pytest.mark.parametrize(
    ("name", "least"),
    [("en.jsonl", 120), ("zh.jsonl", 40), ("records.jsonl", 20), ("translation.jsonl", 20)],
)
def test_sizes(name: str, least: int) -> None:
    rows = rows_of(HERE / name)
    assert len(rows) >= least
    if "questions" in rows[0]:
        assert all(2 <= len(row["questions"]) <= 4 for row in rows)
        assert sum(row["summary"] is not None for row in rows) >= len(rows) // 3
        assert len({row["domain"] for row in rows}) >= 4


def test_samples() -> None:
    samples = load_starter()
    assert len({sample.id for sample in samples}) == len(samples)
    assert {sample.label for sample in samples} == {Label.PASS}
    assert {sample.task for sample in samples} == set(Task) - {Task.DIALOGUE}
    assert len({sample.group for sample in samples}) == sum(
        len(rows_of(HERE / name)) for name in ("en.jsonl", "zh.jsonl", "records.jsonl", "translation.jsonl")
    )
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
