"""The report as Markdown: accuracy by category by each score, stress tests, baselines, disputed answers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

COLUMNS = ("correct", "wrong", "uncertain", "refused", "empty")
LABELS = ("refusal_or_correction", "hallucination_candidate", "unclear")
NOTE = (
    "Accuracy is over graded tasks, in percent, with Wilson's 95 % interval. `strict` is the benchmark's own "
    "score; `extended` compares words and values; `similar` adds what an encoder finds near the reference, "
    "`judged` what a judge accepts. The prompt is not that of the published runs."
)


def markdown(report: Mapping[str, Any]) -> str:
    """A report of :func:`~eval.open_factual.run.run_open_factual`; without answers, its baselines alone."""
    blocks = [f"# open-factual-bench: {_cell(report['name'])} ({report['mode']})", _counts_line(report)]
    if report["overall"] is not None:
        blocks += [_accuracy(report), _stress(report)]
    blocks.append(_floors(report["floors"]))
    blocks.append(_published(report))
    if report["contamination"]:
        blocks.append(_contamination(report))
    if report["citations"]:
        found = ", ".join(f"{name} {number}" for name, number in report["citations"].items())
        blocks.append(f"Citations of the answers from passages: {found}.")
    if report["disputed"]:
        blocks.append(_disputed(report))
    return "\n\n".join([*blocks, NOTE]) + "\n"


def _counts_line(report: Mapping[str, Any]) -> str:
    counts = report["counts"]
    line = f"{counts['answered']} of {counts['n']} tasks answered; {counts['truncated']} answers cut off"
    if report["judge"] is not None:
        line += f"; judged by {_cell(report['judge']['name'])}, {counts['unparsed']} verdicts unparsed"
    return f"{line}."


def _accuracy(report: Mapping[str, Any]) -> str:
    """One line a category: accuracy under each score; what became of the answers, under the last one."""
    table = []
    for name, counts in {"all": report["overall"], **report["by_category"]}.items():
        *_, last = counts.values()
        if last["graded"]:
            shares = [_share(found, interval=name == "all") for found in counts.values()]
            table.append([name, last["graded"], *shares, *(last[column] for column in COLUMNS)])
    return _table(["category", "graded", *report["overall"], *COLUMNS], table)


def _stress(report: Mapping[str, Any]) -> str:
    """One line a score: the labels of the answers to stress tests."""
    table = [
        [name, found["stress"], *(found[label] for label in LABELS)]
        for name, found in report["overall"].items()
    ]
    return _table(["score", "stress tests", *LABELS], table)


def _floors(floors: Mapping[str, Mapping[str, Any]]) -> str:
    table = [
        [name, _share(found["strict"]), _share(found["extended"]), *(found["extended"][at] for at in LABELS)]
        for name, found in floors.items()
    ]
    return _table(["answers without knowledge", "strict", "extended", *LABELS], table)


def _published(report: Mapping[str, Any]) -> str:
    """What the benchmark's own results say, over the strict score of these answers."""
    blocks = []
    for block in report["published"]:
        table = [[name, *map(_figure, figures.values())] for name, figures in block["judges"].items()]
        if any(value is not None for value in block["measured"].values()):
            table.append([f"measured: {report['name']}", *map(_figure, block["measured"].values())])
        notes = [f"Warning: {warning}." for warning in block["warnings"]] + block["notes"]
        head = ["published", *(name.replace("_", " ") for name in block["measured"])]
        blocks.append("\n\n".join([f"{block['source']}. {' '.join(notes)}", _table(head, table)]))
    return "\n\n".join(blocks)


def _figure(value: float | int | None) -> str:
    """A share in percent, a count as it is."""
    return "-" if value is None else str(value) if isinstance(value, int) else f"{100 * value:.1f}"


def _contamination(report: Mapping[str, Any]) -> str:
    named = "source" if report["cutoff"] is None else f"against the cutoff {report['cutoff']}"
    table = [
        [name, found["graded"], _share(found), found["stress"]]
        for name, found in report["contamination"].items()
    ]
    return _table([named, "graded", "extended", "stress tests"], table)


def _disputed(report: Mapping[str, Any]) -> str:
    """The answers that not every score labels alike."""
    table = [[row["id"], row["answer"][:80], *row["labels"].values()] for row in report["disputed"]]
    return _table(["disputed", "answer", *report["overall"]], table)


def _share(counts: Mapping[str, Any], interval: bool = False) -> str:
    if counts["accuracy"] is None:
        return "-"
    text = f"{100 * counts['accuracy']:.1f}"
    if interval:
        low, high = counts["accuracy_ci"]
        text += f" [{100 * low:.1f}, {100 * high:.1f}]"
    return text


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(value) for value in line)} |" for line in lines)


def _cell(value: object) -> str:
    """A value as one line of text that no renderer takes for markup."""
    text = " ".join(str(value).split())
    for sign in "\\`*_[]<>|#":
        text = text.replace(sign, f"\\{sign}")
    return text
