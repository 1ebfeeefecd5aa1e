"""From messages to token ids, in one place, so that training and judging see the same tokens."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.types import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def defuse(text: str, specials: Sequence[str]) -> str:
    """Break up every special token of a tokenizer that occurs as plain text in a message.

    A tokenizer would otherwise read ``<|im_end|>`` inside a document as the end of the turn.
    """
    if not specials:
        return text
    pattern = "|".join(re.escape(special) for special in sorted(specials, key=len, reverse=True))
    return re.sub(pattern, lambda match: match[0][0] + "\u200b" + match[0][1:], text)


def special_tokens(tokenizer: "PreTrainedTokenizerBase") -> list[str]:
    """The strings that a tokenizer reads as control tokens, wherever they stand."""
    template = tokenizer.chat_template if isinstance(tokenizer.chat_template, str) else ""
    added = {
        token.content
        for token in tokenizer.added_tokens_decoder.values()
        # Some vocabularies do not flag the turn marks of their own template as special.
        if token.special or (token.content in template and not token.content.isspace())
    }
    return sorted(token for token in added.union(map(str, tokenizer.all_special_tokens)) if len(token) > 1)


class Renderer:
    """Applies a tokenizer's chat template, with or without one, with or without a system role.

    Args:
        tokenizer: the model's.
        chat: further arguments of the template, such as Granite Guardian's ``guardian_config``.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", chat: Mapping[str, Any] | None = None):
        self.tokenizer = tokenizer
        # A judge reasons inside its JSON; templates that know no thinking ignore this.
        self._chat: dict[str, Any] = {"enable_thinking": False, **(chat or {})}
        self._specials = special_tokens(tokenizer)

    def prompt_text(self, messages: Sequence[Message]) -> str:
        """The prompt as text, up to the point where the assistant's reply begins."""
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

    def encode(self, text: str) -> list[int]:
        """Token ids of a rendered text. A chat template already holds its special tokens; a bare model's
        tokenizer adds its own."""
        add_special = self.tokenizer.chat_template is None
        ids = self.tokenizer(text, add_special_tokens=add_special)["input_ids"]
        # Some tokenizers end every text with their end token; a prompt goes on.
        if add_special and ids and ids[-1] == self.tokenizer.eos_token_id:
            ids = ids[:-1]
        return list(ids)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return len(self.encode(self.prompt_text(messages)))

    def reply_ids(self, messages: Sequence[Message], reply: str) -> list[int]:
        """Token ids of a prompt and of the beginning of a reply, with no end of turn."""
        return self.encode(self.prompt_text(messages) + defuse(reply, self._specials))

    def completion_ids(self, messages: Sequence[Message], completion: str) -> tuple[list[int], list[int]]:
        """Token ids of a prompt and of the assistant's whole reply to it, end of turn included."""
        prompt = self.encode(self.prompt_text(messages))
        both = self.reply_ids(messages, completion)
        shared = common_prefix([prompt, both])
        return both[:shared], [*both[shared:], *self.end_of_turn()]

    def end_of_turn(self) -> list[int]:
        """What the chat template writes after an assistant's reply: the tokens that end a generation."""
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
    shortest = min(len(sequence) for sequence in sequences)
    for position in range(shortest):
        if len({sequence[position] for sequence in sequences}) > 1:
            return position
    return shortest
