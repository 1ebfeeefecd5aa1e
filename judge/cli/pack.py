"""``judge pack``: an encoder judge as an adapter, an eighth of its size."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command("pack")
def pack_command(
    judge: Annotated[Path, typer.Argument(help="Folder of an encoder judge.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the adapter.")],
    base: Annotated[
        Path | None,
        typer.Option(help="Folder of the encoder that it was trained from; all-MiniLM-L6-v2 by default."),
    ] = None,
) -> None:
    """Write what training changed of an encoder, in 8 bits; loading puts the two together.

    Calibrate the adapter, not the judge before it: judge calibrate --model OUT.
    """
    from judge.encoder.packing import pack
    from judge.files import write_text
    from judge.models.bundled import bring_minilm
    from judge.models.identity import read_identity
    from judge.training.card import model_card

    size = pack(judge, base or bring_minilm(), out)
    write_text(out / "README.md", model_card(read_identity(str(out))))
    typer.echo(f"{out}: {size / 1e6:.1f} MB")
