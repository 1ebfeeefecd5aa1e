import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.eval_drill import drill
from eval import benchmarks
from eval.benchmarks.samples_file import samples_file
from eval.cli import _sets
from eval.cli import eval_command as app
from eval.compare import compare_command as compare
from eval.default_sets import default_sets
from eval.open_factual.cli import open_factual_command as open_factual
from eval.pages.cli import report_command as report
from eval.report import read_reports
from judge.baselines.rules import TRIVIAL_BASELINES, TrivialBaseline
from judge.cli.main import main as judge
from judge.errors import InputError, JudgeError
from judge.files import locked
from judge.formats.files import MissingFiles
from judge.injections import FAMILIES
from tests.calling import ModelFolder, invoke
from tests.encoders import NLI, save_model
from tests.made_up import FACT, put_tasks
from tests.tiny_data import rows_of, write_lines

PASS_BASELINE = "baseline:always-pass"


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
    return write_lines(tmp_path / "mine.jsonl", *rows)


def call(*arguments: object) -> Any:
    """The command; texts may hold several words of it."""
    words = [word for item in arguments for word in (item.split() if isinstance(item, str) else [str(item)])]
    return invoke(app, *words)


def reports(*arguments: object) -> list[dict[str, Any]]:
    return json.loads(call(*arguments, "--set bootstrap=0 --json").stdout)["reports"]


def test_json_is_alone_on_stdout_and_tables_are_there_without_it(data: Path) -> None:
    result = call("--model baseline:length --set bootstrap=20 --json --samples", data)
    assert result.exit_code == 0
    (report,) = json.loads(result.stdout)["reports"]
    assert report["benchmark"] == "mine.jsonl" and report["name"] == "baseline:length"
    assert report["metrics"]["accuracy"] == 1.0
    assert list(report["baselines"]) == list(TRIVIAL_BASELINES)
    assert "baseline:overlap" in result.stderr
    shown = call("--model", PASS_BASELINE, "--set bootstrap=0 --samples", data)
    assert shown.exit_code == 0 and "mine.jsonl: 6 PASS, 6 FAIL" in shown.stdout


def test_out(data: Path, tmp_path: Path) -> None:
    """Overwritten when asked for, and not by a wrong call."""
    out = tmp_path / "out"
    command = ("--model", PASS_BASELINE, "--samples", data, "--set bootstrap=0 --out", out)
    assert call(*command, "--limit 4").exit_code == 0
    report = json.loads((out / "report.json").read_text())["reports"][0]
    assert (report["limit"], report["counts"]["n"]) == (4, 4)
    assert len((out / "verdicts.jsonl").read_text().splitlines()) == 4
    with pytest.raises(InputError, match="--overwrite"):
        call(*command)
    with pytest.raises(InputError):
        call(*command, "--overwrite --benchmarks nothing")
    with locked(out, folder=True), pytest.raises(InputError, match="another run is writing here"):
        call(*command, "--overwrite")
    assert (out / "report.json").exists()
    assert call(*command, "--overwrite").exit_code == 0
    assert len((out / "verdicts.jsonl").read_text().splitlines()) == 12
    with pytest.raises(InputError, match=r"verdicts\.jsonl: is a file that is read"):
        call("--model", f"replay:{out / 'verdicts.jsonl'}", *command[2:], "--overwrite")
    assert (out / "report.json").exists()


def test_without_a_benchmark_it_measures_on_what_lies_there(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files" / "onioneval"
    folder.mkdir(parents=True)
    row = {name: f"{name} of it" for name in ("category", "entity", "hallucination", "fact", "context")}
    (folder / "with_context.json").write_text(json.dumps([row]))
    result = call("--model", PASS_BASELINE, "--set bootstrap=0 --data-dir", tmp_path / "files")
    told = " ".join(result.stderr.split("\n"))
    assert f"measuring on all in {tmp_path / 'files'}: onioneval" in told
    assert "onioneval: " in result.stdout and "probes: " not in result.stdout

    (tmp_path / "judge.json").write_text(json.dumps({"data": str(tmp_path)}))
    own = data.rename(tmp_path / "test.jsonl")
    said: list[str] = []
    monkeypatch.setattr("eval.default_sets.say", said.append)
    assert default_sets(str(tmp_path), None) == (["probes"], [own])
    assert default_sets("owner/name", None) == (["probes"], [])
    assert "the bundled probes and the judge's own test split" in said[0] and "judge data fetch" in said[1]


def test_two_sets_in_one_result(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "b").mkdir()
    other = Path(shutil.copy(data, tmp_path / "b"))
    found = reports("--model", PASS_BASELINE, "--samples", data, "--samples", other)
    assert [report["benchmark"] for report in found] == [str(data), str(other)]
    monkeypatch.chdir(tmp_path)  # now the second has the name that the first had by itself
    found = reports("--model", PASS_BASELINE, "--samples b/mine.jsonl --samples mine.jsonl")
    assert [report["benchmark"] for report in found] == ["b/mine.jsonl", "mine.jsonl"]
    with pytest.raises(InputError, match="probes is the name of two sets"):
        _sets(["probes"], [samples_file(Path("probes"))], None)


def test_attacked_samples(data: Path) -> None:
    (report,) = reports("--model", PASS_BASELINE, "--samples", data, "--limit 4 --set attack=true")
    assert report["benchmark"] == "mine.jsonl_attacked"
    assert report["counts"]["n"] == 4 * (2 + len(FAMILIES))  # whole families of what was drawn


def test_baseline_data(data: Path, tmp_path: Path) -> None:
    judged = write_lines(tmp_path / "one.jsonl", {"document": "Other.", "answer": "a", "label": "FAIL"})
    with pytest.raises(InputError, match="baseline_data="):
        call("--model baseline:length --samples", judged)
    (report,) = reports("--model baseline:length --samples", judged, f"--set baseline_data={data}")
    assert report["baselines_left_out"] == {} and report["metrics"]["accuracy"] == 0.0
    for town in ("Köln", "Tübingen"):
        rows = (f"{town} {n // 2},{'a' * (n % 2 * 9 + 1)},{n % 2}.0" for n in range(12))
        (tmp_path / town).with_suffix(".csv").write_text(
            "\n".join(("Text,answer,hallucinated", *rows)), encoding="cp1252"
        )
    told = "--columns document=Text,label=hallucinated --encoding cp1252 --samples"
    named, other = tmp_path / "Köln.csv", tmp_path / "Tübingen.csv"
    (report,) = reports("--model baseline:length", told, named, f"--set baseline_data={other}")
    assert report["metrics"]["accuracy"] == 1.0
    (report,) = reports("--model", PASS_BASELINE, "--samples", judged)
    assert set(report["baselines_left_out"]) == set(TRIVIAL_BASELINES[2:])


def test_a_model_is_loaded_with_its_options(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def load(model: str, **options: Any) -> Any:
        asked.update(options, model=model)
        return TrivialBaseline(PASS_BASELINE)

    monkeypatch.setattr("judge.load.load_judge", load)
    assert call(f"--model org/m --samples {data} --mode reason --set template={data} --backend vllm")
    assert (asked["model"], asked["mode"], asked["template"]) == ("org/m", "reason", data)
    assert asked["backend"] == "vllm" and asked["decoding"] is None
    for command, taken in (
        ("--benchmarks probes", "free"),
        ("", "free"),  # no files of benchmarks: the probes again
        ("--benchmarks probes --set decoding=constrained", "constrained"),
    ):
        assert call("--model org/m --limit 2 --set bootstrap=0", command).exit_code == 0
        assert asked["decoding"] == taken


def test_constrained_replies_on_a_benchmark_are_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Guided(TrivialBaseline):
        def describe(self) -> dict[str, Any]:
            return {**super().describe(), "guided": True}

    monkeypatch.setattr("judge.load.load_judge", lambda model, **options: Guided(PASS_BASELINE))
    for command, told in (
        (f"--benchmarks probes --samples {data}", True),
        (f"--benchmarks probes --samples {data} --set decoding=constrained", False),
        (f"--samples {data}", False),
    ):
        result = call("--model org/m --mode reason --limit 2 --set bootstrap=0", command)
        assert ("(--set decoding=free)" in " ".join(result.stderr.split())) is told


def test_the_toolkits_judge_is_the_default(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "judge.load.load_judge", lambda model, **_: asked.append(model) or TrivialBaseline(PASS_BASELINE)
    )
    assert "judge: reference, two encoders" in call("--set bootstrap=0", f"--samples {data}").stderr
    assert asked == ["reference"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"--model {PASS_BASELINE} --benchmarks ragtruht", "did you mean 'ragtruth'"),
        (f"--model {PASS_BASELINE} --samples bad\udcff.jsonl", "the name is not UTF-8; give another"),
        ("--benchmarks open_factual_bench", "use judge open-factual"),
        ("--model baseline:pass", "unknown baseline"),
        ("--model org/m --temperature 0.8", "verdict mode, which reads probabilities, samples nothing"),
        ("--model org/m --mode reason --set top_p=0.8", "top_p is for sampling; add --mode reason"),
        ("--model org/m --runs 3 --mode reason", "3 runs would all be the same"),
        ("--model ragas:org/m --temperature 0.8", "ragas: samples nothing"),
        ("--model selfcheck:org/m --mode reason", "judges in a way of its own; omit --mode"),
        ("--model replay:x.jsonl --set precision=float32", "'precision': says how a judge is loaded"),
        ("--model replay:x.jsonl --backend openai", "'backend': says how a judge is loaded"),
        ("--model ragas:org/m --claims", "omit --claims"),
        ("--model replay:x.jsonl --cascade reference", "omit --cascade"),
        (
            "--model baseline:length --benchmarks probes --columns answer=x",
            "is for files of your own",
        ),
        ("--model baseline:length --set latency=2", "latency': has no effect on baselines"),
        ("--model ragas:org/m --set encoder=m", "--set encoder.*is for --model selfcheck-nli:MODEL"),
    ],
)
def test_wrong_calls(data: Path, arguments: str, message: str) -> None:
    samples = "" if "--benchmarks" in arguments or "DATA" in arguments else f"--samples {data}"
    with pytest.raises(InputError, match=message):
        call(arguments.replace("DATA", str(data)), samples)


@pytest.mark.parametrize("option", ["--mode loud", "--limit 0", "--set bootstrap=-1"])
def test_wrong_options_exit_2(data: Path, option: str) -> None:
    assert call("--model", PASS_BASELINE, "--samples", data, option).exit_code == 2


def test_all_stands_for_what_is_there(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "WHOLE", ("halubench", "ragtruth", "bianbench_en"))
    command = f"--model {PASS_BASELINE} --benchmarks all,ragtruth --data-dir {shared_data}"
    result = call(command, "--limit 40 --set bootstrap=0 --json")
    names = [report["benchmark"] for report in json.loads(result.stdout)["reports"]]
    assert sorted(names) == ["halubench", "ragtruth"]
    assert "bianbench_en left out" in " ".join(result.stderr.split())  # it was never released


def test_a_benchmark_by_name_has_to_be_there(tmp_path: Path) -> None:
    for names in ("ragtruth", "all,ragtruth"):
        with pytest.raises(MissingFiles):
            call("--model", PASS_BASELINE, "--benchmarks", names, "--data-dir", tmp_path)
    with pytest.raises(InputError, match="found no benchmark files"):
        call("--model", PASS_BASELINE, "--benchmarks all --data-dir", tmp_path)


def test_published_figures_and_a_benchmarks_own_prompt(
    shared_data: Path, tmp_path: Path, model_folder: ModelFolder
) -> None:
    out = tmp_path / "out"
    result = call(
        f"--model {model_folder('chatml')} --benchmarks halubench,diahalu --data-dir {shared_data}",
        f"--limit 4 --set bootstrap=0 --out {out} --set latency=2",
    )
    halubench, diahalu = read_reports(out)
    assert diahalu.judge["prompt_version"] == "diahalu-2" != halubench.judge["prompt_version"]
    assert len(halubench.judge["weights"]) == 16
    assert halubench.metrics.prompt_tokens > 0 and halubench.latency is not None
    assert diahalu.published[0]["judges"]["ChatGPT4 CoT"]["overall f1"] == pytest.approx(0.6599)
    text = " ".join(result.stdout.split())
    assert "Published: Lynx" in text and "measured on 4 (--limit 4)" in text


def test_runs_at_a_temperature(data: Path, tmp_path: Path, model_folder: ModelFolder) -> None:
    command = f"--model {model_folder('chatml')} --samples {data} --mode reason --out {tmp_path / 'out'}"
    sampled = "--runs 2 --temperature 0.8 --set top_p=0.9 --seed 5"
    assert call(command, sampled, "--set bootstrap=0 --set max_new_tokens=4").exit_code == 0
    (report,) = read_reports(tmp_path / "out")
    assert report.repeats is not None and report.repeats.seeds == (5, 6)
    assert report.repeats.temperature == 0.8 and report.judge["seed"] == 5
    assert (report.judge["top_p"], report.judge["top_k"]) == (0.9, 0)
    rows = rows_of(tmp_path / "out" / "verdicts.jsonl")
    raw = [[row["verdict"]["raw"] for row in rows if row["run"] == run] for run in (0, 1)]
    assert len(raw[0]) == len(raw[1]) == 12 and raw[0] != raw[1]


@pytest.mark.parametrize(
    ("method", "encoder"),
    [
        ("selfcheck", ""),
        ("selfcheck-nli", "ForSequenceClassification"),
        ("selfcheck-bertscore", "Model"),
        ("ragas", ""),
    ],
)
def test_methods(data: Path, tmp_path: Path, method: str, encoder: str, model_folder: ModelFolder) -> None:
    compares = f"--set encoder={save_model(tmp_path, 'bert', encoder, NLI)}" if encoder else ""
    (report,) = reports(f"--model {method}:{model_folder('chatml')} --samples {data} --limit 2", compares)
    assert report["name"].startswith(f"{method}:") and report["judge"]["method"] == method
    with pytest.raises(InputError, match="asks a language model; baseline:length is none"):
        call(f"--model {method}:baseline:length --samples {data}", compares)


def test_a_corpus_is_searched_for_what_has_no_document(shared_data: Path, data: Path, tmp_path: Path) -> None:
    corpus = write_lines(
        tmp_path / "c.jsonl", {"title": "Pluto", "text": "Pluto is a dwarf planet beyond Neptune. " * 30}
    )
    command = f"--model baseline:random --limit 30 --set corpus={corpus}"
    (report,) = reports(command, f"--benchmarks diahalu --data-dir {shared_data} --out {tmp_path / 'o'}")
    assert report["benchmark"] == "diahalu_corpus" and report["counts"]["n"] == 30
    assert set(report["tables"]["domain"]) == {"knowledge", "reasoning"}
    assert report["published"][0]["judges"]["ChatGPT4 retrieval"]["knowledge f1"] == pytest.approx(0.5888)
    assert any("3 passages of c.jsonl" in note for note in report["notes"])
    assert any(row["document"].startswith("Pluto: ") for row in rows_of(tmp_path / "o" / "verdicts.jsonl"))
    with pytest.raises(InputError, match="has nothing to search for"):
        call(command, "--samples", data)


def test_all_has_the_model_answer_too(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: ModelFolder
) -> None:
    monkeypatch.setattr(benchmarks, "WHOLE", ())
    out = tmp_path / "out"
    put_tasks(tmp_path, [FACT | {"id": f"t{at}", "question": f"What is {at} + 1?"} for at in range(3)])
    command = f"--benchmarks all --samples {data} --set bootstrap=0 --data-dir {tmp_path}"
    answering = f"--model {model_folder('chatml')} {command} --out {out} --set hardware=laptop"
    found = json.loads(call(answering, "--json").stdout)
    assert found["open_factual_bench"]["counts"]["answered"] == 3
    assert found["open_factual_bench"]["hardware"]["label"] == "laptop"
    assert [report.hardware["label"] for report in read_reports(out)] == ["laptop"]
    answered = out / "open_factual_bench" / "report.json"
    before = answered.read_bytes()
    (out / "report.json").unlink()  # killed before the end: the answers that are there are taken up
    call(answering)
    assert answered.read_bytes() == before

    text = invoke(report, out).stdout
    assert "mine.jsonl" in text and "models that answer themselves" in text and "laptop" in text
    assert "*google/gemma-2-2b-it*" in text and "Colab T4" in text
    both, alone = tmp_path / "page.html", tmp_path / "alone.html"
    invoke(report, out, "--html", both)
    assert "models that answer themselves" in both.read_text()
    invoke(report, answered.parent, "--html", alone)
    assert 'id="answers"' in alone.read_text() and 'id="samples"' not in alone.read_text()
    with pytest.raises(InputError, match="a model card is about a judge"):
        invoke(report, answered.parent, "--model-card", tmp_path / "README.md")

    left = call("--model", PASS_BASELINE, command)
    assert "open_factual_bench left out" in " ".join(left.stderr.split())
    with pytest.raises(InputError, match="judges answers and writes none"):
        call("--model", PASS_BASELINE, "--benchmarks open_factual_bench --samples", data)


def test_compare(data: Path, tmp_path: Path) -> None:
    folders = [str(tmp_path / name) for name in ("length", "always-pass")]
    for folder in folders:
        call(f"--model baseline:{Path(folder).name} --samples {data} --set bootstrap=0 --out {folder}")
    (found,) = json.loads(invoke(compare, *folders, "--json").stdout)
    assert (found["benchmark"], found["n"], found["only_first_right"]) == ("mine.jsonl", 12, 6)
    assert found["p_value"] == pytest.approx(2 / 2**6) and found["differences"][0]["difference"] == 0.5
    shown = invoke(compare, *folders).stdout
    assert "50.0" in shown and "McNemar" in shown


def test_a_killed_evaluation_ends_with_the_undisturbed_report(tmp_path: Path) -> None:
    outcome = drill("replay", tmp_path, kills=3, samples=2000)
    assert outcome.problems == [] and len(outcome.kills) == 3 and max(outcome.kills) > 0


def launched(rank: int, port: int, arguments: list[str], folder: str) -> None:
    """One of two processes, as ``accelerate launch`` starts them on a CPU."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "CUDA_VISIBLE_DEVICES": "-1"}
    sys.stdout = (Path(folder) / f"{rank}.out").open("w")  # until the process ends
    judge(arguments)


def test_processes_of_a_launcher_give_the_verdicts_of_one(tmp_path: Path, model_folder: ModelFolder) -> None:
    """70 replies are three chunks for two processes, of a run that was interrupted after five."""
    rows = [
        {"id": f"{n}", "document": f"It was {n}.", "answer": f"{n + n % 2}", "label": ["PASS", "FAIL"][n % 2]}
        for n in range(70)
    ]
    samples = write_lines(tmp_path / "mine.jsonl", *rows)
    arguments = f"--model {model_folder('chatml')} --mode reason --samples {samples}"
    arguments += " --set max_new_tokens=4 --set bootstrap=0"
    assert call(arguments, "--out", tmp_path / "alone").exit_code == 0
    alone = (tmp_path / "alone" / "verdicts.jsonl").read_text()

    both = tmp_path / "both"
    both.mkdir()
    shutil.copy(tmp_path / "alone" / "run.json", both)
    (both / "verdicts.jsonl").write_text("".join(alone.splitlines(keepends=True)[:5]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["eval", *arguments.split(), "--out", str(both)]
    torch.multiprocessing.spawn(launched, (port, words, str(tmp_path)), nprocs=2)

    assert (both / "verdicts.jsonl").read_text() == alone
    (one,), (two,) = read_reports(tmp_path / "alone"), read_reports(both)
    assert (two.metrics, two.baselines) == (one.metrics, one.baselines)
    assert two.counts["resumed"] == 5 and two.hardware["processes"] == 2
    assert "mine.jsonl" in (tmp_path / "0.out").read_text() and not (tmp_path / "1.out").read_text()


def test_what_a_launcher_is_not_for(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="--backend vllm spreads its work itself"):
        call("--model m --backend vllm --samples", data)
    with pytest.raises(InputError, match="open_factual_bench is answered by one process"):
        invoke(open_factual, "--offline")


def test_limits_for_continuous_integration(data: Path) -> None:
    """What lies under a limit ends with exit code 1, after the tables; a limit that says nothing with 2."""
    asked = ("--model baseline:length --set bootstrap=0 --samples", data)
    assert call(*asked, "--fail-under balanced_accuracy=1 --fail-under f1=0.5").exit_code == 0
    with pytest.raises(JudgeError, match=r"mine.jsonl: balanced_accuracy is 0.500, under 0.7"):
        call("--model baseline:always-pass --fail-under balanced_accuracy=0.7 --samples", data)
    for wrong in ("ece=0.1", "f1", "f1=2"):
        with pytest.raises(InputError, match="fail-under"):
            call(*asked, "--fail-under", wrong)
