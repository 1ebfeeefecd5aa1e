"""DeBERTa's distances: gradients are autograd's, buckets transformers', and other builds are refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.encoder.bert import BertConfig
from judge.encoder.deberta import NEEDED, Places, _seen, buckets, in_a_row
from judge.errors import InputError
from judge.models.blocked_attention import Block

CONFIG: dict[str, Any] = {
    "model_type": "deberta-v2", "vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 32, "max_position_embeddings": 64, "position_buckets": 4,
    "pos_att_type": "p2c|c2p", **NEEDED,
}  # fmt: skip


@given(st.integers(2, 300), st.integers(400, 900))
@settings(max_examples=20, deadline=None)
def test_buckets_are_those_of_transformers(span: int, farthest: int) -> None:
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    distance = torch.arange(-1000, 1000)
    theirs = make_log_bucket_position(distance, span, farthest).long()
    assert torch.equal(buckets(distance, span, farthest), (theirs + span).clamp(0, 2 * span - 1))


def test_answers_stand_behind_the_longest_window() -> None:
    positions = torch.tensor([[0, 1, 2, 0, 1, 0, 1, 0], [0, 1, 0, 1, 2, 0, 0, 0]])
    kinds = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0, 0, 0]])
    assert in_a_row(positions, kinds).tolist() == [[0, 1, 2, 0, 1, 3, 4, 3], [0, 1, 2, 3, 4, 0, 0, 0]]


def test_gradients_are_those_of_autograd() -> None:
    """Of tokens and distances, with keys that two blocks share and a bias that bars some."""
    torch.manual_seed(0)
    positions = torch.tensor([[0, 1, 2, 0, 1, 2]])
    barred = torch.tensor([[0.0, 0, 0, 0, -1e4, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, -1e4, 0, 0]])
    blocks = [
        Block(0, slice(0, 3), slice(0, 3), None),
        Block(0, slice(3, 6), slice(0, 6), barred),
    ]
    places = Places.of(torch.randn(8, 16), 64, positions, blocks)
    tensors = [torch.randn(1, 2, 6, 8, requires_grad=True) for _ in range(3)]
    tensors += [torch.randn(2, len(places.table), 8, requires_grad=True) for _ in range(2)]
    given = torch.randn(1, 2, 6, 8)

    ours = torch.autograd.grad(places.attend(*tensors), tensors, given)
    query, key, value, *far = tensors
    parts = [
        _seen(query[row, :, queries], key[row, :, keys], value[row, :, keys], *far, *rest)
        for row, queries, keys, *rest in places.parts
    ]
    theirs = torch.autograd.grad(torch.cat(parts, 1)[None], tensors, given)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("share_att_key", False), ("conv_kernel_size", 3), ("pos_att_type", ["c2p"]), ("pos_att_type", "p2c"),
        ("position_buckets", -1), ("position_buckets", None), ("relative_attention", None),
    ],
)  # fmt: skip
def test_other_builds_are_refused(tmp_path: Path, name: str, value: object) -> None:
    """``None``: the config does not say."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG))
    config = BertConfig.read(tmp_path)
    assert config.position_buckets == 4 and config.max_relative_positions == 64
    config.save(tmp_path)
    assert BertConfig.read(tmp_path) == config
    other = {key: found for key, found in CONFIG.items() if key != name}
    file.write_text(json.dumps(other if value is None else {**other, name: value}))
    with pytest.raises(InputError, match="a DeBERTa v3 has"):
        BertConfig.read(tmp_path)
