"""The judge that comes with the toolkit, which reads pages: by its name, with the settings of a command."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import find_folder
from judge.models.identity import ENCODER
from judge.models.runtimes import exported
from judge.models.weights import Precision
from judge.shipped import model_path

if TYPE_CHECKING:
    from judge.pages.checker import EncoderJudge


def reads_pages(identity: Mapping[str, Any]) -> bool:
    """Whether a ``judge.json`` is that of an encoder judge that reads pages, not pairs."""
    return identity.get("stage") == ENCODER and "form" not in identity


def load_pages(
    model: str,
    revision: str | None,
    identity: dict[str, Any],
    precision: Precision,
    max_length: int | None,
    batch_tokens: int | None,
) -> "EncoderJudge":
    """An encoder judge, on the device that is there."""
    from judge.pages.checker import load_encoder

    folder = find_folder(model_path(model), revision)
    if exported(identity, "onnx"):
        from judge.pages.onnx import load_onnx_encoder

        found = load_onnx_encoder(folder, identity, max_length=max_length, batch_tokens=batch_tokens)
        return replace(found, model=model)
    judge = load_encoder(
        folder,
        identity,
        # Small enough for float32 anywhere; a calibration then holds on every machine.
        precision="float32" if precision == "auto" else precision,
        max_length=max_length,
        batch_tokens=batch_tokens,
    )
    return replace(judge, model=model)
