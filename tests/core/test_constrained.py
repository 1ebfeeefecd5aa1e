"""Replies of a transformers model that are held to a form."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from judge.backends.base import Decoding
from judge.backends.constrained import CLOSING, ConstrainedDecoding, Grammar, judgement_pattern
from judge.backends.transformers import TransformersBackend
from judge.load import load_judge
from judge.types import Label, Sample

TALKS = [[{"role": "user", "content": f"Is {number} red? " * number}] for number in range(1, 4)]
PATTERN = judgement_pattern(None)


@pytest.mark.parametrize("name", ["chatml", "bytes"])
@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_replies_fit_their_form_and_end(
    name: str, temperature: float, tiny_backend: Callable[..., TransformersBackend]
) -> None:
    backend = tiny_backend(name)
    assert backend.takes_patterns
    decoding = Decoding(60, temperature, guide=PATTERN)
    together = backend.generate(TALKS, decoding)
    assert together == [backend.generate([talk], decoding)[0] for talk in TALKS]
    assert max(reply.completion_tokens for reply in together) > 60 - CLOSING  # these would run on
    for reply in together:
        assert re.fullmatch(PATTERN, reply.text) and not reply.truncated
    assert backend.generate(TALKS, Decoding(20, temperature)) != together  # by itself it says something else


def test_what_leaves_the_form_is_held_no_longer(tiny_backend: Callable[..., TransformersBackend]) -> None:
    backend = tiny_backend("chatml")
    size = backend.model.config.vocab_size
    grammar = Grammar(backend.loaded.tokenizer, size, backend.renderer.stop_ids(), "ab")
    held = ConstrainedDecoding(grammar, 2, 99)
    scores = torch.zeros(2, size)
    first = held(torch.zeros(2, 1, dtype=torch.long), scores)  # the prompts
    allowed = [token for token in range(size) if first[0, token] == 0]
    assert 0 < len(allowed) < size and torch.equal(first[0], first[1])
    other = next(token for token in range(size) if token not in allowed)
    narrowed = held(torch.tensor([[allowed[0]], [other]]), scores)
    assert torch.equal(narrowed[1], scores[1]) and not torch.equal(narrowed[0], scores[0])


def test_an_untrained_model_gives_a_verdict_in_reason_mode(model_folder: Callable[[str], Path]) -> None:
    judge = load_judge(str(model_folder("chatml")), mode="reason", max_new_tokens=60)
    assert judge.describe()["guided"] is True
    free = load_judge(str(model_folder("chatml")), mode="reason", max_new_tokens=60, decoding="free")
    assert free.describe()["guided"] is False
    samples = [
        Sample("1", "It is red.", "It is blue."),
        Sample("2", "\u6865\u5f88\u957f\u3002", "\u6865\u4e0d\u957f\u3002", language="zh"),
    ]
    verdicts = judge.check(samples)
    assert all(verdict.label in Label and verdict.reasoning and verdict.p_fail for verdict in verdicts)
    assert all(verdict.label is None and verdict.error for verdict in free.check(samples))
