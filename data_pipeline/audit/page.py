"""The audit as a page: Markdown, and HTML that needs nothing else. Text of the data is always escaped."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_pipeline.audit.limits import FIGURES, LIMITS, MIN_DOCUMENTS, MIN_PAIRS, OF_KIND, TEXTS
from judge.files import write_json, write_text
from judge.markdown import plain, table

TEMPLATE = Path(__file__).parent / "page.html.jinja"


def write_audit(found: Mapping[str, Any], out: Path, *, page: bool = True) -> list[Path]:
    """Write an audit to ``out``, a ``.md`` file, with a ``.json`` and (``page``) a ``.html`` file next to it.

    Returns:
        The files.
    """
    files = {out: markdown(found)}
    if page:
        files[out.with_suffix(".html")] = html_page(found)
    for path, text in files.items():
        write_text(path, text)
    data = out.with_suffix(".json")
    write_json(data, found)
    return [*files, data]


def html_page(found: Mapping[str, Any]) -> str:
    """One self-contained page, light or dark as the reader's system is; no script, nothing from elsewhere."""
    from jinja2 import Environment, StrictUndefined

    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters |= {"percent": percent, "number": number, "kind": kind_text, "edit": edit_text}
    template = engine.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(audit=found, figures=FIGURES, legend=legend(), few=(MIN_PAIRS, MIN_DOCUMENTS))


def percent(share: float | None) -> str:
    """A share as percent."""
    return "" if share is None else f"{100 * share:.1f} %"


def number(value: float | None) -> str:
    """A number with thousands apart; small ones with a decimal."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"


MARKS = {"within": "{:.2f}", "few": "({:.2f})", "unsure": "{:.2f} ?", "over": "{:.2f} !!"}
"""How Markdown shows a figure, by its verdict."""


def marked(figure: Mapping[str, Any] | None) -> str:
    """A figure as Markdown shows it; nothing where it could not be had."""
    return "" if figure is None else MARKS[figure["verdict"]].format(figure["value"])


def kind_text(row: Mapping[str, Any]) -> str:
    """The kind of a row, and which ones are pooled in it."""
    return pooled(row["kind"], row["kinds"])


def edit_text(row: Mapping[str, Any]) -> str:
    """The edit type of a row, and which ones are pooled in it; nothing for a whole kind."""
    return pooled(row["edit_type"] or "", row["edit_types"])


def pooled(name: str, names: Sequence[str]) -> str:
    """A name, or that of several with them."""
    return f"{name} ({', '.join(names)})" if len(names) > 1 else name


def legend() -> list[tuple[str, str]]:
    """What each figure is, with its limits."""
    found = []
    for key, name in FIGURES.items():
        others = [f"{limit:.2f} for {kind}" for (figure, kind), limit in OF_KIND.items() if figure == key]
        found.append((name, f"{TEXTS[key]} Limit {', '.join([f'{LIMITS[key]:.2f}', *others])}."))
    return found


def markdown(found: Mapping[str, Any]) -> str:
    """The tables of an audit."""
    lines = [f"# Audit of {plain(found.get('name', 'samples'))}", ""]
    lines.append(f"{found['samples']:,} samples about {found['documents']:,} documents.")
    lines += ["", "## Warnings", ""]
    lines += [f"- {plain(warning)}" for warning in found["warnings"]] or ["None."]
    lines += ["", "## Could a judge learn it without reading?", ""]
    lines += [f"- {name}: {text}" for name, text in legend()]
    lines += [
        "",
        f"At most {found['limit']:,} samples of each source, language and kind, by seed {found['seed']}; "
        "classifiers are cross-validated by document. 0.50 is chance; less means that the "
        "same answers are in both classes, and hides other differences. `!!` is over the limit with its "
        f"whole 95 % interval; `?` may be; in brackets, no verdict: fewer than {MIN_PAIRS} samples of a "
        f"label, or {MIN_DOCUMENTS} documents.",
        "",
    ]
    lines += _table(
        ["source", "language", "kind", "edit type", "looked at", *FIGURES.values()],
        [
            [row["source"], row["language"], kind_text(row), edit_text(row), number(row["looked_at"])]
            + [marked(row["figures"].get(name)) for name in FIGURES]
            for row in found["cells"]
        ],
    )
    if telling := [row for row in found["cells"] if any(row.get("ngrams", {}).values())]:
        lines += [
            "",
            "Words (characters in Chinese) that are much more frequent in one class of answers:",
            "",
        ]
        lines += _table(
            ["source", "language", "kind", "in PASS", "in FAIL"],
            [
                [row["source"], row["language"], kind_text(row)]
                + [", ".join(row["ngrams"].get(label, ())) for label in ("PASS", "FAIL")]
                for row in telling
            ],
        )
    lines += ["", "## Classes", ""]
    names = ("source", "task", "language", "split", "PASS", "FAIL", "none", "samples")
    lines += _table(names, [[row[name] for name in names] for row in found["classes"]])
    lines += ["", "## Lengths, in characters", ""]
    rows = []
    for row in found["lengths"]:
        for label, summary in [*row["answer"].items(), ("document", row["document"])]:
            what = "document" if label == "document" else f"answer, {label}"
            rows.append([row["source"], what, *(number(summary[name]) for name in summary)])
    lines += _table(["source", "of", "mean", "p5", "median", "p95"], rows)
    if found["edits"]:
        lines += ["", "## Edits", ""]
        lines += _table(
            ["source", "kind", "edit type", "samples", "share", "from the document"],
            [
                [
                    *(row[name] for name in ("source", "kind", "edit_type")),
                    number(row["samples"]),
                    *(percent(row[name]) for name in ("share", "from_document")),
                ]
                for row in found["edits"]
            ],
        )
    lines += _repeats(found)
    if gate := found.get("leaks"):
        compared = ", ".join(
            f"{plain(name)} ({facts['rows']:,} rows)" for name, facts in gate["benchmarks"].items()
        )
        absent = ", ".join(map(plain, gate["not_at_hand"])) or "none"
        lines += ["", "## Leak gate", ""]
        lines.append(
            f"{gate['dropped']:,} samples dropped. Compared with {compared}; not on this machine: {absent}."
        )
    lines += ["", "## Samples to look at", ""]
    for row in found["examples"]:
        lines.append(f"- **{plain(row['id'])}** {row['label'] or 'no label'}, {plain(row['why'])}")
        for name in ("question", "answer", "change", "document"):
            if row[name]:
                lines.append(f"  - {name}: {plain(str(row[name])[:400])}")
    return "\n".join(lines) + "\n"


def _repeats(found: Mapping[str, Any]) -> list[str]:
    lines = ["", "## Repeats", ""]
    for kind, what in (
        ("repeats", "the same sample twice"),
        ("conflicts", "the same text with the other label"),
    ):
        pairs = "; ".join(f"{plain(one)} = {plain(two)}" for one, two in found[kind]["first"])
        lines.append(f"- {what}: {found[kind]['count']:,}{f' ({pairs})' if pairs else ''}")
    lines.append(f"- about a document of another split: {found['in_two_splits']:,}")
    return lines


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return table(names, ([plain(cell) for cell in row] for row in rows), len(names))
