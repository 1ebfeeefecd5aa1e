"""A single attempt at a call through the ``openai`` client, and what its failure means.

The client's own retries are off, since a budget has to count every attempt.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from judge.errors import InputError
from judge.remote.chat import Problem, is_completion
from judge.remote.config import EndpointConfig

CONNECT = 3.0
"""Seconds to get a connection."""

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
    """A chat completion: the body as received, and parsed."""

    text: str
    raw: Mapping[str, Any]


class Endpoint:
    """Sends request bodies to one endpoint; threads may share it.

    Raises:
        InputError: if the key in the environment cannot be a key.
    """

    def __init__(self, config: EndpointConfig):
        from openai import Omit, OpenAI, Timeout

        self.config = config
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
        import httpx2
        import openai

        try:
            response = self._client.post(
                self.url, cast_to=httpx2.Response, content=body, options={"headers": self._headers}
            )
        except openai.APIStatusError as error:
            raise self._failure(error.response) from None
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
            raw = None
        if not is_completion(raw):
            raise TryAgain(f"it sent no chat completion but {self._quote(response.content)}", lost=True)
        return Response(text, raw)

    def _failure(self, response: Any) -> Exception:
        """The exception for a response with an error status."""
        status, said = response.status_code, self._quote(response.content)
        if status in (408, 429) or status >= 500:
            wait = retry_after(response.headers.get("Retry-After"))
            return TryAgain(f"it answered {status}: {said}", wait=wait)
        if status in (400, 413, 422):
            lower = said.lower()
            if "content_filter" in lower:  # how Azure refuses a prompt
                return Rejected("refused", said)
            if status == 413 or any(words in lower for words in TOO_LONG):
                return Rejected("too_long", said)
        remedy = "see what it says; the request does not suit this server"
        if status in (401, 403):
            state = "is the key right that it holds?" if self._key else "it is not set; put the key there"
            remedy = f"keys come from the environment variable {self.config.key_variable}: {state}"
        elif status in (404, 405) or status < 400:
            remedy = f"is base_url right (it mostly ends in /v1), and is there a model {self.config.model!r}?"
        return InputError(f"{self.url} answered {status}: {said} ({remedy})")

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
