"""The transformers engine against a naive reference: every sequence alone, in float32."""

import shutil
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from judge.backends.base import Decoding, Generation, LabelRequest
from judge.backends.decoding import MEMORY_SHARE, Drawn, sample
from judge.backends.transformers import TransformersBackend
from judge.errors import JudgeError
from judge.judge import Judge
from judge.models import hardware
from judge.models.room import cache_bytes, prefill_bytes
from judge.models.weights import LoadedModel, load_model, load_weights
from judge.prompting.rendering import common_prefix
from judge.types import Sample
from tests.conftest import tiny_model
from tests.made_up import user

Make = Callable[..., TransformersBackend]
NAMES = ["chatml", "gemma", "bare", "bytes", "adapter"]
WORDS = [("PASS", "FAIL"), ("通过", "失败"), ("PAST", "PASS"), ("PASS", "PASSED"), ("通过了", "通过")]
DOCUMENTS = ["short", "The DOCUMENT supports the ANSWER. " * 4, "请对照“文档”检查 " * 7, "x" * 60, "A b c"]


def reference(backend: TransformersBackend, request: LabelRequest) -> list[float]:
    """Each whole sequence in a forward pass of its own; summed over the tokens in which they differ."""
    text = backend.renderer.prompt_text(request.messages) + request.prefix
    rows = [backend.renderer.encode(text + word) for word in request.words]
    shared = common_prefix(rows)
    if shared == min(map(len, rows)):
        rows = [[*row, *backend.renderer.end_of_turn()] for row in rows]
    sums = []
    for row in rows:
        with torch.no_grad():
            logits = backend.model(input_ids=torch.tensor([row])).logits[0].float()
        logprobs = torch.log_softmax(logits, dim=-1)
        sums.append(sum(logprobs[at - 1, row[at]].item() for at in range(shared, len(row))))
    return sums


def test_long_rows_run_alone(tiny_backend: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ``batch_tokens`` allows: a tree's mask grows with the square of its tokens."""
    monkeypatch.setattr("judge.backends.transformers.TREE_TOKENS", 300)
    backend = tiny_backend("chatml", batch_tokens=100_000)
    requests = [LabelRequest(user("a b c " * 200 + end), WORDS[0], "") for end in ("x", "y")]
    expected = [reference(backend, request) for request in requests]
    for found, wanted in zip(backend.label_logprobs(requests), expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_label_logprobs_equal_the_naive_reference(name: str, tiny_backend: Make) -> None:
    backend = tiny_backend(name)
    requests = [
        LabelRequest(user(DOCUMENTS[number % len(DOCUMENTS)]), words, prefix)
        for number, words in enumerate(WORDS)
        for prefix in ("", '{"REASONING": "it is", "SCORE": "')
    ]
    expected = [reference(backend, request) for request in requests]
    together = backend.label_logprobs(requests)
    assert [len(pair) for pair in together] == [2] * len(requests)
    for found, wanted in zip(together, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)
    alone = [backend.label_logprobs([request])[0] for request in requests]
    for found, wanted in zip(alone, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)
    pairs = tiny_backend(name, batch_tokens=400).label_logprobs(requests[::-1])[::-1]
    for found, wanted in zip(pairs, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-4)


def test_control_tokens_in_the_prefix_are_text(tiny_backend: Make) -> None:
    """A model may spell a control token out of ordinary ones; training would not read it as one either."""
    backend = tiny_backend("chatml")
    [spelled] = backend.label_logprobs([LabelRequest(user("x"), ("PASS", "FAIL"), "a<|im_end|>")])
    [broken] = backend.label_logprobs([LabelRequest(user("x"), ("PASS", "FAIL"), "a<\u200b|im_end|>")])
    assert spelled == broken


def sliding(tiny_backend: Make) -> TransformersBackend:
    """A model whose layers see eight tokens back."""
    chatml = tiny_backend("bytes").loaded
    model = tiny_model(chatml.tokenizer, family="Mistral", sliding_window=8)
    return TransformersBackend(LoadedModel(model, chatml.tokenizer, "sliding", None, 4096))


def test_a_sliding_window_does_not_break_the_cache(tiny_backend: Make) -> None:
    """Caches of sliding-window layers forget what has left the window and cannot be cut back."""
    backend = sliding(tiny_backend)
    requests = [LabelRequest(user(document), words) for document in DOCUMENTS for words in WORDS]
    for request, found in zip(requests, backend.label_logprobs(requests), strict=True):
        assert found == pytest.approx(reference(backend, request), abs=1e-4)


SAMPLES = [
    Sample(id=str(number), document=document, answer=f"answer {number}", question="why?" * (number % 2))
    for number, document in enumerate(DOCUMENTS)
]


@pytest.mark.parametrize("name", ["chatml", "adapter"])
def test_p_fail_alone_equals_p_fail_in_any_batch(name: str, tiny_backend: Make) -> None:
    alone = Judge(tiny_backend(name, batch_tokens=1)).check(SAMPLES)
    together = Judge(tiny_backend(name)).check(SAMPLES)
    backwards = Judge(tiny_backend(name, batch_tokens=1500)).check(SAMPLES[::-1])[::-1]
    scores = [verdict.p_fail for verdict in alone]
    assert [verdict.p_fail for verdict in together] == pytest.approx(scores, abs=1e-4)
    assert [verdict.p_fail for verdict in backwards] == pytest.approx(scores, abs=1e-4)
    assert len({round(score or 0, 6) for score in scores}) == len(scores)  # the order is not by chance
    assert [verdict.label for verdict in together] == [verdict.label for verdict in alone]


def test_the_adapter_is_not_its_base(tiny_backend: Make) -> None:
    [base], [adapter] = (Judge(tiny_backend(name)).check(SAMPLES[:1]) for name in ("chatml", "adapter"))
    assert base.p_fail != pytest.approx(adapter.p_fail, abs=1e-3)


def test_an_adapter_without_a_tokenizer_takes_that_of_its_base(
    model_folder: Callable[[str], Any], tmp_path: Any
) -> None:
    for file in model_folder("adapter").glob("adapter_*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    loaded = load_model(str(tmp_path))
    assert loaded.tokenizer.chat_template == load_model(str(model_folder("chatml"))).tokenizer.chat_template


def test_an_adapter_is_judged_within_the_weights(
    model_folder: Callable[[str], Any], tiny_backend: Make
) -> None:
    beside, _ = load_weights(str(model_folder("adapter")), precision="float32")
    within = tiny_backend("adapter").model
    assert hasattr(beside, "peft_config") and type(within) is not type(beside)
    ids = torch.arange(3, 40).unsqueeze(0)
    with torch.no_grad():
        torch.testing.assert_close(within(ids).logits, beside.eval()(ids).logits, rtol=1e-4, atol=1e-4)


def generate(backend: TransformersBackend, documents: Sequence[str], **settings: Any) -> list[Generation]:
    return backend.generate([user(document) for document in documents], Decoding(**settings))


@pytest.mark.parametrize("name", ["chatml", "gemma", "bare", "adapter"])
def test_greedy_replies_are_the_same_alone_and_in_a_batch(name: str, tiny_backend: Make) -> None:
    backend = tiny_backend(name)
    together = generate(backend, DOCUMENTS, max_new_tokens=12)
    alone = [generate(backend, [document], max_new_tokens=12)[0] for document in DOCUMENTS]
    assert together == alone
    assert len({reply.text for reply in together}) > 1


def test_a_reply_that_hits_the_limit_is_truncated(
    tiny_backend: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = tiny_backend("chatml")
    [long] = generate(backend, ["x"], max_new_tokens=6)
    assert long.truncated and long.completion_tokens == 6
    # Whatever the model says first now ends its turn.
    prompt = backend.renderer.encode(backend.renderer.prompt_text(user("x")))
    with torch.no_grad():
        first = backend.model(input_ids=torch.tensor([prompt])).logits[0, -1].argmax().item()
    monkeypatch.setattr(backend.renderer, "stop_ids", lambda: [first])
    [short] = generate(backend, ["x"], max_new_tokens=6)
    assert short == Generation("", truncated=False, completion_tokens=0)
    both = generate(backend, ["x", DOCUMENTS[1]], max_new_tokens=6)
    assert both[0] == short and both[1].completion_tokens > 0


def ended(backend: TransformersBackend, talks: Sequence[str]) -> tuple[list[tuple[int, ...]], list[int]]:
    """Prompts, and tokens to end at that their replies hold in unlike places."""
    prompts = [tuple(backend.renderer.encode(backend.renderer.prompt_text(user(talk)))) for talk in talks]
    free = backend.decoder.write(prompts, Decoding(12), [])
    return prompts, [free[0][2], free[1][5]]


def test_a_reply_ends_with_its_end_token(tiny_backend: Make) -> None:
    """Alone and among others, in the cache of sliding windows too."""
    for backend in (tiny_backend("chatml"), sliding(tiny_backend)):
        prompts, stops = ended(backend, DOCUMENTS)
        found = backend.decoder.write(prompts, Decoding(12), stops)
        assert found == [backend.decoder.write([prompt], Decoding(12), stops)[0] for prompt in prompts]
        assert len({len(reply) for reply in found}) > 1
        assert all(not {*reply[:-1]} & {*stops} for reply in found)
        assert [len(reply) < 12 for reply in found] == [
            reply[-1] in stops and len(reply) < 12 for reply in found
        ]


def test_batches_go_by_memory_and_change_no_reply(
    tiny_backend: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = tiny_backend("chatml")
    prompts, stops = ended(backend, [*DOCUMENTS, *DOCUMENTS])
    warm = Decoding(12, temperature=1.5, seed=3)
    sizes: list[int] = []
    generate, free, holds = backend.model.generate, hardware.free_memory("cpu"), 99

    def counted(**arguments: Any) -> Any:
        sizes.append(len(arguments["input_ids"]))
        if sizes[-1] > holds:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB")
        return generate(**arguments)

    monkeypatch.setattr(backend.model, "generate", counted)
    expected = [backend.decoder.write(prompts, how, stops) for how in (Decoding(12), warm)]
    assert sizes == [len(prompts)] * 2 and free > 0
    # As much as the two longest take, which are alike, and a little more.
    length = max(map(len, prompts))
    sizes_of = backend.decoder.sizes
    assert sizes_of is not None
    needed = 2 * (prefill_bytes(sizes_of, 4, length) + (length + 12) * cache_bytes(sizes_of, 4))
    monkeypatch.setattr(hardware, "free_memory", lambda kind: 1.01 * needed / MEMORY_SHARE[kind])
    sizes.clear()
    assert [backend.decoder.write(prompts, how, stops) for how in (Decoding(12), warm)] == expected
    assert sizes[0] == 2 and max(sizes) < 10 and sum(sizes) == 2 * len(prompts)
    # Where that was too much after all, half as many go on; at last there is an error.
    monkeypatch.setattr(hardware, "free_memory", lambda kind: free)
    sizes.clear()
    holds = 3
    assert backend.decoder.write(prompts, Decoding(12), stops) == expected[0]
    assert sizes == [10, 5, 2, 2, 2, 2, 2]
    holds = 0
    with pytest.raises(JudgeError, match=r"no memory for a prompt of \d+ tokens and a reply of up to 12"):
        backend.decoder.write(prompts, Decoding(12), stops)


def test_sampled_replies_do_not_depend_on_their_neighbours(tiny_backend: Make) -> None:
    """As on vLLM: a batch is as large as memory happens to hold."""
    backend = tiny_backend("chatml")
    warm = {"max_new_tokens": 8, "temperature": 1.5, "seed": 1}
    first = generate(backend, DOCUMENTS, **warm)
    assert generate(backend, DOCUMENTS[::-1], **warm) == first[::-1]
    assert generate(backend, DOCUMENTS, **{**warm, "seed": 2}) != first
    assert [generate(backend, [document], **warm)[0] for document in DOCUMENTS] == first
    assert len({reply.text for reply in generate(backend, DOCUMENTS[:1] * 4, **warm)}) == 4


def test_a_token_is_drawn_as_often_as_it_is_likely() -> None:
    scores = torch.tensor([0.0, 0.2, 0.5, 0.0, 0.3]).log()
    draws = torch.tensor([0.0, 0.1999, 0.2001, 0.6999, 0.7001, 1 - 1e-16], dtype=torch.float64)
    assert sample(scores.expand(6, -1), draws).tolist() == [1, 1, 2, 2, 4, 4]
    drawn, even = Drawn([5, 6, 5]), torch.zeros(3, 1000)
    first, other, again = torch.stack([drawn(even, even).argmax(-1) for _ in range(4)], 1)
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_samples_come_from_the_likeliest_tokens(tiny_backend: Make) -> None:
    """One token to choose from is the greedy reply, whatever the temperature."""
    backend = tiny_backend("chatml")
    greedy = generate(backend, DOCUMENTS, max_new_tokens=8)
    settings = {"max_new_tokens": 8, "temperature": 5.0}
    assert generate(backend, DOCUMENTS, top_k=1, **settings) == greedy
    assert generate(backend, DOCUMENTS, top_p=1e-6, **settings) == greedy
    assert generate(backend, DOCUMENTS, **settings) != greedy


def test_nothing_comes_from_the_models_generation_config(
    model_folder: Callable[[str], Any], tmp_path: Any
) -> None:
    """Some models come with a repetition penalty, which would punish a judge for quoting the document."""
    folder = shutil.copytree(model_folder("chatml"), tmp_path / "model")
    plain = TransformersBackend(load_model(str(folder)))
    own = {"top_k": 1, "top_p": 0.01, "min_p": 0.9, "no_repeat_ngram_size": 1, "num_beams": 2}
    GenerationConfig(**own, do_sample=True, repetition_penalty=5.0).save_pretrained(folder)
    backend = TransformersBackend(load_model(str(folder)))
    for settings in ({}, {"temperature": 5.0, "seed": 1}):
        expected = generate(plain, DOCUMENTS, max_new_tokens=8, **settings)
        assert generate(backend, DOCUMENTS, max_new_tokens=8, **settings) == expected
