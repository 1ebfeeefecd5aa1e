"""``judge teach``: trains the toolkit's judge on the user's own answers, and measures before and after."""

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.demo import show
from judge.cli.demo_steps import ADAPTED, NO_PREFERENCES, adapting_steps
from judge.cli.options import COLUMNS, ENCODING, GOLD_LABELS, parse_columns, parse_gold_labels
from judge.cli.running import run, say
from judge.columns import find_columns
from judge.configs import text_override
from judge.errors import DATA, InputError, counted, require
from judge.files import check_names, read_whole, sha256_file, write_json
from judge.rows import FILE_TYPES, as_file, check_jsonl_outputs, read_rows
from judge.samples import read_samples, write_samples
from judge.types import Label, Sample

FEWEST = 40
"""Fewest documents; with fewer, the two held-out parts say nothing."""
BEGUN = "teach.json"


def teach_command(
    file: Annotated[Path, typer.Argument(help=f"Your answers: {', '.join(FILE_TYPES)}.")],
    columns: COLUMNS = None,
    gold_labels: GOLD_LABELS = None,
    encoding: ENCODING = None,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for all results.")] = Path("runs/taught"),
) -> None:
    """Train the toolkit's judge on your answers: build data, train, calibrate, measure before and after.

    A row has a document, an answer, a label (PASS or FAIL) and, if you like, a question.

    To resume, run the same command again.
    """
    require("judge teach", "data", *DATA)
    check_names(out)
    with as_file(file, encoding) as readable:
        named = find_columns(readable, parse_columns(columns))
        samples = list(read_samples(readable, named, labels=parse_gold_labels(gold_labels)))
        begun = {"file": sha256_file(readable), "columns": columns, "gold_labels": gold_labels}
    check_answers(samples, file)
    note, answers = out / BEGUN, out / "answers.jsonl"
    check_jsonl_outputs([answers], [file], "answers")
    if (note.exists() or answers.exists()) and read_whole(note) != begun:
        raise InputError(
            f"holds other answers, or was begun with another file or other columns than {file}; give another "
            "--out",
            file=out,
        )
    write_json(note, begun)
    write_samples(answers, samples)
    overrides = (*NO_PREFERENCES, "perturb=false", text_override("sources.0.path", answers))
    plan = adapting_steps(out, "own-domain", overrides)
    for number, step in enumerate(plan, start=1):
        say(f"step {number} of {len(plan)}: {step.title}{': done before' if step.done else ''}")
        if not step.done:
            run(step)
        if number == 1:
            check_held_out(out / "data", file)
    show(out, ADAPTED, "your held-out answers")


def check_held_out(data: Path, file: Path) -> None:
    """Check that the data set can measure a judge.

    Raises:
        InputError: if its test split lacks one of the labels.
    """
    labels = {row["label"] for _, row in read_rows(data / "test.jsonl")}
    if len(labels) < len(Label):
        used = len({row["group"] for _, row in read_rows(data / "samples.jsonl")})
        held_out = f"{labels.pop()} alone" if labels else "none"
        raise InputError(
            f"gives answers to learn from on {counted(used, 'document')}, and too few to measure the judge "
            f"on: those held out are {held_out}. Give more answers, and name another --out",
            file=file,
        )


def check_answers(samples: list[Sample], file: Path) -> None:
    """Remove the samples without a label.

    Right answers alone, with wrong ones made from them by rule, did harm where it was measured
    (docs/research/new-domains.md).

    Raises:
        InputError: if there are too few documents, or not both labels.
    """
    labels = {sample.label for sample in samples} - {None}
    if len(labels) < len(Label):
        there = f"answers labelled {labels.pop()} alone" if labels else "no labels"
        raise InputError(
            f"has {there}; a judge learns from right and hallucinated answers. Label some 150, PASS and "
            "FAIL, or let a chat model write hallucinated ones (docs/data.md#teachers)",
            file=file,
        )
    if left := sum(sample.label is None for sample in samples):
        samples[:] = [sample for sample in samples if sample.label is not None]
        say(f"omitted {counted(left, 'row')} without a label")
    documents = len({sample.unit for sample in samples})
    if documents < FEWEST:
        raise InputError(
            f"holds answers on {counted(documents, 'document')}; at least {FEWEST} are needed: three tenths "
            "are held out to calibrate and measure the judge, and figures on fewer than six are chance",
            file=file,
        )
    say(f"{counted(len(samples), 'answer')} on {counted(documents, 'document')}")
