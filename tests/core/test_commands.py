"""The command line: what is printed, how it ends, and that a killed batch goes on as if nothing had been."""

import contextlib
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from judge.cli.main import COMMANDS, in_home
from judge.errors import InputError
from judge.files import write_jsonl
from judge.types import Label, Sample, Unsupported, Verdict
from tests.calling import ModelFolder, Ran, Refused, call
from tests.scripted import Scripted
from tests.tiny_data import rows_of

ROOT = Path(__file__).resolve().parents[2]
PASS_BASELINE = "baseline:always-pass"
BASELINE = ("--model", PASS_BASELINE)


def write_samples(path: Path, count: int, first: int = 0) -> Path:
    rows = [
        {
            "id": f"s{number}",
            "document": f"Tower {number} is {number + 20} m high. " * (1 + number % 3),
            "question": "How high is it?",
            "answer": f"It is {number + 20} m high." + " Really." * (number % 5),
            "label": ["PASS", "FAIL"][number % 5 > 2],
        }
        for number in range(first, first + count)
    ]
    write_jsonl(path, rows)
    return path


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "document.txt"
    path.write_text("The tower is 20 m high.")
    return path


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return write_samples(tmp_path / "samples.jsonl", 12)


# --- judge, without a command -------------------------------------------------------------------------------


def test_help_is_quick_and_complete() -> None:
    """By processor time, so that a busy machine changes nothing."""
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "judge", "--help"]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert result.returncode == 0 and result.stderr == ""
    assert min(seconds) < 0.5
    listed = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  ")]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_of_each_command(command: str, ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """... at 80 columns, where every panel is whole, and no option's value has the name of a Python type."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = ran(command, "--help").out
    assert ran(command, "-h").out == shown
    assert f"judge {command}" in shown and all(len(line) <= 80 for line in shown.splitlines())
    assert not re.search(r"<(str|int|float|bool|path|list)\b", shown)
    if "--set" in shown:
        settings = shown[shown.index(" Settings: --set KEY=VALUE ") :]
        assert all(name in settings for name in ("precision=FORMAT", "vllm.KEY=VALUE", "max_length=NUMBER"))
        most = {"check": 14, "eval": 25}.get(command, 17)
        assert len({*re.findall(r"^│ (?:\* )? *(--(?!help)[a-z-]+)", shown, re.MULTILINE)}) <= most


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux alone has it")
@pytest.mark.parametrize(
    "asked", [("check", "--document", "x", "--answer", "x", *BASELINE, "--json"), ("--help",), ("--version",)]
)
def test_a_full_standard_output_is_told_in_one_line(asked: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "judge", *asked], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "error: standard output could not be written (No space left on device)\n"


def test_a_name_that_standard_output_cannot_encode_is_escaped(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"document": "x", "answer": "y"}\n')
    asked = [sys.executable, "-m", "judge", "batch", "in.jsonl", "-o", b"bad\xff.jsonl", *BASELINE]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(asked, env=environment, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout.partition(b":")[0]) == (0, rb"bad\udcff.jsonl"), done.stderr


def test_a_library_that_is_installed_and_broken_is_named(document: Path, tmp_path: Path) -> None:
    (tmp_path / "safetensors.py").write_text("import _safetensors_lost")
    asked = ("check", "--document", f"@{document}", "--answer", "x")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    command = [sys.executable, "-m", "judge", *asked]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    told = "_safetensors_lost cannot be loaded: No module named '_safetensors_lost'; install it again"
    assert done.stderr.splitlines()[-1] == f"error: {told}" and "Traceback" not in done.stderr


def test_one_process_of_a_launch_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank, lines in (("0", 1), ("1", 0)):
        monkeypatch.setenv("LOCAL_RANK", rank)
        assert call("encoder", "none.yaml") == 2 and capsys.readouterr().err.count("error: ") == lines


def test_an_unknown_command(refused: Refused) -> None:
    assert "unknown command 'chek'; did you mean 'check'?" in refused("chek")


@pytest.mark.parametrize("asked", [("--out", ""), ("--out=",), ("--samples", "")])
def test_an_empty_path_is_no_folder(asked: tuple[str, ...], tmp_path: Path, refused: Refused) -> None:
    """``--out "$OUT"`` with OUT unset would write into the working folder."""
    with contextlib.chdir(tmp_path):
        error = refused("eval", "--model", "baseline:overlap", *asked)
    assert "is empty" in error and asked[0].strip("=") in error and not [*tmp_path.iterdir()]


def test_a_tilde_after_an_equals_sign_is_the_home_folder(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    ran("batch", str(samples), "--out=~/verdicts.jsonl", "--model=baseline:overlap")
    assert (tmp_path / "home" / "verdicts.jsonl").exists()
    assert not (tmp_path / "~").exists()
    assert in_home("--answer=~/.bashrc") == "--answer=~/.bashrc"  # a text


def test_an_empty_list_of_names_is_not_the_default(refused: Refused) -> None:
    assert "--benchmarks" in refused("eval", "--model", "baseline:overlap", "--benchmarks", " ,")


def test_no_command_and_version(capsys: pytest.CaptureFixture[str], ran: Ran) -> None:
    assert call() == 2
    assert "usage: judge" in capsys.readouterr().out
    assert ran("--version").out.startswith("judge ")


# --- judge check --------------------------------------------------------------------------------------------


def test_check_prints_label_and_probability(document: Path, model_folder: ModelFolder, ran: Ran) -> None:
    command = ("check", "--model", model_folder("chatml"), "--document", f"@{document}", "--answer", "20 m.")
    row = json.loads(ran(*command, "--json").out)
    assert list(row) == [
        "id", "label", "p_fail", "reasoning", "raw", "error", "truncated", "cut_chars", "usage",
    ]  # fmt: skip
    assert row["label"] == ("FAIL" if row["p_fail"] >= 0.5 else "PASS")
    meaning = {"PASS": "faithful", "FAIL": "hallucinated"}[row["label"]]
    assert ran(*command).out == f"{row['label']} ({meaning}, p(FAIL) = {row['p_fail']:.3f})\n"


def test_check_in_reason_mode(document: Path, ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict(Label.PASS, 0.25, reasoning="It says so.", raw="...", cut_chars=7)
    monkeypatch.setattr("judge.load.load_judge", lambda *_, **__: Scripted(lambda _: verdict))
    command = ("check", "--model", "m", "--mode", "reason", "--document", f"@{document}", "--answer", "Yes.")
    lines = ran(*command).out.splitlines()
    assert lines[:2] == ["PASS (faithful, p(FAIL) = 0.250)", "It says so."] and "7 characters" in lines[2]
    verdict = Verdict(Label.FAIL, 0.75, unsupported=(Unsupported("Yes", 0, 3, 0.8),))
    assert ran(*command).out.splitlines()[1] == "unsupported: 'Yes' (0.80)"


def test_check_without_a_verdict(
    document: Path, model_folder: ModelFolder, capsys: pytest.CaptureFixture[str], refused: Refused
) -> None:
    """A random model writes no JSON: that is a failure of the work, and never a label."""
    command = ("check", "--model", model_folder("chatml"), "--document", f"@{document}", "--answer", "Yes.")
    assert "no verdict: " in refused(*command, "--mode", "reason", "--set", "max_new_tokens=4", code=1)
    assert call(*command, "--mode", "reason", "--set", "max_new_tokens=4", "--json") == 1
    assert json.loads(capsys.readouterr().out)["label"] is None


def test_a_text_is_never_taken_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran) -> None:
    """@FILE and - are read; @@ is one @; what only looks like a file is an error that says what to write."""

    from judge.cli.texts import read_texts

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tower").write_text("It is 20 m.")
    monkeypatch.setattr("sys.stdin", io.StringIO("The tower."))
    assert ran("check", *BASELINE, "--document", "-", "--answer", "@~/tower").out.startswith("PASS")
    texts = ["The tower.", "@@home", "24/7", "It is in docs/a.txt", "", "x" * 5000, "\u9ad8/\u4f4e\u3002"]
    for text in texts:
        assert read_texts({"--answer": text}) == {"--answer": text.replace("@@", "@")}
    for name in ("tower", "none.txt", "notes.MD", "docs/tower", "/none", "C:\\tower", "./none"):
        for option in ("--document", "--question", "--answer"):
            with pytest.raises(InputError, match=re.escape(f"did you mean {option} @{name}?")):
                read_texts({option: name})
    with pytest.raises(InputError, match="nothing is fetched"):
        read_texts({"--document": "https://example.org/tower"})
    with pytest.raises(InputError, match="--question and --answer cannot both be standard input"):
        read_texts({"--question": "-", "--answer": "-"})
    monkeypatch.setattr("sys.stdin", io.StringIO("It is \udcff"))  # as Python reads it in the C locale
    with pytest.raises(InputError, match="field '--answer': standard input is not UTF-8 text; convert"):
        read_texts({"--answer": "-"})
    (tmp_path / "tower").write_bytes(b"It is \xff")
    with pytest.raises(InputError, match=r"tower: --answer is not UTF-8 text \(byte 6\)"):
        read_texts({"--answer": "@tower"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--document", "@none.txt"), "none.txt: --document could not be read (No such file or directory)"),
        (("--answer", "none.txt"), "did you mean --answer @none.txt?"),
        (("--answer", " "), "field 'answer': is empty"),
        (("--model", "baseline:lenght"), "did you mean 'baseline:length'?"),
        (("--model", "baseline:length"), "labelled"),
        (("--set", "task=summary"), "did you mean 'summarization'?"),
        (("--set", "language=de"), "holds 'de', expected en or zh; omit it for other"),
        (("--set", "template=none.jinja", "--model", "m"), "no such file"),
    ],
)
def test_wrong_calls_of_check(
    changes: tuple[str, ...], message: str, document: Path, refused: Refused
) -> None:
    options = {"--model": PASS_BASELINE, "--document": f"@{document}", "--answer": "It is 20 m."}
    options |= dict(zip(changes[::2], changes[1::2], strict=True))
    assert message in refused("check", *(part for option in options.items() for part in option))


def test_an_answer_that_does_not_fit(document: Path, model_folder: ModelFolder, refused: Refused) -> None:
    command = ("check", "--model", model_folder("chatml"), "--document", f"@{document}")
    assert "question, answer and instructions alone take" in refused(*command, "--answer", "word " * 5000)


@pytest.mark.parametrize(
    ("command", "stopping", "on"),
    [
        ("eval --samples {file} --model baseline:length --out o --overwrite", "eval.cli._sets",
         "; to resume: judge eval --samples {file} --model baseline:length --out o"),
        ("eval --samples {file} --model baseline:length -o o", "eval.cli._sets",
         "; to resume: judge eval --samples {file} --model baseline:length -o o"),
        ("eval --samples {file} --model baseline:length", "eval.cli._sets", ""),
        ("data build demo --out o --overwrite", "data_pipeline.build.pipeline.build",
         "; to resume: judge data build demo --out o --overwrite"),
        ("encoder demo output=o --overwrite", "judge.training.encoder.train_encoder",
         "; to resume: judge encoder demo output=o --resume"),
        ("teach {file}", "judge.cli.teach.find_columns", "; to resume: judge teach {file}"),
        ("batch {file} -o o", "judge.batch.file.judge_file", "; to resume: judge batch {file} -o o --resume"),
    ],
)  # fmt: skip
def test_ctrl_c_ends_in_one_line(
    command: str,
    stopping: str,
    on: str,
    samples: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(samples.parent)
    monkeypatch.setattr(stopping, stop)
    assert call(*command.format(file=samples.name).split()) == 130
    said = capsys.readouterr().err
    assert said.endswith(f"\nstopped{on.format(file=samples.name)}\n") and "Traceback" not in said


def test_sigterm_ends_like_ctrl_c(tmp_path: Path, samples: Path) -> None:
    """It says how to resume, and leaves no copy of the samples behind."""
    code = (
        "import os, signal\nfrom judge.batch import file\nfrom judge.cli.main import main\n"
        "file.judge_file = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)\nmain()"
    )
    command = [sys.executable, "-c", code, "batch", "-", "-o", "o.jsonl", *BASELINE]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with samples.open() as stream:
        ended = subprocess.run(
            command, stdin=stream, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )
    assert ended.returncode == 143
    on = f"judge batch - -o o.jsonl --model {PASS_BASELINE} --resume"
    assert ended.stderr.endswith(f"stopped; to resume: {on}\n")
    assert not list(tmp_path.glob("judge-*"))


# --- judge batch --------------------------------------------------------------------------------------------


def test_batch(samples: Path, tmp_path: Path, model_folder: ModelFolder, ran: Ran) -> None:
    out = tmp_path / "new" / "out.jsonl"
    told, rows = ran("batch", samples, "-o", out, "--model", model_folder("chatml")), rows_of(out)
    assert told.out == f"{out}: 12 verdicts, 0 without a label, 0 from an earlier run\n"
    count = [row["label"] for row in rows].count("PASS")
    assert f"12 answers: {count} PASS, {12 - count} FAIL, 0 unread\nleast sure, by p(FAIL): " in told.err
    assert [row["id"] for row in rows] == [f"s{number}" for number in range(12)]
    for row in rows:
        assert row["label"] == ("FAIL" if row["p_fail"] >= 0.5 else "PASS")
        assert row["usage"]["prompt_tokens"] > 0 and row["error"] is None
    assert len({row["p_fail"] for row in rows}) > 6
    assert sorted(path.name for path in out.parent.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]


def test_batch_for_continuous_integration(
    samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is written whole; then the exit code tells of an answer that is not faithful."""
    for baseline, code in (("always-pass", 0), ("always-fail", 1)):
        out = tmp_path / f"{baseline}.jsonl"
        assert (
            call("batch", samples, "-o", out, "--model", f"baseline:{baseline}", "--fail-on", "any") == code
        )
        assert len(out.read_text().splitlines()) == 12
    assert "not faithful: 12 answers of 12; the first is s0" in capsys.readouterr().err


def test_deep_meta(tmp_path: Path) -> None:
    meta = {"deep": json.loads("[" * 600 + "]" * 600)}
    file = tmp_path / "in.jsonl"
    file.write_text(json.dumps({"document": "d", "answer": "a", "meta": meta}) + "\n")
    assert call("batch", file, "-o", tmp_path / "out.jsonl", *BASELINE) == 0


def test_files_with_other_column_names(tmp_path: Path, refused: Refused) -> None:
    """Named columns are read; a label keeps its own name; what is wrong is said before anything is judged."""
    file, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    file.write_text(
        "context,response,label,notes\nThe mill is red.,It is red.,PASS,x\nIt is old.,It is new.,FAIL,y\n"
    )
    columns = "document=context, answer=response"
    model = ("--model", "baseline:always-fail")
    command = ("batch", file, "-o", out, *model, "--columns", columns)
    assert call(*command) == 0 and len(rows_of(out)) == 2
    out.write_text(out.read_text().splitlines(keepends=True)[0])
    assert call(*command, "--resume") == 0 and len(rows_of(out)) == 2
    assert call("eval", "--samples", file, *model, "--columns", columns, "--set", "bootstrap=0") == 0
    for wrong, message in (
        ("document", "'document' is not a field=column"),
        ("text=context", "unknown field 'text'"),
        ("answer=response,answer=label", "'answer' is given twice"),
    ):
        assert message in refused("batch", file, "-o", tmp_path / "no.jsonl", *model, "--columns", wrong)


@pytest.mark.parametrize("given", ["-", "pipe", "file"])
def test_batch_reads_streams_and_other_encodings(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    """Labels that a reader would not know are nothing to a batch."""
    content = "id;document;answer;label\n1;Café – 5 €;5 €;1\n2;Café;Tee;maybe\n".encode("cp1252")
    file, out = tmp_path / "in.csv", tmp_path / "out.jsonl"
    file.write_bytes(content)
    reads, writes = os.pipe()
    os.write(writes, content)
    os.close(writes)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    samples = {"-": "-", "pipe": f"/dev/fd/{reads}", "file": file}[given]
    assert call("batch", samples, "-o", out, *BASELINE, "--encoding", "cp1252") == 0
    assert [row["id"] for row in rows_of(out)] == ["1", "2"]
    os.close(reads)
    error = refused("batch", file, "-o", tmp_path / "no.jsonl", *BASELINE)
    assert "in.csv:2: is not UTF-8 text (byte 0xe9)" in error
    assert "--encoding cp1252" in error and not (tmp_path / "no.jsonl").exists()


def test_a_terminal_is_no_file_of_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    _, terminal = os.openpty()
    monkeypatch.setattr("sys.stdin", os.fdopen(terminal, encoding="utf-8"))
    assert "standard input is a terminal; pipe samples into it" in refused(
        "batch", "-", "-o", tmp_path / "out.jsonl", *BASELINE
    )


@pytest.mark.parametrize("model", [PASS_BASELINE, "baseline:length"])
def test_resume_after_truncation_anywhere(model: str, samples: Path, tmp_path: Path) -> None:
    """The fitted baseline learns from all samples, not from those that are left."""
    out = tmp_path / "out.jsonl"
    assert call("batch", samples, "-o", out, "--model", model) == 0
    whole = out.read_bytes()
    places = random.Random(0).sample(range(len(whole)), 15)
    for place in (0, 1, len(whole) - 1, len(whole), whole.index(b"\n"), whole.index(b"\n") + 1, *places):
        out.write_bytes(whole[:place])
        assert call("batch", samples, "-o", out, "--model", model, "--resume") == 0
        assert out.read_bytes() == whole, place


@pytest.fixture
def interrupted(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output of a run that was killed after five verdicts."""
    from judge.baselines.rules import TrivialBaseline

    class Killed:
        chunk = 0

        def __init__(self) -> None:
            self.baseline = TrivialBaseline(PASS_BASELINE, None)
            self.describe, self.restart = self.baseline.describe, self.baseline.restart

        def iter_check(self, items: Sequence[Sample]) -> Iterator[Verdict]:
            yield from islice(self.baseline.iter_check(items), 5)
            raise KeyboardInterrupt

    out = tmp_path / "out.jsonl"
    monkeypatch.setattr("judge.load.load_judge", lambda *_, **__: Killed())
    assert call("batch", samples, "-o", out, *BASELINE) != 0
    monkeypatch.undo()
    assert len(rows_of(out)) == 5
    return out


def test_an_interrupted_batch_goes_on_with_its_own_judge_and_samples_alone(
    interrupted: Path, samples: Path, tmp_path: Path, ran: Ran, refused: Refused
) -> None:
    begun = interrupted.read_bytes()
    changed = tmp_path / "c.jsonl"
    changed.write_text(samples.read_text().replace("Tower 9", "Tower IX"))  # the same ids
    for file, model, message in (
        (samples, "baseline:always-fail", 'model was "baseline:always-pass", is "baseline:always-fail"'),
        (write_samples(tmp_path / "b.jsonl", 12, first=1), PASS_BASELINE, "verdicts of other samples"),
        (write_samples(tmp_path / "d.jsonl", 13), PASS_BASELINE, "count was 12, is 13"),  # more at the end
        (
            changed,
            PASS_BASELINE,
            "another way: documents, questions or answers of the samples changed. Undo",
        ),
    ):
        assert message in refused("batch", file, "-o", interrupted, "--model", model, "--resume")
    assert interrupted.read_bytes() == begun
    said = ran("batch", samples, "-o", interrupted, *BASELINE, "--resume").out
    assert "12 verdicts, 0 without a label, 5 from an earlier run" in said


def test_resume_of_a_finished_file(
    samples: Path, tmp_path: Path, model_folder: ModelFolder, ran: Ran, refused: Refused
) -> None:
    """Its verdicts are handed out again for the same run alone."""
    out, model = tmp_path / "out.jsonl", model_folder("chatml")
    assert call("batch", samples, "-o", out, "--model", model) == 0
    whole = out.read_bytes()
    changed = tmp_path / "changed.jsonl"
    changed.write_text(samples.read_text().replace("Tower 9", "Tower IX"))  # the same ids
    for file, options, found in (
        (changed, ("--model", model), "answers of the samples changed"),
        (samples, BASELINE, "judge.model was "),
        (samples, ("--model", model, "--threshold", 0.1), "judge.threshold was not set, is 0.1"),
    ):
        assert found in refused("batch", file, "-o", out, *options, "--resume")
    assert "12 from an earlier run" in ran("batch", samples, "-o", out, "--model", model, "--resume").out
    out.with_name("out.jsonl.run.json").unlink()
    assert "out.jsonl.run.json, which says what made its verdicts" in refused(
        "batch", samples, "-o", out, "--model", model, "--resume"
    )
    assert out.read_bytes() == whole


def test_verdicts_are_not_written_over_the_samples(
    samples: Path, tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = samples.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(samples)
    monkeypatch.chdir(tmp_path)
    for out in (samples, samples.name, "link.jsonl", f"../{tmp_path.name}/{samples.name}"):
        assert "is a file that is read" in refused("batch", samples, "-o", out, *BASELINE, "--resume")
    labelled = samples.with_name("labelled.jsonl")
    labelled.write_bytes(given)  # the same ids, and no verdicts
    assert f"{labelled}:1: is not a verdict" in refused(
        "batch", samples, "-o", labelled, *BASELINE, "--resume"
    )
    assert "--resume" in refused("batch", samples, "-o", labelled, *BASELINE)
    labelled.write_text("notes without an end")
    said = refused("batch", samples, "-o", labelled, *BASELINE, "--resume")
    assert "is not empty, but labelled.jsonl.run.json" in said
    assert labelled.read_text() == "notes without an end" and samples.read_bytes() == given
    # what is named so could not be opened
    for name in ("v.xlsx", "v.csv.gz", "v.json", "v.jsonl.gz", "v.zip", "v.tgz"):
        said = refused("batch", samples, "-o", tmp_path / name, *BASELINE)
        assert "verdicts are JSON Lines" in said and "v.jsonl" in said
        assert not (tmp_path / name).exists()
    assert "is a folder; name a file in it" in refused(
        "batch", tmp_path, "-o", tmp_path / "v.jsonl", *BASELINE
    )
    assert "is a folder; name a file in it" in refused("batch", samples, "-o", tmp_path, *BASELINE)
    os.mkfifo(tmp_path / "pipe")
    for stream in ("/dev/null", "-", tmp_path / "pipe"):
        assert f"{stream}: is not a regular file" in refused("batch", samples, "-o", stream, *BASELINE)
    (tmp_path / "pipe").unlink()
    assert {path.name for path in tmp_path.iterdir()} == {samples.name, "labelled.jsonl", "link.jsonl"}


def test_a_second_run_on_one_file(samples: Path, tmp_path: Path, refused: Refused) -> None:
    """It is refused while the first one lives; a child that a killed run leaves behind holds no lock."""
    out = tmp_path / "new" / "out.jsonl"
    command = ("batch", samples, "-o", out, *BASELINE)
    code = (
        "import os, pathlib, sys, time\nfrom judge.files import locked\n"
        "with locked(pathlib.Path(sys.argv[1])):\n"
        "    child = os.fork()\n"
        "    if child: print(child, flush=True)\n"
        "    else: os.close(1)\n"
        "    time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, out], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        assert "another run is writing here" in refused(*command)
        process.kill()
        process.wait()
        assert call(*command) == 0 and len(rows_of(out)) == 12
    finally:
        process.kill()
        os.kill(child, signal.SIGKILL)


# Small chunks, so that there is something between the first verdict and the last.
DRILL = "import judge.judge; judge.judge.CHUNK.update(verdict=3); from judge.cli.main import main; main()"


def test_sigkill_drill(tmp_path: Path, model_folder: ModelFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed four times at drawn places and resumed each time: what was written stays, nothing of it is
    judged again, and the verdicts are those of an undisturbed run, but for last digits, since they have
    other neighbours."""
    from judge.backends.transformers import TransformersBackend

    monkeypatch.setattr("judge.judge.CHUNK", {"verdict": 3, "reason": 3})
    samples = write_samples(tmp_path / "samples.jsonl", 40)
    model, whole, out = model_folder("chatml"), tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert call("batch", samples, "-o", whole, "--model", model) == 0
    size = whole.stat().st_size
    drawn = random.Random(7)
    command = [sys.executable, "-c", DRILL, "batch", samples, "-o", out, "--model", model, "--resume"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    killed, before = 0, b""
    for place in (0, *sorted(drawn.randrange(1, size) for _ in range(3))):
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and not (out.exists() and out.stat().st_size >= place):
            time.sleep(0.001)
        process.kill()
        killed += process.wait() < 0
        content = out.read_bytes()
        kept = content[: content.rfind(b"\n") + 1]
        assert kept.startswith(before)
        before = kept
    assert killed >= 2
    asked: list[int] = []
    score = TransformersBackend.label_logprobs
    monkeypatch.setattr(
        TransformersBackend,
        "label_logprobs",
        lambda engine, requests: asked.append(len(requests)) or score(engine, requests),
    )
    assert call(*command[3:]) == 0
    assert out.read_bytes().startswith(before) and sum(asked) == 40 - before.count(b"\n")
    rows, wanted = rows_of(out), rows_of(whole)
    assert [(row["id"], row["label"]) for row in rows] == [(row["id"], row["label"]) for row in wanted]
    assert [row["p_fail"] for row in rows] == pytest.approx([row["p_fail"] for row in wanted], abs=1e-5)


# --- judge merge --------------------------------------------------------------------------------------------


def test_merge(tmp_path: Path, model_folder: ModelFolder, ran: Ran) -> None:
    adapter, merged = model_folder("adapter"), tmp_path / "merged"
    assert "merged in, float32" in ran("merge", adapter, "-o", merged).out
    assert (merged / "model.safetensors").is_file() and not (merged / "adapter_config.json").exists()
    said = ran("merge", adapter, "-o", tmp_path / "small", "--dtype", "bfloat16").out
    assert re.search(r"bfloat16, 0\.00 GB\nbfloat16 rounds: .* \d+ % of what", said)


def test_merge_refuses(tmp_path: Path, model_folder: ModelFolder, refused: Refused) -> None:
    assert "is not a LoRA adapter" in refused("merge", model_folder("chatml"), "-o", tmp_path / "merged")
    assert "is an encoder; there is nothing to merge" in refused("merge", "reference", "-o", tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").touch()
    assert "is not empty" in refused("merge", model_folder("adapter"), "-o", tmp_path / "full")
    (tmp_path / "file").touch()
    refused("merge", model_folder("adapter"), "-o", tmp_path / "file")
