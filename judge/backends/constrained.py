"""Constrained decoding: the pattern of a judgement, and llguidance, which says what tokens may come next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judge.prompting.prompts import KEYS, LABEL_WORDS

if TYPE_CHECKING:
    import torch

CLOSING = 32
"""A reasoning is closed as soon as possible when this many tokens are left before the limit: the rest of a
judgement takes fewer, even in a vocabulary of single bytes."""


_CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'


def judgement_pattern(max_chars: int | None) -> str:
    """The pattern of a reason-mode reply in either language, exactly as in training, with one reasoning.

    Length and white space are fixed because small models run on in both if any JSON is allowed.

    Args:
        max_chars: maximum characters of the reasoning; ``None`` for no limit: replies of transformers are
            closed near their limit (:class:`ConstrainedDecoding`), and xgrammar, the default of vLLM servers,
            takes seconds for every token of a counted repetition.
    """
    most = "+" if max_chars is None else f"{{1,{max_chars}}}"
    forms = []
    for language, (reasoning_key, score_key) in KEYS.items():
        words = "|".join(LABEL_WORDS[language].values())
        forms.append(rf'\{{"{reasoning_key}": "{_CHARACTER}{most}", "{score_key}": "({words})"\}}')
    return "|".join(forms)


class Grammar:
    """A regular expression compiled for the vocabulary of a model, which takes a second.

    Args:
        tokenizer: the model's fast tokenizer.
        size: size of the vocabulary in the model's logits.
        stops: tokens that end a reply.
        pattern: the regular expression.
    """

    def __init__(self, tokenizer: Any, size: int, stops: Sequence[int], pattern: str):
        from llguidance import LLMatcher
        from llguidance.hf import from_tokenizer

        self.pattern = pattern
        vocabulary = from_tokenizer(tokenizer, size, eos_token=list(stops))
        self.start = LLMatcher(vocabulary, LLMatcher.grammar_from_regex(pattern))
        quote = tokenizer.encode('"', add_special_tokens=False)
        self.quote = quote[0] if len(quote) == 1 else None


class ConstrainedDecoding:
    """A logits processor that constrains the replies of one batch, of at most ``limit`` tokens."""

    def __init__(self, grammar: Grammar, replies: int, limit: int):
        self._quote, self._left, self._begun = grammar.quote, limit, False
        self._written: list[Any] = [grammar.start.deep_copy() for _ in range(replies)]

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Scores, ``(replies, vocabulary)``, with minus infinity for tokens that may not come next.

        Near the limit a quotation mark is forced as soon as it is allowed, so that the reasoning ends and the
        verdict fits. A finished reply, or a vocabulary that cannot write the pattern, is not constrained.
        """
        import torch

        if self._begun:
            for row, token in enumerate(input_ids[:, -1].tolist()):
                written = self._written[row]
                if written is not None and not written.consume_token(token):
                    self._written[row] = None
        self._begun = True
        allowed = torch.ones(scores.shape, dtype=torch.bool)
        for row, written in enumerate(self._written):
            if written is not None:
                mask = torch.frombuffer(bytearray(written.compute_logit_bias()), dtype=torch.uint8) > 0
                if self._left <= CLOSING and self._quote is not None and mask[self._quote]:
                    mask = torch.arange(len(mask)) == self._quote
                if mask.any():
                    allowed[row] = mask[: scores.shape[1]]
        self._left -= 1
        return scores.masked_fill(~allowed.to(scores.device), -torch.inf)
