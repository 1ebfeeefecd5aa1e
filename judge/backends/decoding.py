"""Generates replies with a transformers model, in batches as large as memory allows."""

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.backends.base import Decoding
from judge.backends.constrained import ConstrainedDecoding, Grammar
from judge.backends.label_tokens import Tokens
from judge.errors import InputError, JudgeError
from judge.models import hardware
from judge.models.architecture import Architecture, parse_architecture
from judge.models.room import cache_bytes, prefill_bytes

if TYPE_CHECKING:
    import torch

    from judge.models.weights import LoadedModel

BATCH_TOKENS = 8192
"""Padded tokens per batch for a model of unknown sizes."""
BATCH_ROWS = 128
"""Maximum number of replies generated together."""
MEMORY_SHARE = {"cuda": 0.6, "cpu": 0.25}
"""Share of the free memory that a batch may take. A cache is copied when it grows, and a CPU's memory is
shared with other programs."""


class Decoder:
    """Generates replies with a loaded model, whose generation config is reset to the library's defaults.

    ``generate`` would take everything else from it: penalties that punish quoting the document, beams,
    another ``top_k``.

    Args:
        loaded: the model.
        batch_tokens: maximum padded tokens per batch; by default what memory allows.
    """

    def __init__(self, loaded: "LoadedModel", batch_tokens: int | None = None):
        from transformers import GenerationConfig

        loaded.model.generation_config = GenerationConfig()
        self.loaded, self.batch_tokens = loaded, batch_tokens
        self.sizes = _sizes(loaded)
        self._grammar: Grammar | None = None

    def write(self, prompts: Sequence[Tokens], decoding: Decoding, stops: Sequence[int]) -> list[list[int]]:
        """The token ids of a reply to each prompt, up to and including one of ``stops``, or to the limit.

        Replies are constrained to the guide if it is a regular expression.

        Raises:
            JudgeError: if there is not enough memory for a single reply.
        """
        seeds = list(own_seeds(prompts, decoding.seed))
        replies: dict[int, list[int]] = {}
        # Batches of similar length, the longest first, so that memory runs out early if at all.
        waiting = sorted(range(len(prompts)), key=lambda index: -len(prompts[index]))
        most = BATCH_ROWS
        while waiting:
            count = min(most, self._fitting(len(prompts[waiting[0]]), decoding.max_new_tokens))
            batch = waiting[:count]
            asked, own = [prompts[index] for index in batch], [seeds[index] for index in batch]
            found = self._write(asked, own, decoding, stops)
            if found is None:
                most = len(batch) // 2
                continue
            replies.update(zip(batch, found, strict=True))
            waiting = waiting[count:]
        return [replies[index] for index in range(len(prompts))]

    def _fitting(self, length: int, new_tokens: int) -> int:
        """How many prompts of this length fit in one batch; at least one."""
        room, reply = self.batch_tokens or BATCH_TOKENS, length + new_tokens
        if self.batch_tokens is None and self.sizes is not None:
            kind, size = self.loaded.model.device.type, self.loaded.model.dtype.itemsize
            room = int(MEMORY_SHARE[kind] * hardware.free_memory(kind))
            reply = reply * cache_bytes(self.sizes, size) + prefill_bytes(self.sizes, size, length)
        return max(1, room // reply)

    def _write(
        self, prompts: Sequence[Tokens], seeds: Sequence[int], decoding: Decoding, stops: Sequence[int]
    ) -> list[list[int]] | None:
        """The replies of one batch; ``None`` if it did not fit into memory."""
        import torch
        from transformers import GenerationConfig

        model = self.loaded.model
        ids, mask = self._pad(prompts)
        config = GenerationConfig(
            max_new_tokens=decoding.max_new_tokens,
            do_sample=False,
            eos_token_id=list(stops) or None,
            pad_token_id=self.loaded.pad_id,
        )
        try:
            with torch.inference_mode():
                rows = model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    generation_config=config,
                    logits_processor=self._processors(seeds, decoding, stops),
                )
            return [_ended(row, stops) for row in rows[:, ids.shape[1] :].tolist()]
        except RuntimeError as error:
            if not isinstance(error, torch.OutOfMemoryError) and "can't allocate memory" not in str(error):
                raise  # "can't allocate memory" is PyTorch's message on a CPU
        if len(prompts) == 1:
            raise JudgeError(
                f"{self.loaded.name}: no memory for a prompt of {len(prompts[0])} tokens and a reply of up "
                f"to {decoding.max_new_tokens}; lower max_length or max_new_tokens"
            )
        if model.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _processors(self, seeds: Sequence[int], decoding: Decoding, stops: Sequence[int]) -> list[Any]:
        """The logits processors, in order."""
        from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

        found: list[Any] = []
        if isinstance(decoding.guide, str):
            if self._grammar is None or self._grammar.pattern != decoding.guide:
                size = self.loaded.model.config.get_text_config().vocab_size
                self._grammar = Grammar(self.loaded.tokenizer, size, stops, decoding.guide)
            found.append(ConstrainedDecoding(self._grammar, len(seeds), decoding.max_new_tokens))
        if decoding.temperature > 0:
            found.append(TemperatureLogitsWarper(decoding.temperature))
            found += [TopKLogitsWarper(decoding.top_k)] if decoding.top_k else []
            found += [TopPLogitsWarper(decoding.top_p)] if decoding.top_p < 1 else []
            found.append(Drawn(seeds))
        return found

    def _pad(self, rows: Sequence[Tokens]) -> "tuple[torch.Tensor, torch.Tensor]":
        """Left-padded rows and their mask, on the model's device."""
        import torch

        width, filler = max(map(len, rows)), self.loaded.pad_id
        ids = torch.tensor([[filler] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        return ids.to(self.loaded.model.device), mask.to(self.loaded.model.device)


class Drawn:
    """A logits processor that samples one token per reply, with random numbers from the reply's own seed."""

    def __init__(self, seeds: Sequence[int]):
        import torch

        self._makers = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """The scores, ``(replies, vocabulary)``: 0 for the sampled token, minus infinity for all others."""
        import torch

        draws = torch.cat([torch.rand(1, generator=maker, dtype=torch.float64) for maker in self._makers])
        tokens = sample(scores, draws)[:, None]
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens, 0.0)


def sample(scores: "torch.Tensor", draws: "torch.Tensor") -> "torch.Tensor":
    """For each row, the token at which the cumulative probability exceeds the row's number from 0 to 1."""
    import torch

    sums = scores.softmax(-1).double().cumsum(-1)
    wanted = draws.to(sums.device)[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, wanted, right=True).squeeze(1).clamp(max=sums.shape[1] - 1)


def own_seeds(prompts: Sequence[Tokens], seed: int) -> Iterator[int]:
    """A seed for each prompt, from the common seed, its tokens and how often it occurred before."""
    before: Counter[Tokens] = Counter()
    for prompt in prompts:
        before[prompt] += 1
        yield int.from_bytes(sha256(repr((seed, before[prompt], prompt)).encode()).digest()[:4])


def _ended(row: list[int], stops: Sequence[int]) -> list[int]:
    """A reply up to its end; what follows is padding."""
    return row[: next((at + 1 for at, token in enumerate(row) if token in stops), len(row))]


def _sizes(loaded: "LoadedModel") -> Architecture | None:
    """The sizes of a model; ``None`` if they are unknown."""
    try:
        return parse_architecture(loaded.name, loaded.model.config.to_dict(), Path(loaded.name))
    except InputError:
        return None
