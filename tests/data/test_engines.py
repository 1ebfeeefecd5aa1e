"""Stages give the same, in the same order, whatever the engine."""

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.build.engines import local, make_engine
from data_pipeline.build.manifest import FILES
from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from judge.errors import InputError


def adding(number: int) -> Any:
    return lambda items: (number + item for item in items)


# --- In this process ----------------------------------------------------------------------------------------


def test_the_local_engine_is_lazy() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    results = local(partial(adding, 5), items())
    assert [next(results), next(results)] == [5, 6]
    assert taken == [0, 1]


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"engine ray needs Ray.*pip install ray"):
        make_engine("ray")


# --- On a cluster -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ray_engine() -> Iterator[Any]:
    """A cluster of two processes on this machine."""
    ray = pytest.importorskip("ray", reason="Ray is an extra")
    ray.init(num_cpus=2, log_to_driver=False, include_dashboard=False)
    yield make_engine("ray")
    ray.shutdown()


def test_no_items_no_results(ray_engine: Any) -> None:
    assert list(ray_engine(partial(adding, 5), [])) == []


def test_a_whole_build_is_the_same_in_the_same_order(
    ray_engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data_pipeline.build.engines.BATCH", 8)  # several for each worker
    for name in ("local", "ray"):
        settings: dict[str, Any] = {
            "output": str(tmp_path / name), "engine": name, "sources": [{"kind": "starter", "limit": 60}],
            "splits": {"validation": 0.2, "test": 0.1}, "preferences": {"pairs": 6},
        }  # fmt: skip
        build(DataConfig.model_validate(settings))
    for name in (*FILES, "aside.jsonl", "leaks.jsonl", "card.md"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "local" / name).read_bytes(), name
    local, ray = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("local", "ray"))
    configs = local.pop("config"), ray.pop("config")
    assert {key for key in configs[0] if configs[0][key] != configs[1][key]} == {"output", "engine"}
    assert local == ray
