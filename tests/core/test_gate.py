"""Training takes only data that went through the leak gate, unless it is told otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.errors import InputError
from judge.files import sha256_file
from judge.training.config import SFTRecipe
from judge.training.models import data_file

NAME = "sft/train.jsonl"


def folder(root: Path, **record: Any) -> Path:
    """A data set whose manifest holds a gate's record, with changes."""
    path = root / NAME
    path.parent.mkdir()
    path.write_text("{}\n")
    whole = {"benchmarks": {"halubench": {"rows": 1}}, "data": {NAME: sha256_file(path)}, **record}
    (root / "manifest.json").write_text(json.dumps({"leaks": whole}))
    return root


def recipe(root: Path, **changes: Any) -> SFTRecipe:
    return SFTRecipe(model="m", data=str(root), output="o", **changes)


def test_a_set_that_went_through_the_gate(tmp_path: Path) -> None:
    assert data_file(recipe(folder(tmp_path)), NAME) == tmp_path / NAME


def test_other_data_than_the_gate_saw(tmp_path: Path) -> None:
    (folder(tmp_path) / NAME).write_text('{"another": "row"}\n')
    with pytest.raises(InputError, match=r"train.jsonl: is not the file that the leak gate let through"):
        data_file(recipe(tmp_path), NAME)
    assert data_file(recipe(tmp_path, without_leak_gate=True), NAME).is_file()


def test_a_gate_without_a_benchmark(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found no benchmark to compare with"):
        data_file(recipe(folder(tmp_path, benchmarks={})), NAME)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"leaks": null}', "field 'leaks': the leak gate was not run"),
        ("{}", "field 'leaks': the leak gate was not run"),
        ('{"leaks": 3}', "field 'leaks': holds 3, not the leak gate's record"),
        ('{"leaks": {"benchmarks": 3}}', "field 'leaks': holds {'benchmarks': 3}, not"),
        (
            '{"leaks": {"benchmarks": {}, "data": 3}}',
            "field 'leaks': holds {'benchmarks': {}, 'data': 3}, not",
        ),
        ("[]", "is not a manifest"),
        ("{", "is not a manifest"),
        (None, r"manifest.json: is missing, so the leak gate was not run"),
    ],
)
def test_a_set_without_a_gate(text: str | None, message: str, tmp_path: Path) -> None:
    manifest = folder(tmp_path) / "manifest.json"
    manifest.unlink() if text is None else manifest.write_text(text)
    with pytest.raises(InputError, match=message):
        data_file(recipe(tmp_path), NAME)
