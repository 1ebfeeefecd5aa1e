"""From messages to token ids, in one place, so that training and judging see the same tokens."""

import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import compress, count
from operator import ne
from typing import TYPE_CHECKING, Any

from judge.types import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


KEPT = 8_000_000
"""Size of a renderer's cache of prompt texts and tokens, in characters: a verdict needs each several times.

The previous cache of this size is kept too, since its prompts may still be in use."""
STARTS = ("x", " x", "\nx", "  x", "文")
"""Samples of text after a control token. If all are tokenized as if they stood alone, so is any text."""
COMMON = re.compile(
    r"<\|[^\s<|>]+\|>|<\uff5c[^\s<\uff5c>]+\uff5c>|<(?:start|end)_of_turn>|\[/?INST\]|</?s>|<[be]os>"
)
"""Control tokens of chat templates: of ChatML, Llama, Phi and Granite, DeepSeek, Gemma, Mistral."""


def defuse(text: str, specials: Sequence[str]) -> str:
    """Break up every special token of a tokenizer that occurs as plain text in a message.

    A tokenizer would otherwise read ``<|im_end|>`` inside a document as the end of the turn.
    """
    if not any(special in text for special in specials):
        return text
    return _break_up(_pattern(tuple(specials)), text)


def defused(messages: Sequence[Message]) -> list[Message]:
    """Messages with common control tokens broken up, for a server whose own tokens are not known."""
    return [
        {"role": message["role"], "content": _break_up(COMMON, message["content"])} for message in messages
    ]


def _break_up(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: match[0][0] + "\u200b" + match[0][1:], text)


@lru_cache(maxsize=8)
def _pattern(specials: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(special) for special in sorted(specials, key=len, reverse=True)))


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> list[str]:
    """The strings that a tokenizer reads as control tokens anywhere in a text."""
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else ""
    added = {
        token.content
        for token in tokenizer.added_tokens_decoder.values()
        # Some vocabularies do not flag the turn marks of their own template as special.
        if token.special or (token.content in template and not token.content.isspace())
    }
    return sorted(token for token in added.union(map(str, tokenizer.all_special_tokens)) if len(token) > 1)


class Renderer:
    """Turns messages into text and token ids, with a tokenizer's chat template if it has one.

    Recent results are cached. A prompt is tokenized once, up to its last control token: the text after that,
    the beginning of the reply, cannot change the tokens before it.

    Args:
        tokenizer: the model's tokenizer.
        chat: extra arguments of the template, such as Granite Guardian's ``guardian_config``.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", chat: Mapping[str, Any] | None = None):
        self.tokenizer = tokenizer
        # A judge reasons inside its JSON; templates without a thinking mode ignore this.
        self._chat: dict[str, Any] = {"enable_thinking": False, **(chat or {})}
        self._specials = special_tokens(tokenizer)
        self._kept: dict[Any, Any] = {}
        self._before: dict[Any, Any] = {}
        self._size = 0
        self._ids("")  # resets truncation and padding set in the tokenizer's file, before threads share it

    def prompt_text(self, messages: Sequence[Message]) -> str:
        """The prompt as text, up to the point where the assistant's reply begins."""
        key = tuple((message["role"], message["content"]) for message in messages)
        size = sum(len(content) for _, content in key)
        text: str = self._keep(key, size, lambda: self._render(messages))
        return text

    def _render(self, messages: Sequence[Message]) -> str:
        clean: list[Message] = [
            {"role": message["role"], "content": defuse(message["content"], self._specials)}
            for message in messages
        ]
        if self.tokenizer.chat_template is None:
            return "\n\n".join(message["content"] for message in clean) + "\n\n"
        return str(
            self.tokenizer.apply_chat_template(
                clean,
                tokenize=False,
                add_generation_prompt=True,
                **self._chat,
            )
        )

    def encode(self, text: str, more: str = "") -> list[int]:
        """Token ids of a rendered text with ``more`` directly after it.

        A chat template already holds its special tokens; a bare model's tokenizer adds its own.
        """
        if self.tokenizer.chat_template is None:
            ids = self._ids(text + more, add_special_tokens=True)
            # Some tokenizers end every text with their end token, but a prompt is not the end.
            return ids[:-1] if ids and ids[-1] == self.tokenizer.eos_token_id else ids
        head, rest = self._keep(text, len(text), lambda: self._head(text))
        rest += more
        return [*head, *self._keep(("rest", rest), len(rest), lambda: array("q", self._ids(rest)))]

    def read_ahead(self, conversations: Sequence[Sequence[Message]]) -> None:
        """Tokenize prompts together, on all cores, and cache their tokens."""
        if self.tokenizer.chat_template is None:
            return
        texts = [text for text in map(self.prompt_text, conversations) if text not in self._kept]
        cuts = {text: end for text in texts if (end := self._cut(text))}
        if cuts:
            heads = [text[:end] for text, end in cuts.items()]
            found = self.tokenizer(heads, add_special_tokens=False)["input_ids"]
            for (text, end), ids in zip(cuts.items(), found, strict=True):
                self._store(text, len(text), (array("q", ids), text[end:]))

    def _head(self, text: str) -> "tuple[array[int], str]":
        """The token ids of a text up to its last control token, and the text that follows."""
        end = self._cut(text)
        return array("q", self._ids(text[:end]) if end else ()), text[end:]

    def _cut(self, text: str) -> int:
        """The end of a text's last control token; 0 if the text after it cannot be tokenized separately."""
        present = [special for special in self._specials if special in text]
        end, special = max(((text.rfind(one) + len(one), one) for one in present), default=(0, ""))
        return end if end and self._keep(("parts", special), 1, lambda: self._parts(special)) else 0

    def _parts(self, special: str) -> bool:
        """Is text after a control token tokenized as if it stood alone?"""
        before = self._ids(f"a{special}")
        return all(self._ids(f"a{special}{text}") == before + self._ids(text) for text in STARTS)

    def _ids(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=add_special_tokens)["input_ids"])

    def _keep(self, key: Any, size: int, make: Callable[[], Any]) -> Any:
        """The cached value of a key, made now if there is none."""
        found = self._kept.get(key, self._before.get(key))
        return self._store(key, size, make()) if found is None else found

    def _store(self, key: Any, size: int, made: Any) -> Any:
        if self._size > KEPT:
            self._before, self._kept, self._size = self._kept, {}, 0
        self._kept[key] = made
        self._size += size
        return made

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return len(self.encode(self.prompt_text(messages)))

    def reply_ids(self, messages: Sequence[Message], reply: str) -> list[int]:
        """Token ids of a prompt and the beginning of a reply, without an end of turn."""
        return self.encode(self.prompt_text(messages), defuse(reply, self._specials))

    def completion_ids(self, messages: Sequence[Message], completion: str) -> tuple[list[int], list[int]]:
        """Token ids of a prompt and of the assistant's whole reply to it, end of turn included."""
        prompt = self.encode(self.prompt_text(messages))
        both = self.reply_ids(messages, completion)
        shared = common_prefix([prompt, both])
        return both[:shared], [*both[shared:], *self.end_of_turn()]

    def end_of_turn(self) -> list[int]:
        """The tokens that end an assistant's reply in the chat template, up to the first stop token."""
        mark = "\u2402"
        if self.tokenizer.chat_template is not None:
            turns = [{"role": "user", "content": "-"}, {"role": "assistant", "content": mark}]
            tail = str(self.tokenizer.apply_chat_template(turns, tokenize=False)).rpartition(mark)[2]
            ids = self.tokenizer(tail, add_special_tokens=False)["input_ids"]
            stops = [index for index, token in enumerate(ids) if token in self.stop_ids()]
            if stops:
                return list(ids[: stops[0] + 1])
        return [self.tokenizer.eos_token_id]

    def stop_ids(self) -> list[int]:
        """Ids that end a reply: the end token, and whatever end-of-turn token the vocabulary has."""
        names = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|end|>")
        found = {self.tokenizer.eos_token_id}
        found |= {
            token for token, added in self.tokenizer.added_tokens_decoder.items() if added.content in names
        }
        return sorted(token for token in found if token is not None)


def common_prefix(sequences: Sequence[Sequence[int]]) -> int:
    """Number of leading items that all sequences share."""
    first, *others = sequences
    shared = len(first)
    for other in others:
        shared = min(shared, len(other))
        shared = min(shared, next(compress(count(), map(ne, first, other)), shared))
    return shared
