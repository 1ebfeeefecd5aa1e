"""Embeds texts with an encoder: one vector per text, or one per token."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import find_folder, longest_pair
from judge.errors import InputError, brief
from judge.models.batching import by_length

if TYPE_CHECKING:
    import torch

LONGEST = 256
"""Tokens read of a text; the rest is cut off."""
BATCH_TOKENS = 8192


@dataclass(frozen=True)
class TextEncoder:
    """A transformers encoder, by Hub id (``sentence-transformers/all-MiniLM-L6-v2``) or folder."""

    model: str

    def means(self, texts: Sequence[str]) -> "torch.Tensor":
        """The mean vector of each text, normalized to length 1: ``(texts, size)``."""
        import torch

        return torch.stack([_normed(states.mean(0)) for states, _ in self._read(texts)])

    def tokens(self, texts: Sequence[str]) -> "list[torch.Tensor]":
        """The token vectors of each text, normalized, without special tokens: ``(tokens, size)`` each."""
        return [_normed(states[own]) for states, own in self._read(texts)]

    def _read(self, texts: Sequence[str]) -> "list[tuple[torch.Tensor, torch.Tensor]]":
        """For each text, the last hidden states and a mask of the tokens that are not special tokens."""
        import torch

        tokenizer, model = self._loaded
        longest = longest_pair(model.config.to_dict(), LONGEST)
        rows = tokenizer(list(texts), truncation=True, max_length=longest, return_special_tokens_mask=True)
        special = rows.pop("special_tokens_mask")
        found: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        for places in by_length([len(ids) for ids in rows["input_ids"]], BATCH_TOKENS):
            some = {name: [values[at] for at in places] for name, values in rows.items()}
            batch = tokenizer.pad(some, return_tensors="pt").to(model.device)
            with torch.inference_mode():
                states = model(**batch).last_hidden_state.float().cpu()
            for row, at in enumerate(places):
                kept = batch["attention_mask"][row].bool().cpu()
                found[at] = states[row][kept], ~torch.tensor(special[at], dtype=torch.bool)
        return [found[at] for at in range(len(texts))]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModel, AutoTokenizer

        from judge.encoder.network import quiet

        quiet()
        folder = find_folder(self.model)
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
            model = AutoModel.from_pretrained(folder, use_safetensors=True, trust_remote_code=False).eval()
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.model} is not an encoder ({brief(error)}); give a Hub id or a folder"
            ) from None
        return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu")


def _normed(vectors: "torch.Tensor") -> "torch.Tensor":
    import torch

    return torch.nn.functional.normalize(vectors, dim=-1)
