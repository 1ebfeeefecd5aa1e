"""Two encoders as one judge: the mean of their log-odds, one calibration, and a second that stays."""

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.calibration.curve import log_odds
from judge.encoder.second import TwoEncoders
from judge.errors import InputError, JudgeWarning
from judge.load import load_judge
from judge.models.identity import read_identity
from judge.models.trained_on import read_trained_on
from judge.training.encoder import train_encoder
from judge.types import Label, Sample, Span
from tests.calling import call, p_fails
from tests.encoders import save_judge
from tests.tiny_data import build_towers
from tests.tiny_data import encoder_recipe as recipe

WEIGHT = 0.3
SAMPLES = [
    Sample(str(height), "Tower 3 is 23 m high.", f"It is {height} m high. It is red.", "How high is it?")
    for height in (20, 22, 23)
]


def apart(folder: Path) -> list[list[float | None]]:
    """What each of a judge's two encoders says of the samples."""
    judge: Any = load_judge(str(folder))
    return [[verdict.p_fail for verdict in one.check(SAMPLES)] for one in (judge.first, judge.second)]


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_towers(tmp_path_factory.mktemp("towers"), 24, 0)


@pytest.fixture(scope="module")
def pages(bert: Path, towers: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that reads pages."""
    out = tmp_path_factory.mktemp("first") / "judge"
    train_encoder(recipe(bert, towers, out, learning_rate=1e-3, reads="pages"))
    return out


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judge that reads pairs."""
    return save_judge(tmp_path_factory.mktemp("second") / "judge")


@pytest.fixture(scope="module")
def both(pages: Path, pairs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both as one judge, uncalibrated."""
    out = tmp_path_factory.mktemp("both") / "judge"
    assert call("pack", pages, "--second", pairs, "--weight", WEIGHT, "--out", out) == 0
    return out


def test_log_odds_are_the_weighted_mean(both: Path, pairs: Path, tmp_path: Path) -> None:
    judge = load_judge(str(both))
    assert isinstance(judge, TwoEncoders) and judge.name == str(both)
    first = Path(shutil.copytree(both, tmp_path / "first"))
    alone = {name: value for name, value in read_identity(str(both)).items() if name != "second"}
    (first / "judge.json").write_text(json.dumps(alone))
    parts = [p_fails(folder, SAMPLES) for folder in (first, pairs)]
    found = p_fails(both, SAMPLES)
    for mean, one, other in zip(found, *parts, strict=True):
        assert log_odds(mean) == pytest.approx((1 - WEIGHT) * log_odds(one) + WEIGHT * log_odds(other))
    assert judge.describe()["parameters"] > load_judge(str(pairs)).describe()["parameters"]


def test_short_documents_are_judged_by_the_first_alone(
    pages: Path, pairs: Path, both: Path, towers: Path, tmp_path: Path
) -> None:
    """Those of fewer words than it says, without a question; the others, in the same call, by both."""
    first, alone = (tmp_path / name for name in ("first", "alone"))
    assert call("pack", pages, "--out", first) == 0
    options = ("--second", pairs, "--weight", WEIGHT, "--short-documents", 8)
    assert call("pack", pages, *options, "--out", alone) == 0
    short = replace(SAMPLES[0], question=" ")
    long = replace(short, id="long", document=f"{short.document} It is red.")
    samples = [short, long, SAMPLES[1]]
    shared, expected, firsts = (p_fails(judge, samples) for judge in (both, alone, first))
    assert expected == pytest.approx([firsts[0], *shared[1:]]) and firsts[0] != pytest.approx(shared[0])
    judge = load_judge(str(alone), threshold="0")
    spans = [[Span(0, 14), Span(15, 25)]] * len(samples)
    for p_fail, (whole, parts) in zip(expected, judge.check_sentences(samples, spans), strict=True):
        assert whole.p_fail == pytest.approx(p_fail) and len(parts) == 2
    counts = [verdict.usage.prompt_tokens for verdict in judge.check(samples)]
    assert counts[0] == load_judge(str(first)).check(samples)[0].usage.prompt_tokens < counts[1] / 2
    taught = tmp_path / "taught"
    train_encoder(recipe(alone, towers, taught, max_steps=1, learning_rate=1e-12))
    assert p_fails(taught, samples) == pytest.approx(shared, abs=1e-6)  # by both again


def test_labels_words_and_sentences(both: Path) -> None:
    judge = load_judge(str(both), threshold="0")
    spans = [[Span(0, 14), Span(15, 25)]] * len(SAMPLES)
    for whole, (same, parts) in zip(judge.check(SAMPLES), judge.check_sentences(SAMPLES, spans), strict=True):
        assert whole == same and whole.label is Label.FAIL and not whole.windows
        assert [part.label is Label.FAIL for part in parts] == [(part.p_fail or 0) >= 0.5 for part in parts]
        assert len(parts) == 2 and not any(math.isnan(part.p_fail or 0) for part in parts)
    doubted = [verdict.unsupported for verdict in judge.check(SAMPLES)]
    firsts = [verdict.unsupported for verdict in judge.first.check(SAMPLES)]  # type: ignore[attr-defined]
    seconds = [verdict.unsupported for verdict in judge.second.check(SAMPLES)]  # type: ignore[attr-defined]
    assert doubted == [other or one for one, other in zip(firsts, seconds, strict=True)]
    assert all(not verdict.unsupported for verdict in load_judge(str(both), threshold="1").check(SAMPLES))
    [foreign] = judge.check([Sample("x", "x", "y", language="zh")])
    assert foreign.label is None and "zh" in str(foreign.error)


def test_a_calibration_is_of_both(both: Path, pairs: Path, towers: Path, tmp_path: Path) -> None:
    """One that was fitted to others is left out when a second is put beside, and set aside when read."""
    mine = Path(shutil.copytree(both, tmp_path / "mine"))
    with pytest.warns(JudgeWarning, match="was trained on the documents"):
        assert call("calibrate", "--model", mine, "--data", towers / "samples.jsonl") == 0
    judge = load_judge(str(mine), prior=0.1)
    assert isinstance(judge, TwoEncoders) and judge.calibration() is not None
    assert all(verdict.claims for verdict in load_judge(str(mine), claims=True).check(SAMPLES))
    out = tmp_path / "again"
    assert call("pack", mine, "--second", pairs, "--weight", 0.6, "--out", out) == 0
    assert "calibration" not in read_identity(str(out))
    identity = read_identity(str(mine))
    (out / "judge.json").write_text(json.dumps({**identity, "second": {"weight": 0.6}}))
    with pytest.warns(JudgeWarning, match="set aside"):
        load_judge(str(out))


def test_training_goes_on_with_both(both: Path, towers: Path, tmp_path: Path) -> None:
    """Each learns; a run without a second in the same folder removes it."""
    out = tmp_path / "learned"
    settings = {"learning_rate": 1e-3, "max_steps": 2}
    train_encoder(recipe(both, towers, out, **settings))
    for before, after in zip(apart(both), apart(out), strict=True):
        assert after != pytest.approx(before, abs=1e-4)
    written = (out / "second" / "judge.json").stat().st_mtime_ns
    (out / "judge.json").unlink()  # as if stopped between the two
    train_encoder(recipe(both, towers, out, **settings, resume=True))
    assert (out / "second" / "judge.json").stat().st_mtime_ns == written and (out / "judge.json").is_file()
    with pytest.raises(InputError, match="holds a trained judge"):
        train_encoder(recipe(both, towers, out, **settings))
    out = tmp_path / "more"
    train_encoder(recipe(both, towers, out, max_steps=1, learning_rate=1e-12))
    assert p_fails(out, SAMPLES) == pytest.approx(p_fails(both, SAMPLES), abs=1e-6)
    assert "second judge, in `second`, has 0.3 of the log-odds" in (out / "README.md").read_text()
    assert read_trained_on(str(out)) >= read_trained_on(str(both))
    train_encoder(recipe(both / "second", towers, out, max_steps=1, overwrite=True))
    assert not (out / "second").exists() and "second" not in read_identity(str(out))


def test_what_is_no_second(both: Path, pages: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for second in (both, tmp_path):
        assert call("pack", pages, "--second", second, "--out", out) == 2 and not out.exists()
    assert call("pack", pages, "--second", pages, "--weight", 1, "--out", out) == 2
    assert call("pack", pages, "--weight", 0.3, "--out", out) == 2
    assert call("pack", pages, "--short-documents", 60, "--out", out) == 2
    assert call("pack", both, "--out", out) == 2  # nothing may be lost unsaid
    for option in ({"pair": ["first=answer"]}, {"labels": "PASS=x"}):
        with pytest.raises(InputError, match="takes no"):
            load_judge(str(both), **option)
