"""``judge export``: a judge for another runtime, with everything that its probabilities need.

The folder has the model file, the tokenizer and ``judge.json`` with calibration, label words and the parity
with the original; for GGUF also ``prompts.json`` and Ollama's ``Modelfile``. It is only written if the export
is complete and the parity within its limits, or if failed exports are to be kept.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.calibration.curve import read_calibrations
from judge.encoder.load import is_encoder
from judge.encoder.second import TwoEncoders
from judge.errors import InputError, JudgeError, require, unknown
from judge.exports.parity import Parity, parity
from judge.exports.prompts import prompt_texts
from judge.files import JUDGE_FILE, appearing, write_json, write_text
from judge.load import load_judge
from judge.models.base import find_model, unknown_model
from judge.models.identity import ENCODER, SECOND, read_identity, trained_quantization
from judge.models.runtimes import EXPORT
from judge.models.trained_on import carry_trained_on
from judge.pages.checker import PagesJudge
from judge.prompting.prompts import LABEL_WORDS, BuiltinPrompt
from judge.prompting.rendering import Renderer
from judge.shipped import is_baseline
from judge.types import Sample, Verdict

if TYPE_CHECKING:
    from judge.encoder.network import EncoderNetwork

TYPES = {"gguf": ("F16", "Q8_0"), "onnx": ("float32",)}
"""Number formats of each kind of export; the first is the default."""
WEIGHTS = (".gguf", ".onnx", ".data")
"""Suffixes of an export's weight files."""


def export_judge(
    model: str,
    to: str,
    out: Path,
    *,
    kind: str | None = None,
    samples: Sequence[Sample] | None = None,
    keep_failed: bool = False,
) -> Parity | None:
    """Write a judge for another runtime, and compare it with the original.

    Args:
        model: folder or Hub id of a judge or a base model: weights, LoRA adapter, or an encoder judge.
        to: ``gguf`` or ``onnx``.
        out: folder for the export.
        kind: number format, see :data:`TYPES`.
        samples: samples for the comparison; ``None`` leaves the export unchecked, as ``judge.json`` says.
        keep_failed: also write an export that differs too much, marked as such.

    Returns:
        How far the two agree; ``None`` if unchecked.

    Raises:
        InputError: if such an export is not possible, a library is missing, or ``out`` exists already.
        JudgeError: if the export differs from the original by more than the limits of its number format.
    """
    if to not in TYPES:
        raise InputError(unknown("format", to, TYPES), field="to")
    kind = kind or TYPES[to][0]
    if kind not in TYPES[to]:
        raise InputError(unknown(f"type of {to}", kind, TYPES[to]), field="type")
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    if samples is not None and not samples:
        raise InputError("there are no samples to compare on")
    if is_baseline(model):
        raise InputError(f"{model} is a rule, not a model; there is nothing to export")
    identity = read_identity(model)
    if EXPORT in identity:
        raise InputError(f"{model} is an export already; name the judge that it was made from")
    encoder = is_encoder(model, identity)
    if not encoder:
        _refuse_unknown(model)
    if encoder and to == "gguf":
        raise InputError(f"{model} is an encoder, which llama.cpp does not run; export it --to onnx")
    if not encoder and to == "onnx":
        raise InputError(f"{model} is a language model, which is not written as ONNX; export it --to gguf")
    _require(to, compared=samples is not None)
    with appearing(out) as folder:
        write = _write_encoder if encoder else _write_decoder
        details = write(model, folder, kind)
        described = {**details.pop("read", {}), **_identity(identity, model, encoder)}
        described[EXPORT] = {"to": to, "type": kind, **details, "parity": None}
        write_json(folder / JUDGE_FILE, described)
        carry_trained_on(model, folder)
        found = None if samples is None else _check(model, folder, kind, samples)
        if found is not None:
            described[EXPORT]["parity"] = asdict(found)
            if not found.passed and not keep_failed:
                raise JudgeError(
                    f"{kind} is too far from the original: {found}; nothing was written "
                    "(--keep-failed writes it, marked)"
                )
        if not encoder:
            write_json(folder / "prompts.json", prompt_texts())
            write_text(folder / "Modelfile", _modelfile(folder, described, found))
        weights = [path for path in folder.rglob("*") if path.suffix in WEIGHTS]
        described[EXPORT]["bytes"] = sum(path.stat().st_size for path in weights)
        write_json(folder / JUDGE_FILE, described)
    return found


def _require(to: str, compared: bool) -> None:
    """Check that libraries are installed before the weights are loaded and written, which may take long."""
    if to == "onnx":
        require("an ONNX export", "export", "onnx", "onnxscript", "onnxruntime")
        return
    require("a GGUF export", "export", "gguf")
    if compared:
        require("the comparison of a GGUF export (or else give --unchecked)", "llama", "llama_cpp")


def _refuse_unknown(model: str) -> None:
    """Raise ``InputError`` if there is no such language model, neither here nor on the Hub."""
    base, adapter = find_model(model)
    if Path(base).is_dir():
        return
    from transformers.utils import cached_file

    try:
        cached_file(base, "config.json")
    except OSError as error:
        raise unknown_model(model, base, adapter, error) from error


def _identity(identity: dict[str, Any], model: str, encoder: bool) -> dict[str, Any]:
    """The export's ``judge.json``: the judge's, completed with prompt and label words for language models."""
    found = dict(identity)
    if not encoder:
        words = {language: dict(pair) for language, pair in LABEL_WORDS.items()}
        found = {**BuiltinPrompt().describe(), "label_words": words, "base_model": model, **found}
    found["exported_from"] = model
    return found


def _write_encoder(model: str, folder: Path, kind: str) -> dict[str, Any]:
    judge: Any = load_judge(model, precision="float32")
    if not isinstance(judge, TwoEncoders):
        return _write_graph(judge, folder)
    beside = folder / SECOND
    beside.mkdir()
    details = _write_graph(judge.second, beside)
    described = {**details.pop("read", {}), **read_identity(judge.second.name)}
    write_json(beside / JUDGE_FILE, {**described, EXPORT: {"to": "onnx", "type": kind, **details}})
    return _write_graph(judge.first, folder)


def _write_graph(judge: Any, folder: Path) -> dict[str, Any]:
    from judge.encoder.folder import TOKENIZER
    from judge.encoder.heads import CONFIG
    from judge.exports.onnx_file import write_encoder, write_pages

    if isinstance(judge, PagesJudge):
        judge.layout.tokenizer.save(str(folder / TOKENIZER))
        pages: Any = judge.network
        write_pages(pages.cpu(), folder / "model.onnx")
        return {"file": "model.onnx", "parameters": pages.size}
    network: EncoderNetwork = judge.network
    judge.pairing.tokenizer.save(str(folder / TOKENIZER))
    write_json(folder / CONFIG, network.model.config.to_dict())
    write_encoder(network.cpu(), folder / "model.onnx")
    read = {"stage": ENCODER, "languages": list(judge.languages), **judge.pairing.describe()}
    return {"file": "model.onnx", "parameters": network.size, "pad_id": network.pad_id, "read": read}


def _write_decoder(model: str, folder: Path, kind: str) -> dict[str, Any]:
    from judge.exports.gguf_file import write_gguf
    from judge.models.weights import load_tokenizer

    with _plain_weights(model) as source:
        file = f"judge-{kind}.gguf"
        length = write_gguf(source, folder / file, kind, Path(model).name)
        load_tokenizer(str(source)).save_pretrained(folder)
    return {"file": file, "context_length": length}


@contextmanager
def _plain_weights(model: str) -> Iterator[Path]:
    """A folder with a model's plain weights and tokenizer, temporary if an adapter has to be merged in."""
    base, adapter = find_model(model)
    if adapter is not None:
        from judge.models.weights import load_weights

        # Not judge merge, which only takes plain LoRA: PEFT also merges its variants and whole layers.
        merged, tokenizer = load_weights(
            model,
            precision="float32",
            quantization=trained_quantization(read_identity(model)),
            dequantize=True,
        )
        with tempfile.TemporaryDirectory() as scratch:
            merged.merge_and_unload().save_pretrained(scratch)
            tokenizer.save_pretrained(scratch)
            del merged
            yield Path(scratch)
    elif Path(base).is_dir():
        yield Path(base)
    else:
        from huggingface_hub import snapshot_download

        yield Path(snapshot_download(base, allow_patterns=["*.json", "*.jinja", "*.safetensors"]))


def _check(model: str, folder: Path, kind: str, samples: Sequence[Sample]) -> Parity:
    """Compare the export with the judge in float32, both with the export's calibrations."""
    calibrations = read_calibrations(str(folder))

    def verdicts(name: str, **more: Any) -> list[Verdict]:
        judge: Any = load_judge(name, **more)
        return replace(judge, calibrations=calibrations).check(samples)

    return parity(verdicts(model, precision="float32"), verdicts(str(folder)), kind)


def _modelfile(folder: Path, identity: dict[str, Any], found: Parity | None) -> str:
    from judge.exports.modelfile import modelfile
    from judge.models.weights import load_tokenizer

    details = identity[EXPORT]
    remarks = f"judge export of {identity['exported_from']}, {details['type']}\n"
    remarks += "parity was not checked" if found is None else f"parity with float32: {found}"
    if found is not None and not found.passed:
        remarks += "\nTHE PARITY CHECK FAILED: probabilities are not those of the original judge"
    renderer = Renderer(load_tokenizer(str(folder)))
    return modelfile(details["file"], renderer, details["context_length"], remarks)
