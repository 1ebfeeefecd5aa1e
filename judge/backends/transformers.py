"""The transformers engine: one prefill per verdict, batches by length, on CPU and GPU.

A label may be a token sequence of any length, and two labels may share their first tokens; both are scored
exactly. Prompts with a common prefix, such as those about one document, run as one prefix tree.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.backends.base import Decoding, Generation, LabelRequest, RenderingBackend
from judge.backends.decoding import BATCH_ROWS, Decoder
from judge.backends.label_tokens import rows_to_read, stem_and_tails
from judge.models.attention import tree_attention
from judge.models.batching import CPU_PADDING, by_length
from judge.models.heads import read_logits
from judge.models.prefix_tree import (
    TREE_TOKENS,
    PrefixTree,
    added_tokens,
    can_share,
    make_tree,
    pad,
)
from judge.prompting.rendering import Renderer
from judge.types import Message

if TYPE_CHECKING:
    import torch

    from judge.models.weights import LoadedModel

BATCH_TOKENS = 8192
"""Padded tokens per batch of prefills, and tokens per prefix tree."""
CPU_PREFILL_TOKENS = 2048
"""Padded tokens per batch of prefills on a CPU, where larger batches are not faster."""


class TransformersBackend(RenderingBackend):
    """Runs a causal language model of transformers, LoRA adapters included.

    Args:
        loaded: the model with its tokenizer, see :func:`judge.models.weights.load_model`.
        max_length: upper limit on the context; the model's own by default.
        batch_tokens: maximum padded tokens per batch; by default what suits the device, and for replies what
            its memory allows.
        chat: arguments for the tokenizer's chat template.
    """

    def __init__(
        self,
        loaded: "LoadedModel",
        max_length: int | None = None,
        batch_tokens: int | None = None,
        chat: Mapping[str, Any] | None = None,
    ):
        self.loaded = loaded
        self.model = loaded.model.eval()
        self.renderer = Renderer(loaded.tokenizer, chat)
        on_cpu = self.model.device.type == "cpu"
        self.batch_tokens = batch_tokens or BATCH_TOKENS
        self.prefill_tokens = batch_tokens or (CPU_PREFILL_TOKENS if on_cpu else BATCH_TOKENS)
        self.prefill_padding = CPU_PADDING if on_cpu else None
        self.decoder = Decoder(loaded, batch_tokens)
        self.replies_together = 1 if on_cpu else BATCH_ROWS
        self.shares = can_share(self.model)
        self.takes_patterns = bool(loaded.tokenizer.is_fast)
        self.context_length = min(loaded.context_length, max_length or loaded.context_length)

    def describe(self) -> dict[str, Any]:
        """Model, revision, number format, device, context length."""
        return {
            "backend": "transformers",
            **self.loaded.describe(),
            "context_length": self.context_length,
        }

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        """Log-probabilities of the two words of each request, from one prefill."""
        split = [stem_and_tails(self.renderer, request) for request in requests]
        scores = self._score([(stem, tail) for stem, tails in split for tail in tails])
        return [(scores[2 * index], scores[2 * index + 1]) for index in range(len(requests))]

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """One reply per conversation, constrained to the guide if it is a regular expression.

        A sampled reply depends on the seed and its conversation, not on the rest of the batch; a conversation
        that is repeated in one call gets a different sample each time.

        Raises:
            JudgeError: if there is not enough memory for a single reply.
        """
        stops = self.renderer.stop_ids()
        rows = self.decoder.write(self.prompts(conversations), decoding, stops)
        return [self.reply(row, stops) for row in rows]

    def _score(self, continuations: "Sequence[tuple[tuple[int, ...], tuple[int, ...]]]") -> list[float]:
        """Log-probability of each tail after its stem. Rows run as prefix trees, several trees per batch."""
        rows = rows_to_read(continuations)
        tokens, own = [row.tokens for row in rows], [len(row.tokens) - row.first for row in rows]
        groups = self._trees(tokens, own)
        trees = [make_tree([tokens[i] for i in group], [own[i] for i in group]) for group in groups]
        scores = [0.0] * len(continuations)
        sizes = [len(tree.ids) for tree in trees]
        for batch in by_length(sizes, self.prefill_tokens, self.prefill_padding):
            steps: list[tuple[int, int, int, int]] = []  # line, column, token to read there, continuation
            for line, index in enumerate(batch):
                for row, end in zip(groups[index], trees[index].ends, strict=True):
                    begin = end + 1 - len(tokens[row])  # where the row would begin if it were unshared
                    for continuation in rows[row].read:
                        stem, tail = continuations[continuation]
                        for at, token in enumerate(tail, start=begin + len(stem) - 1):
                            steps.append((line, at, token, continuation))
            found = self._read([trees[index] for index in batch], [step[:3] for step in steps])
            for (*_, continuation), score in zip(steps, found, strict=True):
                scores[continuation] += score
        return scores

    def _read(self, trees: Sequence[PrefixTree], steps: Sequence[tuple[int, int, int]]) -> list[float]:
        """Log-probability of each token, given as its tree, the place before it, and its id."""
        import torch

        places = torch.zeros(len(trees), max(len(tree.ids) for tree in trees), dtype=torch.bool)
        lines, columns, tokens = (torch.tensor(part) for part in zip(*steps, strict=True))
        places[lines, columns] = True
        order = places.flatten().cumsum(0).view(places.shape) - 1  # of the places that are read, line by line
        with torch.inference_mode():
            logits = self._forward(trees, places.to(self.model.device))
            index = (order[lines, columns].to(logits.device), tokens.to(logits.device))
            scores: list[float] = (logits[index] - logits.logsumexp(-1)[index[0]]).tolist()
        return scores

    def _forward(self, trees: Sequence[PrefixTree], places: "torch.Tensor") -> "torch.Tensor":
        """Logits ``(places, vocabulary)`` of a batch of trees, where ``places`` ``(trees, tokens)`` is true.

        Trees are padded on the right, out of sight of their tokens, so trees without branches need neither a
        mask nor positions.
        """
        device = places.device
        branches: dict[str, Any] = {}
        if any(len(tree.parents) > 1 for tree in trees):
            nodes = pad([tree.nodes for tree in trees]).to(device)
            parents = pad([tree.parents for tree in trees]).to(device)
            branches = {
                "attention_mask": tree_attention(self.model, nodes, parents),
                "position_ids": pad([tree.positions for tree in trees], 0).to(device),
            }
        ids = pad([tree.ids for tree in trees], self.loaded.pad_id).to(device)
        return read_logits(self.model, self.model, places, input_ids=ids, **branches)[0]

    def _trees(self, rows: Sequence[tuple[int, ...]], own: Sequence[int]) -> list[list[int]]:
        """Group rows that share at least half of their tokens into trees of limited size."""
        groups: list[list[int]] = []
        size, limit = 0, min(self.batch_tokens, TREE_TOKENS)
        for index in sorted(range(len(rows)), key=lambda index: rows[index]):  # common prefixes meet
            row = rows[index]
            added = len(row)
            if groups and self.shares:
                last = groups[-1]
                added = added_tokens(row, own[index], rows[last[-1]], own[last[-1]])
            if groups and added <= len(row) / 2 and size + added <= limit:
                groups[-1].append(index)
                size += added
            else:
                groups.append([index])
                size = len(row)
        return groups
