"""The command-line options that load a judge, for every command that takes a model."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from judge.backends.load import Engine
from judge.cascade import SURE
from judge.cli.settings import SET, setting
from judge.errors import InputError, unknown
from judge.judge import MAX_NEW_TOKENS, Decodings
from judge.models.identity import ENCODER, SECOND, read_identity
from judge.models.quantization import QuantizationChoice
from judge.models.weights import Precision
from judge.progress import say
from judge.shipped import JUDGES, REFERENCE, is_baseline
from judge.types import Label, Mode

if TYPE_CHECKING:
    from judge.prompting.language import LanguageWatch
    from judge.rows import Meanings

JUDGING = ("mode", "template", "windows", "threshold", "prior", "claims", "decoding", "max_new_tokens")
"""Options about how a judge is asked, not about the engine."""
CASCADE = ("cascade", "cascade_threshold", "cascade_weight")
"""Options of a second, cheaper judge."""

MODEL = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help=f"{', '.join(JUDGES)}, a Hub id, a local folder, baseline:NAME, or a server's name for it.",
    ),
]

COLUMNS = Annotated[
    str | None,
    typer.Option(
        metavar="FIELD=COLUMN,...",
        help="Columns of the file, where unusual: document=context,answer=response.",
    ),
]

ENCODING = Annotated[str | None, typer.Option(help="Encoding of the file if not UTF-8, such as cp1252.")]

GOLD_LABELS = Annotated[
    str | None,
    typer.Option(metavar="WORD=LABEL,...", help="What the labels in the file mean: 0=PASS,1=FAIL."),
]

DATA_DIR = Annotated[
    Path | None,
    typer.Option(
        envvar="JUDGE_DATA_DIR",
        help="A folder for each benchmark. Default: the Hub (HaluBench and HaluEval alone).",
    ),
]


def parse_names(text: str | None, option: str) -> list[str]:
    """The names in a list separated by commas, each once; none if the option was not given.

    Raises:
        InputError: if the list is empty, as that of an unset variable of the shell is.
    """
    names = list(dict.fromkeys(filter(None, (part.strip() for part in (text or "").split(",")))))
    if text is not None and not names:
        raise InputError("names nothing; separate names by commas, or omit it", field=option)
    return names


def parse_gold_labels(text: str | None) -> "Meanings | None":
    """Parse ``--gold-labels``: meanings of the file's words, in the form of :func:`judge.rows.plain_label`.

    Raises:
        InputError: if it is not a list of ``word=PASS`` and ``word=FAIL``.
    """
    from judge.rows import plain_label

    if text is None:
        return None
    labels: dict[str, Label | None] = {}
    for pair in text.split(","):
        word, _, label = (part.strip() for part in pair.rpartition("="))
        if not word or label.upper() not in list(Label):
            raise InputError(f"{pair!r} is not a word=PASS or word=FAIL: 1=FAIL", field="--gold-labels")
        if plain_label(word) in labels:
            raise InputError(f"{word!r} is given twice", field="--gold-labels")
        labels[plain_label(word)] = Label(label.upper())
    return labels


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Parse ``--columns`` to ``{field of a sample: column of the file}``.

    Raises:
        InputError: if it is not a list of ``field=column``, or names a field that samples do not have.
    """
    from judge.columns import FIELDS

    if text is None:
        return None
    columns: dict[str, str] = {}
    for pair in text.split(","):
        field, equals, column = (part.strip() for part in pair.partition("="))
        if not equals or not column:
            raise InputError(f"{pair!r} is not a field=column, such as document=context", field="--columns")
        if field not in FIELDS:
            raise InputError(unknown("field", field, FIELDS), field="--columns")
        if field in columns:
            raise InputError(f"{field!r} is given twice", field="--columns")
        columns[field] = column
    return columns


Settings = dict[str, Any]
"""Keyword arguments of :func:`judge.load.load_judge`."""

_judge = partial(typer.Option, rich_help_panel="The judge")


def _options(
    *,
    mode: Annotated[
        Mode | None,
        _judge(help="verdict: a label alone. reason: reasoning first. Default: as the judge was trained."),
    ] = None,
    threshold: Annotated[
        str | None,
        _judge(
            metavar="NUMBER",
            help="Label FAIL at or above this p(FAIL); precision, recall: the one judge calibrate found.",
        ),
    ] = None,
    prior: Annotated[
        float | None, _judge(help="Share of your answers that is hallucinated, if known; adjusts p(FAIL).")
    ] = None,
    claims: Annotated[
        bool, _judge("--claims", help="For every sentence: how much to doubt it, and what supports it.")
    ] = False,
    windows: Annotated[
        bool,
        _judge(
            "--windows",
            help="Judge a document too long for a language model in windows, instead of shortening it.",
        ),
    ] = False,
    cascade: Annotated[
        str | None,
        _judge(
            metavar="MODEL",
            help=f"A cheaper judge, such as {REFERENCE}; --model judges only what it is unsure of.",
        ),
    ] = None,
    backend: Annotated[
        Engine,
        _judge(metavar="NAME", help="What runs the model: transformers, vllm, or openai (see --base-url)."),
    ] = "transformers",
    base_url: Annotated[
        str | None,
        _judge(
            metavar="URL",
            help="Server for --backend openai, such as vLLM or Ollama: http://localhost:8000/v1",
        ),
    ] = None,
    template: Annotated[
        Path | None, setting("The prompt of a judge trained on another one: a Jinja or YAML file.")
    ] = None,
    labels: Annotated[
        list[str] | None,
        setting("The class of a classifier that means supported.", metavar="PASS=CLASS"),
    ] = None,
    pair: Annotated[
        list[str] | None,
        setting("How a classifier reads samples, such as pair.question=hypothesis.", metavar="KEY=VALUE"),
    ] = None,
    decoding: Annotated[
        Decodings | None, setting("Replies in reason mode: held to the form of a verdict, or free.")
    ] = None,
    max_new_tokens: Annotated[
        int, setting("Longest reply in reason mode, in tokens.", min=1)
    ] = MAX_NEW_TOKENS,
    max_length: Annotated[int | None, setting("Longest prompt, in tokens.", min=1)] = None,
    batch_tokens: Annotated[int | None, setting("Tokens computed in one batch.", min=1)] = None,
    precision: Annotated[
        Precision, setting(f"Number format: {', '.join(get_args(Precision))}.", metavar="FORMAT")
    ] = "auto",
    quantization: Annotated[
        QuantizationChoice, setting("Weights as they are, in 4 bits, or as in training (auto).")
    ] = "auto",
    cascade_threshold: Annotated[
        float, setting("How sure --cascade must be of its label to decide alone.", min=0.5, max=1)
    ] = SURE,
    cascade_weight: Annotated[
        float,
        setting("Weight of --cascade in the other verdicts; at 0.5 both count the same.", min=0, max=1),
    ] = 0.0,
    vllm: Annotated[
        list[str] | None,
        setting("An argument of vLLM, such as vllm.tensor_parallel_size=2.", metavar="KEY=VALUE"),
    ] = None,
    call_cache: Annotated[
        Path | None, setting("Keep a server's responses in this file; retrained weights need another file.")
    ] = None,
) -> None:
    """The options that load a judge, named like the arguments of :func:`judge.load.load_judge`."""


_KNOWN = inspect.signature(_options).parameters
DEFAULTS: Settings = {name: option.default for name, option in _KNOWN.items()}


def introduce(model: str) -> None:
    """If the model is one of the toolkit's judges, say on standard error what it is and how good."""
    if model not in JUDGES:
        return
    found = read_identity(model)
    measured, kind = found["measured"], "an encoder" if found["stage"] == ENCODER else "a language model"
    if SECOND in found:
        kind = "two encoders"
    say(
        f"judge: {model}, {kind} of {found['parameters'] / 1e6:.0f}M parameters; balanced accuracy "
        f"{measured['balanced_accuracy']:.1f} % on {measured['on']}"
    )


def watch_languages(model: str, settings: Settings, at_once: bool = False) -> "LanguageWatch":
    """Counts samples in languages that a judge was not trained on, if its ``judge.json`` names them."""
    from judge.prompting.language import LanguageWatch

    if settings["backend"] == "openai" or is_baseline(model):
        return LanguageWatch(())
    return LanguageWatch(read_identity(model).get("languages", ("en",) if model in JUDGES else ()), at_once)


def loads_judge(*, without: Sequence[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that load a judge, as its argument ``settings``.

    Args:
        without: options that the command does not have.
    """
    options = [option for name, option in _KNOWN.items() if name not in without]
    change = inspect.Parameter("set", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=SET)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        own = [parameter for name, parameter in signature.parameters.items() if name != "settings"]

        @wraps(command)
        def run(**given: Any) -> None:
            del given["set"]  # the command class has turned it into options
            settings = DEFAULTS | {option.name: given.pop(option.name) for option in options}
            if settings["labels"]:
                settings["labels"] = ",".join(settings["labels"])
            if settings["vllm"]:
                from judge.backends.vllm_engine import VLLMSettings
                from judge.configs import make_config

                settings["vllm"] = make_config(VLLMSettings, {}, settings["vllm"])
            command(**given, settings=settings)

        # Typer reads the signature.
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        run.__signature__ = signature.replace(parameters=[*parameters, *options, change])  # type: ignore[attr-defined]
        return run

    return decorate
