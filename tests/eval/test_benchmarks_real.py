"""The original files: their counts, and what trivial rules score on them."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from eval.annotation.dialogues import statistics
from eval.benchmarks import get_benchmark, load_benchmark
from eval.benchmarks.diahalu import DIAHALU_V2, V2, read
from eval.benchmarks.samples_file import samples_file
from eval.metrics import score
from judge.baselines.rules import TrivialBaseline
from judge.formats.ragtruth import load_split
from judge.types import Label, Sample

RECIPE = Path(__file__).parents[2] / "recipes/bianbench/data.yaml"
COUNTS = {
    "halubench": (500, 500), "halueval_qa": (10_000, 10_000), "halueval_dialogue": (10_000, 10_000),
    "halueval_summarization": (10_000, 10_000), "halueval_general": (3_692, 815), "ragtruth": (714, 160),
    "fib": (3_579, 3_579), "conflictqa": (5_202, 5_202), "diahalu": (419, 329), "diahalu_v2": (627, 476),
    "onioneval": (10_056, 10_056),
}  # fmt: skip


def counts(samples: list[Sample]) -> tuple[int, int]:
    labels = [sample.label for sample in samples]
    return labels.count(Label.PASS), labels.count(Label.FAIL)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str, shared_data: Path) -> None:
    assert counts(load_benchmark(name, shared_data)) == COUNTS[name]


def test_what_recipes_train_on_is_held_out(shared_data: Path) -> None:
    """The suite and the recipes read two parts of a set that share no document and make up the whole."""
    halubench, held_out = (load_benchmark(f"halubench{end}", shared_data) for end in ("", "_held_out"))
    kept = {sample.id for sample in held_out}
    left = [sample for sample in halubench if sample.id not in kept]
    assert {sample.source for sample in left} == {"pubmedQA"} and 90 < len(left) < 160  # of 250
    fib, held_out = (load_benchmark(f"fib{end}", shared_data) for end in ("", "_held_out"))
    measured = {sample.group for sample in held_out}
    trained = {sample.group for sample in read_source(SourceConfig(kind="fib", path=str(shared_data)), 0)}
    assert not measured & trained and measured | trained == {sample.group for sample in fib}
    assert {sample.id for sample in fib if sample.group in measured} == {sample.id for sample in held_out}
    assert abs(len(measured) - len(trained)) < 80  # of 596


def test_parts(shared_data: Path) -> None:
    assert counts(load_split("train", shared_data)) == (1903, 1453)
    halubench = Counter((sample.source, sample.label) for sample in load_benchmark("halubench", shared_data))
    assert len(halubench) == 8 and set(halubench.values()) == {125}
    diahalu = get_benchmark("diahalu")
    samples = diahalu.load(shared_data)
    found = statistics(samples)
    parts = ("knowledge", "task", "chit-chat", "reasoning", "overall")  # DiaHalu, Table 2, and then 1
    assert [found[part]["dialogues"] for part in parts] == [272, 131, 186, 159, 748]
    assert [found[part]["with hallucination"] for part in parts] == [131, 47, 71, 80, 329]
    rates = [round(found[part]["rate, %"], 2) for part in parts]
    assert rates == [48.16, 35.88, 38.17, 50.31, 43.98]
    overall = found["overall"]
    assert round(overall["mean rounds"], 4) == 6.8951 and overall["longest response, words"] == 183
    assert overall["mean response, words"] == pytest.approx(13.5091, abs=0.2)  # by another count of words
    onion = get_benchmark("onioneval")
    assert len(onion.tables(onion.load(shared_data))["category"]) == 19


def test_the_two_forms_of_diahalu_v2_are_one(shared_data: Path) -> None:
    lines, sheet = (list(read([name], shared_data)) for name in V2)
    for one, other in zip(lines, sheet, strict=True):
        assert (one.id, one.label, one.source, one.meta) == (other.id, other.label, other.source, other.meta)
        assert one.answer.split() == other.answer.split()
    assert len(DIAHALU_V2.tables(lines)["model"]["ChatGPT3.5"]) == 748


@pytest.mark.parametrize(("name", "f1"), [("diahalu", 0.611), ("diahalu_v2", 0.603)])
def test_always_fail_on_diahalu(name: str, f1: float, shared_data: Path) -> None:
    samples = load_benchmark(name, shared_data)
    found = score(samples, list(TrivialBaseline("baseline:always-fail").iter_check(samples)), bootstrap=0).f1
    assert found == pytest.approx(f1, abs=0.0005)


def test_the_rebuild_recipe_builds_with_what_is_at_hand(shared_data: Path, tmp_path: Path) -> None:
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    at_hand = ("pubmedqa", "fib", "lawbench", "wmt21")  # small and quick ones
    recipe["sources"] = [
        {**source, "path": str(shared_data), "limit": 60}
        for source in recipe["sources"]
        if source["kind"] in at_hand
    ]
    offline = {"perturber": "rules", "output": str(tmp_path), "splits": {"validation": 0.3, "test": 0.0}}
    config = DataConfig.model_validate(recipe | offline)
    manifest = build(config)
    samples = samples_file(tmp_path / "samples.jsonl").load()
    assert {(sample.source, sample.language) for sample in samples} >= {
        ("pubmedqa", "en"), ("wmt21", "en"), ("wmt21", "zh"), ("lawbench_qa", "zh"), ("fib_xsum", "en"),
    }  # fmt: skip
    assert manifest["leaks"] is None, "a benchmark is not to be trained on"
    for subset in ("en", "zh"):
        again = load_benchmark(f"bianbench_{subset}", tmp_path)
        assert len(again) == sum(sample.language == subset for sample in samples)
        assert 0.3 < counts(again)[0] / len(again) < 0.7
