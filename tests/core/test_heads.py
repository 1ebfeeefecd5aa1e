"""Logits in float32 from weights of 16 bits, and the model as it was afterwards."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from judge.models import heads
from judge.models.heads import float32_head
from judge.models.weights import load_model

IDS = torch.arange(5, 45).unsqueeze(0)


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(input_ids=IDS, use_cache=False).logits
    return found


@pytest.mark.parametrize("name", ["chatml", "adapter"])
@pytest.mark.parametrize("chunk", [7, 100_000])
def test_the_head_alone_is_float32(
    name: str, chunk: int, model_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heads, "CHUNK", chunk)
    model = load_model(str(model_folder(name)), precision="bfloat16").model.eval()
    before = logits(model)
    with float32_head(model), torch.autocast("cpu", torch.bfloat16):
        exact = logits(model)
    assert before.dtype == torch.bfloat16 and exact.dtype == torch.float32
    with torch.no_grad():
        hidden = model(input_ids=IDS, use_cache=False, output_hidden_states=True).hidden_states[-1].float()
        wanted = hidden @ model.get_output_embeddings().weight.float().T
    torch.testing.assert_close(exact, wanted)
    assert not torch.equal(exact, before.float())  # that would prove nothing
    torch.testing.assert_close(logits(model), before, rtol=0, atol=0)


def test_gradients_flow(model_folder: Callable[[str], Path]) -> None:
    model = load_model(str(model_folder("chatml")), precision="bfloat16").model
    with float32_head(model):
        model(input_ids=IDS, use_cache=False).logits.sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


def test_an_error_inside_leaves_the_model_as_it_was(model_folder: Callable[[str], Path]) -> None:
    model = load_model(str(model_folder("chatml")), precision="bfloat16").model
    with pytest.raises(ZeroDivisionError), float32_head(model):
        raise ZeroDivisionError
    assert logits(model).dtype == torch.bfloat16


def test_float32_weights_are_left_alone(model_folder: Callable[[str], Path]) -> None:
    model = load_model(str(model_folder("chatml")), precision="float32").model
    plain = logits(model)
    with float32_head(model):
        torch.testing.assert_close(logits(model), plain, rtol=0, atol=0)
