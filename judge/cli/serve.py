"""``judge serve``: a judge over HTTP."""

import os
from typing import Annotated

import typer

from judge.cli.options import MODEL, Settings, introduce, loads_judge, watch_languages
from judge.cli.settings import setting
from judge.errors import InputError, require
from judge.serving.limits import PROMPT_TOKENS, Limits
from judge.shipped import REFERENCE

TOKEN = "JUDGE_API_TOKEN"  # noqa: S105 (a variable's name)
CONNECTIONS = 1024
"""Maximum number of connections; more get 503."""


@loads_judge(without=("claims",))
def serve_command(
    settings: Settings,
    model: MODEL = REFERENCE,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free one.")] = 8000,
    max_batch: Annotated[int, setting("Samples judged together.", min=1)] = Limits().max_batch,
    max_wait_ms: Annotated[
        float, setting("Milliseconds that an idle judge waits for more samples.", min=0)
    ] = Limits().max_wait_ms,
    max_queue: Annotated[
        int, setting("Samples that may wait; beyond that, requests get 429.", min=1)
    ] = Limits().max_queue,
    max_samples: Annotated[int, setting("Samples in one request.", min=1)] = Limits().max_samples,
    max_sentences: Annotated[
        int, setting("Sentences in one request that asks for claims.", min=1)
    ] = Limits().max_sentences,
    max_characters: Annotated[int, setting("Characters in one request.", min=1)] = Limits().max_characters,
    max_body_bytes: Annotated[int, setting("Bytes in one request.", min=1)] = Limits().max_body_bytes,
) -> None:
    """Serve a judge over HTTP until SIGTERM or Ctrl-C; requests accepted by then are answered.

    A prompt has at most 32,768 tokens, or the N of --set max_length=N.

    If JUDGE_API_TOKEN is set, clients must send it as a bearer token.
    """
    require("judge serve", "serve", "fastapi", "prometheus_client", "uvicorn")
    import uvicorn

    from judge.baselines.rules import CONSTANT, TRIVIAL_BASELINES
    from judge.load import load_judge
    from judge.serving.app import create_app
    from judge.serving.listening import address_of, listen_on, run_until_stopped

    limits = Limits(
        max_batch, max_wait_ms, max_queue, max_samples, max_sentences, max_characters, max_body_bytes
    )
    token = _token()
    if model in TRIVIAL_BASELINES and model not in CONSTANT:
        raise InputError(f"{model} learns from the labels of what it judges, which requests do not have")
    introduce(model)
    with listen_on(host, port) as listener:  # before the model, which takes long to load
        judge = load_judge(model, **{**settings, "max_length": settings["max_length"] or PROMPT_TOKENS})
        config = uvicorn.Config(
            create_app(judge, limits, token, watch_languages(model, settings, at_once=True).see),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
        )
        listener.listen(CONNECTIONS)
        typer.echo(f"{judge.name} answers at http://{address_of(listener)}")
        if token is None and not host.startswith(("127.", "::1", "localhost")):
            typer.echo(f"warning: anybody who reaches {host} may ask; set {TOKEN}", err=True)
        run_until_stopped(config, listener)


def _token() -> str | None:
    """The token that clients must send; refuses an empty one, which would silently let everybody in."""
    token = os.environ.get(TOKEN)
    if token is not None and not token.strip():
        raise InputError(f"{TOKEN} is set and empty; give a token, or unset it to let anybody ask")
    return None if token is None else token.strip()
