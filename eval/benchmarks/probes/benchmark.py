"""The benchmark ``probes``: reads its documents, and measures judges on the contrast pairs.

A document has three or four contrast pairs: a faithful answer, and a hallucinated one that answers the same
question and is wrong in one detail. Each answer is judged as written, and again with a few harmless changes
of form, the dressings (:mod:`eval.benchmarks.probes.dressings`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from eval.benchmarks.base import Benchmark, Figures
from eval.benchmarks.pairs import order
from eval.benchmarks.probes.drawing import draw
from eval.benchmarks.probes.dressings import DRESSINGS, dressed_pairs
from eval.resampling import Interval, divide, drawn_weights, interval
from judge.errors import unknown
from judge.formats.records import Record, read_lines
from judge.types import Label, Sample, Verdict

DATA = Path(__file__).parent / "data"
CATEGORIES = (
    "negation", "quantifier", "number_form", "date", "time", "unit", "currency", "arithmetic", "comparison",
    "order", "role", "place", "condition", "exception", "cause", "certainty", "attribution", "added_detail",
    "mixed_passages", "table", "list", "json", "code", "dialogue", "refusal_right", "refusal_wrong", "yes_no",
    "paraphrase", "citation_marks",
)  # fmt: skip
"""What the two answers of a pair differ in, or what is needed to tell them apart."""
CLEAN = "clean"
DRESSED = "dressed"
ALL = "all"
LOWEST = "lowest category"
RESAMPLES = 1000
SEED = 0

Row = dict[str, float | int | None]


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdicts on the clean answers of one pair; one may be missing."""

    group: str
    category: str
    verdicts: dict[Label, Verdict] = field(default_factory=dict)


def read(data_dir: Path | None) -> Iterator[Sample]:
    """The samples of the bundled files; ``data_dir`` is ignored."""
    return read_folder(DATA)


def read_folder(folder: Path) -> Iterator[Sample]:
    """The samples of every ``*.jsonl`` in a folder, in order of file name.

    Each line holds a document: ``id``, ``domain``, ``document``, and ``pairs`` of ``category``, ``question``
    (empty for a plain claim), ``faithful`` and ``hallucinated``. A pair gives the samples ``ID-NUMBER-pass``
    and ``ID-NUMBER-fail``, followed by the dressed ones (source ``probes_dressed``, the dressing in the id).

    Raises:
        InputError: if a field is missing or wrong, or a category is unknown; names file and line.
    """
    number = 0
    for path in sorted(folder.glob("*.jsonl")):
        for row in read_lines(path):
            for place, pair in enumerate(row.records("pairs"), start=1):
                yield from _samples(row, pair, place, number)
                number += 1


def _samples(row: Record, pair: Record, place: int, number: int) -> Iterator[Sample]:
    """The samples of a pair: number ``place`` (from 1) in its document, ``number`` (from 0) of all."""
    category = pair.text("category")
    if category not in CATEGORIES:
        raise pair.wrong("category", unknown("category", category, CATEGORIES))
    answers = pair.text("faithful"), pair.text("hallucinated")
    if answers[0] == answers[1]:
        raise pair.wrong("hallucinated", "is the same as the faithful answer")
    document, group = row.text("document"), row.name("id")
    clean = [
        Sample(
            id=f"{group}-{place}-{label.value.lower()}",
            document=document,
            answer=answer,
            question=pair.text("question", empty=True),
            label=label,
            source="probes",
            group=group,
            meta={"category": category, "domain": row.text("domain"), "dressing": CLEAN},
        )
        for label, answer in zip((Label.PASS, Label.FAIL), answers, strict=True)
    ]
    yield from clean
    for dressing, texts in dressed_pairs(number, category, document, answers):
        for base, text in zip(clean, texts, strict=True):
            meta = {**base.meta, "dressing": dressing, "base": base.id}
            name = dressing.lower().replace(" ", "_")
            yield replace(base, id=f"{base.id}:{name}", answer=text, source="probes_dressed", meta=meta)


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By form: clean or dressed."""
    return {"form": (CLEAN if sample.meta["dressing"] == CLEAN else DRESSED,)}


def figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """How a judge does on the pairs, and what the dressings change.

    ``pairs`` and ``pairs by category`` (the lowest first) are about clean answers. ``right_order`` is the
    share of pairs whose hallucinated answer has the higher probability of FAIL, ties counting one half, with
    a 95 % interval by bootstrap over documents (``low``, ``high``). ``pairs`` counts the pairs used: those
    with both answers drawn and scored. ``accuracy`` is the balanced accuracy of the labels over all clean
    answers; unparsed verdicts count as wrong. The lowest category is the one with the lowest
    ``right_order``, or without probabilities the lowest accuracy.

    ``harmless dressings`` compares each dressed answer with its clean version, if that was drawn:
    ``turned`` is the share of labels that differ, ``to_fail`` and ``to_pass`` the shares that changed to FAIL
    and PASS (the rest of ``turned`` became unparsed), ``p_fail_shift`` the mean absolute change of the
    probability of FAIL.
    """
    judged = list(zip(samples, verdicts, strict=True))
    return {**_pair_tables(_pairs(judged)), **_dressing_table(judged)}


def _pairs(judged: Sequence[tuple[Sample, Verdict]]) -> list[_Judged]:
    found: dict[str, _Judged] = {}
    for sample, verdict in judged:
        if sample.meta["dressing"] == CLEAN and sample.label is not None:
            name, _, _ = sample.id.rpartition("-")
            pair = found.setdefault(name, _Judged(sample.group, str(sample.meta["category"])))
            pair.verdicts[sample.label] = verdict
    return list(found.values())


def _pair_tables(pairs: Sequence[_Judged]) -> Figures:
    if not pairs:
        return {}
    parts = {name: [pair for pair in pairs if pair.category == name] for name in CATEGORIES}
    by_category = {name: _pair_row(part) for name, part in parts.items() if part}
    by_category = dict(sorted(by_category.items(), key=lambda item: _standing(item[1])))
    whole, lowest = _pair_row(pairs), next(iter(by_category.values()))
    low, high = _interval(pairs) or (None, None)
    return {
        "pairs": {ALL: _with_interval(whole, low, high), LOWEST: _with_interval(lowest, None, None)},
        "pairs by category": by_category,
    }


def _standing(row: Row) -> tuple[float, float]:
    right, accuracy = row["right_order"], row["accuracy"]
    return (2.0 if right is None else right), (2.0 if accuracy is None else accuracy)


def _pair_row(pairs: Sequence[_Judged]) -> Row:
    orders = [found for pair in pairs if (found := order(pair.verdicts)) is not None]
    recalls = []
    for label in Label:
        given = [pair.verdicts[label].label for pair in pairs if label in pair.verdicts]
        if given:
            recalls.append(given.count(label) / len(given))
    return {
        "pairs": len(orders),
        "right_order": sum(orders) / len(orders) if orders else None,
        "accuracy": sum(recalls) / len(recalls) if len(recalls) == len(Label) else None,
    }


def _with_interval(row: Row, low: float | None, high: float | None) -> Row:
    return {
        "pairs": row["pairs"], "right_order": row["right_order"], "low": low, "high": high,
        "accuracy": row["accuracy"],
    }  # fmt: skip


def _interval(pairs: Sequence[_Judged]) -> Interval | None:
    """Interval of the share of pairs in the right order; ``None`` for fewer than two documents."""
    import numpy as np

    by_group: dict[str, list[float]] = {}
    for pair in pairs:
        if (found := order(pair.verdicts)) is not None:
            by_group.setdefault(pair.group, []).append(found)
    if len(by_group) < 2:
        return None
    right = np.array([sum(orders) for orders in by_group.values()])
    counts = np.array([len(orders) for orders in by_group.values()])
    drawn = [
        divide(weights @ right, weights @ counts)
        for weights in drawn_weights(len(counts), RESAMPLES, SEED, len(counts))
    ]
    return interval(np.concatenate(drawn))


def _dressing_table(judged: Sequence[tuple[Sample, Verdict]]) -> Figures:
    clean = {sample.id: verdict for sample, verdict in judged if sample.meta["dressing"] == CLEAN}
    changes: dict[str, list[tuple[Verdict, Verdict]]] = {ALL: [], **{name: [] for name in DRESSINGS}}
    for sample, after in judged:
        before = clean.get(str(sample.meta.get("base")))
        if before is not None:
            changes[ALL].append((before, after))
            changes[str(sample.meta["dressing"])].append((before, after))
    found = {name: _change_row(part) for name, part in changes.items() if part}
    return {"harmless dressings": found} if found else {}


def _change_row(changes: Sequence[tuple[Verdict, Verdict]]) -> Row:
    turned = [after.label for before, after in changes if before.label is not after.label]
    shifts = [
        abs(after.p_fail - before.p_fail)
        for before, after in changes
        if before.p_fail is not None and after.p_fail is not None
    ]
    return {
        "answers": len(changes),
        "turned": len(turned) / len(changes),
        "to_fail": turned.count(Label.FAIL) / len(changes),
        "to_pass": turned.count(Label.PASS) / len(changes),
        "p_fail_shift": sum(shifts) / len(shifts) if shifts else None,
    }


PROBES = Benchmark(
    name="probes",
    title="Probes: contrast pairs that word overlap cannot tell apart",
    read=read,
    rows=rows,
    figures=figures,
    draw=draw,
    notes=(
        "Written for this toolkit and bundled with it; nobody has published figures about it.",
        "The common figures are about clean and dressed answers together, and 'by form' parts them; the "
        "tables of pairs are about clean answers alone.",
        "With --limit, whole pairs with their dressed answers are drawn from all categories alike; where the "
        "limit ends within a pair, the rest of that one is left out.",
    ),
)
