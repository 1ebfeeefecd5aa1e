"""Loads a model into an engine by name, and checks the settings for that engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from judge.backends.base import Backend
from judge.errors import InputError, warn
from judge.models import hardware
from judge.models.identity import read_identity, trained_precision, trained_quantization
from judge.models.quantization import Quantization, QuantizationChoice
from judge.models.runtimes import EXPORT, exported
from judge.models.weights import Precision

if TYPE_CHECKING:
    from judge.backends.vllm_engine import VLLMSettings
    from judge.remote import EndpointConfig

Engine = Literal["transformers", "vllm", "openai"]


def load_backend(
    model: str,
    engine: Engine,
    *,
    revision: str | None = None,
    precision: Precision = "auto",
    quantization: QuantizationChoice = "auto",
    max_length: int | None = None,
    batch_tokens: int | None = None,
    vllm: "VLLMSettings | None" = None,
    endpoint: "EndpointConfig | str | None" = None,
    call_cache: Path | None = None,
    chat: Mapping[str, Any] | None = None,
) -> Backend:
    """Load a model into an engine; arguments as for :func:`judge.load.load_judge`.

    ``chat`` has arguments for the tokenizer's chat template; servers take none.

    Raises:
        InputError: if the model is unknown, a setting is for another engine, or the engine is not installed.
        JudgeError: if the engine cannot run the model.
    """
    refuse_foreign(engine, quantization, endpoint, call_cache, vllm, batch_tokens)
    if engine == "openai":
        from judge.backends.openai import OpenAIBackend

        return OpenAIBackend(_endpoint(model, endpoint), max_length=max_length, call_cache=call_cache)
    identity = read_identity(model, revision)
    if EXPORT in identity:
        for given, option in (
            (precision != "auto", "precision"),
            (quantization != "auto", "quantization"),
            (bool(chat), "chat template arguments in a template"),
        ):
            if given:
                raise InputError(f"{model} is an export, which takes no {option}; omit it")
        return _exported(Path(model), identity, engine, max_length)
    wanted: Quantization | None = "nf4" if quantization == "nf4" else None
    if quantization == "auto":
        wanted = trained_quantization(identity)
    if engine == "vllm":
        from judge.backends.vllm import VLLMBackend

        if wanted is not None:
            warn(
                f"{model} was trained on weights in {wanted}, which vLLM does not load: it judges on plain "
                f"weights, with other probabilities. judge merge {model} -o DIR makes plain weights of the "
                "judge that was trained"
            )
        return VLLMBackend(
            model,
            revision=revision,
            precision=precision,
            trained=trained_precision(identity),
            max_length=max_length,
            settings=vllm,
            chat=chat,
        )

    from judge.backends.transformers import TransformersBackend
    from judge.models.weights import load_model

    if precision == "auto":
        precision = cast(Precision, hardware.this_device().precision(trained=trained_precision(identity)))
    loaded = load_model(model, revision=revision, precision=precision, quantization=wanted)
    return TransformersBackend(loaded, max_length, batch_tokens, chat)


def refuse_foreign(
    engine: Engine,
    quantization: QuantizationChoice = "auto",
    endpoint: "EndpointConfig | str | None" = None,
    call_cache: Path | str | None = None,
    vllm: "VLLMSettings | None" = None,
    batch_tokens: int | None = None,
) -> None:
    """Raise ``InputError`` for a setting of another engine."""
    for value, name, owner in (
        (quantization == "nf4", "quantization nf4", "transformers"),
        (endpoint is not None, "--base-url", "openai"),
        (call_cache is not None, "call_cache", "openai"),
        (batch_tokens is not None, "batch_tokens", "transformers"),
        (vllm is not None, "vllm", "vllm"),
    ):
        if value and engine != owner:
            raise InputError(f"{name} is for the backend {owner}; omit it, or use that backend")


def _exported(folder: Path, identity: Mapping[str, Any], engine: Engine, max_length: int | None) -> Backend:
    """llama.cpp with an exported judge."""
    if engine != "transformers":
        raise InputError(f"is an export, which {engine} does not run; omit --backend", file=folder)
    if not exported(identity, "gguf"):
        raise InputError(
            "is a language model in ONNX, which is not run any more; export it --to gguf", file=folder
        )
    from judge.backends.llama_cpp import LlamaCppBackend

    return LlamaCppBackend(folder, max_length)


def _endpoint(model: str, given: "EndpointConfig | str | None") -> "EndpointConfig":
    """The settings of a server that runs a model; for a bare address the key is in ``OPENAI_API_KEY``.

    Raises:
        InputError: if the address is invalid, or the settings are for another model.
    """
    from pydantic import ValidationError

    from judge.remote import EndpointConfig

    if given is None:
        return EndpointConfig(model=model)
    if isinstance(given, str):
        try:
            return EndpointConfig(base_url=given, model=model)
        except ValidationError as error:
            wrong = error.errors()[0]
            raise InputError(
                f"{wrong['msg'].removeprefix('Value error, ')}, found {wrong['input']!r:.100}"
            ) from None
    if given.model != model:
        raise InputError(f"the endpoint is for {given.model!r}, and the judge's model is {model!r}")
    return given
