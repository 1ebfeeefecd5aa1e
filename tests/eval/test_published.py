import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.benchmarks import BENCHMARKS, get_benchmark
from eval.benchmarks.base import Benchmark
from eval.metrics import Metrics, score
from eval.published import FOLDER, Published, Table, beside, published
from judge.configs import load_config
from judge.errors import InputError
from judge.types import Label, Sample, Verdict

FILES = sorted(FOLDER.glob("*.yaml"))
HALUBENCH = Benchmark(name="halubench", title="HaluBench", read=lambda _: ())


def measured(n: int, right: int) -> Metrics:
    samples = [
        Sample(id=str(i), document="d", answer="a", label=Label.FAIL if i % 2 else Label.PASS)
        for i in range(n)
    ]
    wrong = {Label.PASS: Label.FAIL, Label.FAIL: Label.PASS}
    labels = [sample.label for sample in samples if sample.label is not None]
    return score(
        samples,
        [Verdict(label if i < right else wrong[label]) for i, label in enumerate(labels)],
        bootstrap=0,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_whole_and_belongs_to_a_benchmark(path: Path) -> None:
    found = load_config(Published, path)
    assert found.benchmark == path.stem
    assert path.stem in BENCHMARKS or path.stem == "open_factual_bench"
    for table in published(path.stem):
        for judge in table.judges:
            for (_, metric), value in table.figures(judge).items():
                if value is None:  # papers leave some out
                    continue
                assert value >= 0
                if metric in ("accuracy", "f1", "precision", "recall"):
                    assert value <= 1


def test_they_are_installed_with_the_package() -> None:
    assert len(FILES) >= 7 and published("no_such_benchmark") == ()


def test_all_known_figures_are_there(shared_data: Path) -> None:
    """Row by row, but for a table about training data, which is no benchmark."""
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
                assert all((float(value),) in kept for value in row)
            else:
                assert tuple(map(float, row)) in kept


@pytest.mark.parametrize("name", ["halubench", "bianbench_en", "bianbench_zh"])
def test_a_printed_whole_that_is_a_mean_of_parts_is_one(name: str) -> None:
    table = published(name)[0]
    assert table.overall == "mean of parts"
    off = {}
    for judge in table.judges:
        *parts, whole = table.figures(judge).values()
        known = [value for value in parts if value is not None]
        assert whole is not None
        if abs(sum(known) / len(known) - whole) > (0.012 if name == "halubench" else 0.0011):
            off[judge] = whole
    # HaluBench's notes tell of smaller ones, too.
    assert set(off) == ({"Claude-3-Sonnet", "Claude-3-Haiku"} if name == "halubench" else set())


def test_lynx_beside_a_measurement() -> None:
    parts = {"RAGTruth": measured(10, 8), "halueval": measured(10, 9), "pubmedQA": measured(10, 7)}
    printed, recorded = beside(
        HALUBENCH, measured(30, 24), {"source": parts}, {"mode": "verdict", "temperature": 0.0}, limit=30
    )
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


def test_nothing_to_warn_of() -> None:
    parts = {name: measured(10, 5) for name in published("halubench")[0].parts}
    printed, _ = beside(HALUBENCH, measured(14_900, 9_000), {"source": parts}, {"mode": "reason"})
    assert printed["warnings"] == []


def test_runs_and_temperature_of_the_protocol() -> None:
    benchmark = get_benchmark("bianbench_cf")
    (block,) = beside(benchmark, measured(20, 10), {}, {"mode": "reason", "temperature": 0.0})
    assert "published as the mean of 3 runs at temperature 0.8, measured at 0" in block["warnings"]
    (block,) = beside(benchmark, measured(20, 10), {}, {"mode": "reason", "temperature": 0.8})
    assert not any("temperature" in warning for warning in block["warnings"])


def test_parts_are_found_whatever_their_case_and_punctuation() -> None:
    parts = {"halueval-qa": measured(10, 6), "PUBMEDQA": measured(10, 7)}
    block = beside(get_benchmark("bianbench_en"), measured(20, 13), {"source": parts}, {"mode": "reason"})[0]
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
