"""Logits in float32 from weights of 16 bits, and the model as it was afterwards."""

from typing import Any

import pytest
import torch

from judge.models.float32_linear import CHUNK, float32_linear
from judge.models.heads import float32_head
from judge.models.weights import load_model
from tests.calling import ModelFolder

IDS = torch.arange(5, 45).unsqueeze(0)


def logits(model: Any) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(input_ids=IDS, use_cache=False).logits
    return found


@pytest.mark.parametrize("name", ["chatml", "adapter"])
@pytest.mark.parametrize("chunk", [7, 100_000])
def test_the_head_alone_is_float32(
    name: str, chunk: int, model_folder: ModelFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CHUNK, "cpu", chunk)
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


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("shape", [(6,), (0, 6), (5, 6), (2, 3, 6)])
@pytest.mark.parametrize("frozen", [True, False])
def test_gradients_are_those_of_float32_weights(
    dtype: torch.dtype, shape: tuple[int, ...], frozen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs and gradients, in chunks of which the last is shorter."""
    monkeypatch.setitem(CHUNK, "cpu", 4)
    torch.manual_seed(0)
    inputs, weight, bias = torch.randn(shape), torch.randn(11, 6), torch.randn(11)
    direction = torch.randn(*shape[:-1], 11)

    def both(function: Any, *arguments: torch.Tensor) -> list[torch.Tensor | None]:
        output = function(*arguments)
        (output * direction).sum().backward()
        return [output.detach(), *(each.grad for each in arguments)]

    def given(kept: torch.dtype) -> list[torch.Tensor]:
        rounded = [weight.to(dtype).to(kept), bias.to(dtype).to(kept)]
        return [inputs.clone().requires_grad_(), *(each.requires_grad_(not frozen) for each in rounded)]

    found = both(float32_linear, *given(dtype))
    wanted = both(torch.nn.functional.linear, *given(torch.float32))
    for mine, plain in zip(found, wanted, strict=True):
        assert (mine is None) == (plain is None)
        if mine is not None and plain is not None:
            torch.testing.assert_close(mine, plain.to(mine.dtype))
    assert found[0] is not None and found[0].dtype == torch.float32


def test_an_error_inside_leaves_the_model_as_it_was(model_folder: ModelFolder) -> None:
    model = load_model(str(model_folder("chatml")), precision="bfloat16").model
    with pytest.raises(ZeroDivisionError), float32_head(model):
        raise ZeroDivisionError
    assert logits(model).dtype == torch.bfloat16


def test_float32_weights_are_left_alone(model_folder: ModelFolder) -> None:
    model = load_model(str(model_folder("chatml")), precision="float32").model
    plain = logits(model)
    with float32_head(model):
        torch.testing.assert_close(logits(model), plain, rtol=0, atol=0)
