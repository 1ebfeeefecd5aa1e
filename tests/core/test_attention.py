"""Block-sparse attention gives what dense attention gives, and the gradients too."""

import shutil
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
from judge.models import attention
from judge.models.prefix_tree import lineage, make_tree, pad_parents, tree_mask

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


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(1, 2), queries=st.integers(1, 20), extra=st.integers(0, 4), seed=st.integers(0, 999))
def test_any_mask_gives_the_dense_result(rows: int, queries: int, extra: int, seed: int) -> None:
    mask = (
        torch.rand((rows, 1, queries, queries + extra), generator=torch.Generator().manual_seed(seed)) < 0.3
    )
    mask[..., 0] = True  # a query that sees nothing has no defined result
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attention, "BLOCK", 4)
        found = attend(FORWARD, mask, seed)
    for got, wanted in zip(found, attend(sdpa_attention_forward, mask, seed), strict=True):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("masked", [False, True])
def test_a_token_of_a_reply_gives_the_dense_result(masked: bool) -> None:
    mask = torch.ones(2, 1, 1, 9, dtype=torch.bool)
    mask[1, ..., :4] = not masked  # left padding
    for got, wanted in zip(attend(FORWARD, mask, 0), attend(sdpa_attention_forward, mask, 0), strict=True):
        torch.testing.assert_close(got, wanted)


def test_a_plan_leaves_out_what_nobody_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "BLOCK", 2)
    mask = torch.eye(5, dtype=torch.bool)[None, None]
    plan = attention.block_plan(mask)
    places = [(start, stop, seen.tolist()) for start, stop, seen, _ in plan.blocks]
    assert plan.causal == 0 and places == [(0, 2, [0, 1]), (2, 4, [2, 3]), (4, 5, [4])]
    assert [tuple(part.shape) for *_, part in plan.blocks] == [(1, 1, 2, 2), (1, 1, 2, 2), (1, 1, 1, 1)]


@pytest.mark.parametrize("trunk", [2, 5, 9])
def test_the_trunk_of_a_tree_needs_no_mask(trunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "BLOCK", 4)
    tree = make_tree([[*range(trunk), 50, 51], [*range(trunk), 60]], [2, 1])
    mask = tree_mask(torch.tensor([tree.nodes]), pad_parents([tree.parents]))
    plan = attention.block_plan(mask)
    # The first branch goes on behind the trunk, so it is causal too; it begins with the trunk's last token.
    assert plan.causal == (trunk + 2 if trunk + 2 >= 4 else 0)
    assert sum(stop - start for start, stop, *_ in plan.blocks) == len(tree.ids) - plan.causal
    for got, wanted in zip(attend(FORWARD, mask, 0), attend(sdpa_attention_forward, mask, 0), strict=True):
        torch.testing.assert_close(got, wanted)


@given(st.lists(st.lists(st.integers(-1, 20), min_size=1, max_size=20), min_size=1, max_size=3))
def test_a_branch_looks_back_to_its_root(drawn: list[list[int]]) -> None:
    """Beside following the parents one by one; padding, the last line, sees itself alone."""
    trees = [[parent if parent < node else -1 for node, parent in enumerate(tree)] for tree in drawn]
    found = lineage(pad_parents(trees))
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
    mask = tree_mask(torch.tensor([tree.nodes]), pad_parents([tree.parents]))
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
        attention.block_plan(torch.zeros(1, 1, 4, 4))


def test_models_are_loaded_with_it_on_a_cpu(model_folder: Callable[[str], Path]) -> None:
    from judge.models.weights import load_model

    wanted = "sdpa" if torch.cuda.is_available() else attention.NAME
    assert load_model(str(model_folder("chatml"))).model.config._attn_implementation == wanted


@pytest.mark.skipif(shutil.which("g++") is None, reason="FlexAttention is compiled")
@pytest.mark.filterwarnings("ignore")
def test_flex_attention_gives_the_dense_result(model_folder: Callable[[str], Path]) -> None:
    """Forward only: it has no backward on a CPU."""
    from transformers import AutoModelForCausalLM

    tree = make_tree([[*range(10, 200), 5, 6, 7], [*range(10, 200), 8, 9]], [4, 3])
    nodes, parents = torch.tensor([tree.nodes]), pad_parents([tree.parents])
    inputs = {"input_ids": torch.tensor([tree.ids]), "position_ids": torch.tensor([tree.positions])}
    found = []
    for name in ("sdpa", "flex_attention"):
        model = AutoModelForCausalLM.from_pretrained(model_folder("chatml"), dtype=torch.float32)
        model.set_attn_implementation(name)
        with torch.inference_mode():
            adapted = attention.tree_attention(model, nodes, parents)
            found.append(model(**inputs, attention_mask=adapted, use_cache=False).logits)
        assert isinstance(adapted, torch.Tensor) is (name == "sdpa")
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)
