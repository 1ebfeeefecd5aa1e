import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.cli import app
from judge.errors import InputError
from judge.floors import FLOORS

PASS_FLOOR = "floor:always-pass"


@pytest.fixture(autouse=True)
def _no_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_DATA_DIR", raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {
            "id": str(number),
            "document": f"Text {number // 2}.",
            "answer": "a" * (number % 2 * 9 + 1),
            "label": ["PASS", "FAIL"][number % 2],
        }
        for number in range(12)
    ]
    return write(tmp_path / "mine.jsonl", rows)


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(item) for item in arguments], catch_exceptions=False)


def test_json_is_alone_on_stdout(data: Path) -> None:
    result = call("--model", "floor:length", "--samples", data, "--bootstrap", 20, "--json")
    assert result.exit_code == 0
    (report,) = json.loads(result.stdout)["reports"]
    assert report["benchmark"] == "mine.jsonl" and report["name"] == "floor:length"
    assert report["metrics"]["accuracy"] == 1.0
    assert list(report["floors"]) == list(FLOORS)
    assert "floor:overlap" in result.stderr


def test_tables_are_on_stdout(data: Path) -> None:
    result = call("--model", PASS_FLOOR, "--samples", data, "--bootstrap", 0)
    assert result.exit_code == 0 and "mine.jsonl: 6 PASS, 6 FAIL" in result.stdout


def test_out(data: Path, tmp_path: Path) -> None:
    command = ("--model", PASS_FLOOR, "--samples", data, "--bootstrap", 0, "--out", tmp_path / "out")
    assert call(*command, "--limit", 4).exit_code == 0
    report = json.loads((tmp_path / "out/report.json").read_text())["reports"][0]
    assert (report["limit"], report["counts"]["n"]) == (4, 4)
    assert len((tmp_path / "out/verdicts.jsonl").read_text().splitlines()) == 4
    with pytest.raises(InputError, match="--overwrite"):
        call(*command)
    assert call(*command, "--overwrite").exit_code == 0
    assert len((tmp_path / "out/verdicts.jsonl").read_text().splitlines()) == 12


def test_a_wrong_call_leaves_the_old_result(data: Path, tmp_path: Path) -> None:
    command = ("--model", PASS_FLOOR, "--bootstrap", 0, "--out", tmp_path / "out")
    call(*command, "--samples", data)
    with pytest.raises(InputError):
        call(*command, "--overwrite", "--benchmarks", "nothing")
    assert (tmp_path / "out/report.json").exists()


def test_two_sets_in_one_result(data: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = tmp_path / "b" / "mine.jsonl"
    other.write_text(data.read_text())
    result = call("--model", PASS_FLOOR, "--samples", data, "--samples", other, "--json", "--bootstrap", 0)
    names = [report["benchmark"] for report in json.loads(result.stdout)["reports"]]
    assert names == ["mine.jsonl", str(other)]


def test_floor_data(data: Path, tmp_path: Path) -> None:
    row = {"document": "Other.", "answer": "a", "label": "FAIL"}
    judged = write(tmp_path / "one.jsonl", [row])
    command = ("--samples", judged, "--bootstrap", 0, "--json")
    with pytest.raises(InputError, match="--floor-data"):
        call("--model", "floor:length", *command)
    result = call("--model", "floor:length", *command, "--floor-data", data)
    report = json.loads(result.stdout)["reports"][0]
    assert report["floors_left_out"] == {} and report["metrics"]["accuracy"] == 0.0
    result = call("--model", PASS_FLOOR, *command)
    assert set(json.loads(result.stdout)["reports"][0]["floors_left_out"]) == set(FLOORS[2:])


def test_a_model_is_loaded_with_its_options(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge import judge as judge_module
    from judge.floors import make_floor

    asked: dict[str, Any] = {}

    def load(model: str, **options: Any) -> Any:
        asked.update(options, model=model)
        return make_floor(PASS_FLOOR)

    monkeypatch.setattr(judge_module, "load_judge", load)
    command = ("--model", "org/m", "--samples", data, "--bootstrap", 0, "--mode", "reason")
    assert call(*command, "--template", data, "--batch-tokens", 9, "--max-new-tokens", 7).exit_code == 0
    assert (asked["model"], asked["mode"], asked["template"]) == ("org/m", "reason", data)
    assert (asked["batch_tokens"], asked["max_new_tokens"]) == (9, 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", PASS_FLOOR], "nothing to measure on"),
        (["--model", PASS_FLOOR, "--benchmarks", "ragtruht"], "did you mean 'ragtruth'"),
        (["--model", "floor:pass", "--samples", "DATA"], "unknown floor"),
        (["--model", PASS_FLOOR, "--samples", "nowhere.jsonl"], "no such file"),
        (["--model", PASS_FLOOR, "--samples", "DATA", "--mode", "reason"], "gives no reasoning"),
    ],
)
def test_wrong_calls(data: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(*(str(data) if item == "DATA" else item for item in arguments))


def test_unlabelled_samples(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{"document": "d", "answer": "a"}])
    with pytest.raises(InputError, match=r"x\.jsonl.*'label'.*gold labels"):
        call("--model", PASS_FLOOR, "--samples", path)


@pytest.mark.parametrize("option", [["--mode", "loud"], ["--limit", "0"], ["--bootstrap", "-1"]])
def test_wrong_options_exit_2(data: Path, option: list[str]) -> None:
    assert call("--model", PASS_FLOOR, "--samples", data, *option).exit_code == 2


def test_all_benchmarks(shared_data: Path) -> None:
    result = call(
        *("--model", PASS_FLOOR, "--benchmarks", "all,ragtruth", "--data-dir", shared_data),
        *("--limit", 60, "--bootstrap", 0, "--json"),
    )
    names = [report["benchmark"] for report in json.loads(result.stdout)["reports"]]
    assert names == ["halubench", "halueval", "ragtruth"]
