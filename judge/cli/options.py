"""The command-line options that load a judge: every command that takes a model has them from here."""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from judge.backends.load import Engine
from judge.cascade import SURE
from judge.errors import InputError, unknown
from judge.judge import MAX_NEW_TOKENS, Decodings
from judge.models.identity import ENCODER, read_identity
from judge.models.quantization import QuantizationChoice
from judge.models.weights import Precision
from judge.prompting.windows import Long
from judge.shipped import JUDGES, REFERENCE
from judge.types import Mode

if TYPE_CHECKING:
    from judge.backends.vllm_engine import VLLMSettings

JUDGING = ("mode", "template", "long", "threshold", "fail_rate", "claims", "decoding", "max_new_tokens")
"""Options that say how a judge is asked, and nothing of the engine."""
CASCADE = ("first", "sure", "first_weight")
"""Options of a second judge beside it."""

MODEL = Annotated[
    str,
    typer.Option(
        help="A Hub id, a local folder, floor:NAME, a server's name for it, or the toolkit's: "
        f"{', '.join(JUDGES)}."
    ),
]

COLUMNS = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD=COLUMN,...",
        help="Where the file has other names: document=context,answer=response.",
    ),
]


def parse_columns(text: str | None) -> dict[str, str] | None:
    """What ``--columns`` says: ``{field of a sample: column of the file}``.

    Raises:
        InputError: it is no list of ``field=column``, or names a field that samples do not have.
    """
    from judge.samples import FIELDS

    if text is None:
        return None
    columns = {}
    for pair in text.split(","):
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not column:
            raise InputError(f"{pair!r} is no field=column, such as document=context", field="--columns")
        if field not in FIELDS:
            raise InputError(unknown("field", field, FIELDS), field="--columns")
        columns[field] = column
    return columns


Settings = dict[str, Any]
"""Keyword arguments of :func:`judge.load.load_judge`."""


def _option(text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel="The judge", **more)


def _settings(
    *,
    mode: Annotated[Mode, _option("verdict: one label word. reason: reasoning first.")] = "verdict",
    template: Annotated[
        Path | None, _option("Prompt of a judge trained on another one: a Jinja file, or YAML.")
    ] = None,
    long: Annotated[Long, _option("Documents that are too long: shortened, or judged in windows.")] = "fit",
    threshold: Annotated[
        str | None,
        _option("p(FAIL) from which on to say FAIL; precision or recall: as judge calibrate found it."),
    ] = None,
    fail_rate: Annotated[
        float | None,
        _option("Share of your answers that is hallucinated, if you know it: p(FAIL) is then for that."),
    ] = None,
    claims: Annotated[
        bool, _option("Judge every sentence of an answer too, and name what speaks for it.", "--claims")
    ] = False,
    first: Annotated[
        str | None, _option(f"A cheaper judge that judges alone what it is sure of, such as {REFERENCE}.")
    ] = None,
    sure: Annotated[
        float, _option("Probability from which on the label of --first stands.", min=0.5, max=1)
    ] = SURE,
    first_weight: Annotated[
        float, _option("What --first weighs in the rest: 0 nothing, 0.5 as much as --model.", min=0, max=1)
    ] = 0.0,
    decoding: Annotated[
        Decodings | None,
        _option("Reason mode's replies: constrained to a verdict's form, or free, as in most papers."),
    ] = None,
    backend: Annotated[
        Engine, _option("The engine that runs the model; openai is any such server.")
    ] = "transformers",
    precision: Annotated[
        Precision, _option("Number format to compute in; auto is what suits judge and device.")
    ] = "auto",
    quantization: Annotated[
        QuantizationChoice, _option("Weights as the judge was trained on, as they are, or in 4 bits.")
    ] = "auto",
    max_length: Annotated[int | None, _option("Upper bound on the context, in tokens.", min=1)] = None,
    max_new_tokens: Annotated[int, _option("Limit of a reason-mode reply.", min=1)] = MAX_NEW_TOKENS,
    batch_tokens: Annotated[int | None, _option("Tokens that run in one batch.", min=1)] = None,
    labels: Annotated[
        str | None,
        _option("An encoder's class that means supported, if its name is unclear.", metavar="PASS=CLASS"),
    ] = None,
    pair: Annotated[
        list[str] | None,
        _option("How an encoder reads samples: question=hypothesis; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    vllm: Annotated[
        list[str] | None,
        _option("A setting of vLLM, such as tensor_parallel_size=2; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    base_url: Annotated[
        str | None, _option("The server of --backend openai: http://localhost:8000/v1.")
    ] = None,
    call_cache: Annotated[
        Path | None, _option("Keep the server's responses in this file; nothing is asked twice.")
    ] = None,
) -> Settings:
    """The options, and what they mean for :func:`judge.load.load_judge`."""
    return {
        "mode": mode,
        "template": template,
        "long": long,
        "threshold": threshold,
        "fail_rate": fail_rate,
        "claims": claims,
        "decoding": decoding,
        "first": first,
        "sure": sure,
        "first_weight": first_weight,
        "backend": backend,
        "precision": precision,
        "quantization": quantization,
        "max_length": max_length,
        "max_new_tokens": max_new_tokens,
        "batch_tokens": batch_tokens,
        "labels": labels,
        "pair": pair,
        "vllm": _vllm_settings(vllm),
        "endpoint": base_url,
        "call_cache": call_cache,
    }


def _vllm_settings(given: Sequence[str] | None) -> "VLLMSettings | None":
    """What ``--vllm`` sets, if anything.

    Raises:
        InputError: a key is unknown, or its value is of the wrong type.
    """
    if not given:
        return None
    from judge.backends.vllm_engine import VLLMSettings
    from judge.configs import make_config

    return make_config(VLLMSettings, {}, given)


DEFAULTS = _settings()


def introduce(model: str) -> None:
    """Say on standard error what a judge of the toolkit is and how good, where it is the model."""
    if model not in JUDGES:
        return
    found = read_identity(model)
    measured, kind = found["measured"], "an encoder" if found["stage"] == ENCODER else "a language model"
    typer.echo(
        f"judge: {model}, {kind} of {found['parameters'] / 1e6:.0f}M parameters; balanced accuracy "
        f"{measured['balanced_accuracy']:.1f} % on {measured['on']}",
        err=True,
    )


def loads_judge(*, without: Sequence[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that load a judge, as its argument ``settings``.

    Args:
        without: options that the command does not have.
    """
    known = inspect.signature(_settings).parameters
    options = [parameter for name, parameter in known.items() if name not in without]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        own = [parameter for name, parameter in signature.parameters.items() if name != "settings"]

        @wraps(command)
        def run(**given: Any) -> None:
            settings = _settings(**{option.name: given.pop(option.name) for option in options})
            command(**given, settings=settings)

        # Typer goes by the signature.
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = signature.replace(parameters=[*parameters, *options])  # type: ignore[attr-defined]
        return run

    return decorate
