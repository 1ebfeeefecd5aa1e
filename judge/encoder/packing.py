"""Packs an encoder judge as an adapter: the changes that training made to a public encoder, in 8 bits.

Training leaves the word embeddings alone and changes the other weights little, so the changes fit in bytes:
an eighth of the file size, with a rounding error of a thousandth of the weights' size. A large encoder's
changes are also cut to the nearest product of two thin matrices (Eckart and Young, 1936). The public encoder
is downloaded once for all such judges.
"""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judge.encoder.folder import TOKEN_HEAD, WEIGHTS
from judge.encoder.heads import CONFIG
from judge.encoder.load import FORM
from judge.encoder.packed import ADAPTER, DOWN, SCALE, UP, base_weights, digest, find_base
from judge.errors import InputError
from judge.files import JUDGE_FILE, appearing, write_json
from judge.models.base import describe_base
from judge.models.bundled import MINILM
from judge.models.identity import ENCODER, FITTED, read_identity
from judge.models.trained_on import read_trained_on, write_trained_on
from judge.progress import track

if TYPE_CHECKING:
    import torch

    Weights = dict[str, torch.Tensor]
WORDS = ("word_embeddings.weight", "tok_embeddings.weight")
"""Endings of the names of word embeddings, which training leaves alone."""


def pack(
    judges: Sequence[Path],
    base: Path | None,
    out: Path,
    rank: int | None = None,
    read_base: "Callable[[Path], Weights] | None" = None,
) -> int:
    """Write an encoder judge, or the mean of several, as an adapter of the encoder that they started from.

    Args:
        judges: folder of the judge, with full weights; or folders of several judges trained from one start,
            on different data or with different seeds (model soups: Wortsman et al., 2022).
        base: folder of the public encoder; by default the one that ``judge.json`` names.
        out: folder for the adapter; it gets judge.json too, without the calibrations, which were fitted to
            the unrounded weights.
        rank: rank of the changes of the layers' matrices; full rank by default.
        read_base: reads the base's weights, under their names in the judge.

    Returns:
        Bytes of the adapter's weights.

    Raises:
        InputError: if a judge is not of this base or unlike the first, the base is missing or ``out`` exists.
    """
    from safetensors.torch import load_file, save_file

    from judge.encoder.network import load_classifier
    from judge.models.low_rank import factors, told

    identities = [read_identity(str(judge)) for judge in judges]
    for judge, known in zip(judges, identities, strict=True):
        if known.get("stage") != ENCODER or not (judge / WEIGHTS).is_file():
            raise InputError(f"expected an encoder judge with {WEIGHTS}", file=judge)
        if known.get("prompt_hash") != identities[0].get("prompt_hash"):
            raise InputError(
                f"reads samples in another way than {judges[0]}: they cannot be averaged", file=judge
            )
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    judge, identity = judges[0], identities[0]
    base = base or find_base(judge)
    if FORM in identity:  # transformers stores some encoders' weights under names other than the network's
        trained = mean(judges, lambda folder: load_classifier(folder, "pairs").state_dict())
    else:  # reads pages
        trained = mean(judges, lambda folder: load_file(folder / WEIGHTS))
    before = (read_base or base_weights)(base)
    packed: Weights = {}
    kept = whole = 0.0
    for name, value in track(trained.items(), f"pack {judge}", len(trained)):
        was = before.get(name)
        if was is not None and was.shape != value.shape:
            raise InputError(f"is not the base of {judge}: {name} has another shape", file=base)
        change = value.float() if was is None else value.float() - was
        if was is not None and not change.any():
            continue
        if was is not None and name.endswith(WORDS):
            raise InputError(f"is not the base of {judge}: its word embeddings are others", file=base)
        if was is None or value.ndim < 2:
            packed[name] = change
        elif rank is None or rank >= min(value.shape):
            packed[name], packed[name + SCALE] = rounded(change)
        else:
            down, up, squares = factors(change, rank)
            for half, thin in ((DOWN, down), (UP, up.T)):
                packed[name + half], packed[name + half + SCALE] = rounded(thin.contiguous())
            kept, whole = kept + float(squares[:rank].sum()), whole + float(squares.sum())
    for field in FITTED:
        identity.pop(field, None)
    place = describe_base(str(base), out)
    # An encoder that can be downloaded needs no place on this machine.
    identity["base"] = {"name": place["name"]} if place["name"] == MINILM.hub_id else place
    identity["base_model"] = place["name"]
    identity["base_weights_sha256"] = digest(before, packed)
    if whole:
        identity["packed"] = {"rank": rank, "kept": round(kept / whole, 4)}
    if len(judges) > 1:
        identity.setdefault("packed", {})["mean_of"] = [told(known) for known in identities]
    with appearing(out) as folder:
        save_file(packed, folder / ADAPTER)
        if (judge / TOKEN_HEAD).is_file():
            save_file(mean(judges, _token_head), folder / TOKEN_HEAD)
        if (judge / CONFIG).is_file():
            shutil.copyfile(judge / CONFIG, folder / CONFIG)
        write_json(folder / JUDGE_FILE, identity)
        write_trained_on(folder, *(read_trained_on(str(judge)) for judge in judges))
    return (out / ADAPTER).stat().st_size


def mean(judges: Sequence[Path], read: "Callable[[Path], Weights]") -> "Weights":
    """The mean of the weights of several judges, in float32.

    Summed in float64, so that what no judge changed stays as it is: in float32, x + x + x is not always 3x.

    Raises:
        InputError: if one has other weights than the first.
    """
    total: Weights = {}
    for judge in judges:
        found = read(judge)
        shapes = {name: value.shape for name, value in found.items()}
        if total and shapes != {name: value.shape for name, value in total.items()}:
            raise InputError(f"has other weights than those of {judges[0]}", file=judge)
        for name, value in found.items():
            total[name] = total.get(name, 0) + value.double()
    return {name: (value / len(judges)).float() for name, value in total.items()}


def _token_head(folder: Path) -> "Weights":
    from safetensors.torch import load_file

    return load_file(folder / TOKEN_HEAD) if (folder / TOKEN_HEAD).is_file() else {}


def rounded(change: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
    """A matrix as integers from -127 to 127, and the scale of each row."""
    import torch

    scale = change.abs().amax(1, keepdim=True) / 127
    return (change / scale.clamp(min=1e-12)).round().to(torch.int8), scale
