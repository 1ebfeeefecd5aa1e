"""Replies of a transformers model: ``model.generate`` on batches as large as memory holds."""

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
"""Padded tokens of one batch, of a model whose sizes cannot be told."""
BATCH_ROWS = 128
"""Replies that are written together at most."""
MEMORY_SHARE = {"cuda": 0.6, "cpu": 0.25}
"""Share of the free memory that a batch may take. A cache is copied when it grows; a CPU's memory is for
others too."""


class Decoder:
    """Writes replies on a loaded model, whose generation config is replaced by the library's defaults.

    ``generate`` takes from it whatever it is not told: penalties that punish quoting the document, beams,
    another ``top_k``.

    Args:
        loaded: the model.
        batch_tokens: padded tokens that run in one batch, at most; by default what memory holds.
    """

    def __init__(self, loaded: "LoadedModel", batch_tokens: int | None = None):
        from transformers import GenerationConfig

        loaded.model.generation_config = GenerationConfig()
        self.loaded, self.batch_tokens = loaded, batch_tokens
        self.sizes = _sizes(loaded)
        self._grammar: Grammar | None = None

    def write(self, prompts: Sequence[Tokens], decoding: Decoding, stops: Sequence[int]) -> list[list[int]]:
        """The token ids of a reply to each prompt, up to one of ``stops``, this included, or to the limit.

        They are held to a guide that is a regular expression.

        Raises:
            JudgeError: there is not even memory for one reply.
        """
        seeds = list(own_seeds(prompts, decoding.seed))
        replies: dict[int, list[int]] = {}
        # Like lengths meet; the longest first, so that they tell if it fits.
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
        """How many prompts of a length may run in one batch; one at least."""
        room, reply = self.batch_tokens or BATCH_TOKENS, length + new_tokens
        if self.batch_tokens is None and self.sizes is not None:
            kind, size = self.loaded.model.device.type, self.loaded.model.dtype.itemsize
            room = int(MEMORY_SHARE[kind] * hardware.free_memory(kind))
            reply = reply * cache_bytes(self.sizes, size) + prefill_bytes(self.sizes, size, length)
        return max(1, room // reply)

    def _write(
        self, prompts: Sequence[Tokens], seeds: Sequence[int], decoding: Decoding, stops: Sequence[int]
    ) -> list[list[int]] | None:
        """The replies of one batch; ``None`` where memory did not hold it."""
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
                raise  # the words are those of PyTorch on a CPU
        if len(prompts) == 1:
            raise JudgeError(
                f"{self.loaded.name}: no memory for a prompt of {len(prompts[0])} tokens and a reply of up "
                f"to {decoding.max_new_tokens}; lower max_length or max_new_tokens"
            )
        if model.device.type == "cuda":
            torch.cuda.empty_cache()
        return None

    def _processors(self, seeds: Sequence[int], decoding: Decoding, stops: Sequence[int]) -> list[Any]:
        """What is done to the logits of each token, in turn."""
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
        """Left-padded rows and their mask, on the model's device: every row ends in the last column."""
        import torch

        width, filler = max(map(len, rows)), self.loaded.pad_id
        ids = torch.tensor([[filler] * (width - len(row)) + list(row) for row in rows])
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
        return ids.to(self.loaded.model.device), mask.to(self.loaded.model.device)


class Drawn:
    """Leaves one token of each reply, drawn by a random number that depends on the reply's seed alone."""

    def __init__(self, seeds: Sequence[int]):
        import torch

        self._makers = [torch.Generator().manual_seed(seed) for seed in seeds]

    def __call__(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """The scores, ``(replies, vocabulary)``, with minus infinity but for the token."""
        import torch

        draws = torch.cat([torch.rand(1, generator=maker, dtype=torch.float64) for maker in self._makers])
        tokens = sample(scores, draws)[:, None]
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens, 0.0)


def sample(scores: "torch.Tensor", draws: "torch.Tensor") -> "torch.Tensor":
    """The token at which each row's probabilities add up to more than its number from 0 to 1."""
    import torch

    sums = scores.softmax(-1).double().cumsum(-1)
    wanted = draws.to(sums.device)[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, wanted, right=True).squeeze(1).clamp(max=sums.shape[1] - 1)


def own_seeds(prompts: Sequence[Tokens], seed: int) -> Iterator[int]:
    """A seed for each prompt, made from the common one, its tokens and how often it came before."""
    before: Counter[Tokens] = Counter()
    for prompt in prompts:
        before[prompt] += 1
        yield int.from_bytes(sha256(repr((seed, before[prompt], prompt)).encode()).digest()[:4])


def _ended(row: list[int], stops: Sequence[int]) -> list[int]:
    """A reply up to its end; what follows is padding."""
    return row[: next((at + 1 for at, token in enumerate(row) if token in stops), len(row))]


def _sizes(loaded: "LoadedModel") -> Architecture | None:
    """The sizes of a model, where they can be told."""
    try:
        return parse_architecture(loaded.name, loaded.model.config.to_dict(), Path(loaded.name))
    except InputError:
        return None
