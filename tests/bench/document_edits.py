"""Edited documents by source: how many gold answers get a pair, what gives the label away, and a few to read.

    python tests/bench/document_edits.py --data-dir DIR xquad:en webnlg cmrc2018:zh:dev --golds 200 --show 20

A source may have a language and a split behind it. The columns of the table: pairs by kind of edit; balanced
accuracy of the rule judge; cross-validated AUROC of the label by the words of the document alone and by its
length, sentences, lines and digits; words to compute for a pair with shared prefixes, over those of a pair
with an edited answer. For reading, each twin is shown as what its document lost and got.
"""

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from statistics import mean

from data_pipeline.contrast import pairs
from data_pipeline.documents import DOCUMENT_EDITS, DocumentEditor
from data_pipeline.neighbours import Neighbours
from data_pipeline.perturb import Perturbation, RulePerturber
from data_pipeline.sources import SourceConfig, read_source
from data_pipeline.starter import load_starter
from data_pipeline.store import SampleStore
from data_pipeline.teachers.rules import RulesTeacher
from data_pipeline.teachers.rules_judge import judge_by_rules
from judge.floors.overlap import units
from judge.prompting.prompts import BuiltinPrompt
from judge.prompting.rendering import common_prefix
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Sample


def draw(source: str, folder: Path) -> list[Sample]:
    """The gold answers of a source in a random order, the same one each time."""
    kind, language, split = (*source.split(":"), "", "")[:3]
    config = SourceConfig(kind=kind, path=str(folder), split=split or None) if kind != "starter" else None
    golds = [
        sample
        for sample in (read_source(config, 0) if config else load_starter())
        if sample.label is not Label.FAIL and language in ("", sample.language)
    ]
    random.Random(source).shuffle(golds)
    return golds


def told(samples: Sequence[Sample]) -> tuple[float, float]:
    """AUROC of the label by the document alone: its words, and its shape. Folds never part a document."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import GroupKFold, cross_val_predict

    texts = [sample.document_text for sample in samples]
    of_words = {"analyzer": "char"} if samples[0].language == "zh" else {}
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, **of_words).fit_transform(texts)
    shape = np.array(
        [[len(t), len(sentence_spans(t)), t.count("\n"), mean(map(str.isdigit, t))] for t in texts],
        dtype=float,
    )
    shape = (shape - shape.mean(0)) / (shape.std(0) + 1e-9)
    labels = np.array([sample.label is Label.FAIL for sample in samples])
    groups = [sample.group for sample in samples]
    scores = (
        cross_val_predict(
            LogisticRegression(max_iter=500),
            x,
            labels,
            groups=groups,
            cv=GroupKFold(5),
            method="decision_function",
        )
        for x in (words, shape)
    )
    by_words, by_shape = (float(roc_auc_score(labels, score)) for score in scores)
    return by_words, by_shape


def computed(samples: Sequence[Sample]) -> int:
    """Words (characters in Chinese) to compute for some rows with a common prefix."""
    messages = [BuiltinPrompt().messages(sample, "verdict") for sample in samples]
    rows = [
        units("\n".join(part["content"] for part in parts), sample.language)
        for parts, sample in zip(messages, samples, strict=True)
    ]
    names = {word: number for number, word in enumerate(sorted({word for row in rows for word in row}))}
    return sum(map(len, rows)) - common_prefix([[names[word] for word in row] for row in rows])


def balanced(samples: Sequence[Sample]) -> float:
    """Balanced accuracy of the rule judge."""
    right = {
        label: [judge_by_rules(s).label is label for s in samples if s.label is label] for label in Label
    }
    return mean(mean(found) for found in right.values() if found)


def changes(before: str, after: str) -> list[str]:
    """Sentences that an edit took out (-) and put in (+)."""
    old, new = ([text[part.start : part.end] for part in sentence_spans(text)] for text in (before, after))
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"- {part}" for part in old[a:b]] + [f"+ {part}" for part in new[c:d]]
    return found


def main() -> None:
    """Edit, count, show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--golds", type=int, default=200)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for source in options.sources:
        golds = draw(source, options.data_dir)
        with tempfile.TemporaryDirectory() as folder, SampleStore(Path(folder) / "golds.sqlite") as store:
            store.add(golds)
            editor = DocumentEditor(Neighbours(store, options.seed), options.seed)
            golds = golds[: options.golds]
            made = [(gold, found) for gold in golds for found in editor(gold)]
        twins = [(gold, *pairs(gold, "document", [found])) for gold, found in made]
        samples = [sample for _, *both in twins for sample in both]
        kinds = Counter(found.edit_type for _, found in made)
        apart = mean(passed.document_text != gold.document_text for gold, passed, _ in twins)
        edits = dict(
            zip((gold.id for gold in golds), RulesTeacher(RulePerturber(0)).perturb(golds), strict=True)
        )
        costs = [
            (computed([passed, failed]), computed([gold, replace(gold, answer=edit.answer)]))
            for gold, passed, failed in twins
            if isinstance(edit := edits[gold.id], Perturbation)
        ]
        figures = [balanced(samples), *told(samples), sum(a for a, _ in costs) / sum(b for _, b in costs)]
        cells = [
            source, len(golds), f"{100 * len(made) / len(golds):.0f} %", *(kinds[k] for k in DOCUMENT_EDITS),
            f"{100 * apart:.0f} %", *(f"{figure:.2f}" for figure in figures),
        ]  # fmt: skip
        rows.append(f"| {' | '.join(map(str, cells))} |")
        for gold, passed, failed in twins[: options.show]:
            print(f"\n== {gold.id}: {failed.meta['change']}\nQ: {passed.question}\nA: {passed.answer}")
            print("FAIL", *changes(gold.document_text, failed.document_text), sep="\n   ")
            print("PASS", *changes(gold.document_text, passed.document_text), sep="\n   ")
    names = ["source", "golds", "with a pair", *DOCUMENT_EDITS, "faithful twin edited too"]
    names += ["rule judge", "by words", "by shape", "cost"]
    print(f"\n| {' | '.join(names)} |\n| --- |{' ---: |' * (len(names) - 1)}", *rows, sep="\n")


if __name__ == "__main__":
    main()
