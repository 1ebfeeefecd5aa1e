"""Sentences and answers of RAGTruth's test split: how well a judge and the floors rank them.

    python -m tests.bench.claims --model MODEL --data-dir DIR

People marked spans in these answers: a sentence is wrong if one of them touches it. The floors are fitted out
of fold on the sentences themselves, which no judge is. Where the model has a calibration of claims (``judge
calibrate --claims``, on samples of the training split), the answers' probabilities by their sentences, as a
whole and by both are compared, with 95 % bootstrap intervals over documents.

The last figure is of the passages: on XQuAD, where people marked the place of each answer, how often the
passage nearest to question and answer holds that place.
"""

import argparse
import gzip
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from judge.calibration import calibration_error
from judge.claims.checker import ClaimsJudge
from judge.claims.fit import Labelled, wrong_sentences
from judge.claims.passages import nearest, passages
from judge.claims.rule import any_wrong, combine
from judge.floors.rules import make_floor
from judge.formats.ragtruth import load
from judge.load import load_judge
from judge.prompting.sentences import claim_spans
from judge.types import Label, Sample

FLOORS = ("floor:length", "floor:overlap", "floor:answer-only")
RESAMPLES = 1000


def sentence_samples(samples: Sequence[Sample]) -> list[Sample]:
    """Every sentence as a labelled answer of its own."""
    found = []
    for sample in samples:
        for number, (span, wrong) in enumerate(
            zip(claim_spans(sample.answer), wrong_sentences(sample) or (), strict=True)
        ):
            found.append(
                replace(
                    sample,
                    id=f"{sample.id}-{number}",
                    answer=sample.answer[span.start : span.end],
                    label=Label.FAIL if wrong else Label.PASS,
                )
            )
    return found


class Resampled:
    """AUROCs of scores about the same rows, over the same resamples of their documents."""

    def __init__(self, truth: Sequence[bool], groups: Sequence[str]):
        self.truth = np.array(truth)
        names = np.unique(groups, return_inverse=True)[1]
        rows = [np.flatnonzero(names == name) for name in range(names.max() + 1)]
        draw = np.random.default_rng(0)
        self.draws = [
            np.concatenate([rows[at] for at in draw.integers(0, len(rows), len(rows))])
            for _ in range(RESAMPLES)
        ]

    def auroc(self, scores: Sequence[float], less: Sequence[float] | None = None) -> str:
        """Percent with its interval; less that of other scores, where these are given."""
        arrays = [np.array(scores), *([] if less is None else [np.array(less)])]

        def value(rows: np.ndarray) -> float:
            found = [100 * roc_auc_score(self.truth[rows], array[rows]) for array in arrays]
            return found[0] - sum(found[1:])

        low, high = np.percentile([value(rows) for rows in self.draws], (2.5, 97.5))
        return f"{value(np.arange(len(self.truth))):.1f} [{low:.1f}, {high:.1f}]"


def passages_found(file: Path) -> str:
    """How often the nearest passage is the right one, beside chance; documents of one passage left out."""
    found, chance = [], []
    for article in json.loads(gzip.decompress(file.read_bytes()))["data"]:
        for paragraph in article["paragraphs"]:
            document = paragraph["context"]
            windows = passages(document)
            for row in paragraph["qas"] if len(windows) > 1 else ():
                [answer, *_] = row["answers"]
                [place] = nearest(document, windows, [f"{row['question']} {answer['text']}"], "en")
                window = windows[place]
                found.append(window.start <= answer["answer_start"] < window.end)
                chance.append(1 / len(windows))
    return f"nearest passage is right: {np.mean(found):.1%} of {len(found)} (chance {np.mean(chance):.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="Only answers about so many documents.")
    given = parser.parse_args()
    samples = load(given.data_dir)
    if given.limit:
        kept = set(list(dict.fromkeys(sample.group for sample in samples))[: given.limit])
        samples = [sample for sample in samples if sample.group in kept]
    judge = load_judge(given.model, claims=True, precision="float32")
    assert isinstance(judge, ClaimsJudge)
    data = Labelled()
    start = time.perf_counter()
    plain = replace(judge.judge, calibrations={})  # type: ignore[type-var]
    for sample, verdict in zip(samples, ClaimsJudge(plain).iter_check(samples), strict=True):
        assert data.add(sample, verdict), "a sentence has no probability"
    seconds = time.perf_counter() - start
    p_wrong, wrong, groups = data.sentences()
    print(f"{len(wrong)} sentences ({sum(wrong)} wrong) of {len(samples)} answers, judged in {seconds:.0f} s")

    sentences = Resampled(wrong, groups)
    print("\n| sentences | AUROC |\n| --- | ---: |")
    print(f"| judge | {sentences.auroc(p_wrong)} |")
    by_answer = [p for p, parts in zip(data.whole, data.parts, strict=True) for _ in parts]
    print(f"| judge: each sentence as its whole answer | {sentences.auroc(by_answer)} |")
    pieces = sentence_samples(samples)
    for name in FLOORS:
        print(f"| {name} | {sentences.auroc(make_floor(name).p_fail(pieces))} |", flush=True)

    answers = Resampled(data.fails, data.groups)
    parts = data.parts
    if judge.calibration is not None:
        parts = [[judge.calibration.sentences(p) for p in some] for some in data.parts]
    ways = {
        "as a whole": data.whole,
        "by the worst sentence": [max(some) for some in parts],
        "by any sentence": [any_wrong(some) for some in parts],
        "by both (the rule)": [combine(some, whole) for some, whole in zip(parts, data.whole, strict=True)],
    }
    print("\n| answers | AUROC | less the whole's |\n| --- | ---: | ---: |")
    for name, scores in ways.items():
        print(f"| {name} | {answers.auroc(scores)} | {answers.auroc(scores, data.whole)} |", flush=True)
    for name in FLOORS:
        print(f"| {name} | {answers.auroc(make_floor(name).p_fail(samples))} | |")
    if judge.calibration is not None:
        final = [judge.calibration.answers(p) for p in ways["by both (the rule)"]]
        flat = [p for some in parts for p in some]
        for name, before, after, truth in (
            ("sentences", p_wrong, flat, wrong),
            ("answers", ways["as a whole"], final, data.fails),
        ):
            errors = [calibration_error(scores, truth) for scores in (before, after)]
            print(f"calibration error of {name}: {errors[0]:.3f} before, {errors[1]:.3f} after")
    if (xquad := given.data_dir / "xquad" / "xquad.en.json.gz").is_file():
        print(passages_found(xquad))


if __name__ == "__main__":
    main()
