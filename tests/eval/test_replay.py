import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks.base import Benchmark
from eval.cli import eval_command as app
from eval.replay import Replay
from eval.verdicts import row_from_verdict
from judge.batch.file import verdict_row
from judge.errors import InputError
from judge.types import Label, Sample, Unsupported, Usage, Verdict
from tests.calling import invoke
from tests.tiny_data import write_lines

P, F = Label.PASS, Label.FAIL
SAMPLES = [Sample(id=str(number), document="d", answer=f"a{number}", label=P) for number in range(3)]


def labels(replay: Replay) -> list[Label | None]:
    return [verdict.label for verdict in replay.iter_check(SAMPLES)]


@pytest.mark.parametrize(
    ("name", "accuracy", "answered", "coverage"),
    [
        ("lynx.csv.gz", 0.759, 0.769, 0.987),
        ("llm-judge-base.csv.gz#base_3.5sonnet_numsamples1", 0.775, 0.790, 0.981),
        ("llm-judge-cot.csv.gz#cot_gpt-4o_numsamples1", 0.833, 0.833, 1.0),
    ],
)
def test_recorded_verdicts_give_the_published_accuracy(
    shared_data: Path, name: str, accuracy: float, answered: float, coverage: float
) -> None:
    model = f"replay:{shared_data}/halubench/predictions/{name}"
    options = ("--benchmarks", "halubench", "--data-dir", shared_data, "--set", "bootstrap=0", "--json")
    result = invoke(app, "--model", model, *options)
    report = json.loads(result.stdout)["reports"][0]
    metrics = report["metrics"]
    assert report["name"] == f"replay:{name}"  # no path of the machine
    assert (round(metrics["accuracy"], 3), round(metrics["accuracy_answered"], 3)) == (accuracy, answered)
    assert metrics["coverage"] == coverage
    own = next(block for block in report["published"] if "obs" in block["source"])
    assert own["warnings"] == []


def test_own_verdicts_are_matched_by_the_whole_sample(tmp_path: Path) -> None:
    given = [Verdict(F, 0.9, reasoning="r"), Verdict(None, error="?"), Verdict(P, 0.1)]
    rows = [row_from_verdict("b", *pair) for pair in zip(SAMPLES, given, strict=True)]
    path = write_lines(tmp_path / "verdicts.jsonl", *rows)
    assert list(Replay(f"replay:{path}").iter_check(SAMPLES)) == given
    corrected = [replace(sample, label=F) for sample in SAMPLES]
    assert list(Replay(f"replay:{path}").iter_check(corrected)) == given
    changed = [Sample(id="0", document="other", answer="a0", label=P), *SAMPLES[1:]]
    first = next(Replay(f"replay:{path}").iter_check(changed))
    assert (first.label, first.error) == (None, "no recorded verdict")


def test_a_sample_of_two_benchmarks_has_the_verdict_of_the_one_that_asks(tmp_path: Path) -> None:
    rows = [row_from_verdict(name, SAMPLES[0], Verdict(label)) for name, label in (("b", P), ("c", F))]
    rows.append(row_from_verdict("b", SAMPLES[1], Verdict(F)))
    replay = Replay(f"replay:{write_lines(tmp_path / 'verdicts.jsonl', *rows)}")
    assert replay.describe()["repeated"] == 0

    def asked(name: str) -> list[Label | None]:
        judge = Benchmark(name=name, title=name, read=lambda _: SAMPLES).judge(replay)
        return [verdict.label for verdict in judge.iter_check(SAMPLES)]

    assert (asked("b"), asked("c")) == ([P, F, None], [F, F, None])
    with pytest.raises(InputError, match=r"verdicts\.jsonl.*sample '0' of b and c, and none of 'd'"):
        asked("d")


def test_runs_of_one_result_are_judges_of_their_own(tmp_path: Path) -> None:
    rows = [row_from_verdict("b", SAMPLES[0], Verdict(F), run=0)]
    rows += [row_from_verdict("b", SAMPLES[0], Verdict(P), run=1)]
    path = write_lines(tmp_path / "verdicts.jsonl", *rows)
    with pytest.raises(InputError, match=r"2 judges.*run-0, run-1"):
        Replay(f"replay:{path}")
    assert labels(Replay(f"replay:{path}#run-1"))[0] is P


def test_what_judge_batch_writes(tmp_path: Path) -> None:
    given = [
        Verdict(F, 0.9, unsupported=(Unsupported("a0", 0, 2, 0.8),)),
        Verdict(None, error="?"),
        Verdict(P, cut_chars=7, usage=Usage(12, 3)),
    ]
    rows = [json.loads(json.dumps(verdict_row(*pair))) for pair in zip(SAMPLES, given, strict=True)]
    found = list(Replay(f"replay:{write_lines(tmp_path / 'out.jsonl', *rows)}").iter_check(SAMPLES))
    assert found == given


def test_the_first_verdict_counts(tmp_path: Path) -> None:
    rows = [{"id": "0", "label": "FAIL"}, {"id": "0", "label": "PASS"}, {"id": "1", "label": "通过"}]
    replay = Replay(f"replay:{write_lines(tmp_path / 'x.jsonl', *rows)}")
    assert labels(replay) == [F, P, None]
    assert replay.describe()["repeated"] == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "0", "eval_type": "x", "eval_result": "2"}, r"x\.jsonl:2.*unknown result '2'"),
        ({"id": "0", "label": "maybe"}, "unknown label 'maybe'"),
        ({"id": "0", "document": "d", "answer": "a", "label": "PASS"}, "expected id and label"),
        ({"id": "0", "sample": "s", "verdict": {"label": "PASS"}}, "is not a recorded verdict"),
        ({"id": "0", "label": "PASS", "p_fail": "high"}, "is not a recorded verdict"),
        ({"id": "0", "label": "PASS", "p_fail": 5}, r"x\.jsonl:2: field 'p_fail': is 5.0, expected 0 to 1"),
        ({"id": "0", "label": "PASS", "p_fail": "nan"}, "field 'p_fail': is nan"),
        ({"id": None, "label": "PASS"}, "field 'id': is missing"),
        ({"id": "0", "label": 0}, "'label': 0 may mean hallucinated or supported; write PASS or FAIL"),
    ],
)
def test_wrong_rows(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    path = write_lines(tmp_path / "x.jsonl", {"id": "9", "label": "PASS"}, row)
    with pytest.raises(InputError, match=message):
        Replay(f"replay:{path}")


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Replay("replay:nowhere.jsonl")
    empty = write_lines(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="holds no verdict"):
        Replay(f"replay:{empty}")
    path = write_lines(empty, {"id": "sample-7", "label": "PASS"})
    with pytest.raises(InputError, match=r"no verdict on any of these samples.*'sample-7'.*'0'"):
        list(Replay(f"replay:{path}").iter_check(SAMPLES))
    with pytest.raises(InputError, match="unknown judge 'gpt'"):
        Replay(f"replay:{path}#gpt")
