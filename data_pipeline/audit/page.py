"""The audit as a self-contained HTML page. Text from the data is always escaped."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data_pipeline.audit.limits import FIGURES, LIMITS, MIN_DOCUMENTS, MIN_PAIRS, OF_KIND, TEXTS
from judge.files import write_json, write_text

TEMPLATE = Path(__file__).parent / "page.html.jinja"


def write_audit(found: Mapping[str, Any], out: Path) -> list[Path]:
    """Write an audit to ``out``, a ``.html`` file, with a ``.json`` file next to it; returns both."""
    data = out.with_suffix(".json")
    write_text(out, html_page(found))
    write_json(data, found)
    return [out, data]


def html_page(found: Mapping[str, Any]) -> str:
    """One page, light or dark like the reader's system, without scripts or external resources."""
    from jinja2 import Environment, StrictUndefined

    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters |= {"percent": percent, "number": number, "pooled": pooled}
    template = engine.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(audit=found, figures=FIGURES, legend=legend(), few=(MIN_PAIRS, MIN_DOCUMENTS))


def percent(share: float | None) -> str:
    """A share as percent."""
    return "" if share is None else f"{100 * share:.1f} %"


def number(value: float | None) -> str:
    """A number with thousands separators; fractions below 100 keep one decimal."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:,.1f}"


def pooled(name: str, names: Sequence[str]) -> str:
    """A name, followed by the names pooled in it if there are several."""
    return f"{name} ({', '.join(names)})" if len(names) > 1 else name


def legend() -> list[tuple[str, str]]:
    """The name of each figure, and its description with limits."""
    found = []
    for key, name in FIGURES.items():
        others = [f"{limit:.2f} for {kind}" for (figure, kind), limit in OF_KIND.items() if figure == key]
        found.append((name, f"{TEXTS[key]} Limit {', '.join([f'{LIMITS[key]:.2f}', *others])}."))
    return found
