"""One chat call: writing the request and reading the reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from judge.errors import InputError
from judge.remote.config import Prices
from judge.types import Message, Usage

Problem = Literal["refused", "truncated", "invalid", "too_long"]
"""Why a reply is not an answer: the model or a filter refused; it hit its token limit; it is empty, or not
JSON of the schema; or the prompt was too long for the server."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model.

    ``schema`` is a JSON schema that the reply must satisfy. ``max_tokens`` limits the reply.
    ``top_logprobs`` asks for the log-probabilities of the reply's tokens and this many alternatives to each.
    ``extra`` holds further fields of the body. Fields that are ``None`` are not sent. ``first_tokens``: only
    the first ``max_tokens`` of a reply are needed, so one that hits this limit is an answer.
    """

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 1024
    temperature: float | None = 0.0
    seed: int | None = None
    top_p: float | None = None
    top_logprobs: int | None = None
    first_tokens: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def body(self, model: str, limit_field: str = "max_tokens") -> bytes:
        """The JSON body, always the same bytes for the same request, since it is the key of a call.

        Fields have a fixed order. A schema's properties keep theirs, because models write them in that order.

        Raises:
            InputError: if a text has half a character, or ``extra`` repeats a field of the request itself.
        """
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": item["role"], "content": item["content"]} for item in self.messages],
            limit_field: self.max_tokens,
        }
        sampling = {name: getattr(self, name) for name in ("temperature", "seed", "top_p")}
        body |= {name: value for name, value in sampling.items() if value is not None}
        if self.top_logprobs is not None:
            body |= {"logprobs": True, "top_logprobs": self.top_logprobs}
        if self.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        for name in sorted(self.extra):
            if name in body:
                raise InputError(f"is a field of the request itself and cannot be extra: {name!r}")
            body[name] = self.extra[name]
        try:
            return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:
            raise InputError(
                "a message holds half a character, which no request can hold; remove it"
            ) from None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied.

    ``problem`` says why it is not an answer, ``detail`` does so in words. ``parsed`` is the JSON of an answer
    to a request with a schema. ``logprobs`` has the server's item for each token: ``token``, ``logprob``,
    ``top_logprobs``. ``cost`` is the price of this reply's tokens, whether paid now or, if ``cached``,
    earlier; what a run paid is in its :class:`~judge.remote.budget.Budget`. Only ``cached`` may differ when a
    run is repeated, so keep it out of reproducible output.
    """

    text: str
    parsed: Any = None
    problem: Problem | None = None
    detail: str = ""
    finish_reason: str | None = None
    logprobs: tuple[Mapping[str, Any], ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    cached: bool = False


def read_reply(
    raw: Mapping[str, Any], request: ChatRequest, prices: Prices | None, cached: bool = False
) -> Reply:
    """Read a response body for which :func:`is_completion` is true, and decide whether it is an answer."""
    choice = raw["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    parsed: Any = None
    problem: Problem | None = None
    detail = ""
    if message.get("refusal") or finish == "content_filter":
        problem, detail = "refused", str(message.get("refusal") or "stopped by a content filter")
    elif finish == "length" and not request.first_tokens:
        problem, detail = "truncated", "the reply hit its token limit"
    elif not text.strip():
        problem, detail = "invalid", "the reply is empty"
    else:
        try:
            text.encode()
            parsed = None if request.schema is None else _parse(text, request.schema)
        except (ValueError, RecursionError) as error:
            problem, detail = "invalid", _invalid(error)
    usage = read_usage(raw) or Usage()
    tokens = (choice.get("logprobs") or {}).get("content")
    return Reply(
        text=text,
        parsed=parsed,
        problem=problem,
        detail=detail,
        finish_reason=finish,
        logprobs=tuple(tokens) if isinstance(tokens, list) else (),
        usage=usage,
        cost=price(usage, prices),
        cached=cached,
    )


def is_completion(raw: object) -> bool:
    """Is it a chat completion with a message, and not something else from a proxy or another server?"""
    try:
        choice, usage = raw["choices"][0], raw.get("usage")  # type: ignore[index, attr-defined]
        parts = (choice["message"], choice.get("logprobs") or {}, usage or {})
    except (AttributeError, IndexError, KeyError, TypeError):
        return False
    return all(isinstance(part, dict) for part in parts)


def read_usage(raw: Mapping[str, Any]) -> Usage | None:
    """The tokens that a server counted; ``None`` if it did not say."""
    usage = raw.get("usage") or {}
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (isinstance(prompt, int) and isinstance(completion, int)) or min(prompt, completion) < 0:
        return None
    return Usage(prompt, completion)


def price(usage: Usage, prices: Prices | None) -> float:
    """The cost of tokens in the prices' currency; 0 without prices."""
    if prices is None:
        return 0.0
    return (usage.prompt_tokens * prices.prompt + usage.completion_tokens * prices.completion) / 1e6


def _parse(text: str, schema: Mapping[str, Any]) -> Any:
    """The reply's JSON; raises ``ValueError`` if it is not JSON, or not of the schema."""
    value = json.loads(text, parse_constant=_no_json)
    wrong = next(_validator(json.dumps(schema)).iter_errors(value), None)
    if wrong is not None:
        raise ValueError(f"of another schema: {wrong.message:.200}")
    json.dumps(value, ensure_ascii=False).encode()
    return value


def _invalid(error: Exception) -> str:
    """Why a reply is invalid, in words."""
    if isinstance(error, UnicodeEncodeError):
        return "the reply holds half a character, which no file can hold"
    return f"the reply is not valid JSON as asked for ({str(error) or 'too deep'})"


def _no_json(word: str) -> None:
    raise ValueError(f"{word} is not valid JSON")


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator, SchemaError

    value = json.loads(schema)
    try:
        Draft202012Validator.check_schema(value)
    except SchemaError as error:
        raise InputError(f"is not a JSON schema ({error.message:.200})", field="schema") from None
    return Draft202012Validator(value)
