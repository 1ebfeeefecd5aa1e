"""The command-line options that load a judge: every command that takes a model has them from here."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from judge.backends.load import Engine
from judge.cascade import SURE
from judge.errors import InputError, unknown
from judge.judge import MAX_NEW_TOKENS, Decodings
from judge.models.identity import ENCODER, read_identity
from judge.models.quantization import QuantizationChoice
from judge.models.weights import Precision
from judge.shipped import JUDGES, REFERENCE
from judge.types import Label, Mode

if TYPE_CHECKING:
    from judge.backends.vllm_engine import VLLMSettings
    from judge.prompting.language import LanguageWatch
    from judge.rows import Meanings

JUDGING = ("mode", "template", "windows", "threshold", "prior", "claims", "decoding", "max_new_tokens")
"""Options that say how a judge is asked, and nothing of the engine."""
CASCADE = ("cascade", "cascade_threshold", "cascade_weight")
"""Options of a second, cheaper judge."""

MODEL = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help=f"{', '.join(JUDGES)}, a Hub id, a local folder, floor:NAME, or a server's name for it.",
    ),
]

COLUMNS = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD=COLUMN,...",
        help="Where the file has other names: document=context,answer=response.",
    ),
]


ENCODING = Annotated[
    str | None, typer.Option(help="What the file's text is in, if not UTF-8, such as cp1252.")
]

GOLD_LABELS = Annotated[
    str | None,
    typer.Option(metavar="WORD=LABEL,...", help="What the file's labels mean: 0=PASS,1=FAIL."),
]


def parse_gold_labels(text: str | None) -> "Meanings | None":
    """What ``--gold-labels`` says: words of the file, in the form of :func:`judge.rows.plain_label`.

    Raises:
        InputError: it is no list of ``word=PASS`` and ``word=FAIL``.
    """
    from judge.rows import plain_label

    if text is None:
        return None
    labels = {}
    for pair in text.split(","):
        word, _, label = (part.strip() for part in pair.rpartition("="))
        if not word or label.upper() not in list(Label):
            raise InputError(
                f"{pair!r} is not a word=PASS or word=FAIL, such as 1=FAIL", field="--gold-labels"
            )
        labels[plain_label(word)] = Label(label.upper())
    return labels


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
            raise InputError(f"{pair!r} is not a field=column, such as document=context", field="--columns")
        if field not in FIELDS:
            raise InputError(unknown("field", field, FIELDS), field="--columns")
        columns[field] = column
    return columns


Settings = dict[str, Any]
"""Keyword arguments of :func:`judge.load.load_judge`."""


def _option(panel: str, text: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel, **more)


ENGINE = "Engine"
"""The panel of help pages for what runs the model, and on what."""
_judge, _cascade, _engine = (partial(_option, name) for name in ("The judge", "Two judges", ENGINE))


def _settings(
    *,
    mode: Annotated[
        Mode | None,
        _judge("verdict: one label word. reason: reasoning first. By default as the judge was taught."),
    ] = None,
    template: Annotated[
        Path | None, _judge("Prompt of a judge trained on another one: a Jinja file, or YAML.")
    ] = None,
    windows: Annotated[
        bool,
        _judge(
            "Judge a document that is too long for a language model in windows; else it is shortened.",
            "--windows",
        ),
    ] = False,
    threshold: Annotated[
        str | None,
        _judge(
            "FAIL begins at this p(FAIL). precision, recall: at what judge calibrate found.", metavar="NUMBER"
        ),
    ] = None,
    prior: Annotated[
        float | None,
        _judge("Share of your answers that is hallucinated, if you know it: p(FAIL) is then for that."),
    ] = None,
    claims: Annotated[
        bool, _judge("Tell of every sentence how likely it is wrong, and what supports it.", "--claims")
    ] = False,
    decoding: Annotated[
        Decodings | None,
        _judge("Reason mode's replies: constrained to a verdict's form, or free, as in most papers."),
    ] = None,
    labels: Annotated[
        str | None,
        _judge("An encoder's class that means supported, if its name is unclear.", metavar="PASS=CLASS"),
    ] = None,
    pair: Annotated[
        list[str] | None,
        _judge("How an encoder reads samples: question=hypothesis; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    cascade: Annotated[
        str | None,
        _cascade(
            f"A cheaper judge, such as {REFERENCE}, that answers alone where it is sure.", metavar="MODEL"
        ),
    ] = None,
    cascade_threshold: Annotated[
        float, _cascade("The label of --cascade stands at or above this probability.", min=0.5, max=1)
    ] = SURE,
    cascade_weight: Annotated[
        float, _cascade("Weight of --cascade in the other answers: 0.5 is as much as --model.", min=0, max=1)
    ] = 0.0,
    backend: Annotated[
        Engine,
        _engine("What runs the model: transformers, vllm, or openai, any such server.", metavar="NAME"),
    ] = "transformers",
    precision: Annotated[
        Precision,
        _engine(f"Number format: {', '.join(get_args(Precision))}.", metavar="FORMAT"),
    ] = "auto",
    quantization: Annotated[
        QuantizationChoice, _engine("Weights as the judge was trained on, as they are, or in 4 bits.")
    ] = "auto",
    max_length: Annotated[int | None, _engine("Upper bound on the context, in tokens.", min=1)] = None,
    max_new_tokens: Annotated[
        int, _engine("Limit of a reason-mode reply, in tokens.", min=1)
    ] = MAX_NEW_TOKENS,
    batch_tokens: Annotated[int | None, _engine("Tokens that run in one batch.", min=1)] = None,
    vllm: Annotated[
        list[str] | None,
        _engine("A setting of vLLM, such as tensor_parallel_size=2; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    base_url: Annotated[
        str | None,
        _engine("The server of --backend openai, such as http://localhost:8000/v1.", metavar="URL"),
    ] = None,
    call_cache: Annotated[
        Path | None, _engine("Keep the server's responses in this file; nothing is asked twice.")
    ] = None,
) -> Settings:
    """The options, and what they mean for :func:`judge.load.load_judge`."""
    return {
        "mode": mode,
        "template": template,
        "long": "chunk" if windows else "fit",
        "threshold": threshold,
        "fail_rate": prior,
        "claims": claims,
        "decoding": decoding,
        "first": cascade,
        "sure": cascade_threshold,
        "first_weight": cascade_weight,
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


def watch_languages(model: str, settings: Settings, at_once: bool = False) -> "LanguageWatch":
    """Counts samples in languages that a judge was not trained on, as far as its ``judge.json`` says it."""
    from judge.prompting.language import LanguageWatch

    if settings["backend"] == "openai" or model.startswith("floor:"):
        return LanguageWatch(())
    return LanguageWatch(read_identity(model).get("languages", ("en",) if model in JUDGES else ()), at_once)


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
