"""Sentence by sentence: passages, what is told, and how it is calibrated."""

import json
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.baselines.overlap import units
from judge.baselines.rules import TrivialBaseline
from judge.calibration.curve import Curve
from judge.claims.calibration import ClaimsCalibration
from judge.claims.checker import ClaimsJudge, read_claims, with_claims
from judge.claims.fit import Labelled, fit_claims
from judge.claims.passages import LONGEST, nearest, passages
from judge.errors import InputError, JudgeWarning
from judge.files import JUDGE_FILE
from judge.judge import Judge
from judge.load import load_judge
from judge.prompting.sentences import claim_spans
from judge.samples import write_samples
from judge.types import Label, Sample, Span, Unsupported, Verdict, verdict_from_json, verdict_to_json
from tests.calling import ModelFolder, Ran, Refused, call
from tests.made_up import verdict
from tests.scripted import Scripted

BRIDGE = (
    "The Tarn Bridge was designed by Ada Holst and opened in 1931, after nine years of quarrels about its "
    "cost and place. It replaced a ferry that had crossed the river for 200 years, and is 214 metres long "
    "between its towers. In 1987 a storm damaged the eastern pier, and the bridge was closed for five months."
)
PLAIN = Curve(method="platt")


def doubt(sample: Sample) -> Verdict:
    """Doubts an answer by the share of its words that the document lacks."""
    known = set(units(sample.document_text, sample.language))
    words = units(sample.answer, sample.language)
    return verdict(sum(word not in known for word in words) / len(words))


class Words(Scripted):
    chunk = 16

    def __init__(self, verdict_on: Callable[[Sample], Verdict] = doubt):
        super().__init__(verdict_on)

    def describe(self) -> dict[str, Any]:
        return {"model": "words", "prompt_hash": "w"}


def calibration(**values: Any) -> ClaimsCalibration:
    counts = dict.fromkeys(("samples", "fail", "groups", "marked_sentences", "wrong_sentences"), 1)
    figures = dict.fromkeys(("ece_sentences", "auroc_sentences"), 0.5)
    fields = {"sentences": PLAIN, "prompt_hash": "w", "data_sha256": "0"}
    return ClaimsCalibration(**{**fields, **counts, **figures, **values})


def text_of(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[span.start : span.end] for span in spans]


# --- Sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (
            "Do this:\n1. Open it.\n 2. Close it. Then go.",
            ["Do this:", "1. Open it.", "2. Close it.", "Then go."],
        ),
        ("- one\n\n* two\n***\n", ["- one", "* two\n***"]),
        ("a) One is so. B. Two is.", ["a) One is so.", "B. Two is."]),
        ("7.", ["7."]),
    ],
)
def test_the_marks_of_a_list_are_no_sentences(answer: str, wanted: list[str]) -> None:
    assert text_of(answer, claim_spans(answer)) == wanted


# --- Passages -----------------------------------------------------------------------------------------------


@given(st.text(alphabet='aB .!"\n\u3002\u6865', max_size=1200).filter(str.strip))
def test_passages_hold_the_whole_document_in_order(document: str) -> None:
    spans = passages(document)
    assert "".join("".join(text_of(document, spans)).split()) == "".join(document.split())
    assert all(one.end <= two.start for one, two in pairwise(spans))
    assert all(0 < span.end - span.start <= LONGEST for span in spans)


def test_the_passage_that_holds_a_sentences_words_is_nearest() -> None:
    spans = passages(BRIDGE)
    assert len(spans) == 3
    asked = ["A storm hit the pier.", "Ada Holst designed it.", "The bridge is 214 metres long.", "?"]
    assert nearest(BRIDGE, spans, asked, "en") == [2, 0, 1, 0]
    chinese = "大桥由霍尔斯特设计。" + "它长二百一十四米，取代了渡船。" * 12 + "一九八七年风暴损坏了东墩。"
    found = nearest(chinese, passages(chinese), ["风暴损坏了东墩", "霍尔斯特设计"], "zh")
    assert found == [len(passages(chinese)) - 1, 0]


# --- What is told -------------------------------------------------------------------------------------------

ANSWER = "Ada Holst designed the bridge. Lindmoor sued everybody loudly. A storm damaged the pier."


def test_every_sentence_has_its_probability_and_its_passage() -> None:
    judge = Words()
    some = [
        Sample(f"s{number}", BRIDGE, ANSWER if number % 2 else "It opened in 1931.", label=Label.FAIL)
        for number in range(9)
    ]
    verdicts = ClaimsJudge(judge).check(some)
    asked = [piece for chunk in judge.asked for piece in chunk]
    assert len(asked) == 5 + 4 * (1 + 3)  # an answer of one sentence is judged once
    assert all(piece.label is None for piece in asked if piece.answer not in (ANSWER, some[0].answer))
    for sample, found in zip(some, verdicts, strict=True):
        [plain] = Words().check([sample])
        assert (found.label, found.p_fail) == (plain.label, plain.p_fail)  # nothing is calibrated
        assert text_of(BRIDGE, found.windows) == text_of(BRIDGE, passages(BRIDGE))
    told = verdicts[1]
    assert [claim.window for claim in told.claims] == [0, told.claims[1].window, 2]
    assert [(claim.p_fail or 0) >= 0.5 for claim in told.claims] == [False, True, False]
    assert text_of(ANSWER, [told.claims[1].span]) == ["Lindmoor sued everybody loudly."]
    assert verdicts[0].claims[0].p_fail == verdicts[0].p_fail
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(told)))) == told
    [empty] = ClaimsJudge(TrivialBaseline("baseline:always-fail"), calibration()).iter_check(
        [Sample("e", "", " ")]
    )
    assert empty.p_fail == 1 and not empty.claims


def test_sentences_are_read_in_verdict_mode(tiny_backend: Callable[..., Any]) -> None:
    """A reasoning for every sentence would take minutes."""
    judge = Judge(tiny_backend("chatml"), mode="reason", max_new_tokens=3)
    sample = Sample("s", BRIDGE, ANSWER)
    [found] = ClaimsJudge(judge).check([sample])
    [plain] = judge.check([sample])
    assert found == replace(plain, windows=found.windows, claims=found.claims)
    parts = [replace(sample, answer=text) for text in text_of(ANSWER, claim_spans(ANSWER))]
    wanted = replace(judge, mode="verdict").check(parts)
    told = [claim.p_fail for claim in found.claims]
    # In other batches float32 rounds otherwise, by up to 1e-6 on some processors.
    assert told == pytest.approx([verdict.p_fail for verdict in wanted], abs=1e-5)


def test_calibrated_sentences_are_hints_and_the_verdict_stays() -> None:
    sample, curve = Sample("s", BRIDGE, ANSWER), Curve(method="platt", bias=2.0)
    [answer] = Words().check([sample])
    [plain] = ClaimsJudge(Words()).check([sample])
    judge = ClaimsJudge(Words(), calibration(sentences=curve))
    [found] = judge.check([sample])
    raised = [curve(claim.p_fail or 0) for claim in plain.claims]
    assert [claim.p_fail for claim in found.claims] == pytest.approx(raised)
    assert (found.label, found.p_fail) == (plain.label, plain.p_fail) == (answer.label, answer.p_fail)
    assert judge.describe()["claims"] != replace(judge, calibration=None).describe()["claims"]
    [alone] = judge.check([replace(sample, answer="Lindmoor sued everybody loudly.")])
    assert [claim.p_fail for claim in alone.claims] == [alone.p_fail]  # one sentence, one probability


def test_sentences_that_are_not_read_have_no_probability() -> None:
    def unread(sample: Sample) -> Verdict:
        if sample.answer != ANSWER and sample.answer.startswith("A storm"):
            return Verdict(None, error="unread")
        return doubt(sample)

    sample = Sample("s", BRIDGE, ANSWER)
    [found] = ClaimsJudge(Words(unread), calibration()).check([sample])
    assert [claim.p_fail is None for claim in found.claims] == [False, False, True]
    assert found.p_fail == Words().check([sample])[0].p_fail


# --- Calibration --------------------------------------------------------------------------------------------


def labelled(count: int) -> tuple[list[Sample], list[list[Verdict]]]:
    """Answers of three sentences, of which people marked what is wrong, and a judge who half knows it."""
    draw = random.Random(0)
    samples, verdicts = [], []
    for number in range(count):
        wrong = [draw.random() < 0.2 for _ in range(3)]
        answer = "One is so. Two is so. Six is so."
        spans = [{"start": 11 * at + 4, "end": 11 * at + 6} for at in range(3) if wrong[at]]
        sample = Sample(
            f"s{number}", f"document {number // 2}", answer,
            label=Label.FAIL if any(wrong) else Label.PASS, group=str(number // 2), meta={"spans": spans},
        )  # fmt: skip
        doubts = [min(max(draw.gauss(0.3 + 0.4 * bad, 0.15), 0.01), 0.99) for bad in wrong]
        samples.append(sample)
        verdicts.append([verdict(p) for p in doubts])
    return samples, verdicts


def test_the_curve_is_fitted_to_marked_spans() -> None:
    samples, verdicts = labelled(160)
    data = Labelled()
    assert all(data.add(*pair) for pair in zip(samples, verdicts, strict=True))
    unread = Verdict(None, error="unread")
    assert not data.add(samples[0], [unread] * 3)
    some = Labelled()
    assert some.add(samples[0], [verdict(0.2), unread, verdict(0.3)]) and some.sentences()[0] == [0.2, 0.3]
    found = fit_claims(data, prompt_hash="w", data_sha256="0")
    marked = sum(len(sample.meta["spans"]) for sample in samples)
    assert (found.samples, found.marked_sentences, found.wrong_sentences) == (160, 480, marked)
    assert found.auroc_sentences > 0.9 and found.ece_sentences < 0.1
    blind = Labelled()
    for sample, told in zip(samples, verdicts, strict=True):
        blind.add(replace(sample, meta={}), told)
    with pytest.raises(InputError, match="'spans'"):
        fit_claims(blind, prompt_hash="w", data_sha256="0")


def test_a_calibration_is_used_where_it_holds(tmp_path: Path) -> None:
    kept = {"claims": calibration().model_dump(mode="json")}
    assert with_claims(Words(), kept, "m").calibration == calibration()
    kept["claims"]["prompt_hash"] = "another"
    with pytest.warns(JudgeWarning, match="set aside"):
        assert with_claims(Words(), kept, "m").calibration is None
    assert read_claims({}, "m") is None
    with pytest.raises(InputError, match=r"field .claims.: holds no calibration"):
        read_claims({"claims": {"sentences": 3}}, str(tmp_path))


# --- Commands -----------------------------------------------------------------------------------------------


def test_check_names_every_sentence(tmp_path: Path, ran: Ran) -> None:
    bridge = tmp_path / "bridge.txt"
    bridge.write_text(BRIDGE)
    asked = ("check", "--model", "baseline:always-fail", "--document", f"@{bridge}", "--answer", ANSWER)
    lines = ran(*asked, "--claims").out.splitlines()
    assert lines[0] == "FAIL (hallucinated, p(FAIL) = 1.000)"
    assert "probability that each sentence is wrong (the verdict is on the answer as a whole):" in lines
    assert lines[-2] == "1.000  A storm damaged the pier."
    assert lines[-1].startswith("       document: In 1987 a storm")
    assert sum("FAIL" in line or "PASS" in line for line in lines) == 1  # one verdict, on the answer
    claims = json.loads(ran(*asked, "--claims", "--json").out)["claims"]
    assert [sorted(claim) for claim in claims] == [["p_fail", "span", "window"]] * 3


def test_calibrate_keeps_the_curve_beside_the_model(
    model_folder: ModelFolder, tmp_path: Path, ran: Ran
) -> None:
    folder = shutil.copytree(model_folder("chatml"), tmp_path / "model")
    samples, _ = labelled(48)
    unmarked = next(sample for sample in samples if sample.label is Label.FAIL)
    data = [replace(sample, meta={}) if sample is unmarked else sample for sample in samples]
    write_samples(tmp_path / "marked.jsonl", data)
    out = ran("calibrate", "--claims", "--model", folder, "--data", tmp_path / "marked.jsonl").out
    assert "141 sentences" in out and "sentences: AUROC" in out
    assert "1 FAIL answer without marks: their sentences are not used" in out
    assert json.loads((folder / JUDGE_FILE).read_text())["claims"]["samples"] == 48
    judge = load_judge(str(folder), claims=True)
    assert isinstance(judge, ClaimsJudge) and judge.calibration is not None
    [verdict] = judge.check(samples[:1])
    values = [claim.p_fail or 0 for claim in verdict.claims]
    assert verdict.p_fail is not None and len(values) == 3 and "claims" in judge.describe()
    assert call("calibrate", "--claims", "--mode", "reason", "--model", folder, "--data", "x.jsonl") == 2


@pytest.mark.parametrize(
    "spans",
    [
        [{"start": 60, "end": 90}],
        [{"start": 9, "end": 6}],
        [{"start": 6, "end": 6}],
        [{"start": "6", "end": "9"}],
        [{"start": 6.0, "end": 9.0}],
        [{"start": -4, "end": float("nan")}],
        [{"start": None, "end": 9}],
        [[6, 9]],
        [6, 9],
        6,
    ],
)
def test_wrong_marks_are_refused(spans: Any, tmp_path: Path, refused: Refused) -> None:
    samples, _ = labelled(48)
    write_samples(tmp_path / "m.jsonl", [samples[0], replace(samples[1], meta={"spans": spans})])
    said = refused("calibrate", "--claims", "--model", tmp_path, "--data", tmp_path / "m.jsonl")
    assert "m.jsonl:2: field 'meta.spans': holds " in said and "0 <= start < end <= 32" in said


def test_claims_take_no_targets_and_need_enough_samples(tmp_path: Path, refused: Refused) -> None:
    samples, _ = labelled(24)
    write_samples(tmp_path / "few.jsonl", samples)
    given = ("calibrate", "--claims", "--model", tmp_path, "--data", tmp_path / "few.jsonl")
    assert "calibration needs 20 of each" in refused(*given)
    for change in ("method=isotonic", "target_precision=0.8", "target_recall=0.8"):
        assert "has no effect with --claims" in refused(*given, "--set", change)


@pytest.mark.parametrize(
    ("marked", "wanted"),
    [("Ada Holst, Lindmoor", ["Lindmoor"]), ("Ada Holst", ["Lindmoor sued everybody loudly."])],
)
def test_words_are_marked_in_doubted_sentences_alone(marked: str, wanted: list[str]) -> None:
    """A sentence with a low probability has no unsupported words."""

    def words(sample: Sample) -> Verdict:
        spans = [
            Span(sample.answer.find(text), sample.answer.find(text) + len(text))
            for text in marked.split(", ")
        ]
        found = verdict(0.9) if sample.answer == ANSWER else doubt(sample)
        return replace(found, unsupported=tuple(Unsupported.of(sample.answer, span) for span in spans))

    [found] = ClaimsJudge(Words(words), calibration()).check([Sample("s", BRIDGE, ANSWER)])
    assert [one.text for one in found.unsupported] == wanted
