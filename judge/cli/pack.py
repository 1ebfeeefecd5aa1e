"""``judge pack``: a judge in a file that is small enough to ship."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command("pack")
def pack_command(
    judge: Annotated[Path, typer.Argument(help="Folder of an encoder judge, or of a LoRA judge.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the smaller judge.")],
    base: Annotated[
        Path | None,
        typer.Option(help="Encoder: what it was trained from, a folder; all-MiniLM-L6-v2 by default."),
    ] = None,
    rank: Annotated[int | None, typer.Option(min=1, help="LoRA: rank of the smaller adapters.")] = None,
) -> None:
    """Write what training changed, smaller: of an encoder in 8 bits, of a LoRA judge in a lower rank.

    Calibrate the smaller judge, not the one before it: judge calibrate --model OUT.
    """
    from judge.errors import InputError
    from judge.files import write_text
    from judge.models.identity import read_identity
    from judge.training.card import model_card

    if rank is None:
        from judge.encoder.packing import pack
        from judge.models.bundled import bring_minilm

        if (judge / "adapter_config.json").is_file():
            raise InputError(
                "is a LoRA judge; say of which rank the smaller one is to be: --rank 16", file=judge
            )
        found = f"{pack(judge, base or bring_minilm(), out) / 1e6:.1f} MB"
    else:
        from judge.models.low_rank import lower_rank

        if base is not None:
            raise InputError("a LoRA judge knows its base; leave --base away")
        lowered = lower_rank(judge, out, rank)
        found = f"{lowered.size / 1e6:.1f} MB, {100 * lowered.kept:.1f} % of the squared changes"
    identity = read_identity(str(out))
    if "training" in identity:  # not in an adapter from elsewhere
        write_text(out / "README.md", model_card(identity))
    typer.echo(f"{out}: {found}")
