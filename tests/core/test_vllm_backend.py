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
from conftest import VARIANTS, tiny_model, tiny_tokenizer
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.base import Decoding, Generation, LabelRequest
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
from judge.types import Label, Language, Message, Sample

ROOT = Path(__file__).resolve().parents[2]
WORDS = [("PASS", "FAIL"), ("通过", "失败"), ("PAST", "PASS"), ("PASS", "PASSED"), ("通过了", "通过")]
DOCUMENTS = ["short", "The DOCUMENT supports the ANSWER. " * 4, "请对照“文档”检查 " * 7, "x" * 60, "A b c"]
NAMES = [*VARIANTS, "adapter"]


def user(content: str) -> list[Message]:
    return [{"role": "user", "content": content}]


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


def test_the_pattern_has_bounds() -> None:
    pattern = re.compile(judgement_pattern(10))
    assert pattern.fullmatch('{"REASONING": "ten signs.", "SCORE": "PASS"}')
    for wrong in (
        '{"REASONING": "ten signs..", "SCORE": "PASS"}',
        '{"REASONING": "", "SCORE": "PASS"}',
        '{"REASONING": "a",  "SCORE": "PASS"}',
        '{"REASONING": "a", "SCORE": "通过"}',
        '{"REASONING": "a", "SCORE": "PASS"} ',
        '{"REASONING": "a"b", "SCORE": "PASS"}',
        '{"REASONING": "a\n", "SCORE": "PASS"}',
    ):
        assert not pattern.fullmatch(wrong)


def test_without_vllm_there_is_one_clear_error(
    model_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vllm", None)
    with pytest.raises(InputError, match=r'pip install "hallucination-judge\[vllm\]"') as caught:
        load_judge(str(model_folder("chatml")), backend="vllm")
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_names_are_checked_before_anything_is_loaded() -> None:
    with pytest.raises(InputError, match="unknown backend 'vlm'; did you mean 'vllm'"):
        load_judge("floor:length", backend="vlm")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"unknown model './no/such'"):
        load_judge("./no/such", backend="vllm")


# --- With vLLM: one engine at a time ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(
    model_folder: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], str]:
    """Folder of a tiny model by its name, with heads of 32 dimensions: vLLM has no smaller ones."""
    root = tmp_path_factory.mktemp("vllm")

    def make(name: str) -> str:
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, LlamaForCausalLM

        if (root / name).exists():
            return str(root / name)
        torch.manual_seed(0)
        if name == "adapter":
            base = AutoModelForCausalLM.from_pretrained(make("chatml"))
            lora = LoraConfig(
                r=4, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM"
            )
            get_peft_model(base, lora).save_pretrained(root / name)
        else:
            tokenizer = tiny_tokenizer(name)
            config = tiny_model(tokenizer).config
            config.head_dim = 32
            LlamaForCausalLM(config).save_pretrained(root / name)
            tokenizer.save_pretrained(root / name)
        return str(root / name)

    return make


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


def test_what_prompts_share_is_computed_once(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers to one document, and the prompts for the later tokens of a word, come from the prefix cache."""
    outputs: list[Any] = []
    generate = backend._engine.generate
    monkeypatch.setattr(
        backend._engine,
        "generate",
        lambda *args, **named: outputs.extend(generate(*args, **named)) or outputs,
    )
    document = "A document that no other test has judged yet. " * 8
    samples = [Sample(id=f"{n}", document=document, answer=f"answer {n}") for n in range(4)]
    Judge(backend).check(samples)
    tokens = sum(len(output.prompt_token_ids) for output in outputs)
    computed = tokens - sum(output.num_cached_tokens for output in outputs)
    assert len(outputs) == 4 * 3 and {len(output.outputs[0].token_ids) for output in outputs} == {1}
    assert computed < tokens / 4


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


def test_chunks_of_a_stream_run_together_with_the_same_verdicts(
    backend: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Judge(backend, mode="reason", max_new_tokens=20, temperature=1.0).check(SAMPLES)
    monkeypatch.setattr("judge.judge.CHUNK", {"verdict": 4, "reason": 4})
    judge = Judge(backend, mode="reason", max_new_tokens=20, temperature=1.0)
    assert judge.at_once > 4
    for found, wanted in zip(judge.check(SAMPLES), whole, strict=True):
        assert (found.raw, found.usage) == (wanted.raw, wanted.usage)


def test_a_reply_ends_with_the_turn(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    [long] = backend.generate(TALKS[:1], Decoding(max_new_tokens=6))
    assert long.truncated and long.completion_tokens == 6
    first = backend.tokenizer(long.text, add_special_tokens=False)["input_ids"][0]
    monkeypatch.setattr(backend.renderer, "stop_ids", lambda: [first])
    assert backend.generate(TALKS[:1], Decoding(max_new_tokens=6)) == [Generation("", False, 0)]


def test_sampled_replies_do_not_depend_on_their_neighbours(backend: Any) -> None:
    warm = {"max_new_tokens": 8, "temperature": 1.5}
    first = backend.generate(TALKS, Decoding(seed=1, **warm))
    assert backend.generate(TALKS[::-1], Decoding(seed=1, **warm)) == first[::-1]
    assert [backend.generate([talk], Decoding(seed=1, **warm))[0] for talk in TALKS] == first
    assert backend.generate(TALKS, Decoding(seed=2, **warm)) != first
    assert len({reply.text for reply in backend.generate(TALKS[:1] * 4, Decoding(seed=1, **warm))}) == 4


def test_samples_come_from_the_likeliest_tokens(backend: Any) -> None:
    """As in tests/core/test_backend.py: one token to choose from is the greedy reply."""
    greedy = backend.generate(TALKS, Decoding(8))
    assert backend.generate(TALKS, Decoding(8, temperature=2.0, top_k=1)) == greedy
    assert backend.generate(TALKS, Decoding(8, temperature=2.0, top_p=1e-6)) == greedy
    assert backend.generate(TALKS, Decoding(8, temperature=2.0)) != greedy


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


def test_no_requests(backend: Any) -> None:
    assert backend.label_logprobs([]) == [] and backend.generate([], Decoding(max_new_tokens=3)) == []


def test_describe_names_the_engine(backend: Any) -> None:
    about = backend.describe()
    assert (about["backend"], about["dtype"], about["device"]) == ("vllm", "float32", "cpu")
    assert about["vllm"].count(".") >= 2 and about["context_length"] == 1024
    json.dumps(about)


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
