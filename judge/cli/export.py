"""``judge export``: a judge for llama.cpp, Ollama or ONNX Runtime."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

from judge.cli.options import COLUMNS, parse_columns
from judge.columns import find_columns
from judge.errors import InputError, warn
from judge.shipped import REFERENCE


def export_command(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the export.")],
    to: Annotated[
        Literal["gguf", "onnx"],
        typer.Option(help="gguf: language models, for llama.cpp and Ollama. onnx: encoders."),
    ],
    model: Annotated[str, typer.Argument(help="A judge: folder, LoRA adapter or Hub id.")] = REFERENCE,
    kind: Annotated[
        str | None,
        typer.Option("--type", help="Number format: F16 or Q8_0 for gguf, float32 for onnx."),
    ] = None,
    samples: Annotated[
        Path | None, typer.Option(help="Samples on which the export must agree with the original.")
    ] = None,
    columns: COLUMNS = None,
    limit: Annotated[int, typer.Option(min=1, help="Use this many samples, from the first.")] = 100,
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Write it without a comparison.")] = False,
    keep_failed: Annotated[
        bool, typer.Option("--keep-failed", help="Write it even if it differs too much; it is marked.")
    ] = False,
) -> None:
    """Write a judge for another runtime: weights, tokenizer, chat template, prompts and calibration.

    The folder is a --model for every command; docs/deploy.md says how to serve it.
    """
    from judge.exports import export_judge
    from judge.samples import read_samples

    if (samples is None) != unchecked:
        raise InputError("give --samples to compare on, or else --unchecked")
    taken = None
    if samples is not None:
        named = find_columns(samples, parse_columns(columns))
        taken = list(islice(read_samples(samples, named, labelled=False), limit))
    parity = export_judge(model, to, out, kind=kind, samples=taken, keep_failed=keep_failed)
    if parity is None:
        warn(f"{out}: was not compared with {model}")
    elif not parity.passed:
        warn(f"{out}: is too far from {model} in float32; judge.json says so")
    typer.echo(f"{out}: {model} to {to}" + ("" if parity is None else f"; {parity}"))
