"""``judge merge``: plain weights from a LoRA adapter and its base."""

from pathlib import Path
from typing import Annotated

import typer

from judge.training.merge import MergedFormat


def merge_command(
    adapter: Annotated[str, typer.Argument(help="Folder of a trained LoRA adapter.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the merged weights.")],
    dtype: Annotated[
        MergedFormat,
        typer.Option(
            metavar="FORMAT",
            help="float32: the judge as trained. base, bfloat16, float16: smaller, but 16 bits round much of "
            "an adapter away.",
        ),
    ] = "float32",
) -> None:
    """Merge a LoRA adapter into its base model; the sum is computed in float32."""
    from judge.training.merge import merge as merge_adapter

    result = merge_adapter(adapter, out, dtype)
    typer.echo(f"{out}: {result.base} with {adapter} merged in, {result.dtype}, {result.size / 1e9:.2f} GB")
    if result.rounding:
        typer.echo(
            f"{result.dtype} rounds: it moved the weights by {100 * result.rounding:.0f} % of what the "
            "adapter did; measure the merged judge and calibrate it again, or use --dtype float32"
        )
