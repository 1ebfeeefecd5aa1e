import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from eval.report import Report, as_json, console_table, write_reports
from eval.run import evaluate
from eval.verdicts import check_out, data_hash, row_from_verdict, verdict_from_row
from judge.errors import InputError, JudgeError
from judge.floors import FLOORS, make_floor
from judge.types import Label, Mode, Sample, Usage, Verdict


class Scripted:
    """A judge that says what it is told; it dies after ``survives`` verdicts."""

    mode: Mode = "verdict"

    def __init__(self, verdicts: dict[str, Verdict], survives: int = 10**9, name: str = "scripted"):
        self.verdicts, self.survives, self.name = verdicts, survives, name
        self.asked: list[str] = []

    def iter_check(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        for sample in samples:
            if len(self.asked) >= self.survives:
                raise KeyboardInterrupt
            self.asked.append(sample.id)
            yield self.verdicts[sample.id]

    def describe(self) -> dict[str, Any]:
        return {"model": self.name, "words": ("PASS", "FAIL")}


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
ALL_FLOORS = [make_floor(name) for name in FLOORS]


def run(judge: Any = None, **options: Any) -> Report:
    return evaluate(judge or Scripted(RIGHT), "bench", SAMPLES, ALL_FLOORS, bootstrap=50, **options)


def test_report() -> None:
    report = run(limit=20, command="judge eval", seed=3)
    assert report.metrics.accuracy == 1.0 and report.metrics.auroc == 1.0
    assert list(report.floors) == list(FLOORS) and not report.floors_left_out
    assert list(report.by_source) == ["a", "b"]
    assert report.floors_by_source["floor:always-pass"]["a"].accuracy == 0.5
    assert report.counts == {"n": 20, "parsed": 20, "unparsed": 0, "truncated": 0, "cut": 0, "resumed": 0}
    assert (report.seed, report.limit, report.bootstrap, report.command) == (3, 20, 50, "judge eval")
    assert report.data_hash == data_hash(SAMPLES) and len(report.data_hash) == 64
    assert report.versions["python"].startswith("3.") and report.hardware["cpus"]
    assert report.date.endswith("+00:00")


def test_report_round_trip() -> None:
    report = run()
    row = json.loads(json.dumps(as_json([report]), allow_nan=False))["reports"][0]
    back = Report.from_dict(row)
    assert back.metrics == report.metrics and back.floors_by_source == report.floors_by_source
    assert json.loads(json.dumps(back.to_json())) == row


@pytest.mark.parametrize("change", [{"metrics": None}, {"floors": 3}, {"metrics": {}}])
def test_report_from_something_else(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Report.from_dict({})
    with pytest.raises(InputError):
        Report.from_dict(run().to_json() | change)


def test_table_has_the_judge_the_floors_and_the_sources() -> None:
    from rich.console import Console

    console = Console(width=80, record=True)
    for table in console_table([run(Scripted(RIGHT, name="org/[model]"))]):
        console.print(table)
    text = console.export_text()
    assert "bench: 10 PASS, 10 FAIL" in text and "org/[model]" in text
    assert all(name in text for name in FLOORS)
    assert text.count("best: ") == 2
    assert "…" not in text  # everything fits into 80 columns


def test_floor_that_cannot_be_fitted_is_named() -> None:
    samples = [item for item in SAMPLES if item.label is Label.PASS]
    report = evaluate(Scripted(RIGHT), "bench", samples, ALL_FLOORS, bootstrap=0)
    assert list(report.floors) == ["floor:always-pass", "floor:always-fail"]
    assert list(report.floors_left_out) == list(FLOORS[2:])
    assert "cannot be fitted" in report.floors_left_out["floor:length"]


def test_data_hash_sees_every_part() -> None:
    base = Sample(id="1", document="d", question="q", answer="a", label=Label.PASS)
    changed = [
        Sample(id="2", document="d", question="q", answer="a", label=Label.PASS),
        Sample(id="1", document="e", question="q", answer="a", label=Label.PASS),
        Sample(id="1", document="d", question="r", answer="a", label=Label.PASS),
        Sample(id="1", document="d", question="q", answer="b", label=Label.PASS),
        Sample(id="1", document="d", question="q", answer="a", label=Label.FAIL),
        Sample(id="1", document=("d", ""), question="q", answer="a", label=Label.PASS),
    ]
    assert len({data_hash([item]) for item in [base, *changed]}) == 7
    assert data_hash([base, changed[0]]) != data_hash([changed[0], base])


def test_verdict_row_round_trip() -> None:
    made = Verdict(None, None, "because", "raw", "no JSON", True, 5, Usage(3, 4))
    sample = Sample(id="1", document="d", answer="a", label=Label.FAIL, group="word " * 50)
    row = json.loads(json.dumps(row_from_verdict("b", sample, made)))
    assert verdict_from_row(row) == made
    assert (row["benchmark"], row["id"], row["label"], len(row["group"])) == ("b", "1", "FAIL", 16)


def test_verdicts_are_written_and_a_killed_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(Scripted(RIGHT, survives=7), out=out)
    assert len((out / "verdicts.jsonl").read_text().splitlines()) == 7
    with (out / "verdicts.jsonl").open("a") as stream:
        stream.write('{"half')

    second = Scripted(RIGHT)
    told: list[tuple[int, int]] = []
    report = run(second, out=out, progress=lambda done, total: told.append((done, total)))
    assert second.asked == [item.id for item in SAMPLES[7:]]
    assert report.metrics == run().metrics and report.counts["resumed"] == 7
    assert told[0] == (7, 20) and told[-1] == (20, 20)
    rows = [json.loads(line) for line in (out / "verdicts.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [item.id for item in SAMPLES]

    write_reports(out, [report])
    assert sorted(path.name for path in out.iterdir()) == ["report.json", "verdicts.jsonl"]
    assert list(json.loads((out / "report.json").read_text())) == ["reports"]
    with pytest.raises(InputError, match="holds a result already"):
        run(out=out)
    check_out(out, overwrite=True)
    assert run(out=out).counts["resumed"] == 0


def test_judges_do_not_mix(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Scripted(RIGHT, survives=1), out=tmp_path)
    with pytest.raises(InputError, match="another judge"):
        run(Scripted(RIGHT, name="other"), out=tmp_path)


def test_a_changed_sample_is_judged_again(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(Scripted(RIGHT, survives=2), out=tmp_path)
    changed = [Sample(id="0", document="new", answer="a", label=Label.PASS), *SAMPLES[1:]]
    judge = Scripted(RIGHT)
    evaluate(judge, "bench", changed, [], tmp_path, bootstrap=0)
    assert "0" in judge.asked and "1" not in judge.asked


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no sample"):
        evaluate(Scripted(RIGHT), "bench", [], [])
    with pytest.raises(InputError, match="no gold label"):
        evaluate(Scripted(RIGHT), "bench", [Sample(id="1", document="d", answer="a")], [])
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(InputError, match="is a file"):
        run(out=file)


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
