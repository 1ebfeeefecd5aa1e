"""A judge behind a chat endpoint: the same verdicts as in this process, as far as the server tells."""

import asyncio
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.alternatives import read_words
from judge.backends.base import Decoding, LabelRequest
from judge.backends.openai import OpenAIBackend
from judge.backends.transformers import TransformersBackend
from judge.backends.vllm_engine import VLLMSettings
from judge.backends.vllm_server import looks_coarse
from judge.errors import InputError, JudgeError, JudgeWarning
from judge.judge import Judge
from judge.load import load_judge
from judge.remote import EndpointConfig
from judge.types import Label, Message, Sample
from tests.calling import Ran
from tests.core.chat_model import ChatModel, serving
from tests.core.test_judge import Scripted
from tests.fault_server import FaultServer
from tests.made_up import user

WORDS = ("PASS", "FAIL")
SAMPLES = [
    Sample(id=f"{number}", document=f"document {number} " * 5, answer=f"answer {number}", question="why?")
    for number in range(6)
]
Serve = Callable[..., tuple[ChatModel, EndpointConfig]]


@pytest.fixture
def serve(tiny_backend: Callable[..., TransformersBackend]) -> Iterator[Serve]:
    """Serves a tiny model; gives the server's side and the endpoint."""
    with ExitStack() as stack:

        def start(kind: str, name: str = "chatml", replies: Sequence[str] = ()) -> Any:
            model = ChatModel(tiny_backend(name), kind, replies)
            url = stack.enter_context(serving(model))
            return model, EndpointConfig(base_url=url, model="tiny", retries=0)

        yield start


def calls(model: ChatModel) -> list[dict[str, Any]]:
    return [body for path, body in model.asked if path.endswith("completions")]


# --- The head's number format -------------------------------------------------------------------------------


@pytest.mark.parametrize("logits", ["float32", "bfloat16"])
def test_a_vllm_server_with_logits_of_16_bits_is_warned_about_once(
    logits: str, serve: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    model, endpoint = serve("vllm")
    model.logits = getattr(torch, logits)
    judge = Judge(OpenAIBackend(endpoint))
    for _ in range(2):
        assert len(judge.check(SAMPLES)) == len(SAMPLES)
    said = capsys.readouterr().err
    if logits == "float32":
        assert said == ""
    else:
        assert said.count("computes its logits in 16 bits") == 1
        assert """--hf-overrides '{"head_dtype": "float32"}'""" in said


@given(
    seed=st.integers(0, 10_000),
    places=st.integers(1, 40),
    size=st.sampled_from([8.0, 20.0]),
    dtype=st.sampled_from([torch.bfloat16, torch.float16]),
)
def test_steps_of_16_bits_are_seen(seed: int, places: int, size: float, dtype: Any) -> None:
    generator = torch.Generator().manual_seed(seed)
    logits = size + torch.randn(places, 1000, generator=generator)

    def told(logits: Any) -> list[dict[int, float]]:
        scores = logits.float().log_softmax(-1)
        return [dict(enumerate(row.tolist())) for row in scores[:, :2]]

    assert looks_coarse(told(logits.to(dtype)))
    assert not looks_coarse(told(logits)) or places < 4  # a few differences may happen to be even
    assert not looks_coarse([{1: -0.5}])


# --- Words among alternatives -------------------------------------------------------------------------------


def token(text: str, chance: float, **alternatives: float) -> dict[str, Any]:
    top = [{"token": name, "logprob": math.log(p)} for name, p in {text: chance, **alternatives}.items()]
    return {**top[0], "top_logprobs": top}


def p_fail(pair: tuple[float, float] | None) -> float:
    assert pair is not None
    return math.exp(pair[1]) / (math.exp(pair[0]) + math.exp(pair[1]))


def test_alternatives_that_begin_a_word_are_summed() -> None:
    first = token("PA", 0.4, FAIL=0.2, FA=0.1, Pass=0.1)
    first["top_logprobs"].append({"token": " FAIL", "logprob": math.log(0.1)})
    pair = read_words([first, token("SS", 0.9, ST=0.1)], "", WORDS)
    assert pair == pytest.approx((math.log(0.4 * 0.9), math.log(0.2 + 0.1 + 0.1)))


def test_tokens_that_both_words_begin_with_are_passed() -> None:
    tokens = [token("\n", 0.9, PASS=0.1), token("un", 0.8, x=0.2), token("sure", 0.6, fit=0.3)]
    pair = read_words(tokens, "", ("unsure", "unfit"))
    assert pair == pytest.approx((math.log(0.9 * 0.8 * 0.6), math.log(0.9 * 0.8 * 0.3)))


def test_a_word_that_is_not_listed_has_at_most_what_is_left() -> None:
    assert p_fail(read_words([token("PASS", 0.9, Yes=0.04)], "", WORDS)) == pytest.approx(0.04 / 0.94)
    assert p_fail(read_words([token("FAIL", 0.98, Yes=0.015)], "", WORDS)) == pytest.approx(0.98 / 0.985)
    assert read_words([token("Yes", 0.5, No=0.5)], "", WORDS) is None
    assert read_words([], "", WORDS) is None


def test_a_word_may_begin_within_a_token() -> None:
    tokens = [token('{"SCORE":', 1.0), token(' "FA', 0.6, **{' "PASS': 0.3}), token('IL"}', 1.0)]
    assert p_fail(read_words(tokens, '{"SCORE": "', WORDS)) == pytest.approx(0.6 / 0.9)


def test_words_whose_tokens_split_a_character() -> None:
    passing, failing = "\u901a\u8fc7", "\u5931\u8d25"
    tokens = [
        {"token": "\ufffd", "bytes": list(failing.encode()[:2]), "logprob": math.log(0.7), "top_logprobs": [
            {"token": "\ufffd", "bytes": list(passing.encode()[:2]), "logprob": math.log(0.2)}]},
        {"token": "?", "bytes": list(failing.encode()[2:]), "logprob": 0.0, "top_logprobs": []},
    ]  # fmt: skip
    assert p_fail(read_words(tokens, "", (passing, failing))) == pytest.approx(0.7 / 0.9)


@given(st.lists(st.tuples(st.sampled_from(["P", "PA", "PASS", "F", "FAIL", " ", "no"]), st.floats(-9, 0))))
def test_any_alternatives_give_a_probability_or_none(items: list[tuple[str, float]]) -> None:
    tokens = [{"token": text, "logprob": chance, "top_logprobs": []} for text, chance in items]
    pair = read_words(tokens, "", WORDS)
    assert pair is None or all(math.isfinite(value) and value <= 1e-9 for value in pair)


# --- Servers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["chatml", "gemma", "bytes", "adapter"])
def test_on_vllm_p_fail_is_that_of_this_process(
    name: str, serve: Serve, tiny_backend: Callable[..., TransformersBackend]
) -> None:
    """Words of several tokens included, after a prefix too."""
    model, config = serve("vllm", name)
    remote, local = OpenAIBackend(config), tiny_backend(name)
    found, expected = Judge(remote).check(SAMPLES), Judge(local).check(SAMPLES)
    assert [verdict.p_fail for verdict in found] == pytest.approx([v.p_fail for v in expected], abs=1e-4)
    assert [verdict.label for verdict in found] == [verdict.label for verdict in expected]
    assert [verdict.usage for verdict in found] == [verdict.usage for verdict in expected]
    assert {body["max_tokens"] for body in calls(model)} == {1}
    prefix = '{"REASONING": "it is", "SCORE": "'
    requests = [LabelRequest(user(f"say {word}"), WORDS, prefix) for word in WORDS]
    for pair, wanted in zip(remote.label_logprobs(requests), local.label_logprobs(requests), strict=True):
        assert pair == pytest.approx(wanted, abs=1e-4)


def test_vllm_tells_its_context_and_counts_tokens(serve: Serve) -> None:
    model, config = serve("vllm")
    backend = OpenAIBackend(config)
    assert backend.context_length == model.backend.context_length == 4096
    assert OpenAIBackend(config, max_length=600).context_length == 600
    assert backend.count_tokens(user("hello")) == model.backend.count_tokens(user("hello"))
    [verdict] = Judge(OpenAIBackend(config, max_length=900)).check(
        [Sample(id="long", document="word " * 2000, answer="a")]
    )
    assert verdict.cut_chars > 0 and 800 < verdict.usage.prompt_tokens <= 900
    with pytest.raises(InputError, match="unknown model 'tinny'; did you mean 'tiny'"):
        OpenAIBackend(config.model_copy(update={"model": "tinny"}))


def test_on_vllm_a_verdict_costs_no_request_to_count(serve: Serve) -> None:
    """Bytes tell that a prompt fits, replies how many tokens it has; counting is for those near the limit."""
    model, config = serve("vllm")
    judge, local = Judge(OpenAIBackend(config)), Judge(model.backend)

    def counted() -> int:
        return sum(path == "/tokenize" for path, _ in model.asked)

    judge.check(SAMPLES[:1])
    before = counted()
    found = judge.check(SAMPLES)
    assert counted() == before
    assert [verdict.usage for verdict in found] == [verdict.usage for verdict in local.check(SAMPLES)]
    messages = judge.prompt.messages(SAMPLES[0], "verdict")
    bound, tokens = judge.backend._vllm.most(messages), model.backend.count_tokens(messages)  # type: ignore[attr-defined]
    assert tokens <= bound
    narrow = Judge(OpenAIBackend(config, max_length=tokens + 20))
    [verdict] = narrow.check(SAMPLES[:1])
    assert counted() > before and verdict.cut_chars == 0 and verdict.usage.prompt_tokens == tokens


def test_a_tokenizer_that_fails_is_told(serve: Serve) -> None:
    model, config = serve("vllm")
    backend = OpenAIBackend(config)
    model.kind = "silent"  # the tokenizer is gone
    with pytest.raises(InputError, match=r"/tokenize answered 404: .*Not Found"):
        backend.count_tokens(user("hello"))
    url = config.base_url.replace("http://127.0.0.1", "http://127.0.0.1.invalid")
    backend._vllm._root = url  # type: ignore[union-attr]
    with pytest.raises(JudgeError, match="failed 1 times; the last time, no connection"):
        backend.count_tokens(user("hello"))


def test_on_vllm_a_reply_is_held_to_a_pattern(serve: Serve) -> None:
    model, config = serve("vllm")
    judge = load_judge("tiny", mode="reason", backend="openai", base_url=config, max_new_tokens=5)
    list(judge.iter_check(SAMPLES[:1]))
    [body] = calls(model)
    pattern = body["structured_outputs"]["regex"]
    assert re.fullmatch(pattern, '{"REASONING": "' + "word " * 99 + '", "SCORE": "PASS"}')
    assert not re.search(r"\{\d", pattern), "servers take seconds a token where repetitions are counted"
    assert body["repetition_penalty"] == 1.0
    assert judge.describe()["guided"] is True


def test_reason_mode_reads_the_reply_that_was_made(serve: Serve) -> None:
    reply = '{"REASONING": "It is so.", "SCORE": "FAIL"}'
    model, config = serve("lists", replies=[reply])
    [verdict] = Judge(OpenAIBackend(config), mode="reason", max_new_tokens=60).check(SAMPLES[:1])
    assert (verdict.label, verdict.reasoning) == (Label.FAIL, "It is so.")
    assert verdict.p_fail is None or 0 <= verdict.p_fail <= 1
    assert len(calls(model)) == 1


def test_a_call_of_another_thread_leaves_a_reply_where_it_is(serve: Serve) -> None:
    """Its probability is read from it afterwards; several judgements may be in work at once."""
    model, config = serve("lists", replies=["FAIL", "PASS"])
    backend = OpenAIBackend(config)
    mine: list[Message] = [{"role": "user", "content": "Mine?"}]
    theirs: list[Message] = [{"role": "user", "content": "Theirs?"}]
    assert backend.generate([mine], Decoding(8))[0].text == "FAIL"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(backend.generate, [theirs], Decoding(8)).result()
    reply = backend._reply_with(LabelRequest(mine, ("PASS", "FAIL")))
    assert reply is not None and reply.text == "FAIL" and len(calls(model)) == 2


@pytest.mark.parametrize("mode", ["verdict", "reason"])
@pytest.mark.parametrize("kind", ["vllm", "silent"])
def test_control_tokens_in_a_text_reach_no_server(kind: str, mode: Any, serve: Serve) -> None:
    model, config = serve(kind)
    tokens = ["<|im_end|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<start_of_turn>", "<end_of_turn>"]
    tokens += ["[INST]", "[/INST]", "<s>", "</s>", "<bos>", "<eos>"]
    one = replace(SAMPLES[0], document="It is high. " + " ".join(tokens))
    load_judge("tiny", backend="openai", base_url=config, mode=mode, max_new_tokens=4).check([one])
    bodies = [body for _, body in model.asked if body and "messages" in body]
    sent = [message["content"] for body in bodies for message in body["messages"]]
    assert sent and not [token for token in tokens for text in sent if token in text]
    assert all("[\u200b/INST]" in text for text in sent if "It is high" in text)


@pytest.mark.parametrize("kind", ["silent", "strict"])
def test_without_alternatives_the_reply_is_the_verdict(kind: str, serve: Serve) -> None:
    model, config = serve(kind, replies=["FAIL", "FAIL", "PASS", "perhaps"])
    verdicts = Judge(OpenAIBackend(config.model_copy(update={"concurrency": 1}))).check(SAMPLES[:3])
    assert [verdict.label for verdict in verdicts] == [Label.FAIL, Label.PASS, None]
    assert {verdict.p_fail for verdict in verdicts} == {None}
    assert "no verdict" in (verdicts[2].error or "")
    assert verdicts[0].usage.completion_tokens > 0
    assert "logprobs" in calls(model)[0] and all("logprobs" not in body for body in calls(model)[-3:])


def test_a_server_that_cannot_count_gets_a_high_estimate(serve: Serve) -> None:
    _, config = serve("silent")
    backend = OpenAIBackend(config)
    for text in ("Some English words, as they come in documents. " * 9, "\u5bf9\u7167\u6587\u6863" * 40):
        assert len(text) / 4 < backend.count_tokens(user(text)) < 2 * len(text)
    assert backend.context_length == 32_768 and OpenAIBackend(config, max_length=99).context_length == 99


def test_repeated_conversations_are_other_samples(serve: Serve) -> None:
    model, config = serve("silent")
    backend = OpenAIBackend(config)
    talks = [user("a"), user("b"), user("a")]
    with pytest.warns(JudgeWarning, match="may keep a top_k of its own"):
        for seed in (5, 6, 5):
            backend.generate(talks, Decoding(2, temperature=0.7, seed=seed))
    asked = [(body["messages"][0]["content"], body["seed"]) for body in calls(model)]
    assert {body["temperature"] for body in calls(model)} == {0.7}
    assert len({seed for text, seed in asked if text == "a"}) == 4  # no two samples of two runs are one
    assert len(asked) == 9 and sorted(asked[:3]) == sorted(asked[6:])


@pytest.mark.parametrize(
    ("kind", "sent"),
    [("vllm", {"top_p": 0.7, "top_k": 0, "min_p": 0.0}), ("silent", {"top_p": 0.7})],
)
@pytest.mark.filterwarnings("ignore::judge.errors.JudgeWarning")
def test_sampling_is_told_to_the_server(serve: Serve, kind: str, sent: dict[str, float]) -> None:
    model, config = serve(kind)
    backend = OpenAIBackend(config)
    backend.generate([user("a")], Decoding(2, temperature=0.7, top_p=0.7))
    backend.generate([user("a")], Decoding(2, temperature=0.7, top_p=0.7, top_k=9))
    first, second = calls(model)[-2:]
    for body, expected in ((first, sent), (second, {**sent, "top_k": 9})):
        assert {name: body[name] for name in ("top_p", "top_k", "min_p") if name in body} == expected


def test_the_call_cache_answers_the_second_time(serve: Serve, tmp_path: Path) -> None:
    for kind in ("vllm", "lists", "silent"):
        model, config = serve(kind)
        options: Any = {"backend": "openai", "base_url": config, "call_cache": tmp_path / f"{kind}.sqlite"}
        first = list(load_judge("tiny", **options).iter_check(SAMPLES))
        made = len(calls(model))
        assert list(load_judge("tiny", **options).iter_check(SAMPLES)) == first
        assert len(calls(model)) == made > 0


def test_the_call_cache_tells_servers_apart(serve: Serve, tmp_path: Path) -> None:
    for _ in range(2):  # the same name, and other weights for all that is known
        model, config = serve("silent")
        options: Any = {"base_url": config.base_url, "call_cache": tmp_path / "calls.sqlite"}
        load_judge("tiny", backend="openai", **options).check(SAMPLES[:1])
        assert calls(model)


def test_faults_change_no_verdict(tmp_path: Path) -> None:
    samples = [replace(sample, answer="bad" if n % 2 else "good") for n, sample in enumerate(SAMPLES * 4)]
    faults = {"429": 0.1, "500": 0.1, "drop": 0.1, "empty": 0.05}
    with FaultServer(tmp_path / "log", faults=faults, answer="tests.fault_server:verdict") as server:
        config = EndpointConfig(base_url=server.base_url, model="m", backoff=0.01)
        verdicts = Judge(OpenAIBackend(config)).check(samples)
        assert [verdict.label for verdict in verdicts] == [Label.PASS, Label.FAIL] * 12
        assert all((verdict.p_fail or 0) < 0.5 for verdict in verdicts[::2])
        assert server.outcomes()["429"] + server.outcomes()["500"] + server.outcomes()["drop"] > 0


def test_what_a_server_withholds_is_no_verdict(tmp_path: Path) -> None:
    with FaultServer(tmp_path / "log", stubborn={"refusal": 1.0}) as server:
        config = EndpointConfig(base_url=server.base_url, model="m", ask_again=0)
        [verdict] = Judge(OpenAIBackend(config)).check(SAMPLES[:1])
    assert (verdict.label, verdict.p_fail, verdict.raw) == (None, None, "")
    assert verdict.error == "refused: I cannot help with that."


# --- Loading and the command line ---------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["m", "reference", "baseline:overlap"])
def test_settings_of_another_engine_are_refused(model: str, tmp_path: Path) -> None:
    config = EndpointConfig(model="m")
    with pytest.raises(InputError, match="--base-url is for the backend openai"):
        load_judge(model, base_url=config)
    with pytest.raises(InputError, match="call_cache is for the backend openai"):
        load_judge(model, call_cache=tmp_path / "calls")
    with pytest.raises(InputError, match="vllm is for the backend vllm"):
        load_judge(model, vllm=VLLMSettings(tensor_parallel_size=2))
    with pytest.raises(InputError, match="batch_tokens is for the backend transformers"):
        load_judge("m", backend="openai", batch_tokens=9, base_url=config)
    with pytest.raises(InputError, match="quantization nf4 is for the backend transformers"):
        load_judge("m", backend="openai", quantization="nf4", base_url=config)
    with pytest.raises(InputError, match="the endpoint is for 'm', and the judge's model is 'n'"):
        load_judge("n", backend="openai", base_url=config)


def test_an_address_is_checked() -> None:
    with pytest.raises(InputError, match=r"an address such as .* found 'localhost:8000'") as caught:
        load_judge("m", backend="openai", base_url="localhost:8000")
    assert "\n" not in str(caught.value)


def test_judge_check_asks_a_server(serve: Serve, tmp_path: Path, ran: Ran) -> None:
    model, config = serve("vllm")
    (tmp_path / "document").write_text("Cats sleep.", encoding="utf-8")
    server = ("--model", "tiny", "--backend", "openai", "--base-url", config.base_url, "--json")
    asked = ("--document", f"@{tmp_path / 'document'}", "--answer", "They do.")
    row = json.loads(ran("check", *server, *asked).out)
    assert row["label"] in ("PASS", "FAIL") and 0 < row["p_fail"] < 1
    assert any("Cats sleep." in body["messages"][0]["content"] for body in calls(model))


# --- In an event loop ---------------------------------------------------------------------------------------


class Slow(Scripted):
    """An engine that takes its time, and notices when it is asked by two threads at once."""

    def __init__(self) -> None:
        super().__init__()
        self.busy, self.chunks = threading.Lock(), 0

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        if not self.busy.acquire(blocking=False):
            raise JudgeError("asked by two threads at once")
        try:
            self.chunks += 1
            time.sleep(0.05)
            return [(-1.0, -2.0)] * len(requests)
        finally:
            self.busy.release()


def test_acheck_gives_what_check_gives_and_leaves_the_loop_free() -> None:
    judge = Judge(Slow())

    async def ticks(done: asyncio.Event) -> int:
        count = 0
        while not done.is_set():
            await asyncio.sleep(0.005)
            count += 1
        return count

    async def run() -> tuple[list[Any], int]:
        done = asyncio.Event()
        ticking = asyncio.create_task(ticks(done))
        others = (replace(judge, seed=1), judge, judge)  # copies of a judge share its engine
        found = await asyncio.gather(*(other.acheck(SAMPLES) for other in others))
        done.set()
        return found, await ticking

    found, ticked = asyncio.run(run())
    assert found == [judge.check(SAMPLES)] * 3
    assert ticked > 5


def test_threads_take_turns_on_an_engine_for_one() -> None:
    judge = Judge(Slow())
    others = (judge, replace(judge, seed=1), replace(judge, windows=True))
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda other: other.check(SAMPLES), others))
    assert found == [judge.check(SAMPLES)] * 3


def test_a_cancelled_acheck_stops_after_the_chunk() -> None:
    backend = Slow()
    judge = Judge(backend)

    async def run() -> None:
        task = asyncio.create_task(judge.acheck(SAMPLES[:1] * judge.chunk * 20))
        await asyncio.sleep(0.12)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.2)  # the engine is free again
        assert len(await judge.acheck(SAMPLES)) == len(SAMPLES)

    asyncio.run(run())
    assert backend.chunks < 10
