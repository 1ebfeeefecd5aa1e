"""Files that name their columns in their own way: what is found, and what a person is told of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.columns import Columns, find_columns
from judge.errors import InputError
from judge.files import write_jsonl
from judge.samples import read_samples
from judge.types import Label, Sample
from tests.calling import call


def read(path: Path, *rows: dict[str, Any], given: Columns | None = None) -> list[Sample]:
    write_jsonl(path, rows)
    return list(read_samples(path, find_columns(path, given)))


@pytest.mark.parametrize(
    ("names", "given", "found", "unread"),
    [
        ("document answer label id", None, None, None),
        ("context query response", None, "document=context question=query answer=response", None),
        ("Document answer", None, "document=Document answer=answer", None),
        (
            "passage answer answer_id model",
            None,
            "document=passage answer=answer",
            "answer_id, model",
        ),
        ("document answer model", None, "document=document answer=answer", "model"),
        ("context response Meta", None, "document=context answer=response", "Meta"),
        ("source answer", None, "document=source answer=answer", None),
        ("page context answer", "document=page", "document=page answer=answer", "context"),
        ("text claim", "answer=text", "answer=text", None),
        ("document anwser response", None, None, None),
        ("document answer lable", None, None, None),
        ("page remark", None, None, None),
    ],
)
def test_what_is_found(
    names: str,
    given: str | None,
    found: str | None,
    unread: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "in.jsonl"
    write_jsonl(path, [dict.fromkeys(names.split(), "x")])
    asked = dict(pair.split("=") for pair in (given or "").split())
    expected = dict(pair.split("=") for pair in (found or "").split())
    assert find_columns(path, asked) == expected
    said = capsys.readouterr().err
    assert bool(said) == (expected != asked)
    assert said.partition("; not read: ")[2].strip() == (unread or "")


def test_a_column_that_some_rows_lack(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    first, second = {"context": "D", "response": "A"}, {"context": "E", "response": "B"}
    with pytest.raises(InputError, match=":1: field 'question': unknown column 'query'"):
        read(path, first, second | {"query": "Q?"})
    named = {"document": "D", "answer": "A", "domain": "hotels"}
    found = read(path, named, named | {"question": "Q?", "label": "FAIL"})
    assert [(one.question, one.label) for one in found] == [("", None), ("Q?", Label.FAIL)]


@pytest.mark.parametrize("command", ["batch", "eval"])
def test_a_table_as_it_was_exported(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("Context,query,response,is_faithful,model\nAt nine.,When?,Nine.,1,m\n", "utf-8")
    words = {"batch": ["in.csv", "-o", "out.jsonl"], "eval": ["--samples", "in.csv", "-o", "out"]}[command]
    assert call(command, *words, "--model", "baseline:always-fail") == 0
    told = "columns: document = Context, question = query, answer = response, label = is_faithful"
    assert f"{told}; not read: model" in capsys.readouterr().err
    if command == "eval":
        (row,) = map(json.loads, Path("out/verdicts.jsonl").read_text("utf-8").splitlines())
        assert row["label"] == "PASS" and row["verdict"]["label"] == "FAIL"
