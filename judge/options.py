"""The command-line options that load a judge: every command that takes a model has them from here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.backends.load import Engine
from judge.errors import InputError
from judge.loading import Precision
from judge.quantization import QuantizationChoice
from judge.types import Mode
from judge.windows import Long

if TYPE_CHECKING:
    from judge.remote import EndpointConfig

MODEL = Annotated[str, typer.Option(help="A Hub id, a local folder, floor:NAME, or a server's name for it.")]
MODE = Annotated[Mode, typer.Option(help="verdict: one label word. reason: the reasoning, then the label.")]
TEMPLATE = Annotated[Path | None, typer.Option(help="Jinja prompt of a judge trained on another prompt.")]
BACKEND = Annotated[Engine, typer.Option(help="The engine that runs the model; openai is any such server.")]
BASE_URL = Annotated[
    str | None, typer.Option(help="The server of --backend openai: http://localhost:8000/v1.")
]
CALL_CACHE = Annotated[
    Path | None, typer.Option(help="Keep the server's responses in this file; nothing is asked twice.")
]
PRECISION = Annotated[Precision, typer.Option(help="Number format of the weights.")]
COMPILE = Annotated[
    bool, typer.Option("--compile", help="Compile the model's layers: a minute at first, faster after it.")
]
QUANTIZATION = Annotated[QuantizationChoice, typer.Option(help="Load the weights in 4 bits.")]
MAX_LENGTH = Annotated[int | None, typer.Option(min=1, help="Upper bound on the context, in tokens.")]
MAX_NEW_TOKENS = Annotated[int, typer.Option(min=1, help="Limit of a reason-mode reply.")]
LONG = Annotated[Long, typer.Option(help="A document that is too long: shortened, or judged in windows.")]
THRESHOLD = Annotated[
    str | None,
    typer.Option(help="p(FAIL) from which on to say FAIL; precision or recall: as judge calibrate found it."),
]

ENGINE = Annotated[
    Literal["local", "ray"],
    typer.Option(help="ray: on a Ray cluster, see docs/batch.md."),
]
WORKERS = Annotated[
    int | None, typer.Option(min=1, help="Of --engine ray; all that the cluster holds by default.")
]
CPUS_PER_WORKER = Annotated[int | None, typer.Option(min=1, help="Cores of each worker; 1 by default.")]
GPUS_PER_WORKER = Annotated[
    float | None,
    typer.Option(min=0, help="GPUs of each worker; by default 1 where there are any. 0.5 is half of one."),
]


def endpoint(model: str, base_url: str | None) -> "EndpointConfig | None":
    """The server that ``--base-url`` names, with the model's name there; keys come from ``OPENAI_API_KEY``.

    Raises:
        InputError: it is no address.
    """
    if base_url is None:
        return None
    from pydantic import ValidationError

    from judge.remote import EndpointConfig

    try:
        return EndpointConfig(base_url=base_url, model=model)
    except ValidationError as error:
        wrong = error.errors()[0]
        raise InputError(
            f"{wrong['msg'].removeprefix('Value error, ')}, found {wrong['input']!r:.100}"
        ) from None
