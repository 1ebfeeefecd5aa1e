"""Calls through the ``openai`` client: what the failure of an attempt means, and when another is made.

The client's own retries are off, since a budget has to count every attempt.
"""

import itertools
import json
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from judge.errors import InputError, JudgeError
from judge.remote.chat import Problem, is_completion
from judge.remote.config import EndpointConfig

CONNECT = 3.0
"""Seconds to get a connection."""
LONGEST_BACKOFF = 30.0
"""Maximum seconds between two tries, unless the server asks for more."""
LONGEST_RETRY_AFTER = 600.0
"""If a server asks to wait more seconds than this, the run is given up."""
UNREACHABLE = 6.0
"""Seconds after which a server that never answered and cannot be connected to is given up."""

# Wording of OpenAI, vLLM and llama.cpp in a 400 for a prompt that does not fit.
TOO_LONG = ("context length", "context_length", "context size", "context window")


class TryAgain(Exception):
    """The attempt failed but another may succeed. ``wait`` is the delay the server asked for, in seconds.

    ``lost``: the call may have been answered, and billed, without the answer coming through.
    ``unreachable``: there was no connection to the server.
    """

    def __init__(
        self, reason: str, wait: float | None = None, *, lost: bool = False, unreachable: bool = False
    ):
        super().__init__(reason)
        self.wait, self.lost, self.unreachable = wait, lost, unreachable


class Rejected(Exception):
    """The server refuses this one request, and would do so again."""

    def __init__(self, problem: Problem, reason: str):
        super().__init__(reason)
        self.problem: Problem = problem


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered: the body as received, and its JSON."""

    text: str
    raw: Any


class Endpoint:
    """Sends request bodies to one endpoint; threads may share it.

    Args:
        config: the endpoint.
        kept: what is kept when it fails, for the message.

    Raises:
        InputError: if the key in the environment cannot be a key.
    """

    def __init__(self, config: EndpointConfig, kept: str):
        from openai import Omit, OpenAI, Timeout

        self.config, self._kept = config, kept
        self.open_again = 0.0
        """When it accepts calls again, if it asked to wait, on the monotonic clock."""
        self._answered = False
        self.url = f"{config.base_url}/chat/completions"
        self._key = os.environ.get(config.key_variable, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise InputError(
                f"the environment variable {config.key_variable} holds characters that no key has"
            )
        self._headers = {"Content-Type": "application/json"} | (
            {} if self._key else {"Authorization": Omit()}
        )
        self._client = OpenAI(
            base_url=config.base_url,
            api_key=self._key or "none",
            timeout=Timeout(config.timeout, connect=CONNECT),
            max_retries=0,
        )

    def send(self, body: bytes) -> Response:
        """Send one body and return the chat completion.

        Raises:
            TryAgain: 408, 429, 5xx, a timeout, a broken connection, or a body that is not a chat completion.
            Rejected: the server refuses this one request.
            InputError: the endpoint refuses all requests: wrong key, address, model or parameter.
        """
        response = self.call(self.url, body)
        if not is_completion(response.raw):
            excerpt = self._quote(response.text.encode())
            raise TryAgain(f"it sent no chat completion but {excerpt}", lost=True)
        return response

    def call(self, url: str, body: bytes | None = None) -> Response:
        """POST a body to an address of the server, or GET it without one; errors as in :meth:`send`."""
        import httpx2
        import openai

        options: Any = {"headers": self._headers}
        try:
            if body is None:
                response = self._client.get(url, cast_to=httpx2.Response, options=options)
            else:
                response = self._client.post(url, cast_to=httpx2.Response, content=body, options=options)
        except openai.APIStatusError as error:
            raise self._failure(url, error.response) from None
        except openai.APIConnectionError as error:
            reason = str(error.__cause__ or "") or type(error.__cause__).__name__
            if isinstance(error.__cause__, httpx2.ConnectError | httpx2.ConnectTimeout):
                raise TryAgain(f"no connection ({reason})", unreachable=True) from None
            if isinstance(error, openai.APITimeoutError):
                raise TryAgain(f"no answer within {self.config.timeout:g} s", lost=True) from None
            raise TryAgain(f"the connection broke ({reason})", lost=True) from None
        try:
            text = response.content.decode()
            raw = json.loads(text)
        except (ValueError, RecursionError):
            raise TryAgain(f"it sent no JSON but {self._quote(response.content)}", lost=True) from None
        self._answered = True
        return Response(text, raw)

    def retrying(
        self, url: str, attempt: Callable[[], Response], sleep: Callable[[float], object] = time.sleep
    ) -> Response:
        """Make attempts at a call until one succeeds, with up to ``config.retries`` retries.

        Raises:
            JudgeError: if every attempt raised :class:`TryAgain`, or the server cannot be reached.
        """
        begun = time.monotonic()
        for failures in itertools.count(1):
            try:
                return attempt()
            except TryAgain as error:
                backoff = min(self.config.backoff * 2 ** (failures - 1), LONGEST_BACKOFF)
                dead = error.unreachable and not self._answered
                if (
                    failures > self.config.retries
                    or (error.wait or 0) > LONGEST_RETRY_AFTER
                    or (dead and time.monotonic() + backoff - begun > UNREACHABLE)
                ):
                    asks = "" if error.wait is None else f" and asks to wait {error.wait:,.0f} s"
                    raise JudgeError(
                        f"{url} failed {failures} times; the last time, {error}{asks}. "
                        f"Is the server up and the address right? Run again when it is: {self._kept}"
                    ) from None
                if error.wait is not None:  # applies to all other calls as well
                    self.open_again = max(self.open_again, time.monotonic() + error.wait)
                sleep(max(backoff, error.wait or 0.0) * random.uniform(1.0, 1.25))
        raise AssertionError("counting never ends")

    def _failure(self, url: str, response: Any) -> Exception:
        """The exception for a response with an error status."""
        status, excerpt = response.status_code, self._quote(response.content)
        if status in (408, 429) or status >= 500:
            wait = retry_after(response.headers.get("Retry-After"))
            return TryAgain(f"it answered {status}: {excerpt}", wait=wait)
        if status in (400, 413, 422):
            lower = excerpt.lower()
            if "content_filter" in lower:  # how Azure refuses a prompt
                return Rejected("refused", excerpt)
            if status == 413 or any(words in lower for words in TOO_LONG):
                return Rejected("too_long", excerpt)
        remedy = "see what it says; the request does not suit this server"
        if status in (401, 403):
            state = "is the key right that it holds?" if self._key else "it is not set; put the key there"
            remedy = f"keys come from the environment variable {self.config.key_variable}: {state}"
        elif status in (404, 405) or status < 400:
            remedy = f"is base_url right (it mostly ends in /v1), and is there a model {self.config.model!r}?"
        return InputError(f"{url} answered {status}: {excerpt} ({remedy})")

    def _quote(self, content: bytes) -> str:
        """What a server said, in one line, with the API key masked."""
        text = content.decode("utf-8", errors="replace")
        try:
            error = json.loads(text)["error"]
            parts = [error.get("message"), error.get("code")] if isinstance(error, dict) else [error]
            text = ", ".join(str(part) for part in parts if part)
        except (ValueError, RecursionError, KeyError, TypeError):
            pass  # not in OpenAI's form
        text = " ".join(text.split())
        if self._key:
            text = text.replace(self._key, "[key]")
        return repr(text[:300]) if text else "nothing"


def retry_after(value: str | None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for: a number, or a date (RFC 9110, section 10.2.3)."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if seconds < float("inf") else None
