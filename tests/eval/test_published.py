import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.benchmarks import BENCHMARKS, get_benchmark
from eval.metrics import Metrics, score
from eval.published.comparing import to_compare
from eval.published.figures import FOLDER, SHARES, Column, Published, Table, published
from eval.repeats import Measured
from eval.sampling import take
from judge.configs import load_config
from judge.errors import InputError
from judge.formats.halueval import PARTS
from judge.types import Label, Sample, Verdict

FILES = sorted(FOLDER.glob("*.yaml"))


def measured(n: int, right: int) -> Metrics:
    samples = [
        Sample(id=str(i), document="d", answer="a", label=Label.FAIL if i % 2 else Label.PASS)
        for i in range(n)
    ]
    labels = [sample.label for sample in samples if sample.label is not None]
    verdicts = [Verdict(label if i < right else label.opposite) for i, label in enumerate(labels)]
    return score(samples, verdicts, bootstrap=0)


def compared(name: str, whole: Metrics, parts: dict[str, Metrics], judge: Any = None, **more: Any) -> Any:
    return to_compare(name, [Measured(whole, {"source": parts}, {})], judge or {"mode": "verdict"}, **more)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_whole_and_belongs_to_a_benchmark(path: Path) -> None:
    found = load_config(Published, path)
    assert found.benchmark == path.stem
    assert path.stem in BENCHMARKS or path.stem == "open_factual_bench"
    for table in published(path.stem):
        assert table.source and table.judges
        for judge in table.judges:
            for (_, metric), value in table.printed(judge).items():
                if value is None:  # papers leave some out
                    continue
                assert value >= 0
                if metric in SHARES:
                    assert value <= 1


def test_every_benchmark_with_figures_in_print_has_them() -> None:
    """Nobody prints any about our own injections and probes, or the variants of OnionEval and DiaHalu."""
    without = {name for name in BENCHMARKS if not published(name)}
    parts = {name for name in without if get_benchmark(name).of}  # the whole's stand with them
    own = {"injection", "probes"}
    assert all(name.startswith(("onioneval_", "diahalu_")) for name in without - parts - own)
    assert published("open_factual_bench") and published("no_such_benchmark") == ()


def test_parts_are_those_of_the_benchmark(shared_data: Path) -> None:
    """A misspelt part would be told as not measured for ever."""
    assert [f"halueval_{part}" for part in PARTS] == list(published("halueval")[0].parts)
    for name in ("ragtruth", "conflictqa", "onioneval", "diahalu"):
        benchmark = get_benchmark(name)
        samples = take(benchmark.load(shared_data), 300)
        run = Measured(measured(10, 5), {}, benchmark.figures(samples, [Verdict(Label.PASS)] * len(samples)))
        tables = {
            table: dict.fromkeys(rows, measured(10, 5)) for table, rows in benchmark.tables(samples).items()
        }
        absent = {"Data2txt accuracy"} if name == "ragtruth" else set()  # its other tasks are not at hand
        blocks = to_compare(name, [replace(run, tables=tables)], {})
        for block, table in zip(blocks, published(name), strict=True):
            missing = {row for row, value in block["measured"].items() if value is None}
            assert missing <= absent, (table.source, missing)


def test_a_column_is_that_of_the_other_table() -> None:
    fib = published("fib")[0]
    whole = published("bianbench_en")[0]
    assert fib.judges["Bi'an-qwen-14B"] == [69.7] and fib.overall == "all samples"
    assert (fib.mode, fib.runs, fib.temperature, fib.top_p) == (whole.mode, 3, 0.8, 0.7)
    with pytest.raises(InputError, match="no published table of fib has the part 'x'"):
        Column(of="fib", part="x").table()


def test_all_known_figures_are_there(shared_data: Path) -> None:
    """Row by row, but for a table about training data, which is not a benchmark."""
    blocks = yaml.safe_load((shared_data.parent / "published.yaml").read_text())
    kept = {
        tuple(float(value) for value in row if value is not None)
        for path in FILES
        for table in load_config(Published, path).tables
        for row in table.judges.values()
    }
    for block in blocks:
        if block["benchmark"] == "bian_ensemble_yield":
            continue
        for row in block["rows"].values():
            if block["benchmark"] == "bian_ablation_sample_construction":
                assert all(float(value) in {figures[-1] for figures in kept} for value in row)
            else:
                assert tuple(map(float, row)) in kept


@pytest.mark.parametrize("name", ["halubench", "bianbench_en", "bianbench_zh"])
def test_a_printed_whole_that_is_a_mean_of_parts_is_one(name: str) -> None:
    tables = [table for table in published(name) if table.overall == "mean of parts"]
    assert tables[0] == published(name)[0] and len(tables) == (1 if name == "halubench" else 2)
    off = {}
    for table, judge in [(one, judge) for one in tables for judge in one.judges]:
        *parts, whole = table.printed(judge).values()
        known = [value for value in parts if value is not None]
        assert whole is not None
        if abs(sum(known) / len(known) - whole) > (0.012 if name == "halubench" else 0.0011):
            off[judge] = whole
    # HaluBench's notes tell of smaller ones, too.
    assert set(off) == ({"Claude-3-Sonnet", "Claude-3-Haiku"} if name == "halubench" else set())


def test_lynx_beside_a_measurement() -> None:
    parts = {"RAGTruth": measured(10, 8), "halueval": measured(10, 9), "pubmedQA": measured(10, 7)}
    printed, recorded = compared("halubench", measured(30, 24), parts, limit=30)
    assert printed["judges"]["Lynx-70B"]["RAGTruth"] == pytest.approx(0.802)
    assert printed["measured"]["halueval"] == pytest.approx(0.9)
    assert printed["measured"]["DROP"] is None
    # The whole is comparable only over the parts that both have.
    assert printed["judges"]["Lynx-70B"]["mean of 3"] == pytest.approx((0.884 + 0.802 + 0.904) / 3)
    assert printed["measured"]["mean of 3"] == pytest.approx(0.8) and printed["measured"]["accuracy"] is None
    assert printed["warnings"] == [
        "published on 14,900 samples, measured on 30 (--limit 30)",
        "not measured: FinanceBench, DROP, covidQA",
        "published in reason mode, measured in verdict mode",
    ]
    assert recorded["measured"]["overall accuracy"] == pytest.approx(0.8)
    assert recorded["measured"]["overall f1_pass"] is None  # F1 of PASS is not what is measured here
    json.dumps([printed, recorded], allow_nan=False)


def test_runs_and_temperature_of_the_protocol() -> None:
    def warnings(runs: int, **judge: Any) -> list[str]:
        run = Measured(measured(1934, 10), {"language": {"en": measured(9, 5), "zh": measured(9, 5)}}, {})
        return to_compare("bianbench_cf", [run] * runs, {"mode": "reason", **judge})[0]["warnings"]

    told = ["published as the mean of 3 runs at temperature 0.8, measured at 0"]
    assert warnings(1, temperature=0.0) == told
    assert warnings(3, temperature=0.8, top_p=0.7) == []
    assert warnings(3, temperature=0.8, top_p=1.0) == ["published with top_p 0.7, measured with 1"]
    assert warnings(2, temperature=0.8, top_p=0.7) == ["published as the mean of 3 runs, measured in 2"]


def test_the_mean_of_all_runs_stands_beside_the_published_means() -> None:
    runs = []
    for right in (12, 16):
        parts = {"DROP": measured(10, right // 2), "covidQA": measured(10, 5)}
        runs.append(Measured(measured(20, right), {"source": parts}, {}))
    printed, recorded = to_compare("halubench", runs, {"mode": "reason"})
    assert printed["measured"]["DROP"] == pytest.approx(0.7)
    assert printed["spread"]["DROP"] == pytest.approx(0.2 / 2**0.5)
    assert printed["measured"]["mean of 2"] == pytest.approx(0.6)
    assert printed["spread"]["mean of 2"] == pytest.approx(0.1 / 2**0.5)
    assert recorded["measured"]["overall accuracy"] == pytest.approx(0.7)
    assert to_compare("halubench", runs[:1], {"mode": "reason"})[0]["spread"] is None


def test_parts_are_found_whatever_their_case_and_punctuation() -> None:
    parts = {"halueval-qa": measured(10, 6), "PUBMEDQA": measured(10, 7)}
    block = compared("bianbench_en", measured(20, 13), parts, {"mode": "reason"})[0]
    assert block["measured"]["HaluEval_qa"] == pytest.approx(0.6)
    assert block["measured"]["PubMedQA"] == pytest.approx(0.7)


def test_wrong_files(tmp_path: Path) -> None:
    def load(**change: Any) -> Published:
        table = {
            "source": "s",
            "metrics": ["f1"],
            "overall": "all samples",
            "judges": {"x": [50.0]},
            **change,
        }
        path = tmp_path / "x.yaml"
        path.write_text(yaml.safe_dump({"benchmark": "x", "tables": [table]}))
        return load_config(Published, path)

    assert isinstance(load().tables[0], Table)
    with pytest.raises(InputError, match="x has 2 figures, the table has 1 columns"):
        load(judges={"x": [50.0, 1.0]})
    with pytest.raises(InputError, match="unknown key 'sauce'; did you mean 'source'"):
        load(sauce="s")
