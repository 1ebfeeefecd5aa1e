"""Engines by name: which one runs a model, and the settings that each of them takes."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judge.backends.base import Backend
from judge.errors import InputError
from judge.models.quantization import QuantizationChoice
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
    quantization: QuantizationChoice = "none",
    max_length: int | None = None,
    batch_tokens: int | None = None,
    vllm: "VLLMSettings | None" = None,
    endpoint: "EndpointConfig | str | None" = None,
    call_cache: Path | None = None,
    compiled: bool = False,
) -> Backend:
    """Load a model into an engine; arguments as for :func:`judge.load.load_judge`.

    Raises:
        InputError: unknown model, a setting of another engine, or an engine that is not installed.
        JudgeError: the engine cannot run the model.
    """
    for value, name, owner in (
        (quantization != "none", f"quantization {quantization}", "transformers"),
        (compiled, "--compile", "transformers"),
        (endpoint is not None, "an endpoint (--base-url)", "openai"),
        (call_cache is not None, "a call cache (--call-cache)", "openai"),
        (batch_tokens is not None, "a limit of tokens in a batch (--batch-tokens)", "transformers"),
        (vllm is not None, "a setting of vLLM (--vllm)", "vllm"),
    ):
        if value and engine != owner:
            raise InputError(f"{name} is for the backend {owner}; leave it away, or use that backend")

    if engine == "openai":
        from judge.backends.openai import OpenAIBackend

        return OpenAIBackend(_endpoint(model, endpoint), max_length=max_length, call_cache=call_cache)
    if engine == "vllm":
        from judge.backends.vllm import VLLMBackend

        return VLLMBackend(
            model, revision=revision, precision=precision, max_length=max_length, settings=vllm
        )

    from judge.backends.transformers import TransformersBackend
    from judge.models.weights import load_model

    loaded = load_model(
        model,
        revision=revision,
        precision=precision,
        quantization=None if quantization == "none" else quantization,
    )
    return TransformersBackend(loaded, max_length, batch_tokens, compiled)


def _endpoint(model: str, given: "EndpointConfig | str | None") -> "EndpointConfig":
    """The settings of a server that runs a model; the key of a bare address is in ``OPENAI_API_KEY``.

    Raises:
        InputError: the address is none, or the settings are for another model.
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
