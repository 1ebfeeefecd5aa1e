"""Runs a decoder judge in llama.cpp: a GGUF file with its own tokenizer and chat template.

transformers is not used here, so the results are those of any program on llama.cpp with the same file.
"""

import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.backends.base import Backend, Decoding, Generation, LabelRequest
from judge.backends.decoding import own_seeds
from judge.backends.label_tokens import rows_to_read, stem_and_tails
from judge.errors import require
from judge.models.hardware import cores
from judge.models.identity import read_identity
from judge.models.runtimes import EXPORT, export_file
from judge.prompting.rendering import Renderer, common_prefix, defuse
from judge.types import Message

CONTEXT = 16_384
"""Default limit on the context, for models that would take more."""
BATCH_TOKENS = 512
"""Prompt tokens that are computed together."""


class GGUFRenderer(Renderer):
    """Renders messages as token ids with the template and tokenizer of a GGUF file."""

    def __init__(self, llama: Any, template: str, specials: Sequence[str]):
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        self.llama = llama
        self._specials = list(specials)

        def text(token: int) -> str:
            return "" if token < 0 else str(llama._model.token_get_text(token))

        self._format = Jinja2ChatFormatter(template, text(llama.token_eos()), text(llama.token_bos()))
        self._adds_bos = llama.metadata.get("tokenizer.ggml.add_bos_token") == "true"

    def prompt_text(self, messages: Sequence[Message]) -> str:
        """The prompt as text, up to the point where the assistant's reply begins."""
        clean = [
            {"role": message["role"], "content": defuse(message["content"], self._specials)}
            for message in messages
        ]
        return str(self._format(messages=clean, enable_thinking=False).prompt)

    def encode(self, text: str, more: str = "") -> list[int]:
        """Token ids of a rendered text, and of ``more`` that directly follows it."""
        return list(self.llama.tokenize(f"{text}{more}".encode(), add_bos=self._adds_bos, special=True))

    def end_of_turn(self) -> list[int]:
        """The token that ends a reply."""
        return [self.llama.token_eos()]


class LlamaCppBackend(Backend):
    """Runs an export of ``judge export --to gguf`` in this process.

    Args:
        folder: folder of the export.
        max_length: upper limit on the context; by default the model's own, at most :data:`CONTEXT`.

    Raises:
        InputError: if the folder holds no such export, or llama-cpp-python is not installed.
    """

    def __init__(self, folder: Path, max_length: int | None = None):
        require("a GGUF export", "llama", "llama_cpp")
        import llama_cpp

        identity = read_identity(str(folder))
        self.folder = folder
        self.export = identity[EXPORT]
        file = export_file(folder, identity)
        self.context_length = min(self.export["context_length"], max_length or CONTEXT)
        self.llama = llama_cpp.Llama(
            str(file),
            n_ctx=self.context_length,
            n_batch=BATCH_TOKENS,
            n_ubatch=BATCH_TOKENS,
            n_threads=cores(),
            n_threads_batch=cores(),
            verbose=False,
        )
        weakref.finalize(self, self.llama.close)  # at exit too, while its library is still loaded
        self._logits = llama_cpp.llama_get_logits_ith
        template = self.llama.metadata["tokenizer.chat_template"]
        self.renderer = GGUFRenderer(self.llama, template, control_tokens(self.llama, template))

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return self.renderer.count(messages)

    def describe(self) -> dict[str, Any]:
        """Model, number format, context length."""
        return {
            "backend": "llama.cpp",
            "model": str(self.folder),
            "revision": None,
            "dtype": self.export["type"],
            "device": "cpu",
            "context_length": self.context_length,
        }

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply per conversation; the guide is ignored."""
        texts = [self.renderer.prompt_text(messages) for messages in conversations]
        prompts = [tuple(self.renderer.encode(text)) for text in texts]
        replies = []
        for prompt, seed in zip(prompts, own_seeds(prompts, decoding.seed), strict=True):
            found = self.llama.create_completion(
                list(prompt),
                max_tokens=decoding.max_new_tokens,
                temperature=decoding.temperature,
                top_p=decoding.top_p,
                top_k=decoding.top_k,
                min_p=0.0,
                repeat_penalty=1.0,
                seed=seed,
            )
            [choice] = found["choices"]
            # The library counts one token too many when it stops at the limit.
            tokens = min(found["usage"]["completion_tokens"], decoding.max_new_tokens)
            replies.append(Generation(choice["text"], choice["finish_reason"] == "length", tokens))
        return replies

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        """Log-probabilities of the two words of each request; a prefix shared with the last row is reused."""
        split = [stem_and_tails(self.renderer, request) for request in requests]
        continuations = [(stem, tail) for stem, tails in split for tail in tails]
        scores = [0.0] * len(continuations)
        for row in sorted(rows_to_read(continuations), key=lambda row: row.tokens):
            for place in range(row.first, len(row.tokens)):
                chances = self._next(row.tokens[: place + 1])
                for index in row.read:
                    stem, tail = continuations[index]
                    at = place + 1 - len(stem)
                    if 0 <= at < len(tail):
                        scores[index] += chances[tail[at]]
        return [(scores[2 * index], scores[2 * index + 1]) for index in range(len(requests))]

    def _next(self, tokens: Sequence[int]) -> Any:
        """Log-probabilities of the next token, as a NumPy array."""
        import numpy as np

        before = self.llama.input_ids[: self.llama.n_tokens].tolist()
        # At least one token is computed, because its logits are needed.
        self.llama.n_tokens = min(common_prefix([before, tokens]), len(tokens) - 1)
        self.llama.eval(list(tokens[self.llama.n_tokens :]))
        logits = np.ctypeslib.as_array(self._logits(self.llama.ctx, -1), shape=(self.llama.n_vocab(),))
        exact = logits.astype(np.float64)
        top = exact.max()
        return exact - top - np.log(np.exp(exact - top).sum())


def control_tokens(llama: Any, template: str) -> list[str]:
    """The control tokens, such as turn marks, that documents must not contain."""
    import llama_cpp

    vocabulary = llama._model.vocab
    found = []
    for number in range(llama.n_vocab()):
        kind = llama_cpp.llama_vocab_get_attr(vocabulary, number)
        if kind & (llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED):
            token = llama_cpp.llama_vocab_get_text(vocabulary, number).decode()
            # Some vocabularies do not flag the turn marks of their own template.
            own = kind & llama_cpp.LLAMA_TOKEN_ATTR_CONTROL or (token.strip() and token in template)
            if own and len(token) > 1:
                found.append(token)
    return sorted(found)
