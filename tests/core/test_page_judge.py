"""Encoder judges: what is computed together changes no verdict, what is wrong is marked, runs resume."""

import math
import shutil
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoModel

from judge.cli.options import introduce
from judge.encoder.packed import PACKED
from judge.encoder.packing import pack
from judge.errors import InputError, JudgeError, JudgeWarning
from judge.files import write_json
from judge.formats.spans import wrong_spans
from judge.load import load_judge
from judge.models.bert import read_bert
from judge.models.blocked_attention import Block
from judge.models.identity import read_identity
from judge.models.trained_on import fingerprint, read_trained_on, write_trained_on
from judge.pages.checker import PagesJudge
from judge.pages.examples import by_document, example
from judge.pages.layout import RUNS, Layout, bert_tokenizer, pages, runs
from judge.pages.model import PageBatch, PagesNetwork, start_network
from judge.samples import read_samples, write_samples
from judge.shipped import REFERENCE, model_path
from judge.training import encoder
from judge.training.drawing import times_taken
from judge.training.pages import train_pages as train_encoder
from judge.types import Label, Sample, Span
from tests.calling import call, p_fails
from tests.encoders import WORDS, save_model
from tests.tiny_data import build_towers
from tests.tiny_data import encoder_recipe as recipe


@pytest.fixture(scope="module")
def make_judge(bert: Path) -> Callable[..., PagesJudge]:
    """An untrained encoder judge."""
    network, tokenizer = start_network(str(bert))
    network.eval()

    def make(window_tokens: int = 16, **more: Any) -> PagesJudge:
        return PagesJudge(network, layout=Layout(tokenizer, window_tokens), **more)

    return make


@pytest.fixture(scope="module")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with a vocabulary like XLM-R's: pieces with scores, control tokens among them."""
    folder = save_model(tmp_path_factory.mktemp("xlmr"), "bert", "Model")
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *"\u2581</>\u5854abcdefghijklmnopqrstuvwxyz0123456789"]
    tokenizer = Tokenizer(
        models.Unigram([(piece, -1.0 if at > 3 else 0.0) for at, piece in enumerate(pieces)], 3)
    )
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def sample(
    answer: str, document: str = "the tower is 20 m high . it was built by king anna .", **more: Any
) -> Sample:
    return Sample("s", document, answer, **more)


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=6), st.sampled_from([64, 4096]))
def test_a_verdict_does_not_depend_on_its_neighbours(
    make_judge: Callable[..., PagesJudge], rows: list[tuple[str, str, str]], batch_tokens: int
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


def test_bfloat16_does_not_depend_on_neighbours_either(make_judge: Callable[..., PagesJudge]) -> None:
    """... but for roundings: a last bit of float32 may turn one of 16 bits up or down."""
    plain = make_judge(64)
    judge = replace(plain, precision="bfloat16")
    some = [sample(f"it is 2{at} m high . " * (at + 1), "a red tower . " * (at // 2 + 1)) for at in range(5)]
    found, exact = ([verdict.p_fail for verdict in one.check(some)] for one in (judge, plain))
    assert found == pytest.approx([judge.check([one])[0].p_fail for one in some], abs=2e-3)
    assert found == pytest.approx(exact, abs=0.02) and found != exact


def key_weights(network: Any) -> Any:
    return network.get_parameter("backbone.encoder.layer.0.attention.self.key.weight")


def test_the_encoder_is_that_of_transformers(bert: Path) -> None:
    """Hidden states are those of transformers' model with the same weights."""
    theirs = AutoModel.from_pretrained(bert).eval()
    ours, stored = read_bert(bert)
    assert set(ours.state_dict()) == {name for name in stored if not name.startswith("pooler.")}
    ids = torch.arange(2, 26).reshape(2, 12)
    place = torch.arange(12).repeat(2, 1)
    whole = [Block(row, slice(0, 12), slice(0, 12), None) for row in range(2)]
    hidden = ours(ids, place, torch.zeros_like(ids), torch.zeros(2, 12, 16), whole)
    assert torch.allclose(hidden, theirs(ids).last_hidden_state, atol=1e-5)


def test_sentences_are_told_by_their_tokens(make_judge: Callable[..., PagesJudge]) -> None:
    """One reading of the answer tells both, of one that is longer than a window too."""
    judge = make_judge()
    some = [sample("it is 21 m high . king anna was red .", question="how high ?"), sample("low . " * 20)]
    spans = [(Span(0, 17), Span(18, 37)), (Span(0, 3), Span(112, 117))]
    (first, parts), (second, ends) = judge.check_sentences(some, spans)
    assert [first, second] == judge.check(some)
    tokens = [doubt for _, doubt in judge._read(some)[0].doubts]
    assert parts[0].p_fail == pytest.approx(sum(sorted(tokens[:6])[-3:]) / 3, abs=1e-6)
    assert parts[1].p_fail == pytest.approx(sum(sorted(tokens[6:])[-3:]) / 3, abs=1e-6)
    assert all(end.p_fail is not None for end in ends)
    [(foreign, untold)] = judge.check_sentences([sample("x", language="zh")], [(Span(0, 1),)])
    assert foreign.label is None and untold[0].label is None


def test_no_number_and_nothing_read_are_no_verdict(
    make_judge: Callable[..., PagesJudge], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, good, unread = make_judge(), sample("low . " * 20), sample("\ufffd\ufffd")
    (_, parts), (verdict, none) = judge.check_sentences([good, unread], [[Span(0, 3)], [Span(0, 2)]])
    assert parts[0].label is not None and none[0].label is None
    assert (verdict.label, verdict.error) == (None, "the judge can read nothing of the answer")
    numbers = ([0.1] + [math.nan] * 9, [math.nan] * 99)
    monkeypatch.setattr(PagesNetwork, "probabilities", lambda *_: numbers)
    [(verdict, parts)] = judge.check_sentences([good], [[Span(0, 3)]])
    assert (verdict.label, verdict.p_fail, verdict.error) == (None, None, "the model gave no number")
    assert parts[0].label is None


def test_paged_attention_is_dense_attention(make_judge: Callable[..., PagesJudge], bert: Path) -> None:
    """Scores and gradients are those of PyTorch's kernel with the whole mask."""
    judge = make_judge()
    some = [sample("it is 21 m high", question="how high ?"), sample("a red tower ."), sample("low", "blue")]
    documents, *_ = by_document([replace(one, label=Label.FAIL) for one in some], judge.layout)
    laid = list(pages(((d.windows, [(e, e.answer) for e in d.examples]) for d in documents), 512))
    assert len(laid) > 1
    tensors = PageBatch.of(laid)
    dense = PagesNetwork(read_bert(bert)[0], dense=True).eval()
    dense.load_state_dict(judge.network.state_dict())
    assert not judge.network.dense

    found = []
    for network, weight in (
        (judge.network, key_weights(judge.network)),
        (dense, key_weights(dense)),
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


def test_special_tokens_in_a_text_stay_text(make_judge: Callable[..., PagesJudge]) -> None:
    layout = make_judge(64).layout
    ends = {layout.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]")}
    text = "the [SEP] tower [CLS] [PAD]"
    [answer] = layout.answers(sample(text, text, question=text))
    [window], _ = layout.windows(text)
    assert not ends & {*answer.ids[answer.start : -1], *window[1:-1]}
    assert answer.ids.count(layout.tokenizer.token_to_id("[SEP]")) == 2  # behind question and answer


def test_special_tokens_of_a_unigram_vocabulary_stay_text(xlmr: Path) -> None:
    """XLM-R's vocabulary holds ``</s>`` as a piece like any other, and would find it in a text."""
    layout = Layout(bert_tokenizer(xlmr), 64)
    text = "20 </s> m <s> tower<pad> \uff1c/s\uff1e"
    [answer] = layout.answers(sample(text, text))
    [window], _ = layout.windows(text)
    assert not {0, 1, 2} & {*answer.ids[answer.start : -1], *window[1:-1]}
    assert answer.ids[0] == 0 and answer.ids[-1] == 2
    assert text[answer.spans[-1][0] :].endswith("\uff1e")  # places are still those of the text


def test_a_long_document_is_cut_only_beyond_the_last_window(make_judge: Callable[..., PagesJudge]) -> None:
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


def test_wrong_spans() -> None:
    fail = sample("it is 21 m high and red", label=Label.FAIL)
    spans = [{"start": 6, "end": 10}]
    assert wrong_spans(replace(fail, meta={"spans": spans})) == [(6, 10)]
    assert wrong_spans(replace(fail, meta={"errors": spans})) == [(6, 10)]
    assert wrong_spans(replace(fail, meta={"pair": "p", "inserted": "21 m"})) == [(6, 10)]
    assert wrong_spans(replace(fail, meta={"pair": "p", "inserted": "i"})) is None  # stands there twice
    for unknown in ([{"text": "21 m"}], [{"start": 6, "end": 99}], [6, 10], 6):
        assert wrong_spans(replace(fail, meta={"spans": unknown})) is None
    assert wrong_spans(fail) is None
    faithful = replace(fail, label=Label.PASS)
    assert wrong_spans(faithful) is None and wrong_spans(replace(faithful, meta={"pair": "p"})) == []


def test_tokens_of_an_example(make_judge: Callable[..., PagesJudge]) -> None:
    layout = make_judge(32).layout
    fail = sample("it is 21 m high", label=Label.FAIL, meta={"spans": [{"start": 6, "end": 10}]})
    assert example(fail, layout).tokens == (0, 0, 1, 1, 0)
    short = sample("21 m", label=Label.FAIL, question="how high ?")
    assert (
        example(short, layout).tokens == (1, 1)
        and example(replace(short, question=""), layout).tokens is None
    )


def test_what_is_not_trained_on_is_counted(bert: Path, tmp_path: Path) -> None:
    """Answers longer than a window, whose wrong part may not be read, and other languages."""
    long = "it is 22 m high . " * 12
    rows = [
        sample("it is 20 m high .", label=Label.PASS),
        sample(f"{long} it is red .", "the tower is 22 m high .", label=Label.FAIL),
        sample("it is 20 m high .", "\u5854", label=Label.PASS, language="zh"),
    ]
    write_samples(tmp_path / "samples.jsonl", [replace(one, id=str(at)) for at, one in enumerate(rows)])
    summary = train_encoder(recipe(bert, tmp_path, tmp_path / "out", max_steps=1))
    assert [summary[name] for name in ("rows", "left_out", "other_languages")] == [1, 1, 1]
    known = read_trained_on(str(tmp_path / "out"))
    assert fingerprint(rows[0].document_text) in known and fingerprint(rows[2].document_text) not in known


def test_an_encoder_that_spells_chinese_is_trained_on_it(xlmr: Path, tmp_path: Path) -> None:
    rows = [
        Sample("1", "\u5854 20 m", "20 m", label=Label.PASS, language="zh"),
        Sample("2", "tower 20 m", "20 m", label=Label.PASS),
    ]
    write_samples(tmp_path / "samples.jsonl", rows)
    summary = train_encoder(recipe(xlmr, tmp_path, tmp_path / "out", max_steps=1))
    assert (summary["rows"], summary["other_languages"]) == (2, 0)
    judge = load_judge(str(tmp_path / "out"))
    assert isinstance(judge, PagesJudge) and judge.languages == ("en", "zh")
    assert all(verdict.label for verdict in judge.check(rows))
    write_samples(tmp_path / "samples.jsonl", rows[1:])
    train_encoder(recipe(tmp_path / "out", tmp_path, tmp_path / "more", max_steps=1))
    assert read_identity(str(tmp_path / "more"))["languages"] == ["en", "zh"]  # it still reads both


def test_an_encoder_learns_is_saved_and_judges(bert: Path, tmp_path: Path) -> None:
    """Heights that are not in the document are told within seconds; what is saved is that judge."""
    data, out = build_towers(tmp_path, 24, 0), tmp_path / "judge"
    summary = train_encoder(recipe(bert, data, out, epochs=12, evaluations=1, judged_samples=50))
    assert summary["best"]["auroc"] > 0.9 and summary["labels_per_1000_tokens"] > 20
    judge = load_judge(str(out))
    assert isinstance(judge, PagesJudge) and judge.describe()["prompt_hash"]
    right, wrong = judge.check(
        [
            sample(f"it is {height} m high .", "tower 5 is 22 m high .", question="how high is it ?")
            for height in (22, 23)
        ]
    )
    assert right.p_fail is not None and wrong.p_fail is not None and right.p_fail < wrong.p_fail
    [foreign] = judge.check([sample("x", language="zh")])
    assert foreign.label is None and "zh" in str(foreign.error)
    for options in ({"mode": "reason"}, {"backend": "vllm"}):
        with pytest.raises(InputError, match="encoder"):
            load_judge(str(out), **options)
    with pytest.warns(JudgeWarning, match=r"was trained on the documents of \d+ of these"):
        assert call("calibrate", "--model", out, "--data", data / "samples.jsonl") == 0
    (out / "model.safetensors").write_bytes(b"0" * 64)
    with pytest.raises(JudgeError, match="holds no encoder judge"):
        load_judge(str(out))


def test_training_starts_from_a_probe(bert: Path, tmp_path: Path) -> None:
    """Before its first step a judge ranks the training answers by what the frozen encoder tells of them."""
    data = build_towers(tmp_path, 24, 0)
    train_encoder(recipe(bert, data, tmp_path / "out", max_steps=1, learning_rate=1e-12))
    judge = load_judge(str(tmp_path / "out"))
    assert isinstance(judge, PagesJudge) and judge.network.answer[-1].weight.abs().max() < 1e-9
    samples = list(read_samples(data / "samples.jsonl"))
    told = [verdict.p_fail for verdict in judge.check(samples)]
    assert roc_auc_score([sample.label is Label.FAIL for sample in samples], told) > 0.6


def test_a_judge_of_pairs_does_not_read_pages(bert: Path, tmp_path: Path) -> None:
    data, told = build_towers(tmp_path, 24, 0), tmp_path / "pairs"
    encoder.train_encoder(recipe(bert, data, told, reads="pairs", max_steps=1))
    with pytest.raises(InputError, match=r"'reads': .* reads pairs, and stays so"):
        encoder.train_encoder(recipe(told, data, tmp_path / "out", reads="pages"))


def test_a_hidden_value_that_is_noise_gets_no_weight(bert: Path, tmp_path: Path) -> None:
    """all-MiniLM-L6-v2 has three. Scaled to unit variance, they took all of the clipped gradient."""
    base = shutil.copytree(bert, tmp_path / "base")
    weights = load_file(base / "model.safetensors")
    last = "encoder.layer.1.output.LayerNorm"
    weights[f"{last}.weight"][3], weights[f"{last}.bias"][3] = 1e-17, 0
    save_file(weights, base / "model.safetensors")
    train_encoder(recipe(base, build_towers(tmp_path, 24, 0), tmp_path / "out", max_steps=2))
    trained = load_file(tmp_path / "out" / "model.safetensors")
    assert trained["compare.weight"].abs().max() < 1e3
    moved = (
        trained["backbone.encoder.layer.0.output.dense.bias"] - weights["encoder.layer.0.output.dense.bias"]
    )
    assert moved.abs().max() > 1e-6


def test_a_judge_of_version_03(bert: Path, tmp_path: Path) -> None:
    """It has no comparison head, which is as one of zeros, and is trained further without it."""
    folder, data = tmp_path / "old", build_towers(tmp_path, 24, 0)
    train_encoder(recipe(bert, data, folder, max_steps=30))
    weights = load_file(folder / "model.safetensors")
    weights["answer.2.weight"] = torch.linspace(-1, 1, weights["answer.2.weight"].numel())[None]
    without = {name: value for name, value in weights.items() if "compare" not in name}
    empty = {name: torch.zeros_like(value) for name, value in weights.items() if "compare" in name}
    samples = list(read_samples(data / "samples.jsonl"))
    save_file({**without, **empty}, folder / "model.safetensors")
    before = p_fails(folder, samples)
    save_file(without, folder / "model.safetensors")
    assert p_fails(folder, samples) == before
    train_encoder(recipe(folder, data, tmp_path / "more", max_steps=1, learning_rate=1e-12))
    assert p_fails(tmp_path / "more", samples) == pytest.approx(before, abs=1e-5)
    assert not any("compare" in name for name in load_file(tmp_path / "more" / "model.safetensors"))


def test_sources_weigh(bert: Path, tmp_path: Path) -> None:
    """2 is twice, 0.5 about half, 0 never, a source that is not named once; the same for the same seed."""
    sources = [name for name in "abcd" for _ in range(200)]
    weights = {"a": 2, "b": 0.5, "d": 0}
    taken = list(times_taken(sources, weights, 0))
    counts = [sum(taken[start : start + 200]) for start in range(0, 800, 200)]
    assert counts[0] == 400 and 60 < counts[1] < 140 and counts[2:] == [200, 0]
    assert taken == list(times_taken(sources, weights, 0))
    data = build_towers(tmp_path, 4, 0)
    once = train_encoder(recipe(bert, data, tmp_path / "once"))
    twice = train_encoder(recipe(bert, data, tmp_path / "twice", source_weights={"samples": 2}))
    assert twice["rows"] == 2 * once["rows"]
    with pytest.raises(InputError, match="names moon, which no document came from; sources are"):
        train_encoder(recipe(bert, data, tmp_path / "out", source_weights={"moon": 2}))


# --- Packed weights -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge a few steps away from its base."""
    folder = tmp_path_factory.mktemp("trained")
    train_encoder(recipe(bert, build_towers(folder, 8, 0), folder / "judge", epochs=1))
    return folder / "judge"


def test_the_mean_of_judges(trained: Path, tmp_path: Path) -> None:
    """Of one judge three times it is that judge; of two, it was trained on the documents of both."""
    other = shutil.copytree(trained, tmp_path / "other")
    weights = load_file(trained / "model.safetensors")
    moved = {name: value + 0.01 * ("word_embeddings" not in name) for name, value in weights.items()}
    save_file(moved, other / "model.safetensors")
    write_trained_on(other, [b"12345678"])
    known = read_identity(str(trained)) | {"calibration": {}}  # of the weights before
    write_json(other / "judge.json", known)
    for name, judges in (("same", [trained] * 3), ("mean", [other, trained])):
        assert call("pack", *judges, "--out", tmp_path / name) == 0
    asked = [sample(f"it is {height} m high .") for height in (20, 21)]
    one, same, mean = (p_fails(folder, asked) for folder in (trained, tmp_path / "same", tmp_path / "mean"))
    assert same == pytest.approx(one, abs=1e-3) and mean != pytest.approx(one, abs=1e-3)
    packed = read_identity(str(tmp_path / "mean"))
    assert len(packed["packed"]["mean_of"]) == 2 and "calibration" not in packed
    assert read_trained_on(str(tmp_path / "mean")) == read_trained_on(str(trained)) | {b"12345678"}
    save_file(dict([*weights.items()][1:]), other / "model.safetensors")
    with pytest.raises(InputError, match="other weights than those of"):
        pack([trained, other], tmp_path / "none")
    [words] = [name for name in weights if name.endswith("word_embeddings.weight")]
    save_file({**weights, words: weights[words] + 1}, other / "model.safetensors")
    with pytest.raises(InputError, match="word embeddings are others"):
        pack([trained, trained, other], tmp_path / "none")
    write_json(other / "judge.json", known | {"prompt_hash": "another"})
    with pytest.raises(InputError, match="reads samples in another way than"):
        pack([trained, other], tmp_path / "none")


def test_packed_weights_that_cannot_be_read(trained: Path, tmp_path: Path) -> None:
    pack([trained], tmp_path / "packed")
    file = tmp_path / "packed" / PACKED
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(JudgeError, match=r"packed\.safetensors: cannot be read"):
        load_judge(str(tmp_path / "packed"))
    (tmp_path / "packed" / PACKED).unlink()
    with pytest.raises(InputError, match=r"expected an encoder judge with model\.safetensors"):
        pack([tmp_path / "packed"], tmp_path / "again")


def test_the_reference_judge_is_small_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """It needs no download."""
    folder = Path(model_path(REFERENCE))
    assert sum((part / PACKED).stat().st_size for part in (folder, folder / "second")) <= 58_000_000
    identity = read_identity(str(folder))
    assert read_identity(REFERENCE) == identity  # asks no Hub for a model of that name
    assert identity["base"] == {"name": "cross-encoder/ms-marco-MiniLM-L-12-v2"}
    assert not Path(identity["data"]).is_absolute() and identity["calibration"]["verdict"]
    introduce(REFERENCE)
    assert f"{identity['measured']['balanced_accuracy']:.1f} %" in capsys.readouterr().err


def test_settings_that_keep_the_calibration_and_settings_without_effect() -> None:
    wanted = load_judge().describe()["calibration"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short = load_judge(max_length=1024)  # reads fewer windows, in the same way
        other = load_judge(precision="bfloat16")
    assert (short.describe()["calibration"], short.describe()["second"]["max_windows"]) == (wanted, 2)
    with pytest.raises(InputError, match=r"'max_length': is 511, less than a window .* give 512 or more"):
        load_judge(max_length=511)
    without: dict[str, Any] = {
        "labels": "PASS=yes", "pair": ["question=premise"], "max_new_tokens": 50, "decoding": "constrained"
    }  # fmt: skip
    for name, value in without.items():
        with pytest.raises(InputError, match=f"reference is an encoder that takes no {name}"):
            load_judge(**{name: value})
    assert other.describe()["calibration"] == wanted
