"""``judge pack``: writes a judge in a file that is small enough to ship."""

from pathlib import Path
from typing import Annotated

import typer


def pack_command(
    judges: Annotated[
        list[Path],
        typer.Argument(
            metavar="JUDGE", help="Folder of an encoder judge, or of a LoRA judge; several are averaged."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the smaller judge.")],
    base: Annotated[
        Path | None,
        typer.Option(help="Folder that an encoder was trained from. Default: what judge.json names."),
    ] = None,
    rank: Annotated[int | None, typer.Option(min=1, help="Rank of the smaller adapters.")] = None,
) -> None:
    """Write a trained judge in a smaller file: an encoder in 8 bits, a LoRA judge at a lower rank.

    With --rank, an encoder's changes are cut to that rank as well.

    Judges trained from one start, with several seeds or on several data sets, are averaged.

    Calibrate the result, not its source: judge calibrate --model OUT.
    """
    from judge.errors import InputError
    from judge.files import write_text
    from judge.models.identity import read_identity
    from judge.pages.load import reads_pages
    from judge.training.card import model_card

    for judge in judges:
        if not judge.is_dir():
            raise InputError("no folder of that name here; name the folder of a trained judge", file=judge)
    of_lora = [(judge / "adapter_config.json").is_file() for judge in judges]
    if not any(of_lora):
        from judge.encoder.packed import base_weights
        from judge.encoder.packing import pack
        from judge.pages import bert as pages

        known = read_identity(str(judges[0]))
        read_base = pages.base_weights if reads_pages(known) else base_weights
        found = f"{pack(judges, base, out, rank, read_base) / 1e6:.1f} MB"
    elif rank is None:
        raise InputError(
            "is a LoRA judge; give the rank of the smaller one: --rank 16",
            file=judges[of_lora.index(True)],
        )
    else:
        from judge.models.low_rank import lower_rank

        if base is not None:
            raise InputError("a LoRA judge knows its base; omit --base")
        lowered = lower_rank(judges, out, rank)
        found = f"{lowered.size / 1e6:.1f} MB, {100 * lowered.kept:.1f} % of the squared changes"
    identity = read_identity(str(out))
    if "training" in identity:  # not in an adapter from elsewhere
        write_text(out / "README.md", model_card(identity))
    typer.echo(f"{out}: {found}")
