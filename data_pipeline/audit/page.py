"""The audit as a page: Markdown, and HTML that needs nothing else. Text of the data is always escaped."""

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.files import write_json, write_text

TEMPLATE = Path(__file__).parent / "page.html.jinja"
_MARKS = re.compile(r"([\\`*_\[\]|])")


def write_audit(found: Mapping[str, Any], out: Path, *, page: bool = True) -> list[Path]:
    """Write an audit to ``out``, a ``.md`` file, with a ``.json`` and (``page``) a ``.html`` file beside it.

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
    engine.filters |= {"percent": percent, "number": number, "auroc": auroc}
    template = engine.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(audit=found, rules=RULES, limits=LIMITS)


def percent(share: float | None) -> str:
    """A share as percent."""
    return "" if share is None else f"{100 * share:.1f} %"


def number(value: float | None) -> str:
    """A number with thousands apart; small ones with a decimal."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"


def auroc(value: float | None) -> str:
    """An AUROC, or that there is none."""
    return "-" if value is None else f"{value:.3f}"


def plain(text: object) -> str:
    """A text as one line of Markdown that shows it and nothing else."""
    return _MARKS.sub(r"\\\1", html.escape(" ".join(str(text).split()), quote=False))


def markdown(found: Mapping[str, Any]) -> str:
    """The tables of an audit."""
    lines = [f"# Audit of {plain(found.get('name', 'samples'))}", ""]
    lines.append(f"{found['samples']:,} samples about {found['documents']:,} documents.")
    lines += ["", "## Warnings", ""]
    lines += [f"- {plain(warning)}" for warning in found["warnings"]] or ["None."]
    lines += ["", "## Could a judge learn it without reading?", ""]
    lines.append(
        "Cross-validated AUROC of trivial rules, folds parted by document. 0.5 is chance; less means that "
        "the same answers stand in both classes, and hides what else is there. Limits: "
        + ", ".join(f"{rule} {most:.2f}" for rule, most in LIMITS.items())
        + f". At most {found['limit']:,} samples of a source, drawn with seed {found['seed']}."
    )
    lines.append("")
    lines += _table(
        ["source", "samples", "fitted on", *RULES, "telling in PASS", "telling in FAIL"],
        [
            [row["source"], number(row["samples"]), number(row["fitted_on"]), *(auroc(row[r]) for r in RULES)]
            + [", ".join(row["ngrams"].get(label, ())) for label in ("PASS", "FAIL")]
            for row in found["shortcuts"]
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
            ["source", "edit type", "samples", "share", "from the document", "told from its twin"],
            [
                [
                    row["source"],
                    row["edit_type"],
                    number(row["samples"]),
                    *(percent(row[name]) for name in ("share", "from_document", "told_from_twin")),
                ]
                for row in found["edits"]
            ],
        )
    lines += _repeats(found)
    if found.get("tokens"):
        lines += ["", f"## Tokens of {plain(found['tokens']['model'])}", ""]
        lines += [f"Its context has {found['tokens']['context']:,} tokens.", ""]
        names = ("file", "rows", "mean", "p5", "median", "p95", "most", "over")
        lines += _table(
            names,
            [
                [number(v) if v != row["file"] else v for v in row.values()]
                for row in found["tokens"]["files"]
            ],
        )
    if gate := found.get("leaks"):
        compared = ", ".join(
            f"{plain(name)} ({facts['rows']:,} rows)" for name, facts in gate["benchmarks"].items()
        )
        absent = ", ".join(map(plain, gate["not_at_hand"])) or "none"
        lines += ["", "## Leak gate", ""]
        lines.append(f"{gate['dropped']:,} samples dropped. Compared with {compared}; not at hand: {absent}.")
    lines += ["", "## Samples to look at", ""]
    for row in found["examples"]:
        lines.append(f"- **{plain(row['id'])}** {row['label'] or 'no label'}, {plain(row['why'])}")
        for name in ("question", "answer", "change", "document"):
            if row[name]:
                lines.append(f"  - {name}: {plain(str(row[name])[:400])}")
    return "\n".join(lines) + "\n"


def _repeats(found: Mapping[str, Any]) -> list[str]:
    lines = ["", "## Repeats", ""]
    for kind, what in (("repeats", "the same sample again"), ("conflicts", "the same text, the other label")):
        pairs = "; ".join(f"{plain(one)} = {plain(two)}" for one, two in found[kind]["first"])
        lines.append(f"- {what}: {found[kind]['count']:,}{f' ({pairs})' if pairs else ''}")
    lines.append(f"- about a document of another split: {found['in_two_splits']:,}")
    return lines


def _table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    lines = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names)]
    return [*lines, *(f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows)]
