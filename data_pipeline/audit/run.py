"""Runs the audit of the table of a build, of samples, or of the folder of a built data set."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from data_pipeline.audit.cells import Cell, cells, draw
from data_pipeline.audit.limits import given_away, looked_up, over
from data_pipeline.audit.shortcuts import measure
from data_pipeline.audit.tables import Tables, split_of
from data_pipeline.sources.kinds import kind_of
from data_pipeline.sources.store import SampleStore
from data_pipeline.sources.workers import Workers
from judge.errors import InputError
from judge.files import read_json
from judge.progress import track
from judge.samples import read_samples
from judge.training.gate import gate_record
from judge.types import Label, Sample

LIMIT = 2000
"""Samples of each source, language and kind that rules look at, drawn by whole documents."""
EXAMPLES = 2
"""Examples per source, language and kind: this many given away by their wording, twice as many drawn."""
BALANCE = (0.4, 0.6)
"""Range of the share of FAIL outside which a source gets a warning."""


def audit_store(store: SampleStore, workers: Workers, *, limit: int = LIMIT, seed: int) -> dict[str, Any]:
    """The tables, figures, warnings and examples of the samples of a build.

    Memory holds the samples of one source, language and kind at a time, up to the limit; of a few at a time
    with several workers.

    Args:
        store: samples; unlabelled ones are only counted.
        workers: processes in which the rules are fitted and scored.
        limit: samples of each source, language and kind that the rules look at.
        seed: decides which ones.

    Returns:
        JSON values: what :class:`~data_pipeline.audit.tables.Tables` counts, ``cells`` (the rows of
        :func:`~data_pipeline.audit.shortcuts.measure`), ``over`` (figures over their limits), ``examples``
        and ``warnings``.
    """
    tables = Tables()
    for sample in track(store.samples(), "count", store.count()):
        tables.add(sample)
    found: dict[str, Any] = {**tables.result(), "seed": seed, "limit": limit, "cells": [], "examples": []}
    of = list(cells(store))
    drawn = ((cell, draw(store, cell, limit, seed)) for cell in of)
    looked_at = workers.map(_look_at, drawn, few=1, batch=1)
    for rows, examples in track(looked_at, "audit: sources, languages and kinds", len(of)):
        found["cells"] += rows
        found["examples"] += examples
    found["over"] = over(found)
    found["warnings"] = _warnings(found)
    return found


def _look_at(drawn: tuple[Cell, list[Sample]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of a cell, and some of its samples."""
    rows, scores = measure(*drawn)
    return rows, _examples(drawn[1], scores)


def audit_samples(
    samples: Iterable[Sample], *, limit: int = LIMIT, seed: int = 0, workers: Workers | None = None
) -> dict[str, Any]:
    """The audit of samples, which are iterated once; see :func:`audit_store`.

    Raises:
        InputError: an id occurs twice.
    """
    with tempfile.TemporaryDirectory() as folder, SampleStore(Path(folder) / "samples.sqlite") as store:
        store.add(track(samples, "read samples"))
        return audit_store(store, workers or Workers(), limit=limit, seed=seed)


def audit_folder(folder: Path, *, seed: int = 0, workers: Workers | None = None) -> dict[str, Any]:
    """The audit of a built data set (``samples.jsonl``, ``sft/``, ``dpo/``, ``manifest.json``).

    Args:
        folder: the data set.
        seed: see :func:`audit_store`.
        workers: see :func:`audit_store`.

    Raises:
        InputError: the folder has no finished data set, or one of its files is invalid.
    """
    if not folder.is_dir():
        reason = "is a file; give the folder of a data set" if folder.exists() else "no such folder"
        raise InputError(f"{reason}; 'judge data build' makes one", file=folder)
    leaks = gate_record(read_json(folder / "manifest.json"), folder / "manifest.json")
    found = audit_samples(read_samples(folder / "samples.jsonl"), seed=seed, workers=workers)
    found |= {"name": str(folder), "leaks": leaks}
    if leaks is None:
        found["warnings"].append("the leak gate was not run: benchmarks may be among the training data")
    return found


def _warnings(found: Mapping[str, Any]) -> list[str]:
    """Warnings to read before training on the samples."""
    lines = [*given_away(found), *looked_up(found)]
    labels: dict[str, list[int]] = {}
    for row in found["classes"]:
        counts = labels.setdefault(row["source"], [0, 0])
        counts[0] += row[Label.PASS.value]
        counts[1] += row[Label.FAIL.value]
    for source, (passes, fails) in labels.items():
        if passes + fails and not BALANCE[0] <= fails / (passes + fails) <= BALANCE[1]:
            lines.append(f"{source}: {fails / (passes + fails):.0%} of the labelled samples are FAIL")
    for kind, text in (
        ("conflicts", "the text of another sample and the other label"),
        ("repeats", "the document, question and answer of another sample"),
    ):
        if found[kind]["count"]:
            lines.append(f"samples with {text}: {found[kind]['count']:,}")
    if found["in_two_splits"]:
        lines.append(
            f"samples about a document of another split: {found['in_two_splits']:,}; the splits leak"
        )
    return lines


def _examples(samples: list[Sample], scores: Mapping[str, float]) -> list[dict[str, Any]]:
    """Example samples: the first few, and the hallucinated answers that their wording gives away most."""
    given = [sample for sample in samples if sample.label is Label.FAIL and scores.get(sample.id, 0) > 0.5]
    given.sort(key=lambda sample: (-scores[sample.id], sample.id))
    chosen = [("drawn", sample) for sample in samples[: 2 * EXAMPLES]]
    chosen += [("given away by its wording", sample) for sample in given[:EXAMPLES]]
    return [
        {
            "why": why,
            "id": sample.id,
            "source": sample.source,
            "split": split_of(sample),
            "kind": kind_of(sample),
            "label": sample.label.value if sample.label else None,
            "edit_type": sample.meta.get("edit_type"),
            "change": sample.meta.get("change"),
            "p_fail": round(scores[sample.id], 3) if sample.id in scores else None,
            "document": sample.document_text[:1200],
            "question": sample.question[:600],
            "answer": sample.answer[:1200],
        }
        for why, sample in chosen
    ]
