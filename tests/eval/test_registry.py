import json
from pathlib import Path
from typing import Any

import pytest

from eval.open_factual.run import run_open_factual
from eval.pages.cli import report_command as report_app
from eval.registry import add, app, check
from judge.errors import InputError
from tests.calling import Ran, invoke
from tests.made_up import FACT, put_tasks

ROOT = Path(__file__).resolve().parents[2]
REPORT: dict[str, Any] = {
    "benchmark": "halubench",
    "name": "runs/demo/SFT model",
    "mode": "verdict",
    "counts": {"n": 300, "parsed": 300},
    "metrics": {"n": 300, "accuracy": 0.5, "auroc": None, "accuracy_ci": [0.4, 0.6]},
    "data_hash": "ab12",
    "hardware": {"cpus": 2},
    "versions": {"python": "3.11"},
    "command": "judge eval",
    "date": "2026-02-18T10:30:36+00:00",
}


def put_run(folder: Path, *reports: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps({"reports": reports}), newline="")
    (folder / "verdicts.jsonl").write_text('{"id": "1"}\n')
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "results" / "index.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "description": "Runs.", "runs": []}))
    return path


def test_the_shipped_index_and_its_page(tmp_path: Path, ran: Ran) -> None:
    index = ROOT / "results" / "index.json"
    runs = json.loads(index.read_text(encoding="utf-8"))["runs"]
    assert check(index) == len(runs) > 0
    ran("report", *(index.parent / run["id"] for run in runs), "--html", tmp_path / "page.html")
    ran("report", index.parent / runs[0]["id"] / "report.json", "--html", tmp_path / "one.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(result["benchmark"] in page for run in runs for result in run["results"])


def test_adding_runs(index: Path, tmp_path: Path) -> None:
    run = put_run(tmp_path / "run", REPORT, REPORT | {"benchmark": "ragtruth"})
    name = add(run, index)
    assert name.startswith("2026-02-18-runs-demo-sft-model-")
    assert (index.parent / name / "report.json").read_bytes() == (run / "report.json").read_bytes()
    (entry,) = json.loads(index.read_text())["runs"]
    assert [result["benchmark"] for result in entry["results"]] == ["halubench", "ragtruth"]
    assert entry["results"][0]["figures"] == {"accuracy": 0.5, "auroc": None}
    assert entry["results"][0]["n"] == 300 and check(index) == 1
    with pytest.raises(InputError, match="already"):
        add(run, index)
    add(put_run(tmp_path / "other", REPORT | {"name": "other"}), index)
    assert check(index) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": {}}, r"reports\.0\.metrics\.accuracy.*is missing"),
        ({"metrics": {"accuracy": 50}}, r"reports\.0\.metrics\.accuracy.*less than or equal to 1"),
        ({"metrics": {"accuracy": 0.5, "f1": 50}}, r"figures\.f1.*less than or equal to 1"),
        ({"counts": {"n": "300"}}, r"counts\.n.*a valid integer"),
        ({"date": "today"}, r"reports\.0\.date"),
    ],
)
def test_reports_that_cannot_be_listed(
    index: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    before = index.read_bytes()
    with pytest.raises(InputError, match=message):
        add(put_run(tmp_path / "run", REPORT | change), index)
    assert index.read_bytes() == before and [path.name for path in index.parent.iterdir()] == ["index.json"]


def test_unfinished_runs(index: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"report\.json"):
        add(tmp_path, index)
    run = put_run(tmp_path / "run", REPORT)
    (run / "verdicts.jsonl").unlink()
    with pytest.raises(InputError, match=r"verdicts\.jsonl"):
        add(run, index)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda v: v["runs"][0]["results"][0]["figures"].update(accuracy=0.9), "says something else"),
        (lambda v: v["runs"][0].update(extra=1), "extra"),
        (lambda v: v["runs"][0].update(id="../../etc"), r"runs\.0\.id"),
        (lambda v: v["runs"].append(v["runs"][0]), "twice"),
        (lambda v: v["runs"].clear(), "does not list the folder"),
        (lambda v: v["runs"][0].update(id="gone"), "no such file"),
        (lambda v: v.update(version=2), "version"),
    ],
)
def test_a_wrong_index(index: Path, tmp_path: Path, damage: Any, message: str) -> None:
    add(put_run(tmp_path / "run", REPORT), index)
    values = json.loads(index.read_text())
    damage(values)
    index.write_text(json.dumps(values))
    with pytest.raises(InputError, match=message):
        check(index)


def test_no_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file; run this in a checkout"):
        check(tmp_path / "index.json")


def test_a_changed_report(index: Path, tmp_path: Path) -> None:
    name = add(put_run(tmp_path / "run", REPORT), index)
    put_run(index.parent / name, REPORT | {"command": "another"})
    with pytest.raises(InputError, match="was changed"):
        check(index)


def test_an_open_factual_run_can_be_listed(index: Path, tmp_path: Path) -> None:
    data = put_tasks(tmp_path / "data", [FACT])
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"id": "a", "answer": "eight"}) + "\n")
    run_open_factual(None, data, tmp_path / "run", answers=answers, machine="Colab T4")
    add(tmp_path / "run", index)
    (entry,) = json.loads(index.read_text())["runs"]
    (result,) = entry["results"]
    assert result["figures"] == {"accuracy": 0.0, "accuracy_extended": 1.0}
    assert result["hardware"] == "Colab T4"
    assert result["stress_tests"] == {"refusal_or_correction": 0, "hallucination_candidate": 0, "unclear": 0}
    assert check(index) == 1
    shown = invoke(report_app, index)
    board = [line for line in shown.stdout.splitlines() if line.startswith("|")]
    assert any("answers.jsonl" in line and "Colab T4" in line and "100.0" in line for line in board)


def test_an_index_without_runs_makes_no_page(index: Path) -> None:
    with pytest.raises(InputError, match="lists no run; add some with `judge results add`"):
        invoke(report_app, index)


def test_commands(index: Path, tmp_path: Path) -> None:
    run = put_run(tmp_path / "run", REPORT)
    result = invoke(app, "add", run, "--index", index)
    assert result.exit_code == 0 and "added 2026-02-18" in result.stdout
    assert "1 runs" in invoke(app, "check", "--index", index).stdout
