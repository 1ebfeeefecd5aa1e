"""Encoder judges: what is computed together changes no verdict, what is wrong is marked, runs resume."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.encoder.checker import EncoderJudge, stretches
from judge.encoder.examples import by_document, example, wrong_stretches
from judge.encoder.layout import RUNS, Layout, batches, pages, runs
from judge.errors import InputError, JudgeError
from judge.load import load_judge
from judge.types import Label, Sample, Span
from tests.towers import build_towers

WORDS = ["the", "a", "tower", "is", "was", "high", "m", "low", "red", "blue", "it", "built", "by", "king"]
WORDS += ["20", "21", "22", "23", "24", "not", "how", "?", ".", ",", "anna"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights, and its tokenizer."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("bert")
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789" for prefix in ("", "##")]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys([*special, *WORDS, *letters]))}
    tokenizer = BertTokenizerFast(vocab=vocabulary)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def make_judge(bert: Path) -> Callable[..., EncoderJudge]:
    """An untrained encoder judge."""
    from judge.encoder.model import start_network

    network, tokenizer = start_network(str(bert))
    network.eval()

    def make(window_tokens: int = 16, **more: Any) -> EncoderJudge:
        return EncoderJudge(network, Layout(tokenizer, window_tokens), **more)

    return make


def sample(
    answer: str, document: str = "the tower is 20 m high . it was built by king anna .", **more: Any
) -> Sample:
    return Sample("s", document, answer, **more)


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=6), st.sampled_from([64, 4096]))
def test_a_verdict_does_not_depend_on_its_neighbours(
    make_judge: Callable[..., EncoderJudge], rows: list[tuple[str, str, str]], batch_tokens: int
) -> None:
    """One answer or many about a document, in whatever batch: the same probability."""
    some = [
        sample(answer, rows[at // 2 * 2][0], question=question)
        for at, (_, question, answer) in enumerate(rows)
    ]
    judge = make_judge(batch_tokens=batch_tokens)
    together = judge.check(some)
    for one, verdict in zip(some, together, strict=True):
        [alone] = judge.check([one])
        assert verdict.p_fail == pytest.approx(alone.p_fail, abs=1e-5)
        assert verdict.usage == alone.usage and verdict.label is alone.label


def test_sentences_are_told_by_their_tokens(make_judge: Callable[..., EncoderJudge]) -> None:
    """One reading of the answer tells both; what did not fit into a window has no probability."""
    judge = make_judge()
    some = [sample("it is 21 m high . king anna was red .", question="how high ?"), sample("low . " * 20)]
    spans = [(Span(0, 17), Span(18, 37)), (Span(0, 3), Span(112, 117))]
    (first, parts), (second, ends) = judge.check_sentences(some, spans)
    assert [first, second] == judge.check(some)
    tokens = [doubt for _, doubt in judge._read(some)[0].doubts]
    assert parts[0].p_fail == pytest.approx(sum(sorted(tokens[:6])[-3:]) / 3, abs=1e-6)
    assert parts[1].p_fail == pytest.approx(sum(sorted(tokens[6:])[-3:]) / 3, abs=1e-6)
    assert ends[0].p_fail is not None and ends[1].p_fail is None and ends[1].label is None
    [(foreign, untold)] = judge.check_sentences([sample("x", language="zh")], [(Span(0, 1),)])
    assert foreign.label is None and untold[0].label is None


def test_paged_attention_is_dense_attention(make_judge: Callable[..., EncoderJudge], bert: Path) -> None:
    """Scores and gradients are those of PyTorch's kernel with the whole mask."""
    import torch
    from transformers import AutoModel

    from judge.encoder.attention import NAME
    from judge.encoder.model import EncoderNetwork, PageBatch

    judge = make_judge()
    assert judge.network.config._attn_implementation == NAME
    some = [sample("it is 21 m high", question="how high ?"), sample("a red tower ."), sample("low", "blue")]
    documents, _ = by_document([replace(one, label=Label.FAIL) for one in some], judge.layout)
    laid = pages(((d.windows, [(e, e.answer) for e in d.examples]) for d in documents), 512)
    [batch] = batches(laid, 4096)
    tensors = PageBatch.of(batch)
    plain = AutoModel.from_pretrained(bert, add_pooling_layer=False, attn_implementation="sdpa")
    dense = EncoderNetwork(plain).eval()
    dense.load_state_dict(judge.network.state_dict())

    found = []
    for network, weight in (
        (judge.network, judge.network.backbone.encoder.layer[0].attention.self.key.weight),
        (dense, plain.encoder.layer[0].attention.self.key.weight),
    ):
        by_answer, by_token = network(tensors)
        (by_answer.sum() + by_token.square().sum()).backward()
        found.append((by_answer.detach(), by_token.detach(), weight.grad))
        network.zero_grad()
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)


@given(st.lists(st.integers(0, 4), max_size=20), st.lists(st.integers(0, 4), max_size=20))
def test_levels_are_the_longest_runs(ids: list[int], document: list[int]) -> None:
    grams = [frozenset(zip(*(document[at:] for at in range(n)), strict=False)) for n in RUNS]
    known = {tuple(document[a:b]) for a in range(len(document)) for b in range(a + 1, len(document) + 1)}
    for place, level in enumerate(runs(ids, grams)):
        longest = max(
            (
                b - a
                for a in range(place + 1)
                for b in range(place + 1, len(ids) + 1)
                if tuple(ids[a:b]) in known
            ),
            default=0,
        )
        assert level == sum(length <= longest for length in RUNS)


def test_a_long_document_is_cut_only_beyond_the_last_window(make_judge: Callable[..., EncoderJudge]) -> None:
    judge = make_judge(window_tokens=10)
    text = " ".join(["tower"] * 40)
    windows, cut = judge.layout.windows(text)
    assert [len(window) for window in windows] == [10] * 5 and cut == 0
    judge.layout.max_windows = 2
    judge.layout._last = None
    assert judge.layout.windows(text)[1] == len(" ".join(["tower"] * 24))
    [verdict] = judge.check([sample("tower", text)])
    assert verdict.cut_chars == 143 and verdict.label is not None
    judge.layout.max_windows = 16


def test_wrong_stretches() -> None:
    fail = sample("it is 21 m high and red", label=Label.FAIL)
    spans = [{"start": 6, "end": 10}]
    assert wrong_stretches(replace(fail, meta={"spans": spans})) == [(6, 10)]
    assert wrong_stretches(replace(fail, meta={"errors": spans})) == [(6, 10)]
    assert wrong_stretches(replace(fail, meta={"pair": "p", "inserted": "21 m"})) == [(6, 10)]
    assert wrong_stretches(replace(fail, meta={"pair": "p", "inserted": "i"})) is None  # stands there twice
    assert wrong_stretches(replace(fail, meta={"spans": [{"text": "21 m"}]})) is None
    assert wrong_stretches(fail) is None
    faithful = replace(fail, label=Label.PASS)
    assert wrong_stretches(faithful) is None and wrong_stretches(replace(faithful, meta={"pair": "p"})) == []


def test_tokens_of_an_example(make_judge: Callable[..., EncoderJudge]) -> None:
    layout = make_judge(32).layout
    fail = sample("it is 21 m high", label=Label.FAIL, meta={"spans": [{"start": 6, "end": 10}]})
    assert example(fail, layout).tokens == (0, 0, 1, 1, 0)
    short = sample("21 m", label=Label.FAIL, question="how high ?")
    assert (
        example(short, layout).tokens == (1, 1)
        and example(replace(short, question=""), layout).tokens is None
    )


def test_doubted_tokens_become_stretches(make_judge: Callable[..., EncoderJudge]) -> None:
    answer = make_judge(32).layout.answer(sample("it is 21 m high"))
    assert stretches(answer, [0.1, 0.2, 0.9, 0.5, 0.4]) == (Span(6, 10),)
    assert stretches(answer, [0.9, 0.2, 0.9, 0.1, 0.1]) == (Span(0, 2), Span(6, 8))


def recipe(bert: Path, data: Path, output: Path, **more: Any) -> Any:
    from judge.training.config import EncoderRecipe

    values = {
        "model": str(bert), "data": str(data), "output": str(output), "without_leak_gate": True,
        "precision": "float32", "window_tokens": 64, "batch_tokens": 200, "learning_rate": 1e-2, "epochs": 2,
        "logging_steps": 1, "evaluations": 0,
    }  # fmt: skip
    return EncoderRecipe.model_validate({**values, **more})


def test_an_encoder_learns_is_saved_and_judges(bert: Path, tmp_path: Path) -> None:
    """Heights that are not in the document are told within seconds; what is saved is that judge."""
    from judge.training.encoder import train_encoder

    data, out = build_towers(tmp_path, 24, 0), tmp_path / "judge"
    summary = train_encoder(recipe(bert, data, out, epochs=12, evaluations=1, judged_samples=50))
    assert summary["best"]["auroc"] > 0.9 and summary["labels_per_1000_tokens"] > 20
    judge = load_judge(str(out))
    assert isinstance(judge, EncoderJudge) and judge.describe()["prompt_hash"]
    right, wrong = judge.check(
        [
            sample(f"it is {height} m high .", "tower 5 is 22 m high .", question="how high is it ?")
            for height in (22, 23)
        ]
    )
    assert right.p_fail is not None and wrong.p_fail is not None and right.p_fail < wrong.p_fail
    [foreign] = judge.check([sample("x", language="zh")])
    assert foreign.label is None and "zh" in str(foreign.error)
    for options in ({"mode": "reason"}, {"backend": "vllm"}, {"compiled": True}):
        with pytest.raises(InputError, match="encoder"):
            load_judge(str(out), **options)
    (out / "model.safetensors").write_bytes(b"0" * 64)
    with pytest.raises(JudgeError, match="no encoder judge"):
        load_judge(str(out))


def test_a_stopped_run_goes_on_to_the_same_weights(bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file
    from transformers import TrainerCallback

    from judge.training.encoder import train_encoder
    from judge.training.stopping import Interrupted

    class Stop(TrainerCallback):
        """Asks the run to stop after two steps."""

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == 2:
                import os
                import signal

                os.kill(os.getpid(), signal.SIGTERM)

    data = build_towers(tmp_path, 12, 0)
    whole = train_encoder(recipe(bert, data, tmp_path / "whole"))
    assert whole["steps"] > 3
    parted = recipe(bert, data, tmp_path / "parted", resume=True)
    with pytest.raises(Interrupted):
        train_encoder(parted, [Stop()])
    train_encoder(parted)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parted"))
    assert all(bool((first[name] == second[name]).all()) for name in first)


def test_what_cannot_be_trained_is_told(
    bert: Path, tmp_path: Path, model_folder: Callable[[str], Path]
) -> None:
    from judge.training.encoder import train_encoder

    data = build_towers(tmp_path, 8, 0)
    with pytest.raises(InputError, match="64 positions"):
        train_encoder(recipe(bert, data, tmp_path / "a", window_tokens=65))
    with pytest.raises(InputError, match="BERT"):
        train_encoder(recipe(model_folder("chatml"), data, tmp_path / "b"))
    with pytest.raises(InputError, match="max_windows"):
        train_encoder(recipe(bert, data, tmp_path / "c", window_tokens=4, max_windows=1))
    assert not (tmp_path / "c" / "judge.json").exists()
