"""Put the figures of ``make test-gpu`` into ``docs/research/performance.md``, between its two markers.

    python -m tests.gpu.performance_page [--results results/gpu.json] [--page docs/research/performance.md]

Every figure of the section comes from the file; without a file the section says that none was measured yet.
Figures of a rehearsal on a CPU are refused.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import write_text

BEGIN, END = "<!-- gpu figures: begin -->", "<!-- gpu figures: end -->"
NOTHING = (
    "None has been measured yet. `make test-gpu` measures on one GPU, in under 40 minutes, and writes "
    "`results/gpu.json`;\n`python -m tests.gpu.performance_page` then puts its figures here."
)
MADE = "Made by `make test-gpu` and `python -m tests.gpu.performance_page`; do not edit by hand."


TITLES = {
    "doctor": "Memory that `judge doctor` estimates; peak: what PyTorch reserved and CUDA's context took",
    "exactness": "Relative differences of tree training from TRL's own trainer; then of TRL with itself",
    "training": "Training against TRL, LoRA rank 16 on random weights: pairs or rows a second; "
    "an empty cell did not fit, or did not run",
    "capped": "`recipes/t4` on random weights under a cap; the estimate is for a T4",
    "qlora": "QLoRA, DPO from its adapter: largest distance from the SFT judge at step 0, in log-probability",
    "merge": "Merging an adapter: host memory above what the imports took; `p_fail` against the adapter's",
    "agree": "Engines against transformers in float32; seconds include starting Python, but for the server",
    "judging": "Judging documents of some 700 tokens; utilization: time in which a kernel ran; share: of the "
    "rate of a large matrix product in the same format",
    "serve": "`judge serve` under load: samples a second directly and over HTTP; latency in seconds",
}


def cell(value: Any) -> str:
    """One figure, a float with three digits that count; empty where there is none."""
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    return "" if value is None else format(value, ".3g" if isinstance(value, float) else "")


def table(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown; columns that no row has a figure for are left out."""
    known = dict.fromkeys(name for figures in rows.values() for name in figures)
    names = [name for name in known if any(figures.get(name) is not None for figures in rows.values())]
    lines = [f"| | {' | '.join(names).replace('_', ' ')} |", f"| --- |{' ---: |' * len(names)}"]
    for row, figures in rows.items():
        lines.append(f"| {row} | {' | '.join(cell(figures.get(name)) for name in names)} |")
    return "\n".join(lines)


def conditions(about: Mapping[str, Any]) -> str:
    """When and with what figures were measured."""
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return f"{about['date']}, {about['memory_gib']} GiB, driver {about['driver']}, {versions}"


def section(results: Mapping[str, Any]) -> str:
    """The whole section, device by device.

    Raises:
        InputError: figures are of no GPU, or of a group that the page does not know.
    """
    parts = [MADE]
    for device, found in results.items():
        parts.append(f"### {device}")
        parts.append(
            "\n".join(f"- {line}" for line in sorted({conditions(r["about"]) for r in found.values()}))
        )
        groups: dict[str, dict[str, Any]] = {}
        for name, result in found.items():
            group, _, row = name.partition("/")
            if result["about"]["kind"] != "cuda" or group not in TITLES:
                raise InputError(f"{device}: {name} is not a figure of a GPU that this page shows")
            groups.setdefault(group, {})[row] = result["figures"]
        parts += [f"{TITLES[group]}.\n\n{table(groups[group])}" for group in TITLES if group in groups]
    return "\n\n".join(parts)


def fill(page: Path, results: Path) -> None:
    """Write the section into the page, in place of the one that is there.

    Raises:
        InputError: the page lacks its markers, or the file holds what does not belong there.
    """
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(f"lacks {BEGIN} and {END}", file=page)
    found = json.loads(results.read_text(encoding="utf-8")) if results.is_file() else {}
    body = section(found) if found else NOTHING
    write_text(page, f"{before}{BEGIN}\n\n{body}\n\n{END}{after}")


def main() -> None:
    """Fill the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("results/gpu.json"))
    parser.add_argument("--page", type=Path, default=Path("docs/research/performance.md"))
    parsed = parser.parse_args()
    try:
        fill(parsed.page, parsed.results)
    except InputError as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main()
