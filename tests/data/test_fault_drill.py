"""A build whose teachers' server fails and that is killed meanwhile ends as one that was left alone."""

import json
from pathlib import Path

from benchmarks.build_drill import build_in, drill


def test_a_killed_build_ends_as_one_that_was_left_alone(tmp_path: Path) -> None:
    outcome = drill(seed=1, folder=tmp_path, documents=24, kills=2)
    assert outcome.problems == []
    assert outcome.kills, "the build was never killed"
    assert outcome.requests["answered"] > 60 and outcome.requests.total() > 1.5 * outcome.requests["answered"]
    assert outcome.samples > 24 and outcome.pairs > 0

    # The server is gone: another later stage asks nobody again, not even where there never was an answer.
    folder = tmp_path / "disturbed"
    before = json.loads((folder / "data/manifest.json").read_text())
    recipe = (folder / "data.yaml").read_text()
    (folder / "data.yaml").write_text(recipe.replace("pairs: 8", "pairs: 2"))
    build_in(folder)
    manifest = json.loads((folder / "data/manifest.json").read_text())
    assert manifest["rows"]["dpo/train"]["rejected from composed"] == 2
    assert manifest["teachers"] == before["teachers"] and manifest["yield"] == before["yield"]
    problems = [table["problems"] for table in manifest["teachers"].values()]
    assert all(set(found) <= {"refused", "truncated", "invalid"} for found in problems) and any(problems)
