"""The tokenizer of a GGUF file: byte-level BPE, as in GPT-2, Llama 3, Qwen and SmolLM.

llama.cpp splits text by named rules (``tokenizer.ggml.pre``); which of them a tokenizer.json uses is found
from its pre-tokenizer. SentencePiece vocabularies (Llama 2, Mistral) are not supported.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import read_json

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
SPLITS = {
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _REST: "qwen2",
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _REST: "llama-bpe",
}
"""Regular expressions of pre-tokenizers, and llama.cpp's names for them."""
NORMAL, CONTROL, ADDED, UNUSED = 1, 3, 4, 5
"""Types of tokens in a GGUF file."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens with their types, the merges, and the name of the splitting rules."""

    tokens: list[str]
    types: list[int]
    merges: list[str]
    splitter: str


def read_vocabulary(file: Path, size: int) -> Vocabulary:
    """The vocabulary of a tokenizer.json, padded to the number of embedding rows.

    Raises:
        InputError: if it is not byte-level BPE, or splits text by rules that llama.cpp has no name for.
    """
    found = read_json(file)
    model = found["model"]
    if model.get("type") != "BPE" or model.get("byte_fallback"):
        raise InputError("is not a byte-level BPE; GGUF export supports no other vocabulary", file=file)
    places = dict(model["vocab"])
    added = {entry["content"]: entry for entry in found.get("added_tokens", ())}
    places |= {content: entry["id"] for content, entry in added.items()}
    if max(places.values()) >= size:
        raise InputError(f"has more tokens than the model has embeddings ({size})", file=file)
    tokens = [f"[UNUSED{number}]" for number in range(size)]
    types = [UNUSED] * size
    for token, number in places.items():
        tokens[number] = token
        special = token in added and added[token]["special"]
        types[number] = CONTROL if special else ADDED if token in added else NORMAL
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]]
    return Vocabulary(tokens, types, merges, _splitter(found.get("pre_tokenizer"), file))


def _splitter(given: Mapping[str, Any] | None, file: Path) -> str:
    """llama.cpp's name of a pre-tokenizer."""
    steps = (given or {}).get("pretokenizers", [given] if given else [])
    kinds = [step["type"] for step in steps]
    plain = bool(steps) and kinds[-1] == "ByteLevel" and not steps[-1].get("add_prefix_space")
    if plain and steps[-1].get("use_regex", True):
        if kinds == ["ByteLevel"]:
            return "gpt-2"
        if kinds == ["Digits", "ByteLevel"] and steps[0].get("individual_digits"):
            return "smollm"
    elif plain and kinds == ["Split", "ByteLevel"]:
        pattern = steps[0].get("pattern", {}).get("Regex")
        if pattern in SPLITS and steps[0].get("behavior") == "Isolated":
            return SPLITS[pattern]
    raise InputError(
        f"splits text by rules that GGUF export does not know ({json.dumps(given):.120})",
        file=file,
        field="pre_tokenizer",
    )
