"""BERT (arXiv 1810.04805), MPNet and DeBERTa v3 over pages: layers, by the names that released weights have.

Written out here for two reasons. Its attention is that of pages (:mod:`judge.encoder.attention`), and a
verdict from a fresh process must not wait until a library of all models is imported.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.nn.functional import gelu

from judge.encoder import deberta, mpnet
from judge.encoder.attention import Blocks, attend, blocks_of
from judge.encoder.deberta import Places
from judge.encoder.distances import Distances
from judge.errors import InputError
from judge.models.blocked_attention import Block

FILE = "config.json"
WEIGHTS = "model.safetensors"


@dataclass(frozen=True, slots=True)
class BertConfig:
    """Sizes of a BERT, by the names of its ``config.json``."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    relative_attention_num_buckets: int = 0
    """Buckets of MPNet's distances between tokens; 0 for others."""
    position_buckets: int = 0
    """Distances to either side that a DeBERTa tells apart; 0 for others."""
    max_relative_positions: int = 512
    """A DeBERTa's longest distance."""

    @classmethod
    def read(cls, folder: Path) -> "BertConfig":
        """The config of a model folder. Raises ``InputError`` if it is that of another kind of model."""
        found = _read_config(folder)
        if found.get("model_type") == mpnet.KIND:
            found = mpnet.as_bert_config(found)
        if found.get("model_type") == deberta.KIND:
            try:
                found = deberta.as_bert_config(found)
            except ValueError as error:
                raise InputError(f"{error}", file=folder / FILE) from None
        kind, act = found.get("model_type"), found.get("hidden_act", "gelu")
        if kind != "bert" or act != "gelu" or found.get("position_embedding_type", "absolute") != "absolute":
            raise InputError(
                f"is of type {kind}, {act}; encoder judges are made of BERT, MPNet or DeBERTa v3",
                file=folder / FILE,
            )
        return cls(**{name: found[name] for name in cls.__slots__ if name in found})

    def save(self, folder: Path) -> None:
        """Write it as transformers would read it, but for distances, which its BERT does not have."""
        values = {name: getattr(self, name) for name in self.__slots__}
        kind = {"model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu"}
        text = json.dumps({**kind, **values}, indent=2)
        (folder / FILE).write_text(f"{text}\n", encoding="utf-8")


Sight: TypeAlias = tuple[Sequence[Block], torch.Tensor | None] | Places
"""Who looks at whom in a batch of pages, the same in every layer: in blocks, by a mask, or with distances."""


class Embeddings(nn.Module):
    """Words, positions and kinds of tokens, added up."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        if config.max_position_embeddings:
            self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, kinds: torch.Tensor, more: torch.Tensor
    ) -> torch.Tensor:
        """``(pages, tokens, size)``; ``more`` is added to what the embeddings give."""
        added = self.word_embeddings(ids) + more + self.token_type_embeddings(kinds)
        if hasattr(self, "position_embeddings"):
            added = added + self.position_embeddings(positions)
        normed: torch.Tensor = self.LayerNorm(added)
        return normed


class Projections(nn.Module):
    """Queries, keys and values of a layer."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3)
        )
        self.heads = config.num_attention_heads

    def forward(self, hidden: torch.Tensor, sight: "Sight") -> torch.Tensor:
        """What each token sees of the tokens that it may look at."""
        query, key, value = (self._by_head(part(hidden)) for part in (self.query, self.key, self.value))
        if isinstance(sight, Places):
            far = (self._by_head(part(sight.table)) for part in (self.query, self.key))
            seen = sight.attend(query, key, value, *far)
        else:
            seen = attend(query, key, value, *sight)
        return seen.transpose(1, 2).reshape(hidden.shape)

    def _by_head(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class Output(nn.Module):
    """A linear layer, added to what went in beside it, and normed."""

    def __init__(self, inner: int, config: BertConfig):
        super().__init__()
        self.dense = nn.Linear(inner, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden: torch.Tensor, beside: torch.Tensor) -> torch.Tensor:
        """``(pages, tokens, size)``."""
        return self.LayerNorm(self.dense(hidden) + beside)


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.attention = nn.ModuleDict(
            {"self": Projections(config), "output": Output(config.hidden_size, config)}
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.intermediate_size)})
        self.output = Output(config.intermediate_size, config)

    def forward(self, hidden: torch.Tensor, sight: "Sight") -> torch.Tensor:
        """``(pages, tokens, size)``."""
        seen = self.attention["output"](self.attention["self"](hidden, sight), hidden)
        return self.output(gelu(self.intermediate["dense"](seen)), seen)


class Bert(nn.Module):
    """The encoder without its pooler."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))}
        )
        if config.relative_attention_num_buckets:
            distances = Distances(config.relative_attention_num_buckets, config.num_attention_heads)
            self.encoder["relative_attention_bias"] = distances
        if config.position_buckets:
            self.encoder["rel_embeddings"] = nn.Embedding(2 * config.position_buckets, config.hidden_size)
            self.encoder["LayerNorm"] = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        kinds: torch.Tensor,
        more: torch.Tensor,
        blocks: Sequence[Blocks],
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Hidden states ``(pages, tokens, size)`` of the last layer.

        Args:
            ids: tokens, ``(pages, tokens)``.
            positions: the position of each in its window or answer.
            kinds: 0 for tokens of the document, 1 for those of answers.
            more: what is added to the word embeddings, ``(pages, tokens, size)``.
            blocks: who looks at whom, for each page.
            mask: the same as one dense mask; PyTorch's own kernel then computes with it.
        """
        hidden = self.embeddings(ids, positions, kinds, more)
        sight = self._sight(positions, kinds, blocks_of(blocks), mask)
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, sight)
        return hidden

    def _sight(
        self, positions: torch.Tensor, kinds: torch.Tensor, blocks: list[Block], mask: torch.Tensor | None
    ) -> Sight:
        """Who looks at whom, with what distances do to the scores."""
        if self.config.position_buckets:
            table = self.encoder["LayerNorm"](self.encoder["rel_embeddings"].weight)
            places = deberta.in_a_row(positions, kinds)
            longest = self.config.max_relative_positions
            if mask is None:
                return Places.of(table, longest, places, blocks)
            return Places.dense(table, longest, places, mask)
        if self.config.relative_attention_num_buckets:
            distances = self.encoder["relative_attention_bias"]
            if mask is None:
                return distances.blocks(blocks, positions), None
            return blocks, distances.dense(mask, positions)
        return blocks, mask


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read ({error})", file=folder / FILE) from None
    return found


def stored_weights(folder: Path) -> dict[str, torch.Tensor]:
    """All weights of a pretrained encoder's folder, by BERT's names, in the number format that they have.

    Raises:
        InputError: the folder holds no weights in safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        stored: dict[str, torch.Tensor] = load_file(folder / WEIGHTS)
        kind = _read_config(folder).get("model_type")
        if kind == mpnet.KIND:
            return mpnet.as_bert_weights(stored)
        if kind == deberta.KIND:
            return deberta.as_bert_weights(stored)
    except (OSError, KeyError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"holds no weights of an encoder ({reason:.160})", file=folder / WEIGHTS) from None
    return {name.removeprefix("bert."): value for name, value in stored.items()}


def read_bert(folder: Path) -> tuple[Bert, dict[str, torch.Tensor]]:
    """A BERT, an MPNet or a DeBERTa v3 from a model folder, in float32, and all weights that the folder has.

    Raises:
        InputError: the folder holds none of them in safetensors.
    """
    bert = Bert(BertConfig.read(folder))
    stored = stored_weights(folder)
    try:
        bert.load_state_dict({name: stored[name] for name in bert.state_dict() if name in stored})
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"holds no weights of a BERT ({reason:.160})", file=folder / WEIGHTS) from None
    return bert.float(), stored
