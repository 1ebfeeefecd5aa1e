"""The GPU section of docs/research/performance.md is what was measured on a GPU, and nothing else."""

from pathlib import Path

from tests.gpu.performance_page import NOTHING, fill

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_the_results_file_holds(tmp_path):
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "research" / "performance.md").read_text())
    fill(page, ROOT / "results" / "gpu.json")
    assert page.read_text() == (ROOT / "docs" / "research" / "performance.md").read_text()
    assert (NOTHING in page.read_text()) == (not (ROOT / "results" / "gpu.json").exists())
