"""Calibration: the curves, what is kept of them, and what a judge does with it."""

import json
import math
import random
import re
import shutil
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.calibration.curve import (
    Calibration,
    Curve,
    Method,
    NeverSeen,
    log_odds,
    read_calibrations,
    threshold_named,
)
from judge.calibration.fit import (
    FOLDS,
    check_enough,
    cross_fitted,
    find_threshold,
    fit_calibration,
    fit_curve,
)
from judge.calibration.reliability import calibration_error, chance_error
from judge.errors import InputError, JudgeError, JudgeWarning
from judge.judge import Judge
from judge.load import load_judge
from judge.prompting.finishing import finish
from judge.prompting.prompts import prompt_hash
from judge.prompting.templates import TemplatePrompt
from judge.samples import write_samples
from judge.shipped import model_path
from judge.types import Label, Sample, Verdict
from tests.calling import ModelFolder, Ran, Refused, call
from tests.encoders import NLI, save_model
from tests.tiny_data import rows_of

METHODS: tuple[Method, ...] = ("platt", "temperature", "isotonic")
Judged = tuple[Path, Path, list[Sample]]


def sigmoid(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))


def drawn(n: int, temperature: float, bias: float) -> tuple[list[float], list[bool], list[str]]:
    """A judge whose right probability is ``sigmoid(odds / temperature + bias)``; two samples a document."""
    draw = random.Random(0)
    odds = [draw.gauss(0, 2 * temperature) for _ in range(n)]
    fails = [draw.random() < sigmoid(value / temperature + bias) for value in odds]
    return [sigmoid(value) for value in odds], fails, [str(number // 2) for number in range(n)]


def stored(**values: Any) -> Calibration:
    fields: dict[str, Any] = {
        "curve": Curve(method="platt", temperature=2.0, bias=1.0),
        "prompt_hash": prompt_hash(),
        "data_sha256": "0" * 64,
        "samples": 100,
        "fail": 50,
        "groups": 20,
        "ece_before": 0.2,
        "ece_after": 0.01,
    }
    return Calibration(**{**fields, **values})


# --- curves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_curve_never_falls_and_never_is_sure(method: Method) -> None:
    p_fail, fails, _ = drawn(200, 2.0, -0.5)
    curve = fit_curve(method, p_fail, fails)
    values = [curve(number / 1000) for number in range(1001)]
    assert values == sorted(values) and all(0 <= value <= 1 for value in values)
    # Separable samples: no probability of 0 or 1 comes of a few of them.
    separated = fit_curve(method, [0.1, 0.2, 0.8, 0.9], [False, False, True, True])
    assert all(0.001 < separated(p) < 0.999 for p in (0.1, 0.2, 0.8, 0.9))


@given(st.floats(0, 1), st.sampled_from(METHODS))
def test_any_probability_has_a_calibrated_one(p_fail: float, method: Method) -> None:
    points = ((0.2, 0.1), (0.5, 0.1), (0.7, 0.9))
    curve = Curve(method=method, temperature=0.01, bias=3, points=points if method == "isotonic" else ())
    assert 0 <= curve(p_fail) <= 1
    assert Curve.model_validate_json(curve.model_dump_json()) == curve


@pytest.mark.parametrize("points", [(), ((0.5, 0.2), (0.1, 0.1))])
def test_points_that_make_no_curve(points: Any) -> None:
    with pytest.raises(ValueError, match="points"):
        Curve(method="isotonic", points=points)


def test_isotonic_is_linear_between_its_points() -> None:
    curve = Curve(method="isotonic", points=((0.2, 0.1), (0.4, 0.3), (0.8, 0.9)))
    assert [curve(p) for p in (0, 0.2, 0.3, 0.4, 0.6, 0.8, 1)] == pytest.approx(
        [0.1, 0.1, 0.2, 0.3, 0.6, 0.9, 0.9]
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_judge_that_is_wrong_throughout_cannot_be_calibrated(method: Method) -> None:
    p_fail, fails, groups = drawn(200, 1.0, 0.0)
    wrong = [not fail for fail in fails]
    with pytest.raises(JudgeError, match="does not rise with FAIL"):
        fit_calibration(method, p_fail, wrong, groups, {}, prompt_hash="", data_sha256="")
    # One fold like this, by chance, is not a reason to give up.
    assert len(cross_fitted(method, p_fail, wrong, groups)) == len(p_fail)


def test_no_curve_saw_the_document_it_is_measured_on(monkeypatch: pytest.MonkeyPatch) -> None:
    p_fail, fails, groups = drawn(60, 1.0, 0.0)
    # Every probability names its document, so that a curve can be asked which it was fitted on.
    names = dict(zip(p_fail, groups, strict=True))

    def fit(method: Method, fitted: list[float], labels: list[bool]) -> Callable[[float], float]:
        seen = {names[p] for p in fitted}
        assert 0 < sum(labels) < len(labels)
        return lambda p: float(names[p] in seen)

    monkeypatch.setattr("judge.calibration.fit.fit_curve", fit)
    assert cross_fitted("platt", p_fail, fails, groups) == [0.0] * 60


def test_too_few_documents() -> None:
    p_fail, fails, groups = drawn(100, 1.0, 0.0)
    pairs = zip(groups, fails, strict=True)
    few = [str(int(group) % (FOLDS - 1)) if fail else group for group, fail in pairs]
    with pytest.raises(InputError, match=f"{FOLDS - 1} documents have a FAIL sample; calibration needs"):
        cross_fitted("platt", p_fail, fails, few)


def test_chance_error_is_that_of_a_perfect_judge() -> None:
    p_fail, fails, _ = drawn(300, 1.0, 0.0)
    chance = chance_error(p_fail)
    assert chance is not None and 0.01 < chance < 0.08
    assert calibration_error(p_fail, fails) == pytest.approx(chance, abs=0.03)
    assert chance_error([]) is None and chance_error([0.0, 1.0]) == 0


# --- thresholds ---------------------------------------------------------------------------------------------

scored = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]), st.booleans()), min_size=1
).filter(lambda rows: any(fail for _, fail in rows))


@given(scored, st.floats(0.05, 1), st.sampled_from(["precision", "recall"]))
def test_a_threshold_gives_what_it_promises_and_no_other_gives_more(
    rows: list[tuple[float, bool]], wanted: float, target: Any
) -> None:
    p_fail, fails = [p for p, _ in rows], [fail for _, fail in rows]

    def rates(threshold: float) -> dict[str, float] | None:
        said = [fail for p, fail in rows if p >= threshold]
        return {"precision": sum(said) / len(said), "recall": sum(said) / sum(fails)} if said else None

    found = find_threshold(target, wanted, p_fail, fails)
    others = [rate for p in set(p_fail) if (rate := rates(p)) and rate[target] >= wanted]
    if found is None:
        assert not others
        return
    assert rates(found.threshold) == {"precision": found.precision, "recall": found.recall}
    assert getattr(found, target) >= wanted
    rest = "recall" if target == "precision" else "precision"
    assert getattr(found, rest) == max(rate[rest] for rate in others)


@pytest.mark.parametrize(("said", "value"), [(None, None), ("0.7", 0.7), ("1", 1.0), ("recall", 0.2)])
def test_thresholds_by_name(said: str | None, value: float | None) -> None:
    thresholds = {"recall": {"wanted": 0.9, "threshold": 0.2, "precision": 0.5, "recall": 0.95}}
    assert threshold_named(said, stored(thresholds=thresholds)) == value
    with pytest.raises(InputError, match="no threshold for precision"):
        threshold_named("precision", stored(thresholds=thresholds))


@pytest.mark.parametrize("said", ["high", "1.1", "nan"])
def test_no_threshold(said: str) -> None:
    with pytest.raises(InputError, match="neither a number from 0 to 1"):
        threshold_named(said, None)
    with pytest.raises(InputError, match="no threshold for recall; judge calibrate makes one"):
        threshold_named("recall", None)


# --- another share of hallucinated answers ------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_probabilities_for_another_rate(method: Method) -> None:
    """Most of the bad answers are dropped: what was calibrated is so again, once it knows the rate."""
    p_fail, fails, groups = drawn(6000, 4.0, 0.0)
    made, _ = fit_calibration(method, p_fail, fails, groups, {}, prompt_hash="p", data_sha256="d")
    draw = random.Random(1)
    kept = [(p, fail) for p, fail in zip(p_fail, fails, strict=True) if not fail or draw.random() < 0.1]
    rare, rate = [fail for _, fail in kept], sum(fail for _, fail in kept) / len(kept)
    before = calibration_error([made.curve(p) for p, _ in kept], rare)
    after = calibration_error([made.at_rate(rate).curve(p) for p, _ in kept], rare)
    assert before is not None and after is not None and before > 0.1 > 0.03 > after


@given(
    curve=st.sampled_from(
        [
            Curve(method="platt", temperature=2.0, bias=1.0),
            Curve(method="temperature", temperature=0.5),
            Curve(method="isotonic", points=((0.1, 0.2), (0.5, 0.5), (0.9, 0.95))),
        ]
    ),
    rate=st.floats(0.001, 0.999),
)
def test_a_rate_changes_no_label(curve: Curve, rate: float) -> None:
    thresholds = {"recall": {"wanted": 0.9, "threshold": 0.3, "precision": 0.5, "recall": 0.95}}
    plain = stored(curve=curve, fail=30, thresholds=thresholds)
    moved = plain.at_rate(rate)
    chances = [(number + 0.5) / 101 for number in range(101)]
    for before, after in ((0.5, moved.half), (0.3, moved.thresholds["recall"].threshold)):
        sure = [p for p in chances if abs(curve(p) - before) > 1e-9]
        assert [curve(p) > before for p in sure] == [moved.curve(p) > after for p in sure]
    assert plain.at_rate(0.3).curve(0.7) == pytest.approx(curve(0.7))
    if curve.method == "isotonic":
        with pytest.raises(ValueError, match="no temperature"):
            plain.for_never_seen(
                NeverSeen(temperature=2, samples=9, sources=8, ece_before=0.2, ece_after=0.1)
            )


@given(temperature=st.floats(0.5, 50), bias=st.floats(-3, 3), flat=st.floats(0.5, 50))
def test_less_sure_changes_no_label(temperature: float, bias: float, flat: float) -> None:
    thresholds = {"recall": {"wanted": 0.9, "threshold": 0.3, "precision": 0.5, "recall": 0.95}}
    curve = Curve(method="platt", temperature=temperature, bias=bias)
    found = NeverSeen(temperature=flat, samples=9, sources=8, ece_before=0.2, ece_after=0.1)
    plain = stored(curve=curve, thresholds=thresholds)
    moved = plain.for_never_seen(found)
    assert Calibration.model_validate(moved.model_dump(mode="json")) == moved and moved.never_seen == found
    for before, after in ((0.5, 0.5), (0.3, moved.thresholds["recall"].threshold)):
        sure = [
            p for p in (n / 101 for n in range(1, 101)) if abs(log_odds(curve(p)) - log_odds(before)) > 1e-6
        ]
        assert [curve(p) > before for p in sure] == [moved.curve(p) > after for p in sure]
    assert moved.curve.temperature == flat


# --- verdicts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "curve", "threshold", "label", "p_fail"),
    [
        ("verdict", None, None, Label.PASS, 0.4),
        ("verdict", None, 0.4, Label.FAIL, 0.4),
        ("verdict", lambda p: p + 0.2, None, Label.FAIL, 0.6),
        ("verdict", lambda p: p + 0.2, 0.7, Label.PASS, 0.6),
        ("reason", lambda p: p + 0.2, None, Label.PASS, 0.6),  # the reasoning speaks for PASS
        ("reason", lambda p: p + 0.2, 0.5, Label.FAIL, 0.6),
    ],
)
def test_the_label_follows_the_calibrated_probability(
    mode: Any, curve: Any, threshold: float | None, label: Label, p_fail: float
) -> None:
    found = finish(Verdict(Label.PASS, 0.4, raw="PASS"), Sample("1", "d", "a"), mode, curve, threshold)
    assert (found.label, found.p_fail, found.raw) == (label, pytest.approx(p_fail), "PASS")


def test_what_has_no_probability_stays_as_it_is() -> None:
    for verdict in (Verdict(None, error="empty output"), Verdict(Label.FAIL)):
        assert finish(verdict, Sample("1", "d", "a"), "reason", lambda p: 0.0, 0.5) == verdict


def test_a_calibration_holds_for_its_mode_and_prompt(
    tiny_backend: Callable[..., Any], tmp_path: Path
) -> None:
    plain = Judge(tiny_backend("chatml"))
    calibrated = replace(plain, calibrations={"verdict": stored()})
    samples = [Sample(str(number), f"document {number}", "answer") for number in range(6)]
    raw = [verdict.p_fail for verdict in plain.check(samples)]
    wanted = [stored().curve(p) for p in raw if p is not None]
    assert [verdict.p_fail for verdict in calibrated.check(samples)] == pytest.approx(wanted)
    assert "calibration" not in plain.describe()
    assert calibrated.describe()["calibration"]["curve"]["bias"] == 1.0
    json.dumps(calibrated.describe())

    (tmp_path / "other.jinja").write_text("{{ document }} {{ answer }}")
    assert replace(calibrated, mode="reason").calibration() is None
    assert replace(calibrated, prompt=TemplatePrompt(tmp_path / "other.jinja")).calibration() is None


# --- judge.json and the command -----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{", "[]", '{"calibration": {"verdict": {"curve": 1}}}'])
def test_a_damaged_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "judge.json").write_text(text)
    with pytest.raises(InputError, match=r"judge\.json: field 'calibration': holds no calibration"):
        read_calibrations(str(tmp_path))
    (tmp_path / "judge.json").write_text('{"prompt_version": "1"}')
    assert read_calibrations(str(tmp_path)) == read_calibrations("nobody/no-such-model") == {}


@pytest.fixture(scope="module")
def judged(model_folder: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A copy of a tiny model, and samples whose labels mostly follow its own opinion, with some noise."""
    folder = shutil.copytree(model_folder("chatml"), tmp_path_factory.mktemp("judge"), dirs_exist_ok=True)
    (folder / "judge.json").write_text('{"stage": "sft"}')
    samples = [Sample(str(number), f"Document {number // 2}.", f"It is {number}.") for number in range(80)]
    p_fail = [verdict.p_fail or 0.0 for verdict in load_judge(str(folder)).iter_check(samples)]
    middle, draw = sorted(p_fail)[len(p_fail) // 2], random.Random(0)
    samples = [
        replace(sample, label=Label.FAIL if (p > middle) != (draw.random() < 0.2) else Label.PASS)
        for sample, p in zip(samples, p_fail, strict=True)
    ]
    write_samples(folder / "data.jsonl", samples)
    return folder, folder / "data.jsonl", samples


def test_the_command(judged: Judged, ran: Ran) -> None:
    folder, data, samples = judged
    raw = load_judge(str(folder))
    out = ran("calibrate", "--model", folder, "--data", data, "--set", "target_recall=0.95").out
    assert "platt on 80 samples" in out and "--threshold recall: FAIL at or above p(FAIL) = " in out
    figures = re.findall(r"(\d\.\d+) \((\d\.\d+) to (\d\.\d+)\)", out)
    assert len(figures) == 4  # precision and recall at two thresholds
    assert all(float(low) <= float(value) <= float(high) for value, low, high in figures)
    identity = json.loads((folder / "judge.json").read_text())
    assert identity["stage"] == "sft" and list(identity["calibration"]) == ["verdict"]
    kept = Calibration.model_validate(identity["calibration"]["verdict"])
    assert (kept.samples, kept.groups) == (80, 40)

    before, after = raw.iter_check(samples[:5]), load_judge(str(folder)).iter_check(samples[:5])
    for plain, calibrated in zip(before, after, strict=True):
        assert plain.p_fail is not None and calibrated.p_fail == pytest.approx(kept.curve(plain.p_fail))
    by_name = load_judge(str(folder), threshold="recall")
    said = [verdict.label is Label.FAIL for verdict in by_name.iter_check(samples)]
    truth = [sample.label is Label.FAIL for sample in samples]
    assert sum(one and two for one, two in zip(said, truth, strict=True)) / sum(truth) >= 0.95

    # A second fit starts from the raw probabilities, and replaces the first.
    assert call("calibrate", "--model", folder, "--data", data, "--set", "method=isotonic") == 0
    again = read_calibrations(str(folder))["verdict"]
    assert again.ece_before == pytest.approx(kept.ece_before) and again.curve.method == "isotonic"


def test_a_copy_is_calibrated(judged: Judged, tmp_path: Path, ran: Ran, refused: Refused) -> None:
    folder = shutil.copytree(judged[0], tmp_path / "judge")
    (folder / "judge.json").write_text(before := '{"stage": "sft"}')
    words = ("calibrate", "--model", folder, "--data", judged[1], "-o", tmp_path / "copy")
    assert str(tmp_path / "copy/judge.json") in ran(*words).out
    assert "verdict" in read_calibrations(str(tmp_path / "copy")) and load_judge(str(tmp_path / "copy"))
    assert (folder / "judge.json").read_text() == before
    assert "exists already" in refused(*words)


def test_a_judge_that_comes_with_the_toolkit_is_calibrated_as_a_copy(
    tmp_path: Path, ran: Ran, refused: Refused
) -> None:
    samples = [
        Sample(
            f"{at}", f"It is {at} m high.", f"It is {at + at % 2} m.", label=(Label.PASS, Label.FAIL)[at % 2]
        )
        for at in range(40)
    ]
    write_samples(tmp_path / "data.jsonl", samples)
    words = ("calibrate", "--model", "reference", "--data", tmp_path / "data.jsonl")
    assert "--out FOLDER calibrates a copy" in refused(*words)
    ran(*words, "-o", tmp_path / "mine")
    (verdict,) = load_judge(str(tmp_path / "mine")).check(samples[:1])
    (raw,) = load_judge().check(samples[:1])
    assert verdict.p_fail != raw.p_fail


@pytest.mark.filterwarnings("error::judge.errors.JudgeWarning")
def test_a_calibration_belongs_to_a_quantization(judged: Judged, tmp_path: Path, ran: Ran) -> None:
    pytest.importorskip("bitsandbytes")
    data, samples = judged[1], judged[2][:4]
    folder = shutil.copytree(judged[0], tmp_path / "judge")
    assert call("calibrate", "--model", folder, "--data", data) == 0
    stored = json.loads((folder / "judge.json").read_text())
    [kept] = stored["calibration"].values()
    assert (kept["precision"], kept["quantization"]) == ("float32", None)
    assert "calibration" in load_judge(str(folder)).describe()
    assert "calibration" in load_judge(str(folder), precision="bfloat16").describe()
    with pytest.warns(JudgeWarning, match="verdict is set aside, .* plain weights, .* with nf4 weights; "):
        other = load_judge(str(folder), quantization="nf4")
    raw = replace(other, calibrations={})
    assert "calibration" not in other.describe() and other.check(samples) == raw.check(samples)

    # Fitted to 4-bit weights it holds for these; the warning about the old one is not told.
    said = ran("calibrate", "--model", folder, "--data", data, "--set", "quantization=nf4").err
    assert "set aside" not in said
    assert "calibration" in load_judge(str(folder), quantization="nf4").describe()
    with pytest.warns(JudgeWarning, match="fitted to nf4 weights, and .* with plain weights"):
        load_judge(str(folder))

    # Before the number format was kept: of plain weights.
    for name in ("precision", "quantization"):
        del kept[name]
    (folder / "judge.json").write_text(json.dumps({**stored, "calibration": {"verdict": kept}}))
    assert "calibration" in load_judge(str(folder)).describe()
    with pytest.warns(JudgeWarning, match="is set aside"):
        load_judge(str(folder), quantization="nf4")


def test_a_calibration_belongs_to_a_meaning_of_the_classes(tmp_path: Path, ran: Ran) -> None:
    folder = str(save_model(tmp_path / "nli", "bert", "ForSequenceClassification", NLI))
    meant = "FAIL=contradiction"
    samples = [Sample(f"{n}", f"the tower is {n} m", f"it is {n} m high") for n in range(60)]
    said = load_judge(folder, labels=meant).check(samples)
    middle = sorted(verdict.p_fail or 0.0 for verdict in said)[30]
    labels = [Label.FAIL if (verdict.p_fail or 0.0) >= middle else Label.PASS for verdict in said]
    labelled = [replace(one, label=label) for one, label in zip(samples, labels, strict=True)]
    write_samples(tmp_path / "data.jsonl", labelled)
    raw = load_judge(folder).check(samples)
    ran("calibrate", "--model", folder, "--data", tmp_path / "data.jsonl", "--set", f"labels.{meant}")
    assert "calibration" in load_judge(folder, labels=meant).describe()
    with pytest.warns(JudgeWarning, match="fitted to another meaning of the classes; judge calibrate fits"):
        assert load_judge(folder).check(samples) == raw


def test_auto_is_bfloat16_where_the_calibration_was_fitted_in_it(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from judge.models import hardware

    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr(hardware, "CPU_FLAGS", tmp_path / "cpuinfo")
    folder = shutil.copytree(judged[0], tmp_path / "judge")
    assert call("calibrate", "--model", folder, "--data", judged[1], "--set", "precision=float32") == 0
    file = folder / "judge.json"
    stored = json.loads(file.read_text())

    def chosen(flags: str, precision: str = "float32", **changes: Any) -> tuple[str, bool]:
        (tmp_path / "cpuinfo").write_text(f"flags : {flags}")
        kept = stored["calibration"]["verdict"] | {"precision": precision}
        file.write_text(json.dumps({**stored, "calibration": {"verdict": kept}, **changes}))
        told = load_judge(str(folder)).describe()
        return told["dtype"], "calibration" in told

    assert chosen("avx512_bf16") == ("float32", True)
    assert chosen("avx512_bf16", precision="bfloat16") == ("bfloat16", True)
    assert chosen("avx2", precision="bfloat16") == ("float32", True)
    exported = {"to": "gguf", "type": "F16", "file": "model.gguf"}
    with pytest.raises(InputError, match=r"model\.gguf|llama_cpp"):  # exports take no precision
        chosen("avx512_bf16", precision="bfloat16", export=exported)
    with pytest.raises(InputError, match="unknown precision 'int8'"):
        load_judge(str(folder), precision="int8")  # type: ignore[arg-type]


def test_the_command_line_warns_in_one_line(
    judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran: Ran
) -> None:
    def show(*told: Any) -> None:  # as Python does; pytest keeps warnings to itself
        sys.stderr.write(warnings.formatwarning(*told[:4]))

    assert call("calibrate", "--model", judged[0], "--data", judged[1]) == 0
    (tmp_path / "other.jinja").write_text("{{ document }} {{ answer }}")
    monkeypatch.setattr(warnings, "showwarning", show)
    model = ("--model", judged[0], "--set", f"template={tmp_path / 'other.jinja'}")
    said = ran("batch", judged[1], "-o", tmp_path / "out.jsonl", *model).err
    [line] = [line for line in said.splitlines() if "set aside" in line]
    assert line.startswith(f"warning: {judged[0]}: its calibration for mode verdict is set aside")


@pytest.mark.parametrize(
    ("fails", "documents", "found"),
    [
        (20, 10, None),
        (19, 10, "19 FAIL about 10 and 60 PASS about 60 documents; calibration needs 20 of each"),
        (30, 9, "30 FAIL about 9 and 60 PASS about 60 documents; calibration needs 20 of each"),
    ],
)
def test_too_few_samples_are_refused(fails: int, documents: int, found: str | None) -> None:
    groups = [f"f{at % documents}" for at in range(fails)] + [f"p{at}" for at in range(60)]
    labels = [True] * fails + [False] * 60
    with nullcontext() if found is None else pytest.raises(InputError, match=found):
        check_enough(labels, groups)


def test_gold_labels_in_words_of_ones_own(judged: Judged, tmp_path: Path, ran: Ran, refused: Refused) -> None:
    """Numbers may mean either label: nothing is fitted or measured before it is said which."""
    folder, _, samples = judged
    file = tmp_path / "data.csv"
    lines = [f"Café {one.document};{one.answer};{int(one.label is Label.FAIL)}" for one in samples]
    file.write_text("\n".join(["document;answer;label", *lines]), encoding="cp1252")
    before = (folder / "judge.json").read_bytes()
    commands = (("calibrate", "--data", file), ("eval", "--set", "bootstrap=0", "--json", "--samples", file))
    for command in commands:
        assert "may mean hallucinated or supported; say which: --gold-labels" in refused(
            *command, "--model", folder, "--encoding", "cp1252"
        )
        for wrong in ("1", "1=MAYBE", "=PASS"):
            assert "--gold-labels" in refused(*command, "--model", folder, "--gold-labels", wrong)
    assert (folder / "judge.json").read_bytes() == before
    said = ("--encoding", "cp1252", "--gold-labels", "0=pass, 1=FAIL")
    told = [ran(*command, "--model", folder, *said).out for command in commands]
    assert "platt on 80 samples" in told[0]
    (folder / "judge.json").write_bytes(before)


def test_samples_that_the_judge_does_not_read_are_told(tmp_path: Path, refused: Refused) -> None:
    shutil.copytree(model_path("reference"), tmp_path / "judge")
    samples = [
        Sample(f"{at}", f"塔高{at}米。", "很高。", language="zh", label=Label.FAIL if at % 2 else Label.PASS)
        for at in range(40)
    ]
    write_samples(tmp_path / "zh.jsonl", samples)
    said = refused("calibrate", "--model", tmp_path / "judge", "--data", tmp_path / "zh.jsonl")
    assert "zh.jsonl: 40 samples got no probability (the first: " in said


def test_wrong_calls(judged: Judged, tmp_path: Path, refused: Refused) -> None:
    folder, data, samples = judged
    write_samples(tmp_path / "open.jsonl", [samples[0], replace(samples[1], label=None)])
    write_samples(tmp_path / "few.jsonl", samples[:4])
    before = (folder / "judge.json").read_bytes()
    for arguments, message in [
        (("--model", "owner/name", "--data", data), "owner/name is not a local folder"),
        (("--model", folder, "--data", tmp_path / "open.jsonl"), "sample '1' needs a gold label"),
        (("--model", folder, "--data", tmp_path / "few.jsonl"), "few.jsonl: holds "),
        (("--model", folder, "--data", tmp_path / "none.jsonl"), "no such file"),
    ]:
        assert message in refused("calibrate", *arguments)
    assert (folder / "judge.json").read_bytes() == before
    with pytest.raises(InputError, match="a rule without a threshold"):
        load_judge("baseline:length", threshold="0.3")
    with pytest.raises(InputError, match="a rule without a prior; omit --prior"):
        load_judge("baseline:length", prior=0.3)


@pytest.mark.parametrize("model", ["baseline:length", "selfcheck:judge"])
def test_what_has_no_threshold_refuses_one(model: str, judged: Judged, refused: Refused) -> None:
    assert "omit --threshold" in refused(
        "eval", "--model", model, "--samples", judged[1], "--threshold", "0.3"
    )


def test_a_rate_moves_probabilities_and_leaves_labels(
    judged: Judged, tmp_path: Path, refused: Refused
) -> None:
    folder, data, samples = judged
    assert call("calibrate", "--model", folder, "--data", data) == 0
    kept = read_calibrations(str(folder))["verdict"]
    plain, rare = load_judge(str(folder)), load_judge(str(folder), prior=0.05)
    for before, after in zip(plain.check(samples), rare.check(samples), strict=True):
        assert before.label is after.label and (before.p_fail or 0) > (after.p_fail or 1)
    assert rare.describe()["calibration"]["curve"] != plain.describe()["calibration"]["curve"]
    by_name = load_judge(str(folder), prior=0.05, threshold="recall").describe()["threshold"]
    assert by_name == kept.at_rate(0.05).thresholds["recall"].threshold

    out = tmp_path / "verdicts.jsonl"
    assert call("batch", data, "-o", out, "--model", folder, "--prior", 0.05) == 0
    assert [row["p_fail"] for row in rows_of(out)] == pytest.approx(
        [one.p_fail for one in rare.check(samples)], abs=1e-4
    )
    raw = shutil.copytree(folder, tmp_path / "raw")
    (raw / "judge.json").write_text('{"stage": "sft"}')
    for model, rate, message in [
        (folder, 1.5, "is 1.5, expected a share between 0 and 1"),
        (raw, 0.1, "this judge has no calibration that holds here; judge calibrate fits one"),
        ("selfcheck:judge", 0.1, "omit --prior"),
    ]:
        assert message in refused("eval", "--model", model, "--samples", data, "--prior", rate)
    claims = tmp_path / "claims.jsonl"
    assert call("batch", data, "-o", claims, "--claims", "--model", folder, "--prior", 0.05) == 0
    assert [row["p_fail"] for row in rows_of(claims)] == pytest.approx(
        [row["p_fail"] for row in rows_of(out)], abs=1e-4
    )
