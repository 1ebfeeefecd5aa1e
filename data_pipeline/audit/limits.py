"""Up to where a label may be told without reading, and what to say where it is told beyond that."""

from collections.abc import Iterator, Mapping
from typing import Any

FIGURES = {
    "answer_only": "answer-only",
    "length": "length",
    "overlap": "overlap",
    "twin": "told from twin",
    "halves": "halves",
    "rules": "rule judge",
}
"""What is measured, and how it is called."""
MEANING = {
    "answer_only": "the label is told by the wording of the answers, without the document",
    "length": "the label is told by the length of the answers",
    "overlap": "the label is told by how much of the answers stands in the document word for word",
    "twin": "of two twins the hallucinated one is told by its wording, without the document",
    "halves": "the label is told by how the sentences of an answer fit each other, without the document",
    "rules": "a judge that looks words up tells the label; nothing has to be understood",
}
LIMITS = {"answer_only": 0.60, "length": 0.55, "overlap": 0.90, "twin": 0.65, "halves": 0.60, "rules": 0.65}
"""AUROC; share of pairs (``twin``); balanced accuracy (``rules``)."""
OF_KIND: Mapping[tuple[str, str], float] = {("answer_only", "document"): 0.55}
"""Limits of single kinds: twins whose document is edited have one answer."""
MIN_PAIRS, MIN_DOCUMENTS = 40, 10
"""With fewer samples of either label, or about fewer documents, there is no verdict."""


def limit_of(figure: str, kind: str) -> float:
    """The limit of a figure for a kind of samples."""
    return OF_KIND.get((figure, kind), LIMITS[figure])


def verdict(value: float, low: float, limit: float, pairs: int, documents: int) -> str:
    """``few`` (no verdict), ``within``, ``unsure`` (over the limit, within its interval), or ``over``."""
    if pairs < MIN_PAIRS or documents < MIN_DOCUMENTS:
        return "few"
    if value <= limit:
        return "within"
    return "over" if low > limit else "unsure"


def place(row: Mapping[str, Any]) -> str:
    """The name of a row: source, language, kind and edit type."""
    names = [row["source"], row["language"], row["kind"]]
    return ", ".join([*names, row["edit_type"]] if row["edit_type"] else names)


def over(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The figures of an audit that are over their limit for sure, as JSON values."""
    for row in found["cells"]:
        for name, figure in row["figures"].items():
            if figure["verdict"] == "over":
                names = ("source", "language", "kind", "edit_type")
                yield {
                    **{key: row[key] for key in names},
                    "figure": name,
                    "value": round(figure["value"], 2),
                    "limit": figure["limit"],
                    "text": f"{place(row)}: {FIGURES[name]} {figure['value']:.2f} "
                    f"(limit {figure['limit']:.2f}); {MEANING[name]}",
                }
