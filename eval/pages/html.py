"""A report as one HTML page with style, script and data inside; its security policy blocks all loading."""

import base64
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from eval.open_factual.report import TITLE, answer_tables
from eval.open_factual.results import Answered
from eval.pages.markdown import NOTE, rerun
from eval.pages.pairs import compare_all
from eval.pages.payload import pack
from eval.pages.runs import Run, SampleSet
from eval.pages.slices import confusion, histogram, slices
from eval.pages.standings import main_figure, standings, unbeaten
from eval.pages.tables import set_tables
from eval.tables import Share, percent, points, shown

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("dom.js", "leaderboard.js", "charts.js", "judge.js", "pairs.js", "samples.js", "page.js")
SORTING = ("dom.js", "leaderboard.js")
"""The scripts of a page that has only tables."""


def html_page(sets: Sequence[SampleSet], answers: Sequence[Answered] = ()) -> str:
    """The page; ``answers`` are results of open-factual-bench, where models answer themselves.

    All text of results is escaped by the template engine, or inserted as text by the script.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters |= {"percent": percent, "points": points, "shown": shown}
    engine.tests["share"] = lambda cell: isinstance(cell, Share)
    template = engine.from_string(_asset("page.html.jinja"))
    style = _asset("page.css")
    parts = "".join(map(_asset, SCRIPTS)) if sets else "".join(map(_asset, SORTING)) + "startTables();\n"
    script = '(() => {\n"use strict";\n' + parts + "})();\n"
    lines, packed = standings(sets), pack(sets)
    runs = [run for group in sets for run in group.runs]
    return template.render(
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 (our own file)
        script=Markup(script),  # noqa: S704 (our own files)
        summary=Markup(_json(_summary(sets))),  # noqa: S704 (escaped by _json)
        payload=packed,
        sets=sets,
        runs=runs,
        judges=len({run.report.name for run in runs}),
        lines=lines,
        compared=[line for line in lines if line.lift is not None],
        unbeaten=unbeaten(lines),
        main_figure=main_figure,
        answers=answer_tables(answers) if answers else [],
        answers_title=TITLE,
        tables={group.name: set_tables(group) for group in sets},
        rerun=rerun,
        note=NOTE,
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """A content security policy source that allows exactly this text."""
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """JSON that cannot close the HTML element around it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _summary(sets: Sequence[SampleSet]) -> dict[str, Any]:
    """The data of the charts; runs are numbered across all sets."""
    found: dict[str, Any] = {"sets": [], "runs": []}
    for place, group in enumerate(sets):
        numbers = [len(found["runs"]) + position for position in range(len(group.runs))]
        found["sets"].append({"name": group.name, "runs": numbers, "pairs": _pairs(group)})
        found["runs"] += [_run(run, place) for run in group.runs]
    return found


def _run(run: Run, place: int) -> dict[str, Any]:
    calibration = run.report.calibration
    return {
        "name": run.name,
        "set": place,
        "n": run.report.metrics.n,
        "scored": calibration.n,
        "ece": calibration.ece,
        "by_chance": calibration.ece_chance,
        "bins": [[part.p_fail, part.share_fail, part.n] for part in calibration.bins],
        "selective": [[step.coverage, step.accuracy] for step in calibration.selective],
        "histogram": {label.value: counts for label, counts in histogram(run.judged).items()},
        "confusion": {label.value: counts for label, counts in confusion(run.judged).items()},
        "slices": [
            [title, [[part.name, part.n, part.accuracy, *part.interval] for part in parts]]
            for title, parts in slices(run.judged).items()
        ],
        "judged": len(run.judged),
    }


def _pairs(group: SampleSet) -> list[list[Any]]:
    """One row per pair: both positions, the four counts, McNemar's p, and figures with differences."""
    return [
        [
            one, two, pair.both_right, pair.only_first_right, pair.only_second_right, pair.both_wrong,
            pair.p_value,
            [
                [row.figure, row.first, row.second, row.difference, *(row.interval or (None, None))]
                for row in pair.differences
            ],
        ]
        for (one, two), pair in compare_all(group).items()
    ]  # fmt: skip
