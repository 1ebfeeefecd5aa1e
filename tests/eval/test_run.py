import json
import math
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from eval.benchmarks.base import Benchmark
from eval.gates import check_limits
from eval.judging import describe_run
from eval.pages.terminal import print_report
from eval.quotes import quote_figures
from eval.report import Report, as_json, decoding_text, read_reports, write_reports
from eval.run import evaluate
from eval.verdicts import VerdictFile, check_out, data_hash, row_from_verdict
from judge.baselines.rules import TRIVIAL_BASELINES, TrivialBaseline
from judge.errors import InputError, JudgeError, JudgeWarning
from judge.models.base import model_fingerprint as fingerprint
from judge.models.trained_on import fingerprint as trained_on
from judge.models.trained_on import write_trained_on
from judge.types import Label, Mode, Sample, Task, Usage, Verdict, verdict_from_json
from tests.tiny_data import rows_of


class Scripted:
    """A judge that says what it is told; it dies after ``survives`` verdicts."""

    mode: Mode = "verdict"
    chunk = 1

    def __init__(
        self, verdicts: dict[str, Verdict], survives: int = 10**9, name: str = "scripted", seed: int = 0
    ):
        self.verdicts, self.survives, self.name, self.seed = verdicts, survives, name, seed
        self.asked: list[str] = []

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        for sample in samples:
            if len(self.asked) >= self.survives:
                raise KeyboardInterrupt
            self.asked.append(sample.id)
            yield self.verdicts[sample.id]

    def restart(self, done: int) -> int:
        return done - done % self.chunk

    def describe(self) -> dict[str, Any]:
        return {"model": self.name, "words": ("PASS", "FAIL"), "seed": self.seed, "temperature": 0.8}


SAMPLES = [
    Sample(
        id=str(number),
        document=f"document {number // 2}",
        answer="yes" if number % 2 else "no, not at all",
        label=Label.PASS if number % 2 else Label.FAIL,
        source="ab"[number >= 10],
        group=f"g{number // 2}",
    )
    for number in range(20)
]
RIGHT = {item.id: Verdict(item.label, 0.1 if item.label is Label.PASS else 0.9) for item in SAMPLES}
WRONG = {item.id: Verdict(Label.FAIL, 0.8) for item in SAMPLES}
ALL_BASELINES = [TrivialBaseline(name) for name in TRIVIAL_BASELINES]
BENCH = Benchmark(name="bench", title="A bench", read=lambda _: SAMPLES)


def run(*judges: Any, out: Path | None = None, samples: Sequence[Sample] = SAMPLES, **options: Any) -> Report:
    used = judges or (Scripted(RIGHT),)
    settings = {"bootstrap": 50, "baselines": ALL_BASELINES, **options}
    if out is None:
        return evaluate(used, settings.pop("benchmark", BENCH), samples, **settings)
    with VerdictFile(out, describe_run(used, [(BENCH, samples)])) as file:
        return evaluate(used, BENCH, samples, file=file, **settings)


def interrupted(*judges: Any, **options: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(*judges, **options)


def test_what_a_judge_was_trained_on_is_told(tmp_path: Path) -> None:
    write_trained_on(tmp_path, map(trained_on, ("Document 3.", "elsewhere")))
    told = f"bench: {tmp_path} was trained on the documents of 2 of these 20 samples; they show what it"
    with pytest.warns(JudgeWarning, match=re.escape(told)):
        assert run(Scripted(RIGHT, name=str(tmp_path))).notes[0].startswith(told)
    write_trained_on(tmp_path, [trained_on("elsewhere")])
    assert not run(Scripted(RIGHT, name=str(tmp_path))).notes


def test_report() -> None:
    report = run(limit=20, seed=3)
    assert report.metrics.accuracy == 1.0 and report.metrics.auroc == 1.0
    assert list(report.baselines) == list(TRIVIAL_BASELINES) and not report.baselines_left_out
    assert list(report.tables["source"]) == ["a", "b"]
    assert report.baseline_tables["baseline:always-pass"]["source"]["a"].accuracy == 0.5
    assert report.counts == {"n": 20, "parsed": 20, "unparsed": 0, "truncated": 0, "cut": 0, "resumed": 0}
    assert (report.seed, report.limit, report.bootstrap) == (3, 20, 50)
    assert report.data_hash == data_hash(SAMPLES) and len(report.data_hash) == 64
    assert report.versions["python"].startswith("3.") and report.hardware["cpus"]
    assert report.date.endswith("+00:00") and report.title == "A bench"
    assert report.calibration.n == 20 and report.metrics.ece == pytest.approx(0.1)
    assert report.repeats is report.latency is None


@pytest.mark.parametrize("program", ["/home/ada/lib/judge/__main__.py", "/home/ada/bin/judge"])
def test_the_command_names_no_folder_of_the_program(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [program, "eval", "--out", "my runs/x"])
    assert run().command == "judge eval --out 'my runs/x'"


def test_report_round_trip() -> None:
    report = run(Scripted(RIGHT), Scripted(WRONG, seed=1), latency=3)
    row = json.loads(json.dumps(as_json([report]), allow_nan=False))["reports"][0]
    back = Report.from_dict(row)
    for name in ("metrics", "tables", "baseline_tables", "calibration", "repeats", "latency", "published"):
        assert getattr(back, name) == getattr(report, name)
    assert json.loads(json.dumps(asdict(back))) == row


def test_reading_a_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is the run finished"):
        read_reports(tmp_path)
    write_reports(tmp_path, [report := run()])
    assert read_reports(tmp_path)[0].metrics.accuracy == 1.0
    wrong = (asdict(report) | change for change in ({"metrics": {}}, {"baselines": 3}, {"calibration": None}))
    for text in ("{", "[]", *(json.dumps({"reports": [row]}) for row in ({}, *wrong))):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(InputError, match=r"report\.json"):
            read_reports(tmp_path)


def on_a_terminal(report: Report) -> str:
    console = Console(width=80, record=True)
    print_report(console, report)
    return console.export_text()


def test_a_report_on_the_terminal() -> None:
    wide = {f"part {number}": range(2 * number, 2 * number + 2) for number in range(10)}
    benchmark = replace(
        BENCH,
        rows=lambda item: {
            "source": (item.source,),
            "pair": [name for name, places in wide.items() if int(item.id) in places],
        },
    )
    judges = Scripted(RIGHT, name="org/[model]"), Scripted(WRONG, seed=1)
    text = on_a_terminal(run(*judges, benchmark=benchmark, latency=2))
    assert "bench: 10 PASS, 10 FAIL; mode verdict" in text and "org/[model]" in text
    assert all(name.removeprefix("baseline:") in text for name in TRIVIAL_BASELINES)  # no word is broken
    assert text.count("best baseline") == 1 and "2 runs" not in text and "±" in text
    assert text.index("best\n") < text.index("part 0 (2)"), "a part a row, where the parts are too wide"
    assert "part 9 (2)" in text and "Calibration" in text
    assert "…" not in text and "--json has all" not in text  # everything fits into 80 columns


def test_a_terminal_shows_the_last_columns_and_the_first_rows() -> None:
    rows = {f"row {number}": {f"figure {column}": 0.5 for column in range(30)} for number in range(30)}
    text = on_a_terminal(run(benchmark=replace(BENCH, figures=lambda *_: {"own": rows}), baselines=[]))
    assert "29" in text and "row 23" in text and "row 24" not in text
    assert "This table is longer or wider; --json has all of it." in text


def test_own_tables_figures_and_baselines_of_a_benchmark() -> None:
    benchmark = replace(
        BENCH,
        rows=lambda item: {"half": (item.source,), "both": ("x", "y")},
        figures=lambda items, found: {"own": {"all": {"right": sum(v.label is not None for v in found)}}},
        baselines=(Scripted(WRONG, name="baseline:own"),),
        notes=("A note.",),
    )
    report = run(benchmark=benchmark)
    assert {name: list(rows) for name, rows in report.tables.items()} == {
        "half": ["a", "b"],
        "both": ["x", "y"],
    }
    assert report.tables["both"]["y"].n == 20
    assert report.figures == report.baseline_figures["baseline:own"] == {"own": {"all": {"right": 20}}}
    assert report.baselines["baseline:own"].accuracy == 0.5 and report.notes == ("A note.",)


def test_quotes_of_reasonings_are_looked_up() -> None:
    sample = Sample(id="1", document="The tower is 40 m high.", answer="It is 50 m high.", label=Label.FAIL)
    told = ["It says \"50 m high\", the document 'is 40 m high' and 'made of stone'.", "No quotes.", None]
    verdicts = [Verdict(Label.FAIL, 0.9, reasoning=reasoning) for reasoning in told]
    assert quote_figures([sample] * 3, verdicts) == {
        "quotes of the reasonings": {
            "all": {
                "reasonings": 2, "quote the document": 0.5, "quotes": 3,
                "in the document": 1 / 3, "in the answer": 1 / 3, "nowhere": 1 / 3,
            }
        }
    }  # fmt: skip
    assert quote_figures([sample], verdicts[2:]) == {}
    empty = quote_figures([sample], verdicts[1:2])["quotes of the reasonings"]["all"]
    assert empty["quotes"] == 0 and empty["nowhere"] is None


def test_repeated_runs_have_a_mean_and_a_spread() -> None:
    report = run(Scripted(RIGHT), Scripted(WRONG, seed=1), Scripted(WRONG, seed=2))
    repeats = report.repeats
    assert repeats is not None and report.metrics == repeats.metrics[0]
    assert (repeats.runs, repeats.seeds, repeats.temperature) == (3, (0, 1, 2), 0.8)
    assert repeats.mean["accuracy"] == pytest.approx(2 / 3)
    assert repeats.spread["accuracy"] == pytest.approx(math.sqrt(1 / 12))
    assert repeats.mean["coverage"] == 1 and repeats.spread["coverage"] == 0
    part = repeats.tables["source"]["a"]
    assert part.mean["accuracy"] == pytest.approx(2 / 3) and part.spread["accuracy"] > 0.28
    assert report.tables["source"]["a"].accuracy == 1.0  # the first run alone
    with pytest.raises(JudgeError, match=r"bench: accuracy is 0.667, under 0.7"):
        check_limits([report], {"accuracy": 0.7})
    assert report.mean_metrics().accuracy_ci is None


def test_the_benchmarks_own_figures_have_a_mean_and_a_spread_too() -> None:
    def right(items: Sequence[Sample], found: Sequence[Verdict]) -> dict[str, Any]:
        hits = sum(verdict.label is item.label for item, verdict in zip(items, found, strict=True))
        return {"own": {"all": {"right": hits / len(items), "samples": len(items)}}}

    report = run(Scripted(RIGHT), Scripted(WRONG, seed=1), benchmark=replace(BENCH, figures=right))
    assert report.repeats is not None
    found = report.repeats.figures["own"]["all"]
    assert found.mean == {"right": 0.75, "samples": 20} and found.spread["samples"] == 0


def test_old_reports_are_still_read() -> None:
    row = json.loads(json.dumps(asdict(run(Scripted(RIGHT), Scripted(WRONG, seed=1)))))
    del row["repeats"]["tables"], row["repeats"]["figures"], row["metrics"]["ece"]
    found = Report.from_dict(row | {"of a later version": 1})
    assert found.repeats is not None and found.repeats.tables == {} and found.metrics.ece is None
    assert found.repeats.mean["accuracy"] == 0.75


@pytest.mark.parametrize(
    ("judge", "text"),
    [
        ({"mode": "verdict"}, ""),
        ({"max_new_tokens": 9, "temperature": 0.0}, "greedy, at most 9 tokens"),
        ({"max_new_tokens": 9, "guided": True}, "greedy, constrained, at most 9 tokens"),
        ({"max_new_tokens": 9, "guided": False}, "greedy, free, at most 9 tokens"),
        (
            {"max_new_tokens": 9, "temperature": 0.8, "top_p": 0.7, "top_k": 0, "seed": 1},
            "temperature 0.8, top_p 0.7, top_k all, seed 1, at most 9 tokens",
        ),
        (
            {"max_new_tokens": 9, "temperature": 1, "top_p": 1.0, "top_k": 0, "seed": 1, "server": "unknown"},
            "temperature 1, top_p 1, top_k the server's own, seed 1, at most 9 tokens",
        ),
        (
            {"max_new_tokens": 9, "temperature": 1, "seed": 1},
            "temperature 1, top_p not given, top_k not given, seed 1, at most 9 tokens",
        ),
    ],
)
def test_how_replies_were_decoded_is_told(judge: dict[str, Any], text: str) -> None:
    assert decoding_text(judge) == text


def test_latency_is_that_of_single_samples() -> None:
    class Slow(Scripted):
        def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
            time.sleep(0.01)
            yield from super().iter_check(samples)

    found = run(Slow(RIGHT), latency=5).latency
    assert found is not None and found.samples == 5 and 0.01 <= found.median <= found.p95 < 1


def test_data_hash_sees_every_part() -> None:
    base = Sample(id="1", document="d", question="q", answer="a", label=Label.PASS)
    changed = [
        replace(base, id="2"), replace(base, document="e"), replace(base, question="r"),
        replace(base, answer="b"), replace(base, label=Label.FAIL), replace(base, document=("d", "")),
    ]  # fmt: skip
    assert len({data_hash([item]) for item in [base, *changed]}) == 7
    assert data_hash([base, changed[0]]) != data_hash([changed[0], base])


def test_verdict_row_round_trip() -> None:
    made = Verdict(None, None, "because", "raw", "no JSON", True, 5, Usage(3, 4))
    sample = Sample(id="1", document="d" * 9000, answer="a", label=Label.FAIL, group="word " * 50)
    row = json.loads(json.dumps(row_from_verdict("b", sample, made)))
    assert verdict_from_json(row["verdict"]) == made
    assert (row["benchmark"], row["id"], row["label"], len(row["group"])) == ("b", "1", "FAIL", 16)
    assert len(row["document"]) < row["document_chars"] == 9000


def test_verdicts_are_written_and_a_killed_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    interrupted(Scripted(RIGHT, survives=7), out=out)
    assert len((out / "verdicts.jsonl").read_text().splitlines()) == 7
    with (out / "verdicts.jsonl").open("a") as stream:
        stream.write('{"half')

    second = Scripted(RIGHT)
    told: list[tuple[int, int]] = []
    report = run(second, out=out, progress=lambda done, total: told.append((done, total)))
    assert second.asked == [item.id for item in SAMPLES[7:]]
    assert report.metrics == run().metrics and report.counts["resumed"] == 7
    assert told[0] == (7, 20) and told[-1] == (20, 20)
    assert [row["id"] for row in rows_of(out / "verdicts.jsonl")] == [item.id for item in SAMPLES]

    write_reports(out, [report])
    assert sorted(path.name for path in out.iterdir()) == ["report.json", "run.json", "verdicts.jsonl"]
    with pytest.raises(InputError, match="holds this result already"):
        run(out=out)
    for name in (str(out / "report.json"), "-"):
        with pytest.raises(InputError, match="expected a folder"):
            check_out(Path(name), {})
    check_out(out, {}, overwrite=True)
    assert run(out=out).counts["resumed"] == 0


def test_a_chunk_that_was_cut_off_is_judged_from_its_start(tmp_path: Path) -> None:
    class Chunked(Scripted):
        chunk = 5

    interrupted(Chunked(RIGHT, survives=7), out=tmp_path)
    second = Chunked(RIGHT)
    run(second, out=tmp_path)
    assert second.asked == [item.id for item in SAMPLES[5:]]
    assert len((tmp_path / "verdicts.jsonl").read_text().splitlines()) == 20


def test_a_fitted_baseline_sees_all_samples_again(tmp_path: Path) -> None:
    baseline = TrivialBaseline("baseline:length")
    whole = run(baseline, out=tmp_path / "whole")
    path = tmp_path / "cut" / "verdicts.jsonl"
    run(baseline, out=tmp_path / "cut")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:9]))
    assert run(baseline, out=tmp_path / "cut").metrics == whole.metrics
    assert path.read_bytes() == (tmp_path / "whole" / "verdicts.jsonl").read_bytes()


def test_repeated_runs_go_on_where_they_were(tmp_path: Path) -> None:
    interrupted(Scripted(RIGHT), Scripted(WRONG, survives=3, seed=1), out=tmp_path)
    first, second = Scripted(RIGHT), Scripted(WRONG, seed=1)
    told: list[int] = []
    report = run(first, second, out=tmp_path, progress=lambda done, _: told.append(done))
    assert (len(first.asked), len(second.asked), report.counts["resumed"]) == (0, 17, 23)
    assert told[-1] == 40 and report.repeats is not None and report.repeats.mean["accuracy"] == 0.75


def test_another_run_is_refused_with_the_difference(tmp_path: Path) -> None:
    interrupted(Scripted(RIGHT, survives=1), out=tmp_path)
    before = (tmp_path / "verdicts.jsonl").read_bytes()
    with pytest.raises(InputError, match=r'name was "scripted", is "other".*--overwrite'):
        run(Scripted(RIGHT, name="other"), out=tmp_path)
    with pytest.raises(InputError, match="runs was 1, is 2"):
        run(Scripted(RIGHT), Scripted(RIGHT, seed=1), out=tmp_path)
    changed = [replace(SAMPLES[0], document="new"), *SAMPLES[1:]]
    with pytest.raises(InputError, match=r"bench\.data changed"):
        run(samples=changed, out=tmp_path)
    for field in ({"language": "zh"}, {"task": Task.SUMMARIZATION}, {"source": "c"}):
        with pytest.raises(InputError, match="tasks, languages or sources of the samples changed"):
            run(samples=[replace(SAMPLES[0], **field), *SAMPLES[1:]], out=tmp_path)
    assert (tmp_path / "verdicts.jsonl").read_bytes() == before
    write_reports(tmp_path, [run(out=tmp_path)])
    with pytest.raises(InputError, match="holds a result of another run; name was"):
        run(Scripted(RIGHT, name="other"), out=tmp_path)


def test_verdicts_of_judge_batch_are_no_result_of_another_run(tmp_path: Path) -> None:
    (tmp_path / "verdicts.jsonl").write_text('{"id": "a", "label": "PASS"}\n')
    with pytest.raises(InputError, match=r"without the run\.json .*; choose another --out$"):
        run(out=tmp_path)


def test_verdicts_changed_by_hand_are_refused(tmp_path: Path) -> None:
    interrupted(Scripted(RIGHT, survives=4), out=tmp_path)
    path = tmp_path / "verdicts.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[1], lines[0], *lines[2:]]))
    with pytest.raises(InputError, match="in their order"):
        run(out=tmp_path)
    row = json.loads(lines[0])
    for wrong in ({"a": 1}, row | {"benchmark": ["x"]}, row | {"verdict": {}}, row | {"verdict": None}):
        path.write_text(json.dumps(wrong) + "\n")
        with pytest.raises(InputError, match=r"verdicts\.jsonl:1: is not a verdict"):
            run(out=tmp_path)


def test_a_run_that_failed_before_its_first_verdict_leaves_the_folder_free(tmp_path: Path) -> None:
    interrupted(Scripted(RIGHT, survives=0), out=tmp_path)
    assert run(Scripted(RIGHT, name="other"), out=tmp_path).name == "other"


def test_fingerprint_sees_weights_settings_and_base(tmp_path: Path) -> None:
    assert fingerprint("org/model") is None and fingerprint("") is None
    base, adapter = tmp_path / "base", tmp_path / "adapter"
    for folder in (base, adapter):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(bytes(20 * 2**20))
    (base / "config.json").write_text("{}")
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": str(base)}))
    seen = {fingerprint(str(adapter))}
    (adapter / "adapter_model.safetensors").write_bytes(b"x")
    seen.add(fingerprint(str(adapter)))
    (adapter / "adapter_model.safetensors").write_bytes(b"y")
    seen.add(fingerprint(str(adapter)))
    with (base / "model.safetensors").open("r+b") as stream:
        stream.seek(-1, 2)
        stream.write(b"z")
    seen.add(fingerprint(str(adapter)))
    assert len(seen) == 4
    (adapter / "notes.txt").write_text("no part of the model")
    assert fingerprint(str(adapter)) in seen


def test_judge_that_miscounts() -> None:
    class Short(Scripted):
        def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
            yield from list(super().iter_check(samples))[:-1]

    class Long(Scripted):
        def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
            yield from super().iter_check(samples)
            yield Verdict(Label.PASS)

    with pytest.raises(JudgeError, match="19 verdicts for 20 samples"):
        run(Short(RIGHT))
    with pytest.raises(JudgeError, match="more than 20"):
        run(Long(RIGHT))
