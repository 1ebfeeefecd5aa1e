"""How far annotators agree with each other and with the labels of the data set, and where they do not.

Lynx, Table 2, is the second: 50 samples of each of four sets, and the share where a person's label is the
set's own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from eval.agreement import Figure, Ratings
from eval.annotation.records import UNSURE, Annotation, by_sample
from judge.errors import InputError
from judge.progress import track

OVERALL = "overall"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Figures of one source, or of all samples together.

    Args:
        samples: how many have an annotation.
        raw: share of pairs of annotations of one sample that are the same.
        cohen: Cohen's kappa; of more than two annotators the mean of all pairs.
        fleiss: over the samples that all annotators labelled.
        alpha: Krippendorff's, over the samples that two or more labelled.
        pairs: Cohen's kappa of every two annotators.
        reference: share of labels that are the data set's own: of all annotators, and of each.
    """

    samples: int
    raw: Figure
    cohen: Figure
    fleiss: Figure
    alpha: Figure
    pairs: Mapping[str, Figure]
    reference: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A sample to look at: annotators differ, or all of them say something else than the data set."""

    id: str
    source: str
    labels: Mapping[str, str]
    reference: str | None
    notes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Everything that ``judge agreement`` tells; ``counts`` are the labels of each annotator."""

    counts: Mapping[str, Mapping[str, int]]
    sources: Mapping[str, Agreement]
    disagreements: Sequence[Disagreement]
    with_unsure: bool
    resamples: int


def measure(
    annotations: Sequence[Annotation], *, with_unsure: bool = False, resamples: int = 1000, seed: int = 0
) -> AgreementReport:
    """Agreement over all samples and by source.

    Args:
        annotations: one of each annotator about each sample, as :func:`read_annotations` gives them.
        with_unsure: "unsure" is a third label; else the sample counts as not labelled by that annotator.
        resamples: for the intervals, over documents; 0 for none.
        seed: of the resamples.

    Raises:
        InputError: there is no annotation.
    """
    if not annotations:
        raise InputError("there is no annotation in these files")
    counts: dict[str, Counter[str]] = {}
    for row in annotations:
        counts.setdefault(row.annotator, Counter())[row.label] += 1
    parts: dict[str, list[Annotation]] = {OVERALL: list(annotations)}
    for row in annotations:
        parts.setdefault(row.source or "(none)", []).append(row)
    if len(parts) == 2:  # one source is all there is
        parts = {OVERALL: parts[OVERALL]}
    return AgreementReport(
        counts={name: dict(found) for name, found in sorted(counts.items())},
        sources={
            name: _agreement(part, with_unsure, resamples, seed)
            for name, part in track(parts.items(), "agreement by source", len(parts))
        },
        disagreements=disagreements(annotations),
        with_unsure=with_unsure,
        resamples=resamples,
    )


def _agreement(rows: Sequence[Annotation], with_unsure: bool, resamples: int, seed: int) -> Agreement:
    used = [row for row in rows if with_unsure or row.label != UNSURE]
    samples = by_sample(used).values()
    ratings = Ratings(
        [{row.annotator: row.label for row in sample} for sample in samples],
        [sample[0].group for sample in samples],
        resamples=resamples,
        seed=seed,
    )
    return Agreement(
        samples=len(by_sample(rows)),
        raw=ratings.raw(),
        cohen=ratings.mean_cohen(),
        fleiss=ratings.fleiss(),
        alpha=ratings.alpha(),
        pairs={f"{one} / {two}": ratings.cohen(one, two) for one, two in combinations(ratings.raters, 2)},
        reference=_with_reference(used, resamples, seed),
    )


def _with_reference(rows: Sequence[Annotation], resamples: int, seed: int) -> dict[str, Figure]:
    """The share of labels that are the data set's own."""
    known = [row for row in rows if row.reference is not None]
    parts = {"all": known} if known else {}
    for name in sorted({row.annotator for row in known}):
        parts[name] = [row for row in known if row.annotator == name]
    return {
        name: Ratings(
            [{"person": row.label, "set": str(row.reference)} for row in part],
            [row.group for row in part],
            resamples=resamples,
            seed=seed,
        ).raw()
        for name, part in parts.items()
    }


def disagreements(annotations: Sequence[Annotation]) -> list[Disagreement]:
    """The samples to look at, those on which most annotators differ first."""
    found = []
    for rows in by_sample(annotations).values():
        reference = rows[0].reference
        labels = {row.annotator: row.label for row in rows}
        said = set(labels.values())
        if len(said) > 1 or (reference is not None and said != {str(reference)}):
            notes = {row.annotator: row.note for row in rows if row.note}
            found.append(
                Disagreement(
                    rows[0].id, rows[0].source, labels, None if reference is None else str(reference), notes
                )
            )
    return sorted(found, key=_minority, reverse=True)


def _minority(item: Disagreement) -> int:
    """How many annotators are not of the commonest opinion."""
    return len(item.labels) - max(Counter(item.labels.values()).values())
