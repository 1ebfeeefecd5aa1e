"""``judge annotate``: label samples on a local page. ``judge agreement``: how far annotators agree."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from judge.errors import InputError, require

app = typer.Typer(add_completion=False)
agreement = typer.Typer(add_completion=False)

HOST = "127.0.0.1"
SAMPLES = "A file of samples, or the name of a benchmark."
DATA_DIR = typer.Option(envvar="JUDGE_DATA_DIR", help="One folder per benchmark; else from the Hub.")


@app.command("annotate")
def annotate_command(
    samples: Annotated[str, typer.Argument(help=SAMPLES)],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8010,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for one file an annotator; runs/annotations/NAME. What is there goes on."),
    ] = None,
    per_source: Annotated[
        int | None, typer.Option(min=1, help="Draw so many of each source, sources mixed (Lynx: 50).")
    ] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source; repeatable.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    types: Annotated[
        str, typer.Option(help="Comma list of types that marks must name, or 'diahalu' for its five.")
    ] = "",
    data_dir: Annotated[Path | None, DATA_DIR] = None,
) -> None:
    """Serve a page on this machine to say PASS, FAIL or unsure of each sample and to mark what is wrong.

    Any number of annotators, one after the other or at once; each has a file and goes on where they stopped.
    Nothing leaves this machine. Ends with Ctrl-C.
    """
    require("judge annotate", "serve", "fastapi", "uvicorn")
    import uvicorn

    from eval.annotation.app import create_app
    from eval.annotation.work import Work, draw, load
    from judge.serving.listening import address_of, listen_on, run_until_stopped

    chosen = draw(load(samples, data_dir), per_source, source or (), seed)
    title = Path(samples).name.split(".")[0]
    folder = out or Path("runs") / "annotations" / title
    with Work(chosen, folder, _types(types)) as work, listen_on(HOST, port) as listener:
        config = uvicorn.Config(
            create_app(work, title), log_level="warning", access_log=False, server_header=False
        )
        listener.listen()
        typer.echo(f"{len(chosen)} samples to annotate at http://{address_of(listener)}")
        typer.echo(f"annotations go to {folder}; Ctrl-C ends")
        run_until_stopped(config, listener)


def _types(given: str) -> tuple[str, ...]:
    from eval.benchmarks.diahalu import TYPES

    found = tuple(dict.fromkeys(filter(None, (part.strip() for part in given.split(",")))))
    return TYPES if found == ("diahalu",) else found


@agreement.command("agreement")
def agreement_command(
    files: Annotated[list[Path], typer.Argument(help="Files that `judge annotate` wrote.")],
    with_unsure: Annotated[
        bool, typer.Option("--with-unsure", help="Count 'unsure' as a label; else as not labelled.")
    ] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    samples: Annotated[
        str | None, typer.Option(help="What was annotated (file or benchmark), for the three files below.")
    ] = None,
    disagreements: Annotated[
        Path | None, typer.Option(help="Write the samples to look at, to annotate them again.")
    ] = None,
    labelled: Annotated[Path | None, typer.Option(help="Write samples with the majority's labels.")] = None,
    diahalu: Annotated[
        Path | None, typer.Option(help="Write dialogues in DiaHalu's form (DiaHalu_Bench.jsonl).")
    ] = None,
    data_dir: Annotated[Path | None, DATA_DIR] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON on stdout.")] = False,
) -> None:
    """Raw agreement, Cohen's and Fleiss' kappa and Krippendorff's alpha, by source; and the disagreements."""
    from rich.console import Console

    from eval.annotation.agreement import measure
    from eval.annotation.gold import decide, diahalu_rows
    from eval.annotation.gold import labelled as with_labels
    from eval.annotation.records import read_annotations
    from eval.annotation.tables import agreement_tables
    from eval.annotation.work import load
    from eval.tables import print_table
    from judge.files import write_jsonl
    from judge.samples import write_samples

    annotations = read_annotations(files)
    report = measure(annotations, with_unsure=with_unsure, resamples=bootstrap, seed=seed)
    if as_json:
        typer.echo(json.dumps(asdict(report), ensure_ascii=False, indent=2))
    else:
        for table in agreement_tables(report):
            print_table(Console(), table)
    if samples is None:
        if disagreements or labelled or diahalu:
            raise InputError("give --samples: what was annotated")
        return
    annotated = load(samples, data_dir)
    decided, open_ = decide(annotated, annotations)
    if disagreements is not None:
        wanted = {item.id for item in report.disagreements}
        count = write_samples(disagreements, (sample for sample in annotated if sample.id in wanted))
        typer.echo(f"{disagreements}: {count} samples to look at", err=True)
    if labelled is not None:
        typer.echo(f"{labelled}: {write_samples(labelled, with_labels(decided))} samples", err=True)
    if diahalu is not None:
        typer.echo(f"{diahalu}: {write_jsonl(diahalu, diahalu_rows(decided))} dialogues", err=True)
    if open_ and (labelled or diahalu):
        typer.echo(f"left out, no majority: {len(open_)} ({', '.join(open_[:5])}, ...)", err=True)
