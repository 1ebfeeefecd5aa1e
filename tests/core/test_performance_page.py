"""The GPU section of docs/research/performance.md is what was measured on a GPU, and nothing else."""

import json
from pathlib import Path

import pytest

from judge.errors import InputError
from tests.gpu.performance_page import BEGIN, END, NOTHING, fill
from tests.gpu.results import Results

ROOT = Path(__file__).parents[2]
DEVICE = {
    "name": "NVIDIA Test", "kind": "cuda", "memory_gib": 14.6, "precision": "float16", "driver": "999.1",
    "versions": {"torch": "9.9"},
}  # fmt: skip


@pytest.fixture
def page(tmp_path: Path) -> Path:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    return page


def test_figures_replace_the_old_ones_and_a_second_run_changes_nothing(page, tmp_path):
    results = Results(tmp_path / "new" / "gpu.json", DEVICE)
    for device in (DEVICE, DEVICE | {"name": "another"}):
        Results(results.file, device).record("merge/1.5B", seconds=2.0)
    results.record("serve/64 connections", direct=1.0, server=11.0, part=11.0)
    results.record("serve/64 connections", direct=10.0, server=9.5, part=0.95, p50=0.125)
    results.record("exactness/dpo-short, float32", loss=[1e-7, 2e-7], gradients=[3e-6, 4e-6])
    results.record("training/0.5B, dpo-955", batch=4, precision="float16", trees_rate=8.25, trl_rate=None)
    fill(page, results.file)
    once = page.read_text()
    assert once.startswith("before\n") and once.endswith("after\n") and "old" not in once
    assert "| 64 connections | 10 | 9.5 | 0.95 | 0.125 |" in once
    assert "| dpo-short, float32 | 1e-07, 2e-07 | 3e-06, 4e-06 |" in once
    assert "trl rate" not in once and "trees rate" in once  # nothing was measured of it
    assert "driver 999.1" in once and once.count("| 1.5B | 2 |") == 2
    fill(page, results.file)
    assert page.read_text() == once


@pytest.mark.parametrize(("kind", "name"), [("cpu", "serve/x"), ("cuda", "unknown/x")])
def test_what_is_no_figure_of_a_gpu_is_refused(kind, name, page, tmp_path):
    Results(tmp_path / "gpu.json", DEVICE | {"kind": kind}).record(name, direct=1.0)
    before = page.read_text()
    with pytest.raises(InputError, match=name):
        fill(page, tmp_path / "gpu.json")
    assert page.read_text() == before


def test_the_page_shows_what_the_results_file_holds(tmp_path):
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "research" / "performance.md").read_text())
    fill(page, ROOT / "results" / "gpu.json")
    assert page.read_text() == (ROOT / "docs" / "research" / "performance.md").read_text()
    assert (NOTHING in page.read_text()) == (not (ROOT / "results" / "gpu.json").exists())


def test_an_interrupted_record_leaves_the_file_as_it_was(tmp_path):
    results = Results(tmp_path / "gpu.json", DEVICE)
    results.record("merge/1.5B", seconds=2.0)
    before = results.file.read_bytes()
    with pytest.raises(TypeError):
        results.record("merge/1.5B", seconds=object())
    assert results.file.read_bytes() == before
    assert json.loads(before)["NVIDIA Test"]["merge/1.5B"]["figures"] == {"seconds": 2.0}
    assert [path.name for path in tmp_path.iterdir()] == ["gpu.json"]
