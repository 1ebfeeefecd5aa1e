"""Encoder judges: classifiers of the Hub read as they are, and judges trained here."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from judge.calibration.curve import Curve, log_odds
from judge.claims.checker import ClaimsJudge
from judge.encoder.checker import EncoderJudge
from judge.encoder.examples import Item, token_labels
from judge.encoder.folder import read_tokenizer
from judge.encoder.heads import parse_labels, read_head
from judge.encoder.load import load_encoder
from judge.encoder.network import EncoderNetwork, start_network
from judge.encoder.packed import PACKED
from judge.encoder.packing import pack
from judge.encoder.pairs import Form, Pairing
from judge.encoder.spans import unsupported_words
from judge.errors import InputError, JudgeError
from judge.files import write_jsonl
from judge.load import load_judge
from judge.training import batches
from judge.training.dressings import with_dressed
from judge.training.encoder import start, train_encoder
from judge.training.encoder_trainer import EncoderTrainer, collate, mixed_batches
from judge.training.stopping import Interrupted
from judge.types import Label, Sample, Span
from tests.calling import ModelFolder, call, p_fails
from tests.encoders import ARCHITECTURES, NLI, WORDS, save_judge, save_model
from tests.tiny_data import at_step, build_towers
from tests.tiny_data import encoder_recipe as recipe


@pytest.fixture(scope="module", params=list(ARCHITECTURES))
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder without a head."""
    return save_model(tmp_path_factory.mktemp(request.param), request.param, "Model")


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier for natural language inference."""
    return save_model(tmp_path_factory.mktemp("nli"), "bert", "ForSequenceClassification", NLI)


@pytest.fixture(scope="module")
def detector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of tokens, in LettuceDetect's form."""
    names = {0: "supported", 1: "hallucinated"}
    return save_model(tmp_path_factory.mktemp("detector"), "bert", "ForTokenClassification", names)


def sample(answer: str, document: str = "the tower is 22 m high .", **more: Any) -> Sample:
    return Sample("1", document, answer, **{"question": "how high is it ?", **more})


# --- what classes mean --------------------------------------------------------------------------------------


def config_of(names: dict[int, str] | None, task: str = "ForSequenceClassification") -> dict[str, Any]:
    named = {} if names is None else {"id2label": {str(at): name for at, name in names.items()}}
    return {"architectures": [f"Bert{task}"], **named}


@pytest.mark.parametrize(
    ("names", "labels", "kind", "fail"),
    [
        (NLI, None, "classes", (0, 2)),
        ({0: "ENTAILMENT", 1: "NOT_ENTAILMENT"}, None, "classes", (1,)),
        ({0: "unsupported", 1: "Supported"}, None, "classes", (0,)),
        ({0: "not-hallucinated", 1: "hallucinated"}, None, "classes", (1,)),
        ({0: "LABEL_0"}, None, "score", ()),
        ({0: "hallucinated"}, None, "score", (0,)),
        ({0: "LABEL_0", 1: "LABEL_1"}, "PASS=LABEL_1", "classes", (0,)),
        ({0: "LABEL_0", 1: "LABEL_1"}, "fail=LABEL_1", "classes", (1,)),
        ({0: "a", 1: "b", 2: "c"}, "PASS=a,PASS=b", "classes", (2,)),
        ({0: "relevance"}, "PASS=relevance", "score", ()),
    ],
)
def test_classes_are_read_by_their_names_or_by_what_is_said(
    names: dict[int, str], labels: str | None, kind: str, fail: tuple[int, ...]
) -> None:
    head = read_head(config_of(names), "m", parse_labels(labels))
    assert (head.kind, head.fail) == (kind, fail)


def test_token_classes() -> None:
    task = "ForTokenClassification"
    assert read_head(config_of(None, task), "m").fail == (1,)  # LettuceDetect's form
    assert read_head(config_of({0: "hallucinated", 1: "supported"}, task), "m").fail == (0,)
    with pytest.raises(InputError, match=r"--set labels\.PASS=O"):
        read_head(config_of({0: "O", 1: "B-PER", 2: "I-PER"}, task), "m")


@pytest.mark.parametrize(
    ("names", "labels", "error"),
    [
        ({0: "LABEL_0", 1: "LABEL_1"}, None, "--set labels.PASS=LABEL_0"),
        ({0: "LABEL_0", 1: "LABEL_1"}, None, 'judge export: .* {"labels": {"PASS": "LABEL_0"}}'),
        ({0: "positive", 1: "negative"}, None, "which does not say"),
        (NLI, "PASS=entails", "no class 'entails'"),
        (NLI, "PASS=entailment,PASS=neutral,PASS=contradiction", "mean the same"),
        (NLI, "PASS=entailment,FAIL=neutral", "say what 'contradiction'"),
    ],
)
def test_unclear_classes_are_an_error(names: dict[int, str], labels: str | None, error: str) -> None:
    with pytest.raises(InputError, match=error):
        read_head(config_of(names), "m", parse_labels(labels))


# --- what is read -------------------------------------------------------------------------------------------


def pairing_of(folder: Path, **form: Any) -> Pairing:
    return Pairing(read_tokenizer(folder), Form.model_validate(form))


def test_special_tokens_in_a_text_stay_text(bert: Path) -> None:
    """A document that says [SEP] opens no field."""
    pairing = pairing_of(bert)
    separator = pairing.tokenizer.token_to_id("[SEP]")
    [row] = pairing.pairs(sample("it is [SEP] high", "the [SEP] [CLS] tower")).rows
    assert row.ids.count(separator) == 3  # document, question, answer


@settings(max_examples=60)
@given(
    document=st.lists(st.sampled_from(WORDS), max_size=150),
    answer=st.lists(st.sampled_from(WORDS), min_size=1, max_size=120),
    question=st.lists(st.sampled_from(WORDS), max_size=40),
    form=st.sampled_from(["whole", "worst"]),
    first=st.sampled_from(["document", "answer"]),
)
def test_everything_is_read_or_counted(
    bert: Path, document: list[str], answer: list[str], question: list[str], form: str, first: str
) -> None:
    """Windows cover the document, parts cover the answer, no pair is longer than the encoder reads."""
    pairing = pairing_of(bert, sentences=form, first=first, window_tokens=128)
    one = sample(" ".join(answer), " ".join(document), question=" ".join(question))
    found = pairing.pairs(one)
    assert all(len(row) <= 128 for row in found.rows)
    assert len(found.rows) == len(found.windows) * len(found.owners)
    covered = {at for row in found.rows for start, end in row.spans for at in range(start, end)}
    units = {at for unit in found.units for at in range(unit.start, unit.end)}
    assert units - covered <= {at for at, letter in enumerate(one.answer) if letter == " "}
    text = one.document_text
    seen = {at for window in found.windows for at in range(window.start, window.end)}
    assert all(letter == " " for at, letter in enumerate(text) if at not in seen)
    asked = len(pairing.tokenizer.encode(one.question, add_special_tokens=False).ids)
    assert (found.cut_chars > 0) == (asked > 31)  # with its separator a quarter of a pair


def test_what_is_not_read_is_counted(bert: Path) -> None:
    pairing = replace(pairing_of(bert, window_tokens=128), max_document_tokens=10)
    found = pairing.pairs(sample("it is high", "the tower is 22 m high . " * 4))
    assert found.cut_chars == len("the tower is 22 m high . " * 4) - len(
        "the tower is 22 m high . the tower is "
    )


# --- judging ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(ARCHITECTURES))
def test_a_classifier_of_the_hub_is_a_judge(kind: str, tmp_path: Path) -> None:
    """p(FAIL) is 1 less entailment, as transformers' own model and tokenizer give it."""
    save_model(tmp_path, kind, "ForSequenceClassification", NLI)
    judge = load_judge(str(tmp_path))
    one = sample("it is 23 m high .")
    [verdict] = judge.check([one])
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path).eval()
    text = AutoTokenizer.from_pretrained(tmp_path)(
        one.document_text, one.answer, return_tensors="pt", return_token_type_ids=kind in ("bert", "nomic")
    )
    with torch.inference_mode():
        p = model(**text).logits.softmax(-1)[0, 1]
    assert verdict.p_fail == pytest.approx(1 - float(p), abs=1e-5)
    assert verdict.label is (Label.FAIL if verdict.p_fail >= 0.5 else Label.PASS)
    assert judge.describe()["head"] == {"kind": "classes", "fail": ["contradiction", "neutral"]}


def test_a_verdict_does_not_depend_on_its_neighbours(nli: Path) -> None:
    judge = load_judge(str(nli))
    some = [sample("it is high . " * times, "the tower . " * (7 * times)) for times in (1, 5, 2, 9)]
    together = judge.check(some)
    alone = [judge.check([one])[0] for one in some]
    assert [a.p_fail for a in together] == pytest.approx([b.p_fail for b in alone], abs=1e-5)


def test_the_best_window_and_the_worst_sentence_decide(nli: Path) -> None:
    judge = load_judge(str(nli))
    assert isinstance(judge, EncoderJudge)
    answer = "The tower is red. It was built by Anna."
    windows = ["The tower is blue and 22 m high. " * 5, "King Anna was not high. " * 5]
    one = sample(answer, "".join(windows).strip())
    [verdict] = judge.check([one])
    assert len(verdict.windows) > 1 and len(verdict.claims) == 2
    text = one.document_text
    by_sentence = []
    for claim in verdict.claims:
        alone = [
            judge.check([sample(answer[claim.span.start : claim.span.end], text[window.start : window.end])])[
                0
            ]
            for window in verdict.windows
        ]
        by_sentence.append(min(found.p_fail or 0.0 for found in alone))
        assert claim.p_fail == pytest.approx(by_sentence[-1], abs=1e-5)
    assert verdict.p_fail == pytest.approx(max(by_sentence), abs=1e-5)
    mean = load_judge(str(nli), pair=["sentences=mean"]).check([one])[0]
    assert mean.p_fail == pytest.approx(sum(by_sentence) / 2, abs=1e-5)


@pytest.mark.parametrize("kind", ["bert", "modernbert", "roberta"])
def test_a_token_classifier_marks_words(kind: str, tmp_path: Path) -> None:
    """p(FAIL) is that of the most doubted token of the answer; the document's tokens do not count."""
    save_model(tmp_path, kind, "ForTokenClassification", {0: "supported", 1: "hallucinated"})
    judge = load_judge(str(tmp_path))
    assert isinstance(judge, EncoderJudge)
    one = sample("the tower is 23 m high , built by anna")
    [verdict] = judge.check([one])
    [row] = judge.pairing.pairs(one).rows
    [whole], [tokens] = judge.network.probabilities([row])
    assert (
        len(tokens) == len(row.spans) == 10
        and verdict.p_fail == pytest.approx(max(tokens), abs=1e-6) == whole
    )
    known = dict(zip(row.spans, tokens, strict=True))
    assert verdict.unsupported == (unsupported_words(one.answer, known.items()) if whole >= 0.5 else ())
    premise = judge.pairing.tokenizer.encode("how high is it ?\n\nthe tower is 22 m high .").ids
    assert list(row.ids[: len(premise)])[1:-1] == premise[1:-1]


@pytest.mark.parametrize("kind", ["detector", "nli"])
def test_no_number_and_nothing_read_are_no_verdict(kind: str, request: pytest.FixtureRequest) -> None:
    judge = load_judge(str(request.getfixturevalue(kind)))
    good, unread = judge.check([sample("low"), sample("\ufffd\ufffd")])
    assert good.label is not None
    assert (unread.label, unread.error) == (None, "the judge can read nothing of the answer")
    with mock.patch.object(EncoderNetwork, "probabilities", lambda *_: ([math.nan], [[math.nan]])):
        [verdict] = judge.check([sample("low")])
    assert (verdict.label, verdict.p_fail, verdict.error) == (None, None, "the model gave no number")


def test_a_template_renders_the_premise(detector: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text("the king : {{ document }} . {{ question }}")
    judge = load_judge(str(detector), template=tmp_path / "p.jinja")
    assert isinstance(judge, EncoderJudge)
    [row] = judge.pairing.pairs(sample("low")).rows
    wanted = judge.pairing.tokenizer.encode("the king : the tower is 22 m high . . how high is it ?", "low")
    assert list(row.ids) == wanted.ids and judge.describe()["prompt_version"] == 2
    assert judge.describe()["prompt_hash"] != load_judge(str(detector)).describe()["prompt_hash"]


def test_a_template_of_several_turns_is_refused(detector: Path, tmp_path: Path) -> None:
    prompt = {"system": "Be strict.", "user": "{{ document }}"}
    (tmp_path / "p.yaml").write_text(json.dumps({"prompts": [prompt]}))
    judge = load_judge(str(detector), template=tmp_path / "p.yaml")
    with pytest.raises(InputError, match=r"p.yaml: expected one turn, .*; found 2"):
        judge.check([sample("low")])


def test_a_question_that_leaves_no_room_is_an_error_of_its_sample(detector: Path, tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text("{{ question }} {{ document }}")
    judge = load_judge(str(detector), template=tmp_path / "p.jinja")
    good, long = judge.check([sample("low"), sample("low", question="how high is it ? " * 9)])
    assert good.label is not None and long.label is None and "p.jinja" in str(long.error)
    assert "45 tokens next to the document" in str(long.error)


def test_parts_have_the_probabilities_of_the_answer(nli: Path) -> None:
    """One scale: the worst part's p(FAIL) is the answer's, calibrated as it is; claims asked for are, too."""
    judge = load_judge(str(nli))
    assert isinstance(judge, EncoderJudge)
    curve = Curve(method="platt", temperature=2.0, bias=-1.0)
    one = sample("It is red. It was built by a king. It is not high.")
    with mock.patch.object(EncoderJudge, "curve", lambda _: curve):
        [plain], [told] = judge.check([one]), ClaimsJudge(judge).check([one])
    worst = max(claim.p_fail or 0.0 for claim in plain.claims)
    assert len(plain.claims) == 3 and plain.p_fail == pytest.approx(worst, abs=1e-6)
    assert [claim.p_fail for claim in told.claims] == pytest.approx([claim.p_fail for claim in plain.claims])


def test_one_logit_and_the_order_of_a_reranker(tmp_path: Path) -> None:
    save_model(tmp_path, "roberta", "ForSequenceClassification", {0: "LABEL_0"})
    one = sample("it is 23 m high .")
    plain = load_judge(str(tmp_path)).check([one])[0]
    turned = load_judge(str(tmp_path), labels="FAIL=LABEL_0").check([one])[0]
    assert plain.p_fail == pytest.approx(1 - (turned.p_fail or 0))
    other = load_judge(str(tmp_path), pair=["first=answer"])
    assert isinstance(other, EncoderJudge)
    [row] = other.pairing.pairs(one).rows
    assert row.start == 1 and other.check([one])[0].p_fail != plain.p_fail
    with pytest.raises(InputError, match=r"^field 'first': .* found 'question'"):  # no file is at fault
        load_judge(str(tmp_path), pair=["first=question"])


def test_settings_lie_in_judge_json(tmp_path: Path) -> None:
    save_model(tmp_path, "bert", "ForSequenceClassification", {0: "LABEL_0", 1: "LABEL_1"})
    settings = {"labels": {"PASS": "LABEL_1"}, "form": {"question": "hypothesis", "sentences": "mean"}}
    (tmp_path / "judge.json").write_text(json.dumps(settings))
    judge = load_judge(str(tmp_path))
    assert isinstance(judge, EncoderJudge)
    assert judge.network.head.fail == (0,) and judge.pairing.form.sentences == "mean"
    (tmp_path / "judge.json").write_text(json.dumps({**settings, "form": {"sentences": "best"}}))
    with pytest.raises(InputError, match=r"judge.json.*sentences"):
        load_judge(str(tmp_path))


# --- no weights that were not read may ever judge -----------------------------------------------------------


@pytest.mark.parametrize("task", ["Model", "ForMaskedLM", "ForQuestionAnswering"])
def test_an_encoder_without_a_head_is_refused(
    tmp_path: Path, task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A causal language model of random weights would hand out verdicts."""
    save_model(tmp_path, "bert", task)
    code = call("check", "--model", tmp_path, "--document", "the tower is high .", "--answer", "it is high .")
    error = capsys.readouterr().err
    assert code == 2 and "Traceback" not in error and "judge encoder" in error


@pytest.mark.parametrize("kind", ["encoder", "decoder"])
def test_a_missing_weight_is_an_error(kind: str, tmp_path: Path, model_folder: ModelFolder) -> None:
    folder = tmp_path / "m"
    if kind == "encoder":
        save_model(folder, "bert", "ForSequenceClassification", NLI)
    else:
        shutil.copytree(model_folder("chatml"), folder)
    weights = load_file(folder / "model.safetensors")
    name = "classifier.bias" if kind == "encoder" else next(name for name in sorted(weights) if "mlp" in name)
    del weights[name]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(JudgeError, match=rf"not in the checkpoint.*{name}"):
        load_judge(str(folder))


def test_what_encoders_do_not_take(nli: Path, model_folder: ModelFolder) -> None:
    for options in ({"mode": "reason"}, {"backend": "vllm"}):
        with pytest.raises(InputError, match="encoder"):
            load_judge(str(nli), **options)
    with pytest.raises(InputError, match="labels does not apply"):
        load_judge(str(model_folder("chatml")), labels="PASS=yes")


# --- words --------------------------------------------------------------------------------------------------


def test_doubted_tokens_become_words() -> None:
    answer = "Ada Lovelace wrote 12.5 % more, in 1843 (see notes)."
    doubts = [((0, 1), 0.1), ((1, 3), 0.7), ((4, 8), 0.2), ((8, 12), 0.9), ((13, 18), 0.1), ((19, 21), 0.6)]
    doubts += [((21, 22), 0.1), ((22, 23), 0.1), ((24, 25), 0.9), ((30, 31), 0.99), ((35, 39), 0.8)]
    found = unsupported_words(answer, doubts)
    assert [(one.text, one.p) for one in found] == [("Ada Lovelace", 0.9), ("12.5", 0.6), ("1843", 0.8)]
    assert all(answer[one.start : one.end] == one.text for one in found)
    assert (
        unsupported_words("他在北京出生。", [((2, 3), 0.9), ((3, 4), 0.8), ((4, 5), 0.1)])[0].text == "北京"
    )


@given(
    st.text(max_size=60),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 5), st.floats(0, 1)), max_size=20),
)
def test_spans_are_whole_words(answer: str, tokens: list[tuple[int, int, float]]) -> None:
    doubts = [
        ((start, min(start + size, len(answer))), p) for start, size, p in tokens if start < len(answer)
    ]
    last = -1
    for found in unsupported_words(answer, doubts):
        assert found.start > last and answer[found.start : found.end] == found.text.strip() != ""
        last = found.end
        if answer.isascii():
            before, after = answer[: found.start][-1:], answer[found.end :][:1]
            assert not (before.isalnum() and found.text[0].isalnum())
            assert not (after.isalnum() and found.text[-1].isalnum())


# --- training -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of 16 short documents."""
    return build_towers(tmp_path_factory.mktemp("towers"), 16, 0)


def test_labels_of_tokens(bert: Path) -> None:
    pairing = pairing_of(bert)
    wrong = sample("it is 23 m high .", label=Label.FAIL, meta={"spans": [{"start": 6, "end": 8}]})
    [row] = pairing.pairs(wrong).rows
    assert token_labels(wrong, row) == (0, 0, 1, 0, 0, 0)
    short = sample("23", label=Label.FAIL)
    assert token_labels(short, pairing.pairs(short).rows[0]) == (1,)
    unknown = sample("it is low and not high , king anna", label=Label.FAIL)
    assert set(token_labels(unknown, pairing.pairs(unknown).rows[0])) == {-1}


def test_each_architecture_learns_is_saved_and_judges(base: Path, towers: Path, tmp_path: Path) -> None:
    """What is saved is the network that was trained, a classifier that transformers reads too."""
    out = tmp_path / "judge"
    summary = train_encoder(recipe(base, towers, out, learning_rate=3e-3, evaluations=1, judged_samples=10))
    assert summary["losses"][0]["loss"] < 3 and summary["best"]["auroc"] is not None
    judge = load_judge(str(out))
    assert isinstance(judge, EncoderJudge) and judge.network.marks_tokens
    one = sample("it is 23 m high .")
    [verdict] = judge.check([one])
    model = AutoModelForSequenceClassification.from_pretrained(out).eval()
    assert model.config.id2label == {0: "hallucinated"}
    [row] = judge.pairing.pairs(one).rows
    inputs = {"input_ids": torch.tensor([row.ids])}
    if judge.network.segments:
        inputs["token_type_ids"] = torch.tensor([row.types])
    with torch.inference_mode():
        assert verdict.p_fail == pytest.approx(float(torch.sigmoid(model(**inputs).logits[0, 0])), abs=1e-5)
    again = load_encoder(out, json.loads((out / "judge.json").read_text()))
    assert again.describe() == {**judge.describe(), "model": str(out)}
    pack([out], tmp_path / "small")
    small: Any = load_judge(str(tmp_path / "small"))
    weights = small.network.state_dict()
    for name, value in judge.network.state_dict().items():  # off by half a step at most
        half = value.abs().amax(1, keepdim=True) / 254 if value.ndim == 2 else torch.zeros(1)
        assert ((weights[name] - value).abs() <= half + 1e-6).all(), name
    [foreign] = judge.check([sample("x", language="zh")])
    assert foreign.label is None and "zh" in str(foreign.error)


def test_an_encoder_learns(bert: Path, towers: Path, tmp_path: Path) -> None:
    """A tiny network learns some answers by heart."""
    summary = train_encoder(
        recipe(bert, towers, tmp_path / "out", epochs=40, learning_rate=5e-3, dressings=1)
    )
    losses = [one["loss"] for one in summary["losses"]]
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])


@pytest.mark.parametrize(
    ("kind", "more"),
    [("bert", {}), ("bert", {"lora": {"rank": 4}}), ("bert", {"reads": "pages"}), ("nomic", {})],
    ids=["weights", "lora", "pages", "nomic"],
)
def test_a_stopped_run_resumes_to_the_same_weights(
    kind: str, more: dict[str, Any], towers: Path, tmp_path: Path
) -> None:
    model = save_model(tmp_path / kind, kind, "Model")
    whole = train_encoder(recipe(model, towers, tmp_path / "whole", **more))
    assert whole["steps"] > 3
    parted = recipe(model, towers, tmp_path / "parted", resume=True, **more)
    with pytest.raises(Interrupted):
        train_encoder(parted, [at_step(2)])
    train_encoder(parted)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parted"))
    assert all(bool((first[name] == second[name]).all()) for name in first)
    before = load_file(model / "model.safetensors")
    moved = {"bert": "layer.0.attention.self.query", "nomic": "layers.0.mlp.fc2"}[kind]
    for own, changes in (("word_embeddings", False), (moved, True)):
        [there], [here] = (
            [value for name, value in weights.items() if name.endswith(f"{own}.weight")]
            for weights in (before, first)
        )
        assert bool((there == here).all()) is not changes  # training leaves the words alone
    assert load_judge(str(tmp_path / "parted")).check([sample("it is low .")])[0].label
    assert "library_name: transformers" in (tmp_path / "parted" / "README.md").read_text()


def test_long_documents_train_by_their_best_window(bert: Path) -> None:
    """The loss of a sample is that of the logit that judging takes."""
    network, _ = start_network(str(bert), token_head=False)
    pairing = pairing_of(bert, window_tokens=64)
    long = [
        sample("it is 22 m high . " * 2, "the tower is 22 m high . " * times, label=label)
        for times, label in ((1, Label.PASS), (14, Label.FAIL), (9, Label.PASS))
    ]
    batch = collate([long], pairing, network.pad_id)
    trainer = EncoderTrainer.__new__(EncoderTrainer)
    trainer.token_weight = 0.5
    loss, scores = trainer.compute_loss(network.eval(), batch, return_outputs=True)
    judge = EncoderJudge(network, pairing=pairing)
    p_fail = [verdict.p_fail for verdict in judge.check(long)]
    assert torch.sigmoid(scores).tolist() == pytest.approx(p_fail, abs=1e-5)
    assert bool(loss.isfinite()) and len(batch["part"]) > 3


@pytest.mark.parametrize(
    ("names", "factor"), [({0: "entailment", 1: "not_entailment"}, 1.0), ({0: "LABEL_0"}, 0.2)]
)
def test_a_classifier_keeps_what_it_knows(names: dict[int, str], factor: float, tmp_path: Path) -> None:
    """Training starts at the order in which the classifier puts answers already."""
    save_model(tmp_path, "bert", "ForSequenceClassification", names)
    before = load_judge(str(tmp_path))
    network, _ = start_network(str(tmp_path), token_head=False)
    assert isinstance(before, EncoderJudge)
    after = EncoderJudge(network.eval(), pairing=before.pairing)
    some = [sample(f"it is {height} m high .") for height in (20, 21, 22, 23, 24)]
    first, second = ([log_odds(v.p_fail or 0.0) for v in judge.check(some)] for judge in (before, after))
    assert second == pytest.approx([factor * one for one in first], abs=1e-5)


def test_what_cannot_be_trained_is_told(bert: Path, towers: Path, tmp_path: Path) -> None:
    rows = [
        {
            "id": label,
            "document": "the tower is 22 m high . " * 30,
            "answer": f"it is {label} .",
            "label": label,
        }
        for label in ("PASS", "FAIL")
    ]
    write_jsonl(tmp_path / "long" / "samples.jsonl", rows)
    with pytest.raises(InputError, match="max_pairs"):
        train_encoder(recipe(bert, tmp_path / "long", tmp_path / "c", max_pairs=1))
    with pytest.raises(InputError, match="no folder"):
        train_encoder(recipe(tmp_path / "none", towers, tmp_path / "d"))
    short = [{**row, "document": "the tower is 22 m high ."} for row in rows]
    write_jsonl(tmp_path / "short" / "samples.jsonl", short)
    for reads in ("pairs", "pages"):
        with pytest.raises(InputError, match="no labelled validation sample; set evaluations: 0, or"):
            train_encoder(recipe(bert, tmp_path / "short", tmp_path / "f", reads=reads, evaluations=1))
    for ignored in ({"lora": {"rank": 2}}, {"sentences": "worst"}, {"first": "answer"}, {"max_pairs": 1}):
        with pytest.raises(InputError, match=f"{next(iter(ignored))}': .*reads pages"):
            train_encoder(recipe(bert, towers, tmp_path / "e", reads="pages", **ignored))
    assert not (tmp_path / "c" / "judge.json").exists()


def test_a_judge_that_is_trained_on_keeps_its_form(tmp_path: Path) -> None:
    judge = save_judge(tmp_path / "judge")
    for changed in ({"sentences": "worst"}, {"first": "answer"}, {"window_tokens": 40}):
        told = f"{next(iter(changed))}': .*was trained with (whole|document|64),"
        with pytest.raises(InputError, match=told):
            start(recipe(judge, tmp_path, tmp_path, **changed))
    (judge / "token_head.safetensors").unlink()
    assert start(recipe(judge, tmp_path, tmp_path, token_weight=0))[0].token_head is None
    assert start(recipe(judge, tmp_path, tmp_path))[0].marks_tokens  # token_weight is 0.5


def test_a_judge_made_from_a_reranker_reads_the_answer_first(
    bert: Path, towers: Path, tmp_path: Path
) -> None:
    train_encoder(recipe(bert, towers, tmp_path / "judge", first="answer", max_steps=1))
    judge = load_judge(str(tmp_path / "judge"))
    assert isinstance(judge, EncoderJudge)
    [row] = judge.pairing.pairs(sample("it is 22 m high .")).rows
    assert row.types[row.start] == 0 and row.types[-2] == 1  # the document closes the pair


# --- adapters -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["pairs", "pages"])
def trained(
    request: pytest.FixtureRequest, bert: Path, towers: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A judge of the tiny BERT."""
    out = tmp_path_factory.mktemp("trained") / "judge"
    train_encoder(recipe(bert, towers, out, learning_rate=1e-3, reads=request.param))
    return out


def test_a_packed_judge_is_the_judge_in_a_quarter(trained: Path, tmp_path: Path) -> None:
    command = ("pack", trained, "--out", tmp_path / "small")
    assert [call(*command), call(*command)] == [0, 2]  # exists already
    assert call("pack", trained, "--out", tmp_path / "other", "--rank", 8) == 2  # of LoRA judges
    assert (tmp_path / "small" / PACKED).stat().st_size < 0.5 * (trained / "model.safetensors").stat().st_size
    some = [sample(f"it is {height} m high . " * (height - 19)) for height in range(20, 25)]
    assert p_fails(tmp_path / "small", some) == pytest.approx(p_fails(trained, some), abs=2e-3)
    assert call("pack", tmp_path / "small", "--out", tmp_path / "again") == 0  # rounds nothing further
    assert p_fails(tmp_path / "again", some) == pytest.approx(p_fails(tmp_path / "small", some), abs=1e-6)


def test_training_continues_from_a_packed_judge(
    bert: Path, trained: Path, towers: Path, tmp_path: Path
) -> None:
    """It starts as the judge that was packed, and says so; the encoder below stays the first one."""
    start, out = tmp_path / "small", tmp_path / "more"
    assert call("pack", trained, "--out", start) == 0
    train_encoder(recipe(start, towers, out, max_steps=1, learning_rate=1e-12))
    asked = [sample(f"it is {height} m high .") for height in (20, 21)]
    assert p_fails(out, asked) == pytest.approx(p_fails(start, asked), abs=1e-6)
    identity = json.loads((out / "judge.json").read_text())
    assert (identity["started_from"], identity["base_model"]) == (str(start), bert.name)
    assert f"Started from `{start}`" in (out / "README.md").read_text()


def test_too_few_answers_to_train_on_are_told(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Enough of them: nothing is said."""
    data = build_towers(tmp_path, 12, 0)
    answers = len(batches.read_splits(data / "samples.jsonl")["train"])
    train_encoder(recipe(trained, data, tmp_path / "few", max_steps=1))
    assert f"note: {answers} answers to learn from" in capsys.readouterr().err
    monkeypatch.setattr(batches, "FEW", answers)
    train_encoder(recipe(trained, data, tmp_path / "enough", max_steps=1))
    assert "to learn from" not in capsys.readouterr().err


def test_sentences_of_an_answer(trained: Path) -> None:
    """Each has a probability: from its tokens where the judge marks them."""
    judge = load_judge(str(trained))
    one = sample("it is 22 m high . it is red .")
    [(whole, parts)] = judge.check_sentences([one], [(Span(0, 17), Span(18, 29))])
    assert whole == judge.check([one])[0] and [part.label is not None for part in parts] == [True, True]


@settings(max_examples=40)
@given(
    lengths=st.lists(st.lists(st.integers(8, 60), min_size=1, max_size=4), min_size=1, max_size=40),
    seed=st.integers(0, 3),
)
def test_batches_hold_every_sample_once(lengths: list[list[int]], seed: int) -> None:
    """No batch is larger than it may be, unless one sample alone is; a pair that fits stays together."""
    train = [
        Item(Sample(f"{number}-{at}", f"document {number}", "a"), longest, 1, longest)
        for number, some in enumerate(lengths)
        for at, longest in enumerate(some)
    ]
    wanted = recipe(Path("m"), Path("d"), Path("o"), batch_tokens=120, seed=seed)
    batches = mixed_batches(train, wanted)
    assert sorted(one.id for batch in batches for one in batch) == sorted(item.sample.id for item in train)
    sizes = {item.sample.id: item.longest for item in train}
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(sizes[one.id] for one in batch) <= 120
    assert batches == mixed_batches(train, wanted)


@settings(max_examples=40)
@given(
    answers=st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), min_size=1, max_size=20)
)
def test_dressed_answers_keep_label_and_words(answers: list[str]) -> None:
    """Copies stand behind what they copy, with its label, and nobody says where they are wrong."""
    marks = {"spans": [{"start": 0, "end": 1}], "category": "time"}
    labels = (Label.PASS, Label.FAIL)
    some = [Sample(f"{n}", "d", one, label=labels[n % 2], meta=marks) for n, one in enumerate(answers)]
    assert with_dressed(some, 0, 0) == some
    dressed = with_dressed(some, 1, 0)
    assert dressed[::2] == some and dressed == with_dressed(some, 1, 0)
    for before, after in zip(some, dressed[1::2], strict=True):
        assert after.id == f"{before.id}:dressed" and after.label is before.label
        assert after.meta == {"category": "time"}
        letters = [letter for letter in before.answer.upper() if letter.isalnum()]
        dress = iter(after.answer.upper())
        assert all(letter in dress for letter in letters)  # none is lost, and the order stays
