"""The transformers engine: one prefill a verdict, batches by length, on CPU and GPU.

A label is a sequence of tokens, of any length, and two labels may share their first tokens. Both are
scored exactly: the prompt runs once with a key-value cache, and what a word holds beyond the first
differing token runs on top of that cache.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from judge.backends.base import Generation, LabelRequest
from judge.rendering import Renderer, common_prefix
from judge.types import Message

if TYPE_CHECKING:
    import torch

    from judge.loading import LoadedModel

BATCH_TOKENS = 8192
"""Padded tokens of one batch; on two CPU cores larger batches are no faster."""


class TransformersBackend:
    """Runs a causal language model of transformers, LoRA adapters included.

    Args:
        loaded: the model with its tokenizer, see :func:`judge.loading.load_model`.
        max_length: upper bound on the context; the model's own by default.
        batch_tokens: padded tokens that run in one batch.
    """

    def __init__(
        self, loaded: "LoadedModel", max_length: int | None = None, batch_tokens: int = BATCH_TOKENS
    ):
        self.loaded = loaded
        self.model = loaded.model.eval()
        self.renderer = Renderer(loaded.tokenizer)
        self.batch_tokens = batch_tokens
        self.context_length = min(loaded.context_length, max_length or loaded.context_length)

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return self.renderer.count(messages)

    def describe(self) -> dict[str, Any]:
        """Model, revision, number format, device, context length."""
        return {"backend": "transformers", **self.loaded.describe(), "context_length": self.context_length}

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        """Log-probabilities of the two words of each request; one prefill for most vocabularies."""
        stems: list[list[int]] = []
        tails: list[tuple[list[int], list[int]]] = []
        for request in requests:
            first, second = (
                self.renderer.reply_ids(request.messages, request.prefix + word) for word in request.words
            )
            shared = common_prefix([first, second])
            if shared in (len(first), len(second)):  # one word begins the other: the end of turn decides
                end = self.renderer.end_of_turn()
                first, second = first + end, second + end
            stems.append(first[:shared])
            tails.append((first[shared:], second[shared:]))

        scores: list[tuple[float, float]] = [(0.0, 0.0)] * len(requests)
        for batch in self._batches([len(stem) for stem in stems]):
            values = self._score([stems[index] for index in batch], [tails[index] for index in batch])
            for index, value in zip(batch, values, strict=True):
                scores[index] = value
        return scores

    def generate(
        self,
        conversations: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> list[Generation]:
        """One reply a conversation. Sampling is seeded for the whole call; greedy at temperature 0."""
        import torch
        from transformers import GenerationConfig

        prompts = [self.renderer.encode(self.renderer.prompt_text(messages)) for messages in conversations]
        stops = self.renderer.stop_ids()
        config = GenerationConfig(
            max_new_tokens=max_new_tokens,
            do_sample=temperature > 0,
            temperature=temperature if temperature > 0 else None,
            repetition_penalty=1.0,  # a model's own default would punish quoting the document
            eos_token_id=stops,
            pad_token_id=self.loaded.pad_id,
        )
        torch.manual_seed(seed)
        replies: list[Generation | None] = [None] * len(prompts)
        for batch in self._batches([len(prompt) + max_new_tokens for prompt in prompts]):
            ids, mask = self._pad([prompts[index] for index in batch])
            with torch.inference_mode():
                output = self.model.generate(input_ids=ids, attention_mask=mask, generation_config=config)
            for index, row in zip(batch, output[:, ids.shape[1] :].tolist(), strict=True):
                length = next((i for i, token in enumerate(row) if token in stops), len(row))
                text = self.loaded.tokenizer.decode(row[:length], skip_special_tokens=True)
                replies[index] = Generation(text, truncated=length == len(row), completion_tokens=length)
        return [reply for reply in replies if reply is not None]

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Indices in batches of like length, longest first, so that padding stays small."""
        batch: list[int] = []
        for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
            if batch and lengths[batch[0]] * (len(batch) + 1) > self.batch_tokens:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _pad(self, rows: Sequence[Sequence[int]]) -> "tuple[torch.Tensor, torch.Tensor]":
        """Left-padded ids and mask on the model's device, so that every row ends in the last column."""
        import torch

        width = max(len(row) for row in rows)
        ids = torch.tensor([[self.loaded.pad_id] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        return ids.to(self.model.device), mask.to(self.model.device)

    def _score(
        self, stems: Sequence[Sequence[int]], tails: Sequence[tuple[list[int], list[int]]]
    ) -> list[tuple[float, float]]:
        """Log-probabilities of both tails of each stem: the stems run once, the tails on their cache."""
        import torch

        ids, mask = self._pad(stems)
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        steps = max(max(len(first), len(second)) for first, second in tails) - 1
        with torch.inference_mode():
            output = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                logits_to_keep=1,
                use_cache=steps > 0,
            )
            first_token = torch.log_softmax(output.logits[:, -1].float(), dim=-1)
            sums = []
            for choice in (0, 1):
                words = [pair[choice] for pair in tails]
                total = first_token[range(len(words)), [word[0] for word in words]]
                longest = max(len(word) for word in words) - 1
                if longest > 0:
                    # Each choice extends the cache; not every kind of cache can be cut back afterwards.
                    cache = deepcopy(output.past_key_values) if choice == 0 else output.past_key_values
                    total = total + self._rest(cache, mask, positions, words, longest)
                sums.append(total)
        return list(zip(sums[0].tolist(), sums[1].tolist(), strict=True))

    def _rest(
        self,
        cache: Any,
        mask: "torch.Tensor",
        positions: "torch.Tensor",
        words: Sequence[Sequence[int]],
        longest: int,
    ) -> "torch.Tensor":
        """Log-probability of each word's tokens after its first, on the stems' cache, which it extends.

        ``words`` holds one token list a row; ids and targets are ``(rows, longest)``; returns ``(rows,)``.
        """
        import torch

        pad = self.loaded.pad_id
        ids = torch.tensor([[*word[:-1], *[pad] * (longest - len(word) + 1)] for word in words])
        targets = torch.tensor([[*word[1:], *[pad] * (longest - len(word) + 1)] for word in words])
        valid = torch.tensor([[step < len(word) - 1 for step in range(longest)] for word in words])
        ids, targets, valid = (tensor.to(mask.device) for tensor in (ids, targets, valid))
        steps = torch.arange(1, longest + 1, device=mask.device)
        output = self.model(
            input_ids=ids,
            attention_mask=torch.cat([mask, torch.ones_like(ids)], dim=1),
            position_ids=positions[:, -1:] + steps,
            past_key_values=cache,
            use_cache=True,
        )
        logprobs = torch.log_softmax(output.logits.float(), dim=-1)
        picked = logprobs.gather(2, targets.unsqueeze(2)).squeeze(2)
        return (picked * valid).sum(1)
