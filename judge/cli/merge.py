"""``judge merge``: plain weights from a LoRA adapter and its base."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command("merge")
def merge_command(
    adapter: Annotated[str, typer.Argument(help="Folder of a trained LoRA adapter.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the merged weights.")],
) -> None:
    """Merge a LoRA adapter into its base model."""
    from judge.training.merge import merge as merge_adapter

    result = merge_adapter(adapter, out)
    typer.echo(f"{out}: {result['base']} with {result['adapter']} merged in, {result['dtype']}")
