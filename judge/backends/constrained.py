"""Constrained decoding: the form of a judgement, and llguidance, which tells what tokens may come next."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judge.prompting.prompts import KEYS, LABEL_WORDS

if TYPE_CHECKING:
    import torch

CLOSING = 32
"""Tokens before the limit from which on a text is closed as soon as its form allows it: what follows a
reasoning takes fewer, even in a vocabulary of single bytes."""


_CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'


def judgement_pattern(max_chars: int | None) -> str:
    """A reason-mode reply of either language, written just as training writes it, with one reasoning.

    The reasoning is bounded and white space is not free: held to any JSON, small models run on in both.

    Args:
        max_chars: characters that the reasoning may take; any number where it is ``None``: replies of
            transformers are closed near their limit (:class:`ConstrainedDecoding`), and xgrammar, which
            servers of vLLM take by default, takes seconds for every token of a counted repetition.
    """
    most = "+" if max_chars is None else f"{{1,{max_chars}}}"
    forms = []
    for language, (reasoning_key, score_key) in KEYS.items():
        words = "|".join(LABEL_WORDS[language].values())
        forms.append(rf'\{{"{reasoning_key}": "{_CHARACTER}{most}", "{score_key}": "({words})"\}}')
    return "|".join(forms)


class Grammar:
    """A regular expression in the vocabulary of a model, which takes a second to read.

    Args:
        tokenizer: of the model, a fast one.
        size: of the vocabulary, as the model's logits have it.
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
    """A logits processor of transformers: the replies of one batch, of at most ``limit`` tokens."""

    def __init__(self, grammar: Grammar, replies: int, limit: int):
        self._quote, self._left, self._begun = grammar.quote, limit, False
        self._written: list[Any] = [grammar.start.deep_copy() for _ in range(replies)]

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """Scores, ``(replies, vocabulary)``, with minus infinity for tokens that may not come next.

        Near the limit a quotation mark comes wherever it may: the reasoning ends, and the verdict fits in. A
        reply that is done, or a vocabulary that cannot write the form, is left to the model.
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
                told = torch.frombuffer(bytearray(written.compute_logit_bias()), dtype=torch.uint8) > 0
                if self._left <= CLOSING and self._quote is not None and told[self._quote]:
                    told = torch.arange(len(told)) == self._quote
                if told.any():
                    allowed[row] = told[: scores.shape[1]]
        self._left -= 1
        return scores.masked_fill(~allowed.to(scores.device), -torch.inf)
