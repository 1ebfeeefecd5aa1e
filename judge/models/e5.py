"""Reads multilingual-e5-small as a wheel holds it: one file with 4-bit matrices and the vocabulary.

"E5S1" | sizes | pieces and scores | normalization | directory of tensors | tensors
"""

import struct
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.files import write_json

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
"""The first pieces of the vocabulary."""
BLOCK = 32
"""Weights that share a scale: 16 bits of scale, then 4 bits for each."""
CONTROL = "[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"
SPACES = "[\t\n\x0c\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"
"""Before NFKC, the vocabulary's normalization drops the former and reads the latter as spaces."""
LAYER = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
    "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip
"""Names of a layer's parts in the file, and in a BERT."""
WORDS = "embeddings.word_embeddings.weight"
EMBEDDINGS = {
    "emb.word": WORDS, "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight", "emb.ln.b": "embeddings.LayerNorm.bias",
}  # fmt: skip


class _Reader:
    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def read(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{form}", self.content, self.at)
        self.at += struct.calcsize(f"<{form}")
        return values

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]


def save_e5(file: Path, folder: Path) -> None:
    """Write the encoder to a folder in transformers' format.

    The word embeddings, four fifths of the weights, are stored in 16 bits, the other weights in 32.
    """
    from safetensors.torch import save_file

    reader = _Reader(file.read_bytes())
    reader.bytes(8)  # the name of the format and its version
    hidden, layers, heads, inner, words, places, kinds = reader.read("7i")
    epsilon, _ = reader.read("fi")
    config = {
        "model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu", "vocab_size": words,
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": inner, "max_position_embeddings": places, "type_vocab_size": kinds,
        "layer_norm_eps": round(epsilon, 14), "pad_token_id": SPECIAL.index("<pad>"),
    }  # fmt: skip
    write_json(folder / "config.json", config)
    _read_tokenizer(reader).save(str(folder / "tokenizer.json"))
    shapes = {name: shape for layer in range(layers) for name, shape in _layer(layer, hidden, inner).items()}
    shapes |= {
        short: (name, () if "LayerNorm" in name else (-1, hidden)) for short, name in EMBEDDINGS.items()
    }
    save_file(_read_weights(reader, shapes), folder / "model.safetensors", {"format": "pt"})


_Shapes = dict[str, tuple[str, tuple[int, ...]]]


def _layer(layer: int, hidden: int, inner: int) -> _Shapes:
    """Name in the file to the name and shape in a BERT, an empty shape for vectors."""
    found: _Shapes = {}
    for short, name in LAYER.items():
        whole = f"encoder.layer.{layer}.{name}"
        shape = () if short.endswith("ln") else (-1, inner if short == "fo" else hidden)
        found[f"l{layer}.{short}.w"] = (f"{whole}.weight", shape)
        found[f"l{layer}.{short}.b"] = (f"{whole}.bias", ())
    return found


def _read_tokenizer(reader: _Reader) -> "Tokenizer":
    from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

    count, *_ = reader.read("5i")
    (size,) = reader.read("Q")
    places, scores = reader.read(f"{count + 1}I"), reader.read(f"{count}f")
    text = reader.bytes(size)
    pieces = [text[start:end].decode() for start, end in pairwise(places)]
    _, size = reader.read("iI")
    reader.bytes(size)  # the normalization, code point by code point
    made = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), SPECIAL.index("<unk>")))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(CONTROL), ""),
            normalizers.Replace(Regex(SPACES), " "),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.add_special_tokens([AddedToken(name, special=True) for name in SPECIAL])
    return made


def _read_weights(reader: _Reader, shapes: _Shapes) -> "dict[str, torch.Tensor]":
    found = {}
    (count,) = reader.read("i")
    for _ in range(count):
        (length,) = reader.read("H")
        name, shape = shapes[reader.bytes(length).decode()]
        _, number, start, size = reader.read("BIQQ")
        values = _tensor(reader.content[start : start + size], number)
        found[name] = values.reshape(shape) if shape else values
    found[WORDS] = found[WORDS].half()
    return found


def _tensor(content: bytes, number: int) -> "torch.Tensor":
    """The numbers of a tensor: 32 bits each, or blocks of 4-bit ones."""
    import numpy as np
    import torch

    if len(content) == 4 * number:
        return torch.from_numpy(np.frombuffer(content, "<f4").copy())
    blocks = np.frombuffer(content, np.dtype([("scale", "<f2"), ("pairs", "u1", BLOCK // 2)]))
    whole = np.concatenate([blocks["pairs"] & 15, blocks["pairs"] >> 4], axis=1).astype(np.float32) - 8
    return torch.from_numpy(whole * blocks["scale"].astype(np.float32)[:, None]).flatten()
