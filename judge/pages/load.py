"""Loads judges that read pages, such as the one bundled with the toolkit, by their names."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import WEIGHTS
from judge.errors import InputError
from judge.models.identity import ENCODER
from judge.models.runtimes import EXPORT, exported
from judge.models.weights import Precision

if TYPE_CHECKING:
    from judge.pages.checker import Network, PagesJudge


def reads_pages(identity: Mapping[str, Any]) -> bool:
    """Whether a ``judge.json`` belongs to an encoder judge that reads pages, not pairs."""
    return identity.get("stage") == ENCODER and "form" not in identity


def load_pages(
    model: str,
    folder: Path,
    identity: dict[str, Any],
    precision: Precision,
    max_length: int | None,
    batch_tokens: int | None,
) -> "PagesJudge":
    """An encoder judge that reads pages, on the GPU if there is one, or its export in ONNX Runtime.

    Args:
        model: its name.
        folder: where it is.
        identity: its ``judge.json``.
        precision: number format to compute in.
        max_length: maximum tokens of a document; the rest is cut off.
        batch_tokens: padded tokens per batch.

    Raises:
        InputError: if the folder holds no such judge.
        JudgeError: if the weights are not those of an encoder judge.
    """
    from judge.calibration.curve import read_calibrations
    from judge.encoder.calibrated import BATCH_TOKENS
    from judge.pages.checker import PagesJudge
    from judge.pages.layout import Layout, bert_tokenizer

    network: Network
    if exported(identity, "onnx"):
        from judge.pages.onnx import OnnxPagesNetwork

        network, tokenizer = OnnxPagesNetwork.open(folder, identity), bert_tokenizer(folder)
        number_format = identity[EXPORT]["type"]
    else:
        import torch

        from judge.encoder.packed import PACKED
        from judge.pages.model import load_network

        if not (folder / WEIGHTS).is_file() and not (folder / PACKED).is_file():
            raise InputError(f"holds neither {WEIGHTS} nor {PACKED}; it is not an encoder judge", file=folder)
        loaded, tokenizer = load_network(folder)
        network = loaded.to("cuda" if torch.cuda.is_available() else "cpu").eval()
        # Small enough for float32 anywhere, so that a calibration holds on every machine.
        number_format = "float32" if precision == "auto" else precision
    layout = Layout(tokenizer, identity["window_tokens"], identity["max_windows"])
    layout.limit(max_length)
    return PagesJudge(
        network,
        model,
        number_format,
        tuple(identity.get("languages", ("en",))),
        batch_tokens or BATCH_TOKENS,
        read_calibrations(str(folder)),
        layout=layout,
    )
