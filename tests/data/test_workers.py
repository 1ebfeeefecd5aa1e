"""Several processes give what one gives, in its order."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from data_pipeline.sources.workers import Workers
from judge.errors import JudgeError


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    with Workers(2, few=4) as workers:
        yield workers


def test_results_come_in_order_and_no_further_ahead_than_need_be(two: Workers) -> None:
    taken: list[str] = []

    def items() -> Iterator[str]:
        for number in range(4000):
            taken.append("")
            yield str(number)

    results = two.map(int, items(), batch=8)
    assert [next(results) for _ in range(100)] == list(range(100))
    assert len(taken) < 400
    assert list(results) == list(range(100, 4000))


def test_few_items_start_no_process() -> None:
    with Workers(2, few=4) as workers:
        assert list(workers.map(int, "1234")) == [1, 2, 3, 4]
        assert workers._pool is None


def test_an_error_of_a_worker_is_the_error_of_the_build(two: Workers) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(two.map(int, ["1"] * 20 + ["one"]))


def test_a_process_that_dies_is_told_of() -> None:
    with Workers(2, few=0) as workers, pytest.raises(JudgeError, match="one of 2 processes died"):
        list(workers.map(os._exit, [1] * 20))


RECIPE = {
    "sources": [{"kind": "starter", "limit": 24}], "document_edits": 1.0,
    "long_answers": 1.0, "modes": {"reason": 0.5}, "splits": {"validation": 0.2, "test": 0.0},
    "preferences": {"pairs": 6}, "audit": "warn", "output": "data",
}  # fmt: skip


def built(folder: Path, monkeypatch: pytest.MonkeyPatch, workers: Any = None) -> dict[Path, Any]:
    """The files of a build."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    build(DataConfig.model_validate(RECIPE), workers=workers)
    return {path: path.read_bytes() for path in Path("data").rglob("*") if path.is_file()}


def test_a_data_set_is_the_same_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two: Workers
) -> None:
    alone = built(tmp_path / "one", monkeypatch)
    assert alone == built(tmp_path / "two", monkeypatch, two)
