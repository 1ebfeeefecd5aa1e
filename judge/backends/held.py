"""Replies that are held to a form while they are written: llguidance tells which tokens may come next."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

BITS = 32
"""Tokens that one number of a mask stands for."""
CLOSING = 32
"""Tokens before the limit from which on a text is closed as soon as its form allows it: what follows a
reasoning takes fewer, even in a vocabulary of single bytes."""


class Forms:
    """Forms in the vocabulary of a model, which takes a second to read.

    Args:
        tokenizer: of the model; :func:`can_hold` says whether it will do.
        size: of the vocabulary, as the model's logits have it.
        stops: tokens that end a reply.
    """

    def __init__(self, tokenizer: Any, size: int, stops: Sequence[int]):
        from llguidance.hf import from_tokenizer

        self.size = size
        self.vocabulary = from_tokenizer(tokenizer, size, eos_token=list(stops))
        quote = tokenizer.encode('"', add_special_tokens=False)
        self.quote = quote[0] if len(quote) == 1 else None

    def begin(self, pattern: str, replies: int, limit: int) -> "Held":
        """So many replies of at most ``limit`` tokens, which a regular expression is to fit."""
        return Held(self, pattern, replies, limit)


class Held:
    """Replies of one batch, each as far as it is written."""

    def __init__(self, forms: Forms, pattern: str, replies: int, limit: int):
        from llguidance import LLMatcher

        self._size, self._quote, self._left = forms.size, forms.quote, limit
        first = LLMatcher(forms.vocabulary, LLMatcher.grammar_from_regex(pattern))
        self._written: list[LLMatcher | None] = [first.deep_copy() for _ in range(replies)]

    def narrow(self, replies: Sequence[int], logits: "torch.Tensor") -> "torch.Tensor":
        """The logits of some replies, ``(replies, vocabulary)``; tokens that may not come next have none.

        Near the limit a quotation mark comes wherever it may: the reasoning ends, and the verdict fits in.
        """
        import torch
        from llguidance.torch import fill_next_token_bitmask

        mask = torch.full((len(replies), -(-self._size // BITS)), -1, dtype=torch.int32)
        for row, reply in enumerate(replies):
            if (written := self._written[reply]) is not None:
                fill_next_token_bitmask(written, mask, row)
        allowed = _unpacked(mask.to(logits.device))[:, : logits.shape[1]]
        if self._left <= CLOSING and self._quote is not None:
            closed = torch.zeros_like(allowed[0])
            closed[self._quote] = True
            allowed = torch.where(allowed[:, self._quote, None], closed, allowed)
        # A vocabulary that cannot write the form leaves the reply to the model.
        allowed[~allowed.any(1)] = True
        return torch.where(allowed, logits, -torch.inf)

    def take(self, replies: Sequence[int], tokens: Sequence[int]) -> None:
        """Write the next token of some replies, all as long as each other."""
        self._left -= 1
        for reply, token in zip(replies, tokens, strict=True):
            written = self._written[reply]
            if written is not None and not written.consume_token(token):
                self._written[reply] = None


def _unpacked(mask: "torch.Tensor") -> "torch.Tensor":
    """The bits of a mask as booleans, on its device: packed it is an eighth to copy there."""
    import torch

    bits = 2 ** torch.arange(8, dtype=torch.uint8, device=mask.device)
    return (mask.view(torch.uint8)[:, :, None] & bits).flatten(1).bool()


def can_hold(tokenizer: Any) -> bool:
    """Whether replies in this tokenizer's vocabulary can be held to a form: it has to be a fast one."""
    library = sys.modules.get("transformers")  # not imported for it: one verdict does without
    return library is not None and isinstance(tokenizer, library.PreTrainedTokenizerFast)
