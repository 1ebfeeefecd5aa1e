"""The manifest of a data set (for programs) and its card (for people): its content and how it was made."""

from collections import Counter
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import judge
from data_pipeline.audit.limits import given_away, looked_up
from data_pipeline.build.sizes import shortages
from data_pipeline.config import DataConfig
from data_pipeline.labels.ensemble import yield_markdown
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.kinds import KINDS
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers import prompts
from judge.files import read_jsonl, sha256_file
from judge.markdown import table
from judge.prompting.prompts import BuiltinPrompt

FILES = (
    "samples.jsonl", "validation.jsonl", "test.jsonl", "sft/train.jsonl", "sft/validation.jsonl",
    "dpo/train.jsonl", "dpo/validation.jsonl",
)  # fmt: skip

TOOLS = ("faker", "lemminflect", "opencc", "rjieba", "scikit-learn")
"""Packages whose tables and models the rules read: another version may make other pairs."""


def count_rows(path: Path) -> dict[str, int]:
    """The number of rows of a file: in all, by mode and label, and by teacher or origin."""
    keys: Counter[str] = Counter()
    total = 0
    for _, row in read_jsonl(path):
        meta = row["meta"]
        total += 1
        rejected = meta.get("rejected_from")
        origin = f"by {meta['teacher']}" if rejected is None else f"rejected from {rejected}"
        keys.update((f"{meta['mode']} {meta['label']}", origin))
    return {"total": total, **dict(sorted(keys.items()))}


def make_manifest(
    config: DataConfig, folder: Path, store: SampleStore, dropped: Dropped, stages: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything needed to verify and rebuild a data set; files are listed with their hashes.

    Args:
        config: the recipe.
        folder: the data set; its other files are already written.
        store: its samples.
        dropped: what was left out.
        stages: records of the stages: trimmed golds, the leak gate, teachers, cost.
    """
    columns = ("split", "source", "task", "language", "label", "kind", "edit_type", "licence")
    return {
        "config": config.model_dump(mode="json"),
        "version": judge.__version__,
        "tools": {name: version(name) for name in TOOLS},
        **BuiltinPrompt().describe(),
        **prompts.describe(),
        "files": {name: sha256_file(folder / name) for name in FILES},
        "documents": store.documents(),
        "samples": store.count(),
        "counts": {column: store.counts(column) for column in columns},
        "licences": _by_source(store, "licence"),
        "edits": _by_source(store, "edit_type"),
        "rows": {
            name.removesuffix(".jsonl"): count_rows(folder / name)
            for name in FILES
            if name.startswith(("sft", "dpo"))
        },
        "from_document": {"asked": config.from_document, **_from_document(store)},
        **stages,
        "dropped": dropped.table(),
    }


def _by_source(store: SampleStore, column: str) -> dict[str, dict[str, int]]:
    """For sources with values in a column: the number of samples by source and value."""
    sources = store.counts("source", f"{column} IS NOT NULL")
    return {source: store.counts(column, "source = ?", (source,)) for source in sources}


def _from_document(store: SampleStore) -> dict[str, Any]:
    """The share of edits that insert only text of their document: in all (``got``), and by source."""
    query = """
        SELECT source, COUNT(*), SUM(from_document) FROM samples
        WHERE kind = 'edit' AND from_document IS NOT NULL GROUP BY source ORDER BY source
    """
    rows = store.table.execute(query).fetchall()
    edits = sum(count for _, count, _ in rows)
    return {
        "got": round(sum(held for *_, held in rows) / edits, 4) if edits else None,
        "sources": {
            source: {"edits": count, "share": round(held / count, 4)} for source, count, held in rows
        },
    }


def data_card(manifest: Mapping[str, Any]) -> str:
    """The manifest's tables in Markdown."""
    lines = [
        "# A data set for hallucination judges",
        "",
        f"{manifest['samples']} samples about {manifest['documents']} documents, prompt version "
        f"{manifest['prompt_version']} (hash `{manifest['prompt_hash']}`). "
        "Splits are by document; a gold answer and the wrong one made of it never part.",
    ]
    for name, counts in {**manifest["counts"], **manifest["rows"]}.items():
        if counts:
            lines += ["", f"## {name}", "", *table(("what", "number"), counts.items(), 2)]
    if manifest["sizes"]:
        names = ("asked", "samples", "PASS", "FAIL")
        sizes = (
            [row["source"], row["split"], *(f"{row[name]:,}" for name in names)] for row in manifest["sizes"]
        )
        lines += ["", "## sizes", "", *table(("source", "split", *names), sizes, 2)]
        lines += ["", *(f"- {line}" for line in shortages(manifest["sizes"]))]
    if manifest["from_document"]["sources"]:
        lines += ["", "## edits that bring in nothing new to the document", ""]
        asked = f"{manifest['from_document']['asked']:.0%}"
        shares = (
            (source, f"{row['edits']:,}", f"{row['share']:.0%}", asked)
            for source, row in manifest["from_document"]["sources"].items()
        )
        lines += table(("source", "edits", "share", "asked"), shares)
    licences = (
        (source, licence, number)
        for source, counts in manifest["licences"].items()
        for licence, number in counts.items()
    )
    lines += ["", "## licences by source", "", *table(("source", "licence", "number"), licences, 3)]
    lines += ["", "## judgements in reason mode", "", yield_markdown(manifest["yield"]).rstrip()]
    if manifest["teachers"]:
        names = ("calls", "prompt_tokens", "completion_tokens", "cost")
        head = " | ".join(("teacher", *names, "without an answer", "sampling"))
        lines += ["", "## chat models", "", f"| {head} |"]
        lines.append("| --- |" + " ---: |" * (len(names) + 1) + " --- |")
        for name, asked in manifest["teachers"].items():
            cells = [f"{asked[key]:,}" for key in names]
            cells.append(f"{sum(asked['problems'].values()):,}")
            cells.append(", ".join(f"{key} {value}" for key, value in asked["sampling"].items()))
            lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "## audit", "", *_audit(manifest["audit"])]
    lines += ["", "## leak gate", ""]
    if manifest["leaks"] is None:
        lines.append("Not run. Training refuses this set unless it is told to take it.")
    else:
        found = manifest["leaks"]["benchmarks"].items()
        compared = ", ".join(f"{name} ({kept['rows']:,} rows)" for name, kept in found)
        lines.append(
            f"Compared with {compared}; {manifest['leaks']['dropped']} samples dropped (leaks.jsonl)."
        )
        dropped = (
            (source, f"{row['checked']:,}", f"{row['dropped']:,}", f"{row['share']:.1%}")
            for source, row in manifest["leaks"]["by_source"].items()
        )
        lines += ["", *table(("source", "compared", "dropped", "share"), dropped)]
    lines += ["", "## what gold answers gave", "", *yields(manifest)]
    for title, what, noted in (
        ("left out", "reason", manifest["dropped"]),
        ("gold answers without sentences that nothing supports", "source", manifest["trimmed"]),
    ):
        if noted or what == "reason":
            rows = ((name, items["count"]) for name, items in noted.items())
            lines += ["", f"## {title}", "", *table((what, "number"), rows, 2)]
    return "\n".join(lines) + "\n"


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


def _audit(record: Mapping[str, Any] | None) -> list[str]:
    if record is None:
        return ["Not run."]
    lines = [f"- {line}" for line in [*given_away(record), *looked_up(record)]]
    few = "; ".join(record["no_verdict"])
    lines += [f"- too few pairs for a verdict: {few}"] if few else []
    return lines or ["No figure is over its limit."]
