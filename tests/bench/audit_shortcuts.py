"""What trivial rules learn from rule-perturbed sets, beside HaluEval QA, through the audit.

    python tests/bench/audit_shortcuts.py --data-dir DIR [--seeds 0 1 2]

DIR holds the original files of XQuAD, PubMedQA, COVID-QA, CMRC 2018 and HaluEval. Of every gold answer that
allows it, a twin with one edited fact is made; then, as recipes do by default, for half of them a pair with
an added sentence too. Prints a Markdown table of cross-validated AUROC: at most 0.60 for the wording of the
answers and 0.55 for their length are wanted, and HaluEval QA shows above 0.90.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from data_pipeline.audit import audit_samples
from data_pipeline.perturb import RulePerturber
from data_pipeline.store import SampleStore
from data_pipeline.teachers.rules import RulesTeacher
from data_pipeline.twins import make_makers, make_twins
from judge.files import open_text, read_jsonl
from judge.formats.files import group_of
from judge.types import Label, Language, Sample

SQUAD: dict[str, tuple[str, Language]] = {
    "xquad-en": ("xquad/xquad.en.json.gz", "en"),
    "xquad-zh": ("xquad/xquad.zh.json.gz", "zh"),
    "covid-qa": ("covid-qa/200423_covidQA.json.gz", "en"),
    "cmrc2018": ("cmrc2018/cmrc2018_dev.json.gz", "zh"),
}


def squad(data_dir: Path, name: str) -> Iterator[Sample]:
    """Gold answers of a set in SQuAD's form."""
    file, language = SQUAD[name]
    with open_text(data_dir / file) as stream:
        paragraphs = [part for article in json.load(stream)["data"] for part in article["paragraphs"]]
    for paragraph in paragraphs:
        for item in paragraph["qas"]:
            yield Sample(
                f"{name}-{item['id']}", paragraph["context"], item["answers"][0]["text"], item["question"],
                language=language, source=name, group=group_of(paragraph["context"]),
            )  # fmt: skip


def pubmedqa(data_dir: Path) -> Iterator[Sample]:
    """Long answers with their abstracts."""
    with open_text(data_dir / "pubmedqa/ori_pqal.json.gz") as stream:
        for name, row in json.load(stream).items():
            yield Sample(
                f"pubmedqa-{name}", tuple(row["CONTEXTS"]), row["LONG_ANSWER"], row["QUESTION"],
                source="pubmedqa", group=name,
            )  # fmt: skip


def halueval(data_dir: Path) -> Iterator[Sample]:
    """Right and hallucinated answers as released."""
    for number, row in read_jsonl(data_dir / "halueval/qa_data.json.gz"):
        for label, answer in ((Label.PASS, "right_answer"), (Label.FAIL, "hallucinated_answer")):
            yield Sample(
                f"{number}-{label}", row["knowledge"], row[answer], row["question"], label=label,
                source="halueval-qa", group=group_of(row["knowledge"]),
            )  # fmt: skip


def twins(golds: list[Sample], additions: float, seed: int) -> list[Sample]:
    """Gold answers and their twins, as a build makes them."""
    perturb = RulesTeacher(RulePerturber(seed)).perturb
    with tempfile.TemporaryDirectory() as folder, SampleStore(Path(folder) / "golds.sqlite") as store:
        store.add(golds)
        shares = {"edit": 1.0, "added": additions}
        made = make_twins(golds, perturb, make_makers(store, seed), shares, seed)
        return [sample for found in made for sample in found.samples]


def main() -> None:
    parser = argparse.ArgumentParser(description="Shortcuts in rule-perturbed sets.")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sets", nargs="+", default=[*SQUAD, "pubmedqa"])
    options = parser.parse_args()
    print("| set | additions | seed | golds | samples | answer-only | length | overlap |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")

    def show(
        name: str, additions: float | str, seed: int | str, golds: int | str, samples: list[Sample]
    ) -> None:
        found = audit_samples([replace(sample, source=name) for sample in samples])
        (row,) = found["shortcuts"]
        rules = " | ".join(f"{row[rule]:.3f}" for rule in ("answer-only", "length", "overlap"))
        print(f"| {name} | {additions} | {seed} | {golds} | {len(samples)} | {rules} |", flush=True)

    for name in options.sets:
        golds = list(pubmedqa(options.data_dir) if name == "pubmedqa" else squad(options.data_dir, name))
        for seed in options.seeds:
            for additions in (0.0, 0.5):
                show(name, additions, seed, len(golds), twins(golds, additions, seed))
    show("HaluEval QA", "-", "-", "-", list(halueval(options.data_dir)))


if __name__ == "__main__":
    main()
