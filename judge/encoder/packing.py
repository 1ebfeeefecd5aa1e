"""Writes encoder judges in 8 bits; :mod:`judge.encoder.packed` reads them."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judge.encoder.folder import TOKEN_HEAD, TOKENIZER, WEIGHTS
from judge.encoder.heads import CONFIG
from judge.encoder.load import FORM
from judge.encoder.packed import PACKED, SCALE, unpack
from judge.encoder.second import Second, copy_second
from judge.errors import InputError
from judge.files import JUDGE_FILE, appearing, write_json
from judge.models.identity import ENCODER, SECOND, read_identity
from judge.models.trained_on import read_trained_on, write_trained_on
from judge.progress import track

if TYPE_CHECKING:
    import torch

    Weights = dict[str, torch.Tensor]
EQUAL = Second(weight=0.5)
"""Both judge all, with equal weights."""
WORDS = ("word_embeddings.weight", "tok_embeddings.weight")
"""Endings of the names of word embeddings, which training leaves alone."""


def pack(judges: Sequence[Path], out: Path, second: Path | None = None, shares: Second = EQUAL) -> int:
    """Write an encoder judge, or the mean of several, in 8 bits.

    Args:
        judges: folder of the judge, which may be packed already; or folders of several judges trained from
            one start, on different data or with different seeds (model soups: Wortsman et al., 2022).
        out: folder for the packed judge; it gets judge.json too, without the calibrations, which were fitted
            to the unrounded weights.
        second: folder of an encoder judge to put beside it, see :mod:`judge.encoder.second`.
        shares: the part that the second has in verdicts; half by default.

    Returns:
        Bytes of the packed weights.

    Raises:
        InputError: if one is no encoder judge or unlike the first, one has a second encoder and none is
            given, or ``out`` exists.
    """
    from safetensors.torch import load_file, save_file

    from judge.encoder.network import load_classifier
    from judge.models.low_rank import origin_of

    identities = [read_identity(str(judge)) for judge in judges]
    for judge, known in zip(judges, identities, strict=True):
        has_weights = (judge / WEIGHTS).is_file() or (judge / PACKED).is_file()
        if known.get("stage") != ENCODER or not has_weights:
            raise InputError(f"expected an encoder judge with {WEIGHTS} or {PACKED}", file=judge)
        if known.get("prompt_hash") != identities[0].get("prompt_hash"):
            raise InputError(
                f"reads samples in another way than {judges[0]}: they cannot be averaged", file=judge
            )
        if SECOND in known and second is None:
            raise InputError(
                f"has a second encoder; say which one goes beside the packed one: --second {judge / SECOND}",
                file=judge,
            )
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    judge, identity = judges[0], identities[0]

    def read(folder: Path) -> "Weights":
        if (folder / PACKED).is_file():
            return unpack(folder)
        if FORM in identity:  # transformers stores some weights under names other than the network's
            return dict(load_classifier(folder, "pairs").state_dict())
        return load_file(folder / WEIGHTS)

    weights = mean(judges, read)
    packed: Weights = {}
    for name, value in track(weights.items(), f"pack {judge}", len(weights)):
        packed[name] = value
        if value.ndim == 2:
            packed[name], packed[name + SCALE] = rounded(value)
    for field in ("calibration", SECOND):
        identity.pop(field, None)
    if len(judges) > 1:
        identity["packed"] = {"mean_of": [origin_of(known) for known in identities]}
    with appearing(out) as folder:
        save_file(packed, folder / PACKED)
        if (judge / TOKEN_HEAD).is_file():
            save_file(mean(judges, _token_head), folder / TOKEN_HEAD)
        for name in (CONFIG, TOKENIZER):
            shutil.copyfile(judge / name, folder / name)
        all_of_them = [*judges] if second is None else [*judges, second]
        write_trained_on(folder, *(read_trained_on(str(one)) for one in all_of_them))
        if second is not None:
            copy_second(second, folder)
            identity[SECOND] = shares.model_dump()
        write_json(folder / JUDGE_FILE, identity)
    return (out / PACKED).stat().st_size


def mean(judges: Sequence[Path], read: "Callable[[Path], Weights]") -> "Weights":
    """The mean of the weights of several judges, in float32.

    Raises:
        InputError: if one has other weights than the first, or started from another encoder.
    """
    total: Weights = {}
    for before, judge in enumerate(judges):
        found = read(judge)
        shapes = {name: value.shape for name, value in found.items()}
        if total and shapes != {name: value.shape for name, value in total.items()}:
            raise InputError(f"has other weights than those of {judges[0]}", file=judge)
        for name, value in found.items():
            if before and name.endswith(WORDS) and not total[name].equal(before * value.double()):
                raise InputError(
                    f"started from another encoder than {judges[0]}: its word embeddings are others",
                    file=judge,
                )
            total[name] = total.get(name, 0) + value.double()
    return {name: (value / len(judges)).float() for name, value in total.items()}


def _token_head(folder: Path) -> "Weights":
    from safetensors.torch import load_file

    return load_file(folder / TOKEN_HEAD) if (folder / TOKEN_HEAD).is_file() else {}


def rounded(matrix: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
    """A matrix as integers from -127 to 127, and the scale of each row."""
    import torch

    scale = matrix.abs().amax(1, keepdim=True) / 127
    return (matrix / scale.clamp(min=1e-12)).round().to(torch.int8), scale
