"""The encoder judge's network: a BERT that reads pages, a score for each answer and for each of its tokens.

The score of an answer is the log-odds of FAIL. The score of a token is the log-odds that it stands in a
stretch that the document does not bear; it is learned where such stretches are labelled, and gives training
a hundred times the labels (LettuceDetect, arXiv 2502.17125, marks tokens alone).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from judge.encoder.attention import NAME, Blocks, register
from judge.encoder.layout import RUNS, Page
from judge.errors import InputError, JudgeError
from judge.models.base import unknown_model

WEIGHTS = "model.safetensors"
ADAPTER = "adapter.safetensors"
"""In place of the weights: what training changed, see :mod:`judge.encoder.packing`."""
BARRED = -1e4
"""Added to a score to bar it; finite in every number format."""


@dataclass(frozen=True, slots=True)
class PageBatch:
    """Pages as tensors, ``(pages, tokens)``, and where the scores are read.

    ``answers`` has a line for each answer, in the order of the pages: its page and its first token.
    ``tokens`` has one for each token of the answers themselves.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    kinds: torch.Tensor
    levels: torch.Tensor
    blocks: tuple[Blocks, ...]
    answers: torch.Tensor
    tokens: torch.Tensor

    @classmethod
    def of(cls, pages: Sequence[Page]) -> "PageBatch":
        """The batch of some pages, padded to the longest."""
        width = max(map(len, pages))
        ids, positions, kinds, levels = (torch.zeros(len(pages), width, dtype=torch.long) for _ in range(4))
        blocks: list[Blocks] = []
        answers: list[tuple[int, int]] = []
        tokens: list[tuple[int, int]] = []
        for row, page in enumerate(pages):
            at, edges = 0, [0]
            for window in page.windows:
                end = at + len(window)
                ids[row, at:end] = torch.tensor(window)
                positions[row, at:end] = torch.arange(len(window))
                at = end
                edges.append(at)
            first, owner = at, []
            for number, answer in enumerate(page.answers):
                end = at + len(answer.ids)
                ids[row, at:end] = torch.tensor(answer.ids)
                positions[row, at:end] = torch.arange(len(answer.ids))
                levels[row, at:end] = torch.tensor(answer.levels)
                kinds[row, at:end] = 1
                answers.append((row, at))
                tokens.extend((row, at + place) for place in answer.own)
                owner += [number] * len(answer.ids)
                at = end
            owners = torch.tensor(owner, dtype=torch.long)
            own = torch.zeros(at - first, at)
            own[:, first:].masked_fill_(owners[:, None] != owners[None, :], BARRED)
            blocks.append(Blocks(tuple(edges), at, own))
        return cls(
            ids, positions, kinds, levels, tuple(blocks),
            torch.tensor(answers, dtype=torch.long).reshape(-1, 2),
            torch.tensor(tokens, dtype=torch.long).reshape(-1, 2),
        )  # fmt: skip

    def mask(self) -> torch.Tensor:
        """Who looks at whom as one dense mask, ``(pages, 1, tokens, tokens)``; padding looks at itself."""
        pages, width = self.ids.shape
        mask = torch.eye(width, dtype=torch.bool).repeat(pages, 1, 1)
        for row, block in enumerate(self.blocks):
            for queries, keys, bias in block.parts():
                mask[row, queries, keys] = True if bias is None else bias == 0
        return mask[:, None]


class EncoderNetwork(nn.Module):
    """A BERT with the level of :func:`~judge.encoder.layout.runs` added to its inputs, and two heads.

    Training leaves the word embeddings as they are: they hold half of a small encoder's weights, and a few
    thousand documents say little of the rare ones.
    """

    def __init__(self, backbone: Any):
        super().__init__()
        size = backbone.config.hidden_size
        self.config = backbone.config
        self.backbone = backbone
        backbone.get_input_embeddings().weight.requires_grad_(False)
        self.levels = nn.Embedding(len(RUNS) + 1, size)
        nn.init.normal_(self.levels.weight, std=0.02)
        self.answer = nn.Sequential(nn.Linear(size, size), nn.Tanh(), nn.Linear(size, 1))
        self.token = nn.Linear(size, 1)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.levels.weight.device

    def forward(self, batch: PageBatch) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-odds of FAIL of each answer, and of each token of the answers, in the batch's order."""
        device = self.device
        ids, kinds = batch.ids.to(device), batch.kinds.to(device)
        words = self.backbone.get_input_embeddings()(ids)
        options: dict[str, Any] = (
            {"blocks": batch.blocks}
            if self.config._attn_implementation == NAME
            else {"attention_mask": batch.mask().to(device)}
        )
        hidden = self.backbone(
            inputs_embeds=words + self.levels(batch.levels.to(device)) * kinds[..., None],
            position_ids=batch.positions.to(device),
            token_type_ids=kinds,
            **options,
        ).last_hidden_state
        answers, tokens = batch.answers.to(device), batch.tokens.to(device)
        by_answer = self.answer(hidden[answers[:, 0], answers[:, 1]])
        by_token = self.token(hidden[tokens[:, 0], tokens[:, 1]])
        return by_answer.float().squeeze(-1), by_token.float().squeeze(-1)


def start_network(model: str) -> tuple[EncoderNetwork, Any]:
    """A network to train, around a pretrained encoder, and its tokenizer.

    Raises:
        InputError: there is no such model, or it is no BERT.
    """
    from transformers import AutoModel

    config, tokenizer = _load(model)
    backbone = AutoModel.from_pretrained(model, config=config, add_pooling_layer=False)
    return EncoderNetwork(backbone.float()), tokenizer


def load_network(folder: Path) -> tuple[EncoderNetwork, Any]:
    """A trained network and its tokenizer, from weights of its own or an adapter.

    Raises:
        InputError: an adapter's base is not there.
        JudgeError: the weights are not those of such a network.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    from transformers import AutoModel

    from judge.encoder.packing import find_base, unpacked

    base = find_base(folder) if (folder / ADAPTER).is_file() else None
    config, tokenizer = _load(str(base or folder))
    network = EncoderNetwork(AutoModel.from_config(config, add_pooling_layer=False))
    try:
        network.load_state_dict(load_file(folder / WEIGHTS) if base is None else unpacked(folder, base))
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = str(error).partition("\n")[0]
        raise JudgeError(f"{folder / WEIGHTS}: holds no encoder judge ({reason:.200})") from error
    return network.float(), tokenizer


def _load(model: str) -> tuple[Any, Any]:
    """Config and tokenizer of a BERT."""
    from transformers import AutoConfig, AutoTokenizer

    try:
        config = AutoConfig.from_pretrained(model)
        tokenizer = AutoTokenizer.from_pretrained(model)
    except OSError as error:
        raise unknown_model(model, model, None, error) from error
    if config.model_type != "bert" or not tokenizer.is_fast:
        raise InputError(f"{model} is of type {config.model_type}; encoder judges are made of BERTs")
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    config._attn_implementation = "sdpa" if torch.cuda.is_available() else register()
    return config, tokenizer
