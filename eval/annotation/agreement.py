"""How far annotators agree with each other and with the labels of the data set, and where they do not.

Kappas come from statsmodels (scikit-learn's Cohen's kappa is the same but thirty times slower, which matters
with a thousand resamples), alpha from krippendorff. Lynx, Table 2, compares with the data set's own labels.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from eval.annotation.label_studio import CHOICES, Annotation, by_sample
from eval.resampling import Interval, divide, drawn_weights, interval
from eval.tables import Row, Table
from judge.errors import InputError
from judge.progress import track
from judge.types import Label

OWN = "the data set's labels"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, its 95 % interval over documents, and the number of samples it is computed on.

    ``None`` if it is undefined: no sample has two labels, or all labels are the same, so that chance
    agreement is complete.
    """

    value: float | None
    interval: Interval | None
    n: int


Figures = Mapping[str, Figure]
References = Mapping[str, Label | None]
"""The data set's labels by id."""


def measure(
    annotations: Sequence[Annotation],
    references: References,
    *,
    with_unsure: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Figures]:
    """Agreement over all samples and by source.

    Args:
        annotations: at most one per annotator and sample.
        references: labels to compare with.
        with_unsure: count "unsure" as a third label; otherwise the annotator has not labelled the sample.
        resamples: for the intervals, over documents; 0 for none.
        seed: of the resamples.

    Raises:
        InputError: if there are no annotations, or a package is not installed.
    """
    parts: dict[str, list[Annotation]] = {"overall": []}
    for row in annotations:
        if with_unsure or row.label != "UNSURE":
            parts["overall"].append(row)
            parts.setdefault(row.sample.source or "(none)", []).append(row)
    if not parts["overall"]:
        hint = "; --with-unsure counts UNSURE too" if annotations else ""
        raise InputError(f"there is no annotation in these files{hint}")
    if len(parts) == 2:  # there is only one source
        parts = {"overall": parts["overall"]}
    try:
        return {
            name: dict(_figures(part, references, resamples, seed))
            for name, part in track(parts.items(), "agreement by source", len(parts))
        }
    except ImportError as error:
        message = f"agreement needs the package {error.name}; pip install 'hallucination-judge[annotation]'"
        raise InputError(message) from None


def _figures(rows: Sequence[Annotation], references: References, resamples: int, seed: int) -> Any:
    """Name and :class:`Figure` of every measure."""
    import numpy as np
    from krippendorff import alpha
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa

    people = sorted({row.annotator for row in rows})
    samples = by_sample(rows)
    groups = np.array([found[0].sample.group for found in samples.values()])
    votes = np.full((len(samples), len(people)), -1)  # (samples, annotators): index of the label, -1 for none
    for place, found in enumerate(samples.values()):
        for row in found:
            votes[place, people.index(row.annotator)] = CHOICES.index(row.label)
    counts = (votes[:, :, None] == np.arange(len(CHOICES))).sum(axis=1)
    labels = counts.sum(axis=1)

    def figure(rated: Any, values: Any, formula: Callable[[Any], Any]) -> Figure:
        chosen, (names, group) = values[rated], np.unique(groups[rated], return_inverse=True)
        if not len(chosen):
            return Figure(None, None, 0)
        with np.errstate(invalid="ignore"):  # 0 / 0 if all labels are the same: no figure
            value = float(formula(chosen))
            draws = drawn_weights(len(names), resamples, seed, len(chosen))
            again = [
                formula(np.repeat(chosen, drawn[group].astype(int), axis=0))
                for block in draws
                for drawn in block
            ]
        known = value == value  # nan is not itself
        return Figure(
            value if known else None, interval(np.array(again)) if again and known else None, len(chosen)
        )

    def share(pairs: Any) -> Any:
        return divide(*pairs.sum(axis=0))

    def cohen(pairs: Any) -> Any:
        table = np.zeros((len(CHOICES), len(CHOICES)))
        np.add.at(table, tuple(pairs.T), 1)
        return cohens_kappa(table, return_results=False)

    same = np.stack([(counts * (counts - 1)).sum(axis=1), labels * (labels - 1)], axis=1)
    yield "raw agreement", figure(labels > 1, same, share)
    for one, two in combinations(range(len(people)), 2):
        pairs = votes[:, [one, two]]
        yield f"Cohen's kappa: {people[one]} / {people[two]}", figure((pairs >= 0).all(axis=1), pairs, cohen)
    yield "Fleiss' kappa", figure((labels == len(people)) & (labels > 1), counts, fleiss_kappa)
    yield (
        "Krippendorff's alpha",
        figure(labels > 1, counts, lambda part: alpha(value_counts=part, level_of_measurement="nominal")),
    )
    own = [references.get(name) for name in samples]
    known = np.array([label is not None for label in own])
    right = votes == np.array([CHOICES.index(label or "UNSURE") for label in own])[:, None]
    if known.any():
        yield OWN, figure(known, np.stack([right.sum(axis=1), labels], axis=1), share)
        for one, name in enumerate(people):
            has = votes[:, one] >= 0
            yield f"{OWN}: {name}", figure(known & has, np.stack([right[:, one], has], axis=1), share)


def disagreements(annotations: Sequence[Annotation], references: References) -> list[dict[str, Any]]:
    """The samples to look at: annotators disagree, most dissenters first, or contradict the data set."""
    found = []
    for name, rows in by_sample(annotations).items():
        own, labels = references.get(name), {row.annotator: row.label for row in rows}
        if len({*labels.values(), *([own] if own else [])}) > 1:
            notes = {row.annotator: row.note for row in rows if row.note}
            found.append({"id": name, "reference": own, "labels": labels, "notes": notes})
    return sorted(
        found, key=lambda item: max(Counter(item["labels"].values()).values()) - len(item["labels"])
    )


def agreement_table(report: Mapping[str, Figures]) -> Table:
    """One row per figure, one column per source."""
    rows = [
        Row((name, *(_shown(part.get(name)) for part in report.values())), "") for name in report["overall"]
    ]
    bounds = any(figure.interval for part in report.values() for figure in part.values())
    notes = ("95 % intervals by document",) if bounds else ()
    return Table("Agreement", ("", *report), rows, notes=notes)


def _shown(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "-"
    low, high = figure.interval or (None, None)
    bounds = "" if low is None else f" ({low:.2f}{' to ' if low < 0 else '-'}{high:.2f})"
    return f"{figure.value:.3f}{bounds}"
