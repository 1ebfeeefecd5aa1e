"""Limits on how well labels may be guessed without reading, and messages for figures over them."""

from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any

from data_pipeline.audit.figures import Z
from data_pipeline.sources.kinds import LABELLED

FIGURES = {
    "answer_only": "answer-only",
    "length": "length",
    "overlap": "overlap",
    "pair": "told from pair",
    "coherence": "coherence",
    "rules": "rule judge",
}
"""The figures and their names in messages."""
LOOK_UP = ("overlap", "rules")
"""Figures of rules that look words up in the document. This is easy reading, but still reading: they are
reported, but never fail a build."""
TEXTS = {
    "answer_only": "AUROC of a classifier that sees only the wording of the answers.",
    "length": "AUROC of the length of the answers.",
    "overlap": "AUROC of how much of an answer is in the document word for word. No build fails by it.",
    "pair": "Share of pairs whose hallucinated answer looks worse to the answer-only classifier.",
    "coherence": "AUROC of what the sentences of an answer share, if it has two or more.",
    "rules": "Balanced accuracy of the rule judge, which looks up the facts of the answer, on a part of the "
    "samples. No build fails by it.",
}
"""A description of each figure."""
MEANING = {
    "answer_only": "the wording of the answers gives the label away, without the document",
    "length": "the length of the answers gives the label away",
    "overlap": "how much of the answers is in the document word for word gives the label away",
    "pair": "the wording gives the hallucinated answer of a pair away, without the document",
    "coherence": "how the sentences of an answer fit together gives the label away, without the document",
    "rules": "a judge that only looks words up finds the label",
}
LIMITS = {
    "answer_only": 0.60,
    "length": 0.55,
    "overlap": 0.90,
    "pair": 0.65,
    "coherence": 0.60,
    "rules": 0.65,
}
"""AUROC; share of pairs (``pair``); balanced accuracy (``rules``)."""
OF_KIND: Mapping[tuple[str, str], float] = {
    ("answer_only", "document"): 0.55,  # one answer to two documents
    # Real answers give something away (RAGTruth: 0.67 by wording, 0.66 by length). HaluEval QA, at 0.98, can
    # be labelled without any reading.
    **{(figure, LABELLED): 0.75 for figure in ("answer_only", "length", "pair", "coherence")},
}
"""Limits for kinds that differ from :data:`LIMITS`."""
MIN_PAIRS, MIN_DOCUMENTS = 40, 10
"""With fewer samples of either label, or about fewer documents, there is no verdict."""


def limit_of(figure: str, kind: str) -> float:
    """The limit of a figure for a kind of samples."""
    return OF_KIND.get((figure, kind), LIMITS[figure])


def verdict(value: float, low: float, limit: float, pairs: int, documents: int) -> str:
    """``few`` (no verdict), ``within``, ``unsure`` (over, but the interval holds the limit), or ``over``."""
    if pairs < MIN_PAIRS or documents < MIN_DOCUMENTS:
        return "few"
    if value <= limit:
        return "within"
    return "over" if low > limit else "unsure"


def place(row: Mapping[str, Any]) -> str:
    """The name of a row: source, language, kind and edit type."""
    names = [row["source"], row["language"], row["kind"]]
    return ", ".join([*names, row["edit_type"]] if row["edit_type"] else names)


def over(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The figures of an audit whose whole 95 % interval is over their limit, as JSON values.

    Of hundreds of figures a few are over by chance. A figure ``fails`` a build only if the whole interval is
    over after Bonferroni's correction for all figures.
    """
    every = [one for row in found["cells"] for one in row["figures"].values() if one["verdict"] != "few"]
    wide = NormalDist().inv_cdf(1 - NormalDist().cdf(-Z) / max(len(every), 1))
    figures = []
    for row in found["cells"]:
        for name, figure in row["figures"].items():
            if figure["verdict"] != "over":
                continue
            error = (figure["value"] - figure["low"]) / Z
            names = ("source", "language", "kind", "edit_type")
            figures.append(
                {
                    **{key: row[key] for key in names},
                    "figure": name,
                    "value": round(figure["value"], 2),
                    "limit": figure["limit"],
                    "looked_up": name in LOOK_UP,
                    "fails": name not in LOOK_UP and figure["value"] - wide * error > figure["limit"],
                }
            )
    return figures


def given_away(found: Mapping[str, Any]) -> list[str]:
    """A line for each source, language and kind with figures over their limits, without those of look-up."""
    lines = []
    for cell, figures in _by_cell(found, looked_up=False):
        by_type: dict[str | None, list[str]] = {}
        for one in figures:
            text = f"{FIGURES[one['figure']]} {one['value']:.2f} (limit {one['limit']:.2f})"
            by_type.setdefault(one["edit_type"], []).append(text)
        parts = [
            f"{name}: {', '.join(texts)}" if name else ", ".join(texts) for name, texts in by_type.items()
        ]
        sure = any(one["fails"] for one in figures)
        how = "give themselves away" if sure else "may give themselves away (or it is chance)"
        lines.append(f"{cell}: labels {how}, by {'; '.join(parts)}")
    return lines


def looked_up(found: Mapping[str, Any]) -> list[str]:
    """A line for each source, language and kind whose labels a look-up finds; this never fails a build."""
    lines = []
    for cell, figures in _by_cell(found, looked_up=True):
        texts = [f"{FIGURES[one['figure']]} {one['value']:.2f}" for one in figures if not one["edit_type"]]
        if texts:
            lines.append(f"{cell}: looking words up finds the labels ({', '.join(texts)})")
    return lines


def without_verdict(found: Mapping[str, Any]) -> list[str]:
    """The sources, languages and kinds that are too small for a verdict on any figure."""
    return [
        place(row)
        for row in found["cells"]
        if row["edit_type"] is None and all(one["verdict"] == "few" for one in row["figures"].values())
    ]


def _by_cell(found: Mapping[str, Any], *, looked_up: bool) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    by_cell: dict[str, list[dict[str, Any]]] = {}
    for one in found["over"]:
        if one["looked_up"] is looked_up:
            by_cell.setdefault(place({**one, "edit_type": None}), []).append(one)
    return by_cell.items()
