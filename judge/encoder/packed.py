"""Reads encoder judges that are packed as adapters: the changes that training made to a public encoder.

:mod:`judge.encoder.packing` writes such judges.
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import find_folder
from judge.encoder.heads import CONFIG, Head
from judge.errors import InputError, JudgeError, brief
from judge.models.base import places_of_base
from judge.models.bundled import MINILM
from judge.models.identity import read_identity

if TYPE_CHECKING:
    import torch

    from judge.encoder.network import EncoderNetwork

    Weights = dict[str, torch.Tensor]
ADAPTER = "adapter.safetensors"
"""File with the changes that training made, in place of the weights."""
SCALE = ".scale"
"""A matrix ``NAME`` is stored as integers; ``NAME.scale`` has the factor of each of its rows."""
DOWN, UP = ".down", ".up"
"""A matrix ``NAME`` of lowered rank is stored as ``NAME.up``, transposed, times ``NAME.down``."""


def base_weights(base: Path) -> "Weights":
    """Weights of a public encoder under their names in a judge made from it, in float32.

    Raises:
        InputError: if the folder holds no weights in safetensors.
    """
    import torch
    from transformers import AutoModel

    from judge.encoder.network import quiet

    quiet()
    try:
        model = AutoModel.from_pretrained(base, dtype=torch.float32, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise InputError(f"holds no weights of an encoder ({brief(error)})", file=base) from None
    return {f"{model.base_model_prefix}.{name}": value for name, value in model.state_dict().items()}


def load_packed(folder: Path, base: Path, head: Head, **settings: Any) -> "EncoderNetwork":
    """The network of an adapter and its base, in float32.

    Raises:
        JudgeError: if a file is damaged, the base is not the one that the judge was trained from, or the
            adapter changes a weight that the network does not have.
    """
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForSequenceClassification

    from judge.encoder.network import EncoderNetwork, read_token_head

    weights = merged(folder, base, base_weights)
    attention = {name: settings.pop(name) for name in ("attn_implementation",) if name in settings}
    config = AutoConfig.from_pretrained(folder, **settings)
    model = AutoModelForSequenceClassification.from_config(config, **attention)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if missing:
        raise JudgeError(f"{folder}: {missing[0]} is neither in the adapter nor in its base")
    if lost := sorted({*unknown} & {*changed(load_file(folder / ADAPTER))}):
        raise JudgeError(f"{folder}: changes {lost[0]}, which the encoder lacks; pack the judge again")
    return EncoderNetwork(model, head, read_token_head(folder))


def merged(folder: Path, base: Path, read_base: "Callable[[Path], Weights]") -> "Weights":
    """The weights of a judge from its adapter and its base, in float32.

    Raises:
        JudgeError: if a file is damaged, or the base is not the one that the judge was trained from.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        packed, weights = load_file(folder / ADAPTER), read_base(base)
    except (OSError, SafetensorError, InputError) as error:
        raise JudgeError(f"{folder}: adapter or base {base} cannot be read ({brief(error, 200)})") from error
    if digest(weights, packed) != read_identity(str(folder)).get("base_weights_sha256"):
        raise JudgeError(f"{folder}: {base} is not the encoder that this judge was trained from")
    for name in changed(packed):
        change = _change(packed, name)
        weights[name] = weights[name] + change if name in weights else change
    return weights


def changed(packed: "Weights") -> list[str]:
    """Names of the weights that an adapter changes, sorted."""
    return sorted({name.removesuffix(SCALE).removesuffix(DOWN).removesuffix(UP) for name in packed})


def _change(packed: "Weights", name: str) -> "torch.Tensor":
    """The change that an adapter makes to one weight, in float32."""
    if name + UP in packed:
        return _change(packed, name + UP).T @ _change(packed, name + DOWN)
    value = packed[name]
    return value.float() * packed[name + SCALE] if name + SCALE in packed else value


def digest(base: "Weights", packed: "Weights") -> str:
    """A shortened SHA-256 of the base's weights that an adapter changes."""
    found = sha256()
    for name in changed(packed):
        if name in base:
            found.update(base[name].numpy().data)
    return found.hexdigest()[:16]


def find_base(folder: Path) -> Path:
    """The public encoder of an adapter: in its recorded folder, else downloaded and cached.

    Raises:
        InputError: if the recorded folder is gone and the encoder cannot be downloaded.
        JudgeError: if the download failed.
    """
    base: dict[str, Any] = read_identity(str(folder)).get("base", {})
    places = places_of_base(folder, base)
    for place in places:
        if (place / CONFIG).is_file():
            return place
    if "name" in base and (not places or base["name"] == MINILM.hub_id):
        return find_folder(base["name"])
    tried = ", ".join(map(str, places)) or base.get("name") or "judge.json names none"
    raise InputError(
        f"the encoder that it was trained from is missing ({tried}); put it back, or name it where "
        "--base is taken (judge pack)",
        file=folder,
    )
