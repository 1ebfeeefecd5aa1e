"""Put the figures of ``make test-gpu`` into ``docs/research/performance.md``, between its two markers.

    python -m tests.gpu.performance_page [--results results/gpu.json] [--page docs/research/performance.md]

Every figure of the section comes from the file; without a file the section says that none was measured yet.
Figures of a rehearsal on a CPU are refused.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Table:
    """The figures of one group: what they are, and the columns, each a figure's name and a format."""

    title: str
    about: str
    columns: Mapping[str, tuple[str, str]]


TABLES = {
    "doctor": Table(
        "Memory that `judge doctor` estimates",
        "The peak is what PyTorch reserved and what CUDA's context took.",
        {
            "tokens": ("tokens", "d"),
            "precision": ("precision", "s"),
            "peak_gib": ("peak, GiB", ".2f"),
            "estimate_gib": ("estimate, GiB", ".2f"),
        },
    ),
    "exactness": Table(
        "Exactness of tree training",
        "Relative differences from TRL's own trainer; in brackets those of TRL with itself, its rows padded "
        "otherwise.",
        {
            "loss": ("loss", "pair"),
            "log-probabilities": ("log-probabilities", "pair"),
            "gradients": ("gradients", "pair"),
        },
    ),
    "training": Table(
        "Training speed and memory against TRL",
        "LoRA rank 16 on random weights; pairs (`dpo-`) or rows (`sft-`) a second, peak memory in MiB. An "
        "empty cell did not fit, or did not run.",
        {
            "batch": ("batch", "d"),
            "precision": ("precision", "s"),
            "tokens": ("mean tokens", ".0f"),
            "trees_rate": ("trees, 1/s", ".2f"),
            "trl_rate": ("TRL, 1/s", ".2f"),
            "ratio": ("ratio", ".2f"),
            "trees_mib": ("trees, MiB", ".0f"),
            "trl_mib": ("TRL, MiB", ".0f"),
        },
    ),
    "capped": Table(
        "The T4's recipe under a cap",
        "`recipes/t4-qlora-qwen2.5-7b` in float16 on random weights of 7B, full rows, with PyTorch held to "
        "the cap. The estimate is `judge doctor`'s for a T4.",
        {
            "cap_gib": ("cap, GiB", ".1f"),
            "peak_gib": ("peak, GiB", ".2f"),
            "estimate_gib": ("estimate, GiB", ".2f"),
            "steps": ("steps", "d"),
        },
    ),
    "qlora": Table(
        "QLoRA: SFT, DPO from its adapter, judged",
        "Largest distance from the SFT judge at DPO's step 0, in log-probability of a reply.",
        {
            "policy": ("policy", ".1e"),
            "reference": ("reference", ".1e"),
            "first_loss": ("first loss", ".4f"),
            "samples": ("samples", "d"),
            "p_fail_moved_by": ("DPO moved `p_fail` by", ".4f"),
        },
    ),
    "merge": Table(
        "Merging an adapter",
        "Host memory above what the imports took; `p_fail` of the merged judge against the adapter's.",
        {
            "seconds": ("seconds", ".1f"),
            "peak_gib": ("peak, GiB", ".2f"),
            "largest_file_gib": ("largest file, GiB", ".2f"),
            "p_fail_apart": ("`p_fail` apart at most", ".5f"),
            "p_fail_spread": ("spread of `p_fail`", ".3f"),
        },
    ),
    "agree": Table(
        "Engines against transformers on the GPU",
        "float32; seconds include starting Python and loading the model, but for the server.",
        {
            "samples": ("samples", "d"),
            "same_labels": ("same labels", "d"),
            "p_fail_apart": ("`p_fail` apart at most", ".5f"),
            "p_fail_spread": ("spread of `p_fail`", ".3f"),
            "seconds": ("seconds", ".0f"),
        },
    ),
    "judging": Table(
        "Judging speed",
        "Documents of some 700 tokens. Utilization: time in which any kernel ran. Share: of the rate of a "
        "large matrix product in the same format, embeddings and attention not counted.",
        {
            "rows": ("rows", "d"),
            "precision": ("precision", "s"),
            "samples_s": ("samples/s", ".1f"),
            "tokens_s": ("prompt tokens/s", ".0f"),
            "utilization": ("utilization, %", ".0f"),
            "share": ("share", ".0%"),
        },
    ),
    "serve": Table(
        "`judge serve` under load",
        "Samples a second directly and over HTTP; latency in seconds.",
        {
            "direct": ("direct, 1/s", ".1f"),
            "server": ("server, 1/s", ".1f"),
            "part": ("part", ".0%"),
            "p50": ("p50", ".2f"),
            "p95": ("p95", ".2f"),
            "p99": ("p99", ".2f"),
            "failures": ("failures", "d"),
        },
    ),
}


def cell(value: Any, kind: str) -> str:
    """One figure; empty where there is none."""
    if value is None:
        return ""
    if kind == "pair":
        return f"{value[0]:.1e} ({value[1]:.1e})"
    return format(value, kind)


def table(spec: Table, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Markdown; columns that no row has a figure for are left out."""
    columns = [
        (name, title, kind)
        for name, (title, kind) in spec.columns.items()
        if any(figures.get(name) is not None for figures in rows.values())
    ]
    lines = [f"| | {' | '.join(title for _, title, _ in columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for row, figures in rows.items():
        cells = [cell(figures.get(name), kind) for name, _, kind in columns]
        lines.append(f"| {row} | {' | '.join(cells)} |")
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
            if result["about"]["kind"] != "cuda" or group not in TABLES:
                raise InputError(f"{device}: {name} is not a figure of a GPU that this page shows")
            groups.setdefault(group, {})[row] = result["figures"]
        for group, spec in TABLES.items():
            if group in groups:
                parts.append(f"**{spec.title}.** {spec.about}\n\n{table(spec, groups[group])}")
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
