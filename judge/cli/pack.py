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
    rank: Annotated[int | None, typer.Option(min=1, help="Rank of a smaller LoRA judge.")] = None,
    second: Annotated[
        Path | None,
        typer.Option(metavar="JUDGE", help="Encoder judge put beside it: the verdict is the mean of both."),
    ] = None,
    weight: Annotated[
        float | None, typer.Option(min=0.01, max=0.99, help="Weight of --second; 0.5 by default.")
    ] = None,
    short_documents: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="WORDS",
            help="Without a question, --second leaves documents of fewer words to JUDGE.",
        ),
    ] = None,
) -> None:
    """Write a trained judge in a smaller file: an encoder in 8 bits, a LoRA judge at a lower rank.

    Judges trained from one start, with several seeds or on several data sets, are averaged.

    Calibrate the result, not its source: judge calibrate --model OUT.
    """
    from judge.errors import InputError
    from judge.files import write_text
    from judge.models.identity import read_identity
    from judge.training.card import model_card

    for judge in judges:
        if not judge.is_dir():
            raise InputError("no folder of that name here; name the folder of a trained judge", file=judge)
    beside = {"--second": second, "--weight": weight, "--short-documents": short_documents}
    given = [option for option, value in beside.items() if value is not None]
    of_lora = [(judge / "adapter_config.json").is_file() for judge in judges]
    if not any(of_lora):
        from judge.encoder.packing import EQUAL, pack
        from judge.encoder.second import Second

        if rank is not None:
            raise InputError("is for LoRA judges; an encoder is written in 8 bits. Omit it", field="--rank")
        if given and second is None:
            raise InputError("is for a judge named by --second", field=given[0])
        shares = Second(weight=weight or EQUAL.weight, short_documents=short_documents or 0)
        found = f"{pack(judges, out, second, shares) / 1e6:.1f} MB"
    elif given:
        raise InputError("is for encoder judges; omit it", field=given[0])
    elif rank is None:
        raise InputError(
            "is a LoRA judge; give the rank of the smaller one: --rank 16",
            file=judges[of_lora.index(True)],
        )
    else:
        from judge.models.low_rank import lower_rank

        lowered = lower_rank(judges, out, rank)
        found = f"{lowered.size / 1e6:.1f} MB, {100 * lowered.kept:.1f} % of the squared changes"
    identity = read_identity(str(out))
    if "training" in identity:  # not in an adapter from elsewhere
        write_text(out / "README.md", model_card(identity))
    typer.echo(f"{out}: {found}")
