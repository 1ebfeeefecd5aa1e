"""Checks if a model's name is a path, and fetches files of the Hub, if it answers: its client would retry."""

import time
from difflib import get_close_matches
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from judge.errors import InputError, unknown, warn
from judge.shipped import JUDGES

TIMEOUT = 5.0
"""Timeout in seconds for an answer of the Hub."""
AGAIN = 60.0
"""Seconds until an unreachable Hub is asked again."""

_lost: float | None = None


def hub_answers(model: str) -> bool:
    """Whether the Hub can be reached and gives us a ``config.json`` for this model.

    While it is unreachable, its client is switched to the local cache (``HF_HUB_OFFLINE``).
    """
    global _lost
    from huggingface_hub import constants, get_token
    from huggingface_hub.utils import build_hf_headers

    if constants.HF_HUB_OFFLINE and (_lost is None or time.monotonic() < _lost + AGAIN):
        return False
    address = f"{constants.ENDPOINT}/{model}/resolve/main/config.json"
    headers = build_hf_headers(token=get_token())
    found = reached = True
    try:
        request = Request(address, method="HEAD", headers=headers)  # noqa: S310
        with urlopen(request, timeout=TIMEOUT):  # noqa: S310 (the Hub's own address)
            pass
    except HTTPError as error:
        found, reached = False, error.code < 500
    except ValueError:  # not a valid address
        found = False
    except OSError as error:
        found = reached = False
        warn(f"{constants.ENDPOINT} cannot be reached ({error}); models come from this machine alone")
    constants.HF_HUB_OFFLINE, _lost = not reached, None if reached else time.monotonic()
    return found


_fetched: dict[tuple[str, str, str | None], Path | None] = {}
"""Answers of the Hub in this process, by repository, file and revision."""


def fetch(model: str, file: str, revision: str | None = None) -> Path | None:
    """A file of a Hub repository; ``None`` if it has none of that name or the Hub cannot be reached."""
    from transformers.utils import cached_file

    key = (model, file, revision)
    if key in _fetched:
        return _fetched[key]
    # A quick check first: without a network the client would retry for half a minute.
    kept = not hub_answers(model)
    try:
        found = Path(cached_file(model, file, revision=revision, local_files_only=kept))
    except OSError:  # raised in all of these cases
        found = None
    if not kept:
        _fetched[key] = found
    return found


def is_path(name: str) -> bool:
    """Whether a model's name can only be a path, not a Hub id."""
    return (
        name.startswith((".", "/", "~", "runs/"))
        or name.endswith("/")
        or name.count("/") > 1
        or not name.strip()
    )


def refuse_absent(name: str) -> None:
    """Raise ``InputError`` for a path without a folder, and for a misspelled name of a bundled judge."""
    folder = Path(name)
    if name not in JUDGES and not folder.is_dir() and get_close_matches(name, JUDGES, n=1, cutoff=0.8):
        raise InputError(unknown("model", name, JUDGES))
    if not is_path(name) or (name.strip() and folder.is_dir()):
        return
    siblings = folder.parent.iterdir() if folder.parent.is_dir() else ()
    models = [str(path) for path in siblings if any(path.glob("*config.json"))]
    raise InputError(
        unknown("model", name, models) if models else f"unknown model {name!r}: no folder of that name here"
    )
