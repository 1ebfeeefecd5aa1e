"""``judge eval``: measure a judge, with the floors beside it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.errors import InputError
from judge.loading import Precision
from judge.types import Mode, Sample

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from eval.run import Progress

app = typer.Typer(add_completion=False)


def _names(benchmarks: str) -> list[str]:
    """The benchmarks of a comma list, each once; ``all`` stands for every whole one."""
    from eval.benchmarks import WHOLE, check_name

    names: list[str] = []
    for name in filter(None, (part.strip() for part in benchmarks.split(","))):
        names += WHOLE if name == "all" else [name]
    for name in names:
        check_name(name)
    return list(dict.fromkeys(names))


def _labelled(path: Path) -> list[Sample]:
    """The samples of a file, all of which must have a gold label."""
    from judge.samples import read_samples

    samples = list(read_samples(path))
    missing = next((sample.id for sample in samples if sample.label is None), None)
    if missing is not None:
        raise InputError(
            f"sample {missing!r} has none, and measuring needs gold labels (PASS or FAIL)",
            file=path,
            field="label",
        )
    return samples


def _sets(benchmarks: str, files: list[Path], data_dir: Path | None) -> dict[str, list[Sample]]:
    """Everything to measure on, by name; nothing is judged before all of it has been read."""
    from eval.benchmarks import load_benchmark

    names = _names(benchmarks)
    if not names and not files:
        raise InputError("nothing to measure on; give --benchmarks NAME,... or --samples FILE")
    sets = {name: load_benchmark(name, data_dir) for name in names}
    for path in dict.fromkeys(files):
        sets[path.name if path.name not in sets else str(path)] = _labelled(path)
    return sets


def _follow(bar: "Bar", name: str, total: int) -> "Progress":
    """A line of the progress bar, moved by the function that is returned."""
    row = bar.add_task(name, total=total)

    def update(done: int, _: int) -> None:
        bar.update(row, completed=done)

    return update


def evaluate_command(
    model: Annotated[str, typer.Option(help="A Hub id, a local folder, or floor:NAME.")],
    benchmarks: Annotated[str, typer.Option(help="Comma list of benchmarks, or 'all'.")] = "",
    samples: Annotated[list[Path] | None, typer.Option(help="File of labelled samples; repeatable.")] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(envvar="JUDGE_DATA_DIR", help="One folder per benchmark; else from the Hub."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Draw so many of each set, stratified.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw and of the intervals.")] = 0,
    mode: Annotated[Mode, typer.Option(help="One label word, or reasoning first.")] = "verdict",
    template: Annotated[Path | None, typer.Option(help="Jinja file with the judge's own prompt.")] = None,
    precision: Annotated[Precision, typer.Option(help="Number format of the weights.")] = "auto",
    floor_data: Annotated[Path | None, typer.Option(help="Labelled samples to fit the floors on.")] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals; 0 for none.")] = 1000,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens in one batch.")] = None,
    max_new_tokens: Annotated[int | None, typer.Option(min=1, help="Limit of the judge's output.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json and verdicts.jsonl.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a result in --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON on stdout.")] = False,
) -> None:
    """Measure a judge on benchmarks or on samples of your own, with the trivial rules beside it.

    An interrupted run is continued when it is called again with the same --out.
    """
    from rich.console import Console
    from rich.progress import Progress as Bar

    from eval import report as reporting
    from eval.run import evaluate
    from eval.sampling import take
    from eval.verdicts import check_out
    from judge.floors import FLOORS, make_floor
    from judge.judge import MAX_NEW_TOKENS, load_judge

    if model.startswith("floor:") and (template is not None or mode != "verdict"):
        raise InputError(f"{model} reads no prompt and gives no reasoning; leave --template and --mode away")
    fit_on = None if floor_data is None else _labelled(floor_data)
    floors = [make_floor(name, fit_on) for name in FLOORS]
    if out is not None and not overwrite:
        check_out(out)
    sets = {
        name: take(found, limit, seed) for name, found in _sets(benchmarks, samples or [], data_dir).items()
    }
    judge = load_judge(
        model,
        mode=mode,
        template=template,
        precision=precision,
        max_new_tokens=max_new_tokens or MAX_NEW_TOKENS,
        batch_tokens=batch_tokens,
        floor_data=fit_on,
    )
    if out is not None and overwrite:
        check_out(out, overwrite)

    reports = []
    with Bar(console=Console(stderr=True), transient=True) as bar:
        for name, chosen in sets.items():
            reports.append(
                evaluate(
                    judge, name, chosen, floors, out, bootstrap=bootstrap, seed=seed, limit=limit,
                    progress=_follow(bar, name, len(chosen)),
                )
            )  # fmt: skip
    if out is not None:
        reporting.write_reports(out, reports)
    console = Console(stderr=as_json)
    for table in reporting.console_table(reports):
        console.print(table)
    if as_json:
        typer.echo(json.dumps(reporting.as_json(reports), ensure_ascii=False, indent=2))


app.command("evaluate")(evaluate_command)
