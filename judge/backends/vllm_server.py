"""What vLLM's server has beyond OpenAI's API: its context length, its tokenizer, and any token's probability.

With these, a label word is scored as by the engine in process (:mod:`judge.backends.vllm`): one generated
token for each token of the word, with the requested log-probabilities over the whole vocabulary.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from judge.backends.base import LabelRequest
from judge.errors import InputError, unknown
from judge.prompting.rendering import common_prefix
from judge.remote import ChatRequest, Reply
from judge.remote.transport import Endpoint, Rejected, TryAgain
from judge.types import Message

NO_THINKING: Mapping[str, Any] = {
    "enable_thinking": False
}  # as in judge/prompting/rendering.py; other templates ignore it


GRID = 1024
"""16-bit logits of 1 or more are multiples of ``1 / GRID``: of 1/128 in bfloat16, of 1/1024 in float16."""
ROUNDING = 4e-6
"""Largest rounding error of float32 in a difference of log-probabilities."""
COARSE = (
    "warning: {url} computes its logits in 16 bits, in steps that move p_fail by a few hundredths; start "
    """the server with --hf-overrides '{{"head_dtype": "float32"}}' (docs/serving.md)"""
)


@dataclass(frozen=True, slots=True)
class Step:
    """A token to score: ``lead`` is the part of the word before it, ``token`` the id that may follow."""

    lead: str
    token: int


class VLLMServer:
    """The functions of a vLLM server other than generation.

    Args:
        endpoint: the connection to it.
        context_length: maximum tokens of prompt and reply together.
    """

    def __init__(self, endpoint: Endpoint, context_length: int):
        self.endpoint, self.context_length = endpoint, context_length
        self._root = endpoint.config.base_url.removesuffix("/v1")
        self._frame = lru_cache(maxsize=64)(self._count_frame)
        self._steps = lru_cache(maxsize=64)(self._find_steps)

    @classmethod
    def find(cls, endpoint: Endpoint) -> "VLLMServer | None":
        """The endpoint's vLLM server; ``None`` if it is another server, or does not answer.

        Raises:
            InputError: if it is a vLLM server without such a model.
        """
        config = endpoint.config
        try:
            listed = endpoint.call(f"{config.base_url}/models").raw["data"]
            cards = [card for card in listed if card["id"]]
        except (TryAgain, Rejected, InputError, KeyError, TypeError):
            return None
        if not any(card.get("owned_by") == "vllm" for card in cards):
            return None
        if config.model not in [card["id"] for card in cards]:
            raise InputError(unknown("model", config.model, [card["id"] for card in cards]))
        # An adapter's card may lack the length; that of its base applies.
        lengths = [card["max_model_len"] for card in cards if card.get("max_model_len")]
        return cls(endpoint, min(lengths)) if lengths else None

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return len(self._tokens(messages))

    def most(self, messages: Sequence[Message]) -> int:
        """An upper limit on the tokens of a prompt: a token has at least one byte."""
        size = sum(len(message["content"].encode()) for message in messages)
        return size + self._frame(tuple(message["role"] for message in messages))

    def _count_frame(self, roles: tuple[str, ...]) -> int:
        """Upper limit on the tokens that the chat template adds to the contents."""
        return self.count([{"role": role, "content": "-"} for role in roles]) + len(roles)

    def label_steps(self, request: LabelRequest) -> "tuple[list[Step], list[Step]] | None":
        """The tokens of a request's two words from where they diverge, each with the text before it.

        ``None`` if a word cannot be written in part, for example if its tokens split a character.
        """
        # Only the characters just before a word can change its tokens, not the rest of the conversation.
        return self._steps(request.words, request.prefix[-4:])

    def _find_steps(self, words: tuple[str, str], before: str) -> "tuple[list[Step], list[Step]] | None":
        ask: Message = {"role": "user", "content": "-"}

        def tokens(lead: str) -> list[int]:
            return self._tokens([ask, {"role": "assistant", "content": lead}] if lead else [ask])

        start, first, second = tokens(before), tokens(before + words[0]), tokens(before + words[1])
        shared = common_prefix([first, second])
        if common_prefix([start, first, second]) < len(start) or shared in (len(first), len(second)):
            return None
        found: list[list[Step]] = []
        for ids in (first, second):
            steps = []
            for end in range(shared, len(ids)):
                lead = self._text(ids[len(start) : end]) if end > len(start) else ""
                if tokens(before + lead) != ids[:end]:
                    return None
                steps.append(Step(lead, ids[end]))
            found.append(steps)
        return found[0], found[1]

    def _tokens(self, messages: Sequence[Message]) -> list[int]:
        return list(self._post("tokenize", {"messages": list(messages), **turn(messages)})["tokens"])

    def _text(self, tokens: Sequence[int]) -> str:
        return str(self._post("detokenize", {"tokens": list(tokens)})["prompt"])

    def _post(self, name: str, body: Mapping[str, Any]) -> Any:
        """The server's answer, with as many retries as a chat call gets."""
        url = f"{self._root}/{name}"
        content = json.dumps({"model": self.endpoint.config.model, **body}).encode()
        try:
            return self.endpoint.retrying(url, lambda: self.endpoint.call(url, content)).raw
        except Rejected as error:
            raise InputError(f"{url} refuses a request: {error}") from None


def turn(messages: Sequence[Message]) -> dict[str, Any]:
    """Fields of a request body: start a reply, or continue the one that the last message begins."""
    begun = messages[-1]["role"] == "assistant"
    fields: dict[str, Any] = {"chat_template_kwargs": NO_THINKING}
    return fields | ({"continue_final_message": True, "add_generation_prompt": False} if begun else {})


def step_request(request: LabelRequest, lead: str, tokens: Sequence[int]) -> ChatRequest:
    """A request for one generated token, which returns the probabilities of ``tokens`` after ``lead``."""
    messages = list(request.messages)
    if request.prefix + lead:
        messages.append({"role": "assistant", "content": request.prefix + lead})
    extra = {
        "logprob_token_ids": list(tokens),
        "return_tokens_as_token_ids": True,
        "allowed_token_ids": list(tokens),  # restricts generation; probabilities are from before that
        **turn(messages),
    }
    return ChatRequest(messages, max_tokens=1, top_logprobs=0, first_tokens=True, extra=extra)


def step_scores(reply: Reply) -> dict[int, float]:
    """The log-probabilities in the reply to a :func:`step_request`, by token id."""
    listed = reply.logprobs[0]["top_logprobs"] if reply.logprobs else []
    return {int(str(item["token"]).removeprefix("token_id:")): float(item["logprob"]) for item in listed}


def looks_coarse(places: Iterable[Mapping[int, float]]) -> bool:
    """Whether log-probabilities come from 16-bit logits.

    At one place log-probabilities differ by as much as their logits, so with 16 bits the differences are
    multiples of a coarse step. With float32 only one difference in a hundred happens to be one.

    Args:
        places: the log-probabilities of a few tokens at each of some places; a single token is not enough.
    """
    steps = [
        abs(high - low) * GRID
        for scores in places
        for low, high in pairwise(sorted(scores.values()))
        if math.isfinite(low)
    ]
    on_grid = sum(abs(step - round(step)) < ROUNDING * GRID for step in steps)
    return bool(steps) and on_grid >= 0.8 * len(steps)
