"""The vLLM engine against the transformers engine, on a CPU; what needs no vLLM is tested everywhere."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from conftest import VARIANTS, save_tiny, tiny_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.base import Decoding, LabelRequest
from judge.backends.constrained import judgement_pattern
from judge.backends.label_tokens import stem_and_tails
from judge.backends.transformers import TransformersBackend
from judge.backends.vllm_engine import VLLMSettings
from judge.errors import InputError, JudgeError
from judge.files import read_jsonl, write_jsonl
from judge.judge import Judge
from judge.load import load_judge
from judge.models.weights import load_model
from judge.prompting.parsing import parse
from judge.prompting.prompts import LABEL_WORDS, format_judgement
from judge.prompting.rendering import Renderer
from judge.types import Label, Language, Sample
from tests.core.test_backend import DOCUMENTS, WORDS, user

ROOT = Path(__file__).resolve().parents[2]
NAMES = [*VARIANTS, "adapter"]

TALKS = [user(document) for document in DOCUMENTS]
REQUESTS = [
    LabelRequest(talk, words, prefix)
    for talk in TALKS
    for words in WORDS
    for prefix in ("", '{"REASONING": "it is", "SCORE": "')
]
SAMPLES = [
    Sample(id=f"{number}", document=document * 5, answer=f"answer {answer}", question="why?")
    for number, document in enumerate(DOCUMENTS)
    for answer in range(3)
]


# --- Without vLLM -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("name", VARIANTS)
def test_stem_and_tails_make_up_the_words(name: str, words: tuple[str, str]) -> None:
    renderer = Renderer(tiny_tokenizer(name))
    request = LabelRequest(user("x"), words, "so: ")
    stem, tails = stem_and_tails(renderer, request)
    assert tails[0][0] != tails[1][0]
    for word, tail in zip(words, tails, strict=True):
        whole = renderer.encode(renderer.prompt_text(request.messages) + "so: " + word)
        begun = words[0].startswith(words[1]) or words[1].startswith(words[0])
        assert [*stem, *tail] == [*whole, *(renderer.end_of_turn() if begun else [])]


@given(st.text(min_size=1, max_size=60), st.sampled_from(["en", "zh"]), st.sampled_from(Label))
def test_the_pattern_is_the_form_that_training_teaches(
    reasoning: str, language: Language, label: Label
) -> None:
    reply = format_judgement("reason", language, label, reasoning)
    # JSON writes other control characters as \u0000, which no judge has to write.
    fits = re.fullmatch(judgement_pattern(60), reply) is not None
    assert fits == (re.search(r"\\u[0-9a-f]{4}", reply.replace("\\\\", "")) is None)


def test_without_vllm_there_is_one_clear_error(
    model_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vllm", None)
    with pytest.raises(InputError, match=r'pip install "hallucination-judge\[vllm\]"') as caught:
        load_judge(str(model_folder("chatml")), backend="vllm")
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_names_are_checked_before_anything_is_loaded() -> None:
    with pytest.raises(InputError, match="unknown backend 'vlm'; did you mean 'vllm'"):
        load_judge("baseline:length", backend="vlm")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"unknown model './no/such'"):
        load_judge("./no/such", backend="vllm")


# --- With vLLM: one engine at a time ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Folder of a tiny model by its name, with heads of 32 dimensions: vLLM has no smaller ones."""
    root = tmp_path_factory.mktemp("vllm")
    return lambda name: str(save_tiny(root, name, head_dim=32))


@pytest.fixture(scope="module")
def vllm_here() -> Iterator[None]:
    pytest.importorskip("vllm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("judge.backends.vllm_engine.CPU_CACHE_BYTES", 64 << 20)
        yield


@pytest.fixture(scope="module", params=NAMES)
def engines(
    request: pytest.FixtureRequest, folder: Callable[[str], str], vllm_here: None
) -> Iterator[tuple[Any, TransformersBackend]]:
    """Both engines on one model in float32."""
    import gc

    from judge.backends.vllm import VLLMBackend

    backend = VLLMBackend(folder(request.param), precision="float32")
    yield backend, TransformersBackend(load_model(folder(request.param), precision="float32"))
    backend._engine = None
    gc.collect()


def test_label_logprobs_are_those_of_transformers(engines: tuple[Any, TransformersBackend]) -> None:
    """Words of several tokens, with common beginnings, and one that begins the other."""
    backend, reference = engines
    expected = reference.label_logprobs(REQUESTS)
    together = backend.label_logprobs(REQUESTS)
    backwards = backend.label_logprobs(REQUESTS[::-1])[::-1]
    alone = backend.label_logprobs(REQUESTS[:1])
    for found in (together, backwards, alone):
        for pair, wanted in zip(found, expected, strict=False):
            assert pair == pytest.approx(wanted, abs=1e-3)
    assert len({round(pair[0], 3) for pair in expected}) > len(REQUESTS) / 2


def test_p_fail_is_that_of_transformers(engines: tuple[Any, TransformersBackend]) -> None:
    found, expected = (Judge(backend).check(SAMPLES) for backend in engines)
    assert [verdict.p_fail for verdict in found] == pytest.approx([v.p_fail for v in expected], abs=1e-3)
    assert [verdict.label for verdict in found] == [verdict.label for verdict in expected]
    assert [verdict.usage for verdict in found] == [verdict.usage for verdict in expected]


def test_greedy_replies_are_those_of_transformers(engines: tuple[Any, TransformersBackend]) -> None:
    found, expected = (backend.generate(TALKS, Decoding(max_new_tokens=12)) for backend in engines)
    assert found == expected
    assert len({reply.text for reply in found}) > 1


@pytest.fixture(scope="module")
def backend(folder: Callable[[str], str], vllm_here: None) -> Iterator[Any]:
    import gc

    from judge.backends.vllm import VLLMBackend

    backend = VLLMBackend(folder("chatml"), max_length=1024)
    yield backend
    backend._engine = None
    gc.collect()


def test_a_short_reply_does_not_wait_for_a_long_one(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend.renderer, "stop_ids", list)
    with ThreadPoolExecutor(2) as pool:
        long = pool.submit(backend.generate, TALKS, Decoding(max_new_tokens=400))
        short = pool.submit(backend.generate, TALKS[:1], Decoding(max_new_tokens=1))
        with pytest.raises(InputError, match="vLLM cannot do that"):  # whose fault it is, fails alone
            backend.generate(TALKS[:1], Decoding(max_new_tokens=5, guide={"type": "no such"}))
        assert short.result()[0].completion_tokens == 1 and not long.done()
        scores = backend.label_logprobs(REQUESTS[:3])
        assert not long.done()
        assert {reply.completion_tokens for reply in long.result()} == {400}
    assert scores == [pytest.approx(pair, abs=1e-3) for pair in backend.label_logprobs(REQUESTS[:3])]


def test_sampled_replies_do_not_depend_on_their_neighbours(backend: Any) -> None:
    warm = {"max_new_tokens": 8, "temperature": 1.5}
    first = backend.generate(TALKS, Decoding(seed=1, **warm))
    assert backend.generate(TALKS[::-1], Decoding(seed=1, **warm)) == first[::-1]
    assert [backend.generate([talk], Decoding(seed=1, **warm))[0] for talk in TALKS] == first
    assert backend.generate(TALKS, Decoding(seed=2, **warm)) != first
    assert len({reply.text for reply in backend.generate(TALKS[:1] * 4, Decoding(seed=1, **warm))}) == 4


def test_a_guided_reply_is_a_judgement(backend: Any) -> None:
    pattern = judgement_pattern(30)
    for reply in backend.generate(TALKS, Decoding(max_new_tokens=120, guide=pattern)):
        assert not reply.truncated and re.fullmatch(pattern, reply.text)
        parsed = parse(reply.text)
        assert parsed.label in Label and reply.text[parsed.label_start :].startswith(
            tuple(word for words in LABEL_WORDS.values() for word in words.values())
        )


def test_a_reply_is_held_to_a_json_schema(backend: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"same": {"type": "boolean"}, "word": {"enum": ["yes", "no"]}},
        "required": ["same", "word"],
        "additionalProperties": False,
    }
    for reply in backend.generate(TALKS, Decoding(max_new_tokens=60, guide=schema)):
        value = json.loads(reply.text)
        assert set(value) == {"same", "word"} and value["word"] in ("yes", "no")
        assert len(reply.text) <= len('{"same": false, "word": "yes"}')
    with pytest.raises(InputError, match="vLLM cannot do that"):
        backend.generate(TALKS[:1], Decoding(max_new_tokens=5, guide={"type": "no such"}))
    assert len(backend.generate(TALKS, Decoding(max_new_tokens=2))) == len(TALKS)  # the engine goes on


def test_a_prompt_past_the_context_is_a_clear_error(backend: Any) -> None:
    assert backend.context_length == 1024
    with pytest.raises(InputError, match=r"\d+ tokens and 4 of a reply do not fit"):
        backend.generate([user("word " * 2000)], Decoding(max_new_tokens=4))
    samples = [Sample(id="long", document="word " * 2000, answer="a")]
    [verdict] = Judge(backend).check(samples)
    assert verdict.cut_chars > 0 and math.isfinite(verdict.p_fail or math.nan)


def test_weights_that_cannot_be_loaded(folder: Callable[[str], str], vllm_here: None, tmp_path: Path) -> None:
    for file in Path(folder("bytes")).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[: 99 if file.suffix == ".safetensors" else None])
    with pytest.raises(JudgeError, match="vLLM cannot run it") as caught:
        load_judge(str(tmp_path), backend="vllm")
    assert "\n" not in str(caught.value)


def test_two_copies_of_a_model_share_the_work(folder: Callable[[str], str], vllm_here: None) -> None:
    """Each in a process of its own, as on two GPUs."""
    judge = load_judge(folder("chatml"), backend="vllm", vllm=VLLMSettings(data_parallel_size=2))
    reference = load_judge(folder("chatml"), precision="float32")
    found, expected = (list(judge.iter_check(SAMPLES)) for judge in (judge, reference))
    assert [verdict.p_fail for verdict in found] == pytest.approx([v.p_fail for v in expected], abs=1e-3)
    assert judge.describe()["data_parallel_size"] == 2


@pytest.mark.timeout(1200)  # two engines start at once, on as few as two cores
def test_two_workers_on_ray_judge_a_file(
    folder: Callable[[str], str], vllm_here: None, tmp_path: Path
) -> None:
    """As a command of its own, which starts a cluster with an engine in each of two workers."""
    pytest.importorskip("ray")
    samples = [replace(sample, id=f"s{number}") for number, sample in enumerate(SAMPLES * 300)][:300]
    write_jsonl(tmp_path / "samples.jsonl", (asdict(sample) for sample in samples))
    command = [sys.executable, "-m", "judge", "batch", "samples.jsonl", "-o", "out.jsonl"]
    command += ["--model", folder("chatml"), "--backend", "vllm", "--set", "precision=float32"]
    command += ["--engine", "ray", "--set", "workers=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    found = [row for _, row in read_jsonl(tmp_path / "out.jsonl")]
    expected = load_judge(folder("chatml"), precision="float32").check(samples)
    assert [row["id"] for row in found] == [sample.id for sample in samples]
    assert [row["p_fail"] for row in found] == pytest.approx([v.p_fail for v in expected], abs=1e-3)
