"""What became of gold answers, by source and edit: for ``judge data build --explain`` and the card."""

from collections.abc import Mapping
from typing import Any

from data_pipeline.sources.kinds import KINDS
from judge.markdown import table


def yields(manifest: Mapping[str, Any]) -> list[str]:
    """Lines of two Markdown tables: pairs by source and kind, hallucinated samples by source and edit.

    Args:
        manifest: of a data set; its ``pairs`` count gold answers, its ``edits`` the samples of the final set.
    """
    yields: Mapping[str, Mapping[str, int]] = manifest["pairs"]
    if not yields:
        return ["No gold answers were perturbed."]
    kinds = [kind for kind in KINDS if any(f"{kind} asked" in row for row in yields.values())]
    rows = []
    for source, row in yields.items():
        share = row["with a pair"] / row["golds"]
        made = (_of(row.get(f"{kind} made", 0), row.get(f"{kind} asked", 0)) for kind in kinds)
        rows.append([source, f"{row['golds']:,}", f"{share:.0%}", *made])
    edits = [
        (source, name, f"{count:,}")
        for source, counts in manifest["edits"].items()
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    by_kind = table(("source", "gold answers", "with a pair", *kinds), rows)
    return [*by_kind, "", *table(("source", "edit", "samples"), edits, 2)]


def _of(made: int, asked: int) -> str:
    return f"{made:,} of {asked:,}" if asked else ""
