"""An encoder judge as an adapter: what training changed of a public encoder, in 8 bits.

Training leaves the word embeddings alone and moves the other weights little, so the changes fit in bytes: an
eighth of the file, and a rounding error of a thousandth of the weights' own size. A large encoder's changes
are also cut to the nearest product of two thin matrices (Eckart and Young, 1936). The public encoder is
downloaded once for all such judges.
"""

import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import TOKEN_HEAD, WEIGHTS, find_folder
from judge.encoder.heads import CONFIG, Head
from judge.errors import InputError, JudgeError
from judge.files import JUDGE_FILE, appearing, write_json
from judge.models.base import describe_base, places_of_base
from judge.models.bundled import ENCODERS
from judge.models.identity import ENCODER, FITTED, read_identity
from judge.models.trained_on import read_trained_on, write_trained_on
from judge.progress import track

if TYPE_CHECKING:
    import torch

    from judge.encoder.network import EncoderNetwork

    Weights = dict[str, torch.Tensor]
ADAPTER = "adapter.safetensors"
"""In place of the weights: what training changed."""
WORDS = ("word_embeddings.weight", "tok_embeddings.weight")
"""Endings of the names of word embeddings, which training leaves alone."""
SCALE = ".scale"
"""A matrix ``NAME`` is stored as whole numbers; ``NAME.scale`` has what each of its rows is multiplied by."""
DOWN, UP = ".down", ".up"
"""In place of a matrix ``NAME`` whose rank was lowered: ``NAME.up``, transposed, times ``NAME.down``."""


def pack(
    judges: Sequence[Path],
    base: Path | None,
    out: Path,
    rank: int | None = None,
    read_base: "Callable[[Path], Weights] | None" = None,
) -> int:
    """Write an encoder judge, or the mean of several, as an adapter of the encoder that they started from.

    Args:
        judges: folder of the judge, with weights of its own; or of several that were trained from one start,
            on other data or with another seed (model soups: Wortsman et al., 2022).
        base: folder of the public encoder; by default what ``judge.json`` names.
        out: folder for the adapter; it gets judge.json too, without the calibrations, which would be those of
            the unrounded weights.
        rank: of the changes of the layers' matrices; all of it by default.
        read_base: reads the base's weights, by the names that they have in the judge.

    Returns:
        Bytes of the adapter's weights.

    Raises:
        InputError: a judge is not of this base, or unlike the first; the base is missing, or ``out`` exists.
    """
    from safetensors.torch import save_file

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
    trained, before = mean(judges, WEIGHTS), (read_base or base_weights)(base)
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
    listed = place["name"] in ENCODERS
    identity["base"] = {"name": place["name"]} if listed else place  # a listed one is downloaded again
    identity["base_model"] = place["name"]
    identity["base_weights_sha256"] = digest(before, packed)
    if whole:
        identity["packed"] = {"rank": rank, "kept": round(kept / whole, 4)}
    if len(judges) > 1:
        identity.setdefault("packed", {})["mean_of"] = [told(known) for known in identities]
    with appearing(out) as folder:
        save_file(packed, folder / ADAPTER)
        if (judge / TOKEN_HEAD).is_file():
            save_file(mean(judges, TOKEN_HEAD), folder / TOKEN_HEAD)
        if (judge / CONFIG).is_file():
            shutil.copyfile(judge / CONFIG, folder / CONFIG)
        write_json(folder / JUDGE_FILE, identity)
        write_trained_on(folder, *(read_trained_on(str(judge)) for judge in judges))
    return (out / ADAPTER).stat().st_size


def mean(judges: Sequence[Path], file: str) -> "Weights":
    """The mean of the weights that judges keep in a file, in float32.

    Raises:
        InputError: one has other weights than the first.
    """
    from safetensors.torch import load_file

    total: Weights = {}
    for judge in judges:
        found = load_file(judge / file) if (judge / file).is_file() else {}
        shapes = {name: value.shape for name, value in found.items()}
        if total and shapes != {name: value.shape for name, value in total.items()}:
            raise InputError(f"has other weights than those of {judges[0]}", file=judge / file)
        for name, value in found.items():
            total[name] = total[name] + value.float() if name in total else value.float()
    return {name: value / len(judges) for name, value in total.items()}


def base_weights(base: Path) -> "Weights":
    """Weights of a public encoder by the names that they have in a judge made of it, in float32.

    Raises:
        InputError: the folder holds no weights in safetensors.
    """
    import torch
    from transformers import AutoModel

    from judge.encoder.network import quiet

    quiet()
    try:
        model = AutoModel.from_pretrained(base, dtype=torch.float32, use_safetensors=True)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"holds no weights of an encoder ({reason:.160})", file=base) from None
    return {f"{model.base_model_prefix}.{name}": value for name, value in model.state_dict().items()}


def load_packed(folder: Path, base: Path, head: Head, **settings: Any) -> "EncoderNetwork":
    """The network of an adapter and its base, in float32.

    Raises:
        JudgeError: a file is damaged, or the base is another than the judge was trained from.
    """
    from transformers import AutoConfig, AutoModelForSequenceClassification

    from judge.encoder.network import EncoderNetwork, read_token_head

    weights = merged(folder, base, base_weights)
    attention = {name: settings.pop(name) for name in ("attn_implementation",) if name in settings}
    config = AutoConfig.from_pretrained(folder, **settings)
    model = AutoModelForSequenceClassification.from_config(config, **attention)
    missing, _ = model.load_state_dict(weights, strict=False)
    if missing:
        raise JudgeError(f"{folder}: {missing[0]} is neither in the adapter nor in its base")
    return EncoderNetwork(model, head, read_token_head(folder))


def merged(folder: Path, base: Path, read_base: "Callable[[Path], Weights]") -> "Weights":
    """The weights of a judge from its adapter and its base, in float32.

    Raises:
        JudgeError: a file is damaged, or the base is another than the judge was trained from.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        packed, weights = load_file(folder / ADAPTER), read_base(base)
    except (OSError, SafetensorError, InputError) as error:
        reason = str(error).partition("\n")[0]
        raise JudgeError(f"{folder}: adapter or base {base} cannot be read ({reason:.200})") from error
    if digest(weights, packed) != read_identity(str(folder)).get("base_weights_sha256"):
        raise JudgeError(f"{folder}: {base} is not the encoder that this judge was trained from")
    for name in changed(packed):
        change = _change(packed, name)
        weights[name] = weights[name] + change if name in weights else change
    return weights


def rounded(change: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
    """A matrix in whole numbers from -127 to 127, and the scale of each row."""
    import torch

    scale = change.abs().amax(1, keepdim=True) / 127
    return (change / scale.clamp(min=1e-12)).round().to(torch.int8), scale


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
        if name in base:
            found.update(base[name].numpy().data)
    return found.hexdigest()[:16]


def find_base(folder: Path) -> Path:
    """The public encoder of an adapter: where it lay, else downloaded and kept for next time.

    Raises:
        InputError: it lay in a folder that is gone, and cannot be downloaded.
        JudgeError: the download failed.
    """
    base: dict[str, Any] = read_identity(str(folder)).get("base", {})
    places = places_of_base(folder, base)
    for place in places:
        if (place / CONFIG).is_file():
            return place
    if "name" in base and (not places or base["name"] in ENCODERS):
        return find_folder(base["name"])
    tried = ", ".join(map(str, places)) or base.get("name") or "judge.json names none"
    raise InputError(
        f"the encoder that it was trained from is missing ({tried}); put it back, or name it where "
        "--base is taken (judge pack)",
        file=folder,
    )
