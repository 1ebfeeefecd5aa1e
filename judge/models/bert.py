"""BERT (arXiv 1810.04805), with the layer names of released weights.

Implemented here for two reasons: attention can run in blocks, for encoders that read pages; and a fresh
process can give a verdict without waiting for the import of transformers.

With a dense mask, PyTorch would compute every score and drop most. On a CPU each window and the answers of a
page are blocks of :mod:`judge.models.blocked_attention`, 1.2 to 3.8 times as fast as PyTorch's own kernel
with a mask, forward and backward. On a GPU PyTorch's kernel runs with the dense mask.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from judge.errors import InputError, brief
from judge.files import read_json, write_json
from judge.models.blocked_attention import Block, attend

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
    pad_token_id: int = 0

    @classmethod
    def read(cls, folder: Path) -> "BertConfig":
        """The config of a model folder. Raises ``InputError`` if it is not that of a BERT."""
        found = read_json(folder / FILE)
        kind, act = found.get("model_type"), found.get("hidden_act", "gelu")
        if not is_bert(found):
            raise InputError(
                f"is of type {kind}, {act}; a judge that reads pages is made of a BERT",
                file=folder / FILE,
            )
        return cls(**{name: found[name] for name in cls.__slots__ if name in found})

    def save(self, folder: Path) -> None:
        """Write it in transformers' format."""
        values = {name: getattr(self, name) for name in self.__slots__}
        kind = {"model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu"}
        write_json(folder / FILE, {**kind, **values})


def is_bert(config: Mapping[str, Any]) -> bool:
    """Whether a ``config.json`` is that of a BERT as it is implemented here."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and not config.get("is_decoder", False)
    )


AttentionMask: TypeAlias = Sequence[Block] | torch.Tensor
"""The attention mask of a batch of pages, the same in every layer: in blocks, or dense and boolean."""


class Embeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalized."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(
        self, ids: torch.Tensor, positions: torch.Tensor, kinds: torch.Tensor, more: torch.Tensor
    ) -> torch.Tensor:
        """``(pages, tokens, size)``; ``more`` is added to the embeddings."""
        added = self.word_embeddings(ids) + more + self.token_type_embeddings(kinds)
        added = added + self.position_embeddings(positions)
        normed: torch.Tensor = self.LayerNorm(added)
        return normed


class Projections(nn.Module):
    """Self-attention of a layer, with its projections to queries, keys and values."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3)
        )
        self.heads = config.num_attention_heads

    def forward(self, hidden: torch.Tensor, mask: AttentionMask) -> torch.Tensor:
        """The attention's output, ``(pages, tokens, size)``."""
        query, key, value = (self._by_head(part(hidden)) for part in (self.query, self.key, self.value))
        if isinstance(mask, torch.Tensor):
            attended = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        else:
            attended = attend(query, key, value, mask, query.shape[-1] ** -0.5)
        return attended.transpose(1, 2).reshape(hidden.shape)

    def _by_head(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.unflatten(-1, (self.heads, -1)).transpose(-3, -2)


class Output(nn.Module):
    """A linear layer, a residual connection and layer normalization."""

    def __init__(self, inner: int, config: BertConfig):
        super().__init__()
        self.dense = nn.Linear(inner, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """``(pages, tokens, size)``."""
        return self.LayerNorm(self.dense(hidden) + residual)


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.attention = nn.ModuleDict(
            {"self": Projections(config), "output": Output(config.hidden_size, config)}
        )
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.intermediate_size)})
        self.output = Output(config.intermediate_size, config)

    def forward(self, hidden: torch.Tensor, mask: AttentionMask) -> torch.Tensor:
        """``(pages, tokens, size)``."""
        attended = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        return self.output(gelu(self.intermediate["dense"](attended)), attended)


class Bert(nn.Module):
    """The encoder without its pooler."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))}
        )

    def forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        kinds: torch.Tensor,
        more: torch.Tensor,
        mask: AttentionMask,
    ) -> torch.Tensor:
        """Hidden states ``(pages, tokens, size)`` of the last layer.

        Args:
            ids: tokens, ``(pages, tokens)``.
            positions: the position of each in its window or answer.
            kinds: 0 for tokens of the document, 1 for those of answers.
            more: added to the word embeddings, ``(pages, tokens, size)``.
            mask: blocks, or ``(pages, 1, tokens, tokens)`` for PyTorch's own kernel.
        """
        hidden = self.embeddings(ids, positions, kinds, more)
        for layer in self.encoder["layer"]:
            hidden = layer(hidden, mask)
        return hidden


class Classified(NamedTuple):
    """What a :class:`BertClassifier` returns, by the names of transformers."""

    logits: torch.Tensor
    """``(rows, classes)``."""
    hidden_states: tuple[torch.Tensor, ...]
    """The last layer's alone: ``(rows, tokens, size)``."""


class BertClassifier(nn.Module):
    """A BERT that classifies pairs, as transformers' ``BertForSequenceClassification`` does.

    Args:
        config: the encoder's sizes.
        classes: number of logits.
    """

    def __init__(self, config: BertConfig, classes: int):
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        # Within the encoder, because released weights name it so.
        self.bert.pooler = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.hidden_size)})
        self.classifier = nn.Linear(config.hidden_size, classes)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.classifier.weight.device

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor,
        output_hidden_states: bool = False,
    ) -> Classified:
        """Logits of pairs and hidden states; the arguments are those of transformers, ``(rows, tokens)``."""
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        nothing = torch.zeros((), device=input_ids.device)
        seen = attention_mask[:, None, None, :].bool()
        hidden = self.bert(input_ids, positions, token_type_ids, nothing, seen)
        pooled = torch.tanh(self.bert.pooler["dense"](hidden[:, 0]))
        return Classified(self.classifier(pooled), (hidden,) if output_hidden_states else ())


def stored_weights(folder: Path) -> dict[str, torch.Tensor]:
    """All weights of a pretrained encoder's folder, under BERT's names, in their stored number format.

    Raises:
        InputError: if the folder holds no weights in safetensors.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        stored: dict[str, torch.Tensor] = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise InputError(f"holds no weights of an encoder ({brief(error)})", file=folder / WEIGHTS) from None
    return {name.removeprefix("bert."): value for name, value in stored.items()}


def read_bert(folder: Path) -> tuple[Bert, dict[str, torch.Tensor]]:
    """A BERT from a model folder, in float32, and all weights of the folder as stored.

    Raises:
        InputError: if the folder holds none in safetensors.
    """
    bert = Bert(BertConfig.read(folder))
    stored = stored_weights(folder)
    try:
        bert.load_state_dict({name: stored[name] for name in bert.state_dict() if name in stored})
    except RuntimeError as error:
        raise InputError(f"holds no weights of a BERT ({brief(error)})", file=folder / WEIGHTS) from None
    return bert.float(), stored
