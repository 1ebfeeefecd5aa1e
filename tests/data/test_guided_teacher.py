"""A local teacher on an engine that holds replies to a schema and samples each by itself, as vLLM does."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.config import DataConfig
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.teachers.local import LocalClient
from judge.backends.base import Decoding, Generation
from judge.backends.vllm_engine import VLLMSettings
from judge.configs import load_config
from judge.errors import InputError
from judge.remote.chat import ChatRequest
from judge.types import Message

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
OTHER = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}


class Guided:
    """A backend that always replies with the first property of the schema; it keeps what it was asked."""

    context_length = 100
    dtype = "float32"

    def __init__(self, *given: Any, **settings: Any):
        self.given = (given, settings)
        self.batches: list[dict[str, Any]] = []

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return len(messages[-1]["content"].split())

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        texts = [messages[-1]["content"] for messages in conversations]
        guide = decoding.guide
        self.batches.append({"texts": texts, **asdict(decoding)})
        name = next(iter(guide["properties"])) if guide else None
        return [Generation(f'{{"{name}":"{text}"}}' if guide else text, False, 1) for text in texts]


def request(text: str, **settings: Any) -> ChatRequest:
    return ChatRequest([{"role": "user", "content": text}], **{"max_tokens": 20, **settings})


def test_requests_that_are_decoded_alike_share_a_batch() -> None:
    backend = Guided()
    warm = {"temperature": 0.7, "seed": 3}
    asked = [
        request("a", schema=SCHEMA, **warm),
        request("b", schema=SCHEMA),
        request("c", schema=SCHEMA, **warm),
        request("d", schema=OTHER, **warm),
        request("e", schema=SCHEMA, temperature=0.7, seed=4),
        request("f"),
        request("g", schema=SCHEMA),
    ]
    replies = list(LocalClient(backend, "m", guided=True).run(asked))
    assert [reply.parsed for reply in replies] == [
        {"a": "a"}, {"a": "b"}, {"a": "c"}, {"b": "d"}, {"a": "e"}, None, {"a": "g"}
    ]  # fmt: skip
    found = [(b["texts"], b["guide"], b["temperature"], b["seed"]) for b in backend.batches]
    assert sorted(found, key=str) == sorted(
        [
            (["a", "c"], SCHEMA, 0.7, 3),
            (["b", "g"], SCHEMA, 0.0, 0),
            (["d"], OTHER, 0.7, 3),
            (["e"], SCHEMA, 0.7, 4),
            (["f"], None, 0.0, 0),
        ],
        key=str,
    )


@pytest.fixture
def recipe(tmp_path: Path) -> Iterator[Any]:
    def load(teachers: str) -> DataConfig:
        path = tmp_path / "data.yaml"
        path.write_text(
            f"output: out\nsources: [{{kind: starter}}]\ncalls: {{cache: {tmp_path}/calls.sqlite}}\n"
            f"teachers: [{teachers}]\n"
        )
        return load_config(DataConfig, path)

    return load


def test_the_recipe_names_the_engine(recipe: Any) -> None:
    teacher = recipe("{name: big, kind: local, model: m, engine: vllm}").teachers[0]
    assert teacher.engine == "vllm"
    assert recipe("{name: big, kind: local, model: m}").teachers[0].engine == "transformers"
    for wrong, message in (
        ("{name: big, kind: openai, endpoint: {model: m}, engine: vllm}", "kind openai takes no engine"),
        ("{name: big, kind: local, model: m, engine: vlm}", "engine"),
    ):
        with pytest.raises(InputError, match=message):
            recipe(wrong)


@pytest.mark.parametrize("teachers", [1, 2])
def test_a_teacher_on_vllm(teachers: int, recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Guided] = []
    monkeypatch.setattr(
        "judge.backends.vllm.VLLMBackend", lambda *a, **s: made.append(Guided(*a, **s)) or made[-1]
    )
    names = ["first", "second"][:teachers]
    config = recipe(", ".join(f"{{name: {name}, kind: local, model: m, engine: vllm}}" for name in names))
    with Teachers(config) as room:
        client = room._runner(config.teachers[0])
        [reply] = client([request("a", schema=SCHEMA)])
        assert reply.parsed == {"a": "a"} and not reply.cached
        [again] = client([request("a", schema=SCHEMA)])
        assert again.cached
    [backend] = made
    assert backend.given == (("m",), {"precision": "auto", "settings": VLLMSettings(sharing=teachers)})
