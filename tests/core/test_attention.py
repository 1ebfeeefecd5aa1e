"""Attention in blocks gives what dense attention gives, and the gradients too."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AttentionInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from judge.errors import JudgeError
from judge.models import attention, blocked_attention
from judge.models.prefix_tree import lineage, make_tree, pad, tree_mask
from judge.models.weights import load_model

FORWARD = AttentionInterface()[attention.register()]


def attend(
    forward: Callable[..., tuple[torch.Tensor, None]], mask: torch.Tensor, seed: int
) -> list[torch.Tensor]:
    """Output and gradients of one layer with four heads on two key-value heads."""
    torch.manual_seed(seed)
    rows, _, queries, keys = mask.shape
    query = torch.randn(rows, 4, queries, 8, requires_grad=True)
    key, value = (torch.randn(rows, 2, keys, 8, requires_grad=True) for _ in range(2))
    module = SimpleNamespace(num_key_value_groups=2, is_causal=True)
    output, _ = forward(module, query, key, value, mask, scaling=0.3)
    output.square().sum().backward()
    return [output.detach(), *(tensor.grad for tensor in (query, key, value) if tensor.grad is not None)]


def assert_dense(mask: torch.Tensor, seed: int = 0, block: int = 4) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "BLOCK_BYTES", 4 * block)
        patch.setattr(blocked_attention, "SCORES", seed % 2 * 10_000)  # one head at a time, or all
        found = attend(FORWARD, mask, seed)
    for got, wanted in zip(found, attend(sdpa_attention_forward, mask, seed), strict=True):
        torch.testing.assert_close(got, wanted)


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(1, 2), queries=st.integers(1, 20), extra=st.integers(0, 4), seed=st.integers(0, 999))
def test_any_mask_gives_the_dense_result(rows: int, queries: int, extra: int, seed: int) -> None:
    mask = (
        torch.rand((rows, 1, queries, queries + extra), generator=torch.Generator().manual_seed(seed)) < 0.3
    )
    mask[..., 0] = True  # a query that sees nothing has no defined result
    assert_dense(mask, seed)


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 12), st.lists(st.integers(0, 2), max_size=3)), min_size=1, max_size=5
    ),
    seed=st.integers(0, 9),
)
@settings(max_examples=25, deadline=None)
def test_any_tree_gives_the_dense_result(rows: list[tuple[int, list[int]]], seed: int) -> None:
    """Beside another one in the batch, so that there is padding; and it is in 16 bits what it should be."""
    trees = [
        make_tree([[*range(common), *own] for common, own in part], [1] * len(part))
        for part in (rows, rows[:1])
    ]
    width = max(len(tree.nodes) for tree in trees)
    nodes = torch.tensor([tree.nodes + [-1] * (width - len(tree.nodes)) for tree in trees])
    mask = tree_mask(nodes, pad([tree.parents for tree in trees]))
    assert_dense(mask, seed)


@pytest.mark.parametrize("autocast", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_bfloat16_is_near_float32(masked: bool, autocast: bool) -> None:
    """Also plain text without a mask, which runs in blocks in 16 bits alone."""
    torch.manual_seed(0)
    parts = [torch.randn(2, heads, 300, 8).bfloat16() for heads in (4, 2, 2)]
    mask = torch.ones(2, 1, 300, 300, dtype=torch.bool).tril_()
    mask[1, :, 200:, 50:180] = False
    module = SimpleNamespace(num_key_value_groups=2, is_causal=True)
    outputs = []
    for forward, dtype in ((FORWARD, torch.bfloat16), (sdpa_attention_forward, torch.float32)):
        given = [part.clone().to(torch.float32 if autocast else dtype).requires_grad_() for part in parts]
        with torch.autocast("cpu", torch.bfloat16, enabled=autocast and dtype is torch.bfloat16):
            output, _ = forward(module, *given, mask if masked else None)
        assert output.dtype == dtype
        output.float().square().sum().backward()
        outputs.append(
            [output.detach().float(), *(part.grad.float() for part in given if part.grad is not None)]
        )
    for got, wanted in zip(*outputs, strict=True):
        assert ((got - wanted).norm() / wanted.norm()).item() < 0.01


def test_blocks_leave_out_what_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "BLOCK_BYTES", 8)
    mask = torch.eye(6, dtype=torch.bool)[None, None]
    mask[..., 4, 1] = True
    mask[..., 5, :] = False  # padding that sees nothing gets a number all the same
    blocks = attention.masked_blocks(mask, torch.float32)
    places = [
        (block.queries, block.keys if isinstance(block.keys, slice) else block.keys.tolist())
        for block in blocks
    ]
    assert places == [
        (slice(0, 2), slice(0, 2)),
        (slice(2, 4), slice(2, 4)),
        (slice(4, 6), [1, 4]),
    ]
    assert blocks[2].bias is None and blocks[0].bias is not None and blocks[0].bias.isinf().sum() == 2
    assert all(value.isfinite().all() for value in attend(FORWARD, mask, 0))


@given(st.lists(st.lists(st.integers(-1, 20), min_size=1, max_size=20), min_size=1, max_size=3))
def test_a_branch_looks_back_to_its_root(drawn: list[list[int]]) -> None:
    """Beside following the parents one by one; padding, the last line, sees itself alone."""
    trees = [[parent if parent < node else -1 for node, parent in enumerate(tree)] for tree in drawn]
    found = lineage(pad(trees))
    for tree, visible in zip(trees, found.tolist(), strict=True):
        for node in range(len(tree)):
            seen, at = set(), node
            while at >= 0:
                seen.add(at)
                at = tree[at]
            assert {other for other, sees in enumerate(visible[node]) if sees} == seen
        assert visible[-1] == [False] * (len(visible) - 1) + [True]


@pytest.mark.parametrize("tokens", [16, 37])
def test_numbers_give_what_the_boolean_mask_gives(tokens: int) -> None:
    """What a GPU's kernels get: gradients too, and lines that begin where the kernel wants them."""
    tree = make_tree([[*range(tokens - 9), 50, 51], [*range(tokens - 9), 60, 61, 62, 63, 64, 65]], [2, 6])
    mask = tree_mask(torch.tensor([tree.nodes]), pad([tree.parents]))
    numbers = attention.as_numbers(mask, torch.float32)
    assert numbers.shape == mask.shape and numbers.dtype == torch.float32
    assert all(stride % attention.ALIGNED == 0 for stride in numbers.stride()[:-1])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert attention.as_numbers(mask, torch.float32).dtype == torch.bfloat16
    wanted = attend(sdpa_attention_forward, mask, 0)
    for got, expected in zip(attend(sdpa_attention_forward, numbers, 0), wanted, strict=True):
        torch.testing.assert_close(got, expected)


def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(JudgeError, match="boolean mask"):
        attention.masked_blocks(torch.zeros(1, 1, 4, 4), torch.float32)


def test_models_are_loaded_with_it_on_a_cpu(model_folder: Callable[[str], Path]) -> None:
    wanted = "sdpa" if torch.cuda.is_available() else attention.NAME
    assert load_model(str(model_folder("chatml"))).model.config._attn_implementation == wanted
