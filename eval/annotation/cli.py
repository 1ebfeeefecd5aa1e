"""``judge annotate``: samples for Label Studio. ``judge agreement``: how far its annotators agree."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from judge.cli.options import COLUMNS, DATA_DIR, GOLD_LABELS, parse_columns, parse_gold_labels, parse_names
from judge.errors import InputError, counted, unknown
from judge.rows import check_jsonl_outputs
from judge.types import Sample

MOST = 20
"""Disagreements shown; ``--json`` has all of them."""


def annotate_command(
    samples: Annotated[str, typer.Argument(help="A file of samples, or the name of a benchmark.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder to write to; runs/annotations/NAME.")
    ] = None,
    per_source: Annotated[
        int | None, typer.Option(min=1, help="Draw this many of each source, sources mixed (Lynx: 50).")
    ] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only this source; repeatable.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw.")] = 0,
    types: Annotated[
        str | None, typer.Option(help="Comma list of types that marks must name, or 'diahalu' for its five.")
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="Verdicts of judge batch: annotators see their reasonings.")
    ] = None,
    columns: COLUMNS = None,
    data_dir: DATA_DIR = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the tasks in --out.")] = False,
) -> None:
    """Write samples as tasks for Label Studio, with a labelling config: PASS, FAIL or unsure, and marks.

    Annotators see neither the labels of the data set nor, but for --verdicts, what a judge says.
    """
    from eval.annotation.label_studio import labelling_config, make_tasks
    from eval.benchmarks.diahalu import TYPES
    from judge.files import read_jsonl, write_json, write_text

    named = parse_names(types, "--types")
    chosen = _draw(_load(samples, data_dir, columns, labelled=False), per_source, source or [], seed)
    reasonings = {}
    for line, row in () if verdicts is None else read_jsonl(verdicts):
        if not isinstance(row.get("id"), str | int):
            raise InputError("is not the id of a verdict", file=verdicts, line=line, field="id")
        verdict = row.get("verdict", row)  # of judge eval, or of judge batch
        reasoning = verdict.get("reasoning") if isinstance(verdict, dict) else None
        reasonings[str(row["id"])] = str(reasoning or "")
    if verdicts is not None and not any(reasonings.get(sample.id) for sample in chosen):
        raise InputError("holds no reasoning about these samples; judge them in reason mode", file=verdicts)
    folder = out or Path("runs") / "annotations" / Path(samples).name.split(".")[0]
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file; give a folder", file=folder, field="--out")
    if (folder / "tasks.json").exists() and not overwrite:
        raise InputError("holds tasks already; choose another --out, or add --overwrite", file=folder)
    questions = any(sample.question for sample in chosen)
    config = labelling_config(TYPES if named == ["diahalu"] else named, questions, bool(reasonings))
    write_json(folder / "tasks.json", make_tasks(chosen, reasonings))
    write_text(folder / "config.xml", config)
    typer.echo(
        f"{folder / 'tasks.json'}: {counted(len(chosen), 'sample')} to import in Label Studio, in a project"
    )
    typer.echo(f"with {folder / 'config.xml'} as its labelling config; export it as JSON for judge agreement")


def _load(
    name: str,
    data_dir: Path | None,
    columns: str | None = None,
    gold_labels: str | None = None,
    labelled: bool = True,
) -> list[Sample]:
    """The samples of a file, or of a benchmark by its name; see :func:`judge.samples.read_samples`."""
    from eval.benchmarks import BENCHMARKS, load_benchmark
    from judge.columns import find_columns
    from judge.samples import read_samples

    if name in BENCHMARKS:
        return load_benchmark(name, data_dir)
    if not Path(name).suffix:
        raise InputError(unknown("benchmark", name, BENCHMARKS) + "; or give a file of samples")
    means = parse_gold_labels(gold_labels)
    named = find_columns(Path(name), parse_columns(columns))
    return list(read_samples(name, named, labels=means, labelled=labelled))


def _draw(samples: list[Sample], per_source: int | None, sources: list[str], seed: int) -> list[Sample]:
    """Some samples of each source, stratified by label (Lynx, Table 2: 50 of each of four sets).

    They are shuffled with the seed, so that an annotator who stops half-way has seen all sources.
    """
    import random

    from eval.sampling import take

    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(sample.source, []).append(sample)
    for source in sources:
        if source not in parts:
            raise InputError(unknown("source", source, filter(None, parts)), field="--source")
    chosen = [sample for sample in samples if not sources or sample.source in sources]
    if per_source is None:
        return chosen
    drawn = [
        sample
        for source in dict.fromkeys(sources or parts)
        for sample in take(parts[source], per_source, seed)
    ]
    random.Random(seed).shuffle(drawn)
    return drawn


def agreement_command(
    files: Annotated[list[Path], typer.Argument(help="Exports (JSON) of Label Studio.")],
    with_unsure: Annotated[
        bool, typer.Option("--with-unsure", help="Count 'unsure' as a label; else as not labelled.")
    ] = False,
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples for intervals; 0 for none.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals.")] = 0,
    samples: Annotated[
        str | None,
        typer.Option(help="What was annotated (file or benchmark): its labels, and for the files below."),
    ] = None,
    disagreements: Annotated[
        Path | None, typer.Option(help="Write the samples to look at, to annotate them again.")
    ] = None,
    labelled: Annotated[Path | None, typer.Option(help="Write samples with the majority's labels.")] = None,
    diahalu: Annotated[
        Path | None, typer.Option(help="Write dialogues in DiaHalu's form (DiaHalu_Bench.jsonl).")
    ] = None,
    columns: COLUMNS = None,
    gold_labels: GOLD_LABELS = None,
    data_dir: DATA_DIR = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON on stdout.")] = False,
) -> None:
    """Raw agreement, Cohen's and Fleiss' kappa and Krippendorff's alpha, by source; and the disagreements."""
    from rich.console import Console

    from eval.annotation.agreement import agreement_table, measure
    from eval.annotation.agreement import disagreements as disagreed
    from eval.annotation.dialogues import statistics, statistics_table
    from eval.annotation.gold import decide, diahalu_rows
    from eval.annotation.gold import labelled as with_labels
    from eval.annotation.label_studio import read_exports
    from eval.benchmarks.diahalu import read_dialogues
    from eval.tables import print_table
    from judge.files import write_jsonl
    from judge.samples import write_samples

    outputs = [path for path in (disagreements, labelled, diahalu) if path is not None]
    if samples is None and outputs:
        raise InputError("give --samples: what was annotated")
    check_jsonl_outputs(outputs, [*files, Path(samples or "")], "samples")
    annotations = read_exports(files)
    annotated = [] if samples is None else _load(samples, data_dir, columns, gold_labels)
    decided = decide(annotated, annotations) if annotated else []
    references = {sample.id: sample.label for sample in annotated}
    report = measure(annotations, references, with_unsure=with_unsure, resamples=bootstrap, seed=seed)
    looked = disagreed(annotations, references)
    if as_json:
        figures = {
            source: {name: asdict(found) for name, found in part.items()} for source, part in report.items()
        }
        typer.echo(json.dumps({"sources": figures, "disagreements": looked}, ensure_ascii=False, indent=2))
    else:
        print_table(Console(), agreement_table(report))
        for item in looked[:MOST]:
            by_annotator = ", ".join(f"{name} {label}" for name, label in item["labels"].items())
            typer.echo(f"look at {item['id']}: {by_annotator}; data set {item['reference'] or '-'}")
        if len(looked) > MOST:
            typer.echo(f"{len(looked) - MOST} more are in --json")
    if disagreements is not None:
        wanted = {item["id"] for item in looked}
        count = write_samples(disagreements, (sample for sample in annotated if sample.id in wanted))
        typer.echo(f"{disagreements}: {counted(count, 'sample')} to look at", err=True)
    if labelled is not None:
        typer.echo(
            f"{labelled}: {counted(write_samples(labelled, with_labels(decided)), 'sample')}", err=True
        )
    if diahalu is not None:
        typer.echo(f"{diahalu}: {counted(write_jsonl(diahalu, diahalu_rows(decided)), 'dialogue')}", err=True)
        if decided:
            found = statistics(list(read_dialogues(diahalu)))
            print_table(Console(stderr=as_json), statistics_table(found))
    tied = len({item.sample.id for item in annotations}) - len(decided)
    if tied and (labelled or diahalu):
        typer.echo(f"left out, no majority: {tied}", err=True)
