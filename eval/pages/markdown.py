"""A report as Markdown: the tables, and the commands that reproduce the results."""

from collections.abc import Iterator, Sequence

from eval.open_factual import report as open_factual
from eval.open_factual.results import Answered
from eval.pages.pairs import compare_all, pair_table
from eval.pages.runs import Run, SampleSet
from eval.pages.standings import standings
from eval.pages.tables import leaderboard, set_tables
from eval.report import decoding_text
from eval.tables import table_blocks, table_lines
from judge.markdown import plain

NOTE = (
    "Percent, with 95 % intervals by bootstrap over documents; precision, recall and F1 are those of FAIL, "
    "the hallucinated class. An unparsed verdict counts as wrong."
)


def markdown(sets: Sequence[SampleSet], answers: Sequence[Answered] = ()) -> str:
    """The report on results of judges and of models that answer; contains no text of samples."""
    blocks = [*_blocks(sets)] if sets else []
    if answers:
        blocks.append(open_factual.markdown(answers, "##" if sets else "#"))
    return "\n\n".join(blocks) + "\n"


def rerun(run: Run) -> dict[str, str]:
    """What is needed to reproduce a result, and to check that it is the same."""
    report = run.report
    facts = {
        "command": report.command,
        "date": report.date,
        "data": report.data_hash,
        "seed": f"{report.seed}" + ("" if report.limit is None else f", limit {report.limit}"),
        **{
            name.replace("_", " "): str(report.judge[name])
            for name in ("model", "revision", "weights", "prompt_version", "prompt_hash", "sha256")
            if report.judge.get(name)
        },
        "decoding": decoding_text(report.judge),
        "hardware": ", ".join(f"{name} {value}" for name, value in report.hardware.items() if value),
        "versions": ", ".join(f"{name} {value}" for name, value in report.versions.items()),
        "wall time": f"{report.wall_seconds:,.1f} s",
        "folder": str(run.folder),
    }
    return {name: value for name, value in facts.items() if value}


def _blocks(sets: Sequence[SampleSet]) -> Iterator[str]:
    count = sum(len(group.runs) for group in sets)
    yield f"# Hallucination judges: {count} result{'' if count == 1 else 's'}"
    yield NOTE
    yield "## Leaderboard"
    yield table_lines(leaderboard(standings(sets)))
    for group in sets:
        report = group.report
        yield f"## {plain(group.name)}"
        yield f"{plain(report.title)}: {report.metrics.n_pass:,} PASS, {report.metrics.n_fail:,} FAIL."
        pairs = pair_table(group, compare_all(group))
        for table in (*set_tables(group), *([pairs] if pairs.rows else [])):
            yield from table_blocks(table)
    yield "## Made by"
    for group in sets:
        for run in group.runs:
            facts = rerun(run)
            command = facts.pop("command").replace("\n", "\n    ")
            yield f"**{plain(run.name)}** on {plain(group.name)}"
            yield f"    {command}"
            yield "\n".join(f"- {name}: {plain(value)}" for name, value in facts.items())
