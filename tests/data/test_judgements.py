"""Judgements of reason mode in all four ways, from scripted teachers, alone and in a whole build."""

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.build.pipeline import build
from data_pipeline.config import DataConfig, ReasoningConfig
from data_pipeline.labels.ensemble import Decision, yield_markdown
from data_pipeline.labels.judgements import drop_one_sided, note_judgements
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.pairs.contrast import Contrast, pairs
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.store import SampleStore
from data_pipeline.sources.workers import Workers
from data_pipeline.teachers.base import Judgement
from judge.errors import JudgeError
from judge.prompting.parsing import parse
from judge.types import Label, Sample
from tests.data.scripted import REFUSED, scripted
from tests.tiny_data import labelled_recipe, rows_of

NAMES = ("one", "two", "three")
CHAT = [{"name": name, "kind": "local", "model": "none"} for name in NAMES]
PATTERNS = ("RRR", "RWW", "WRW", "WWR", "WWW", "---", "-RW", "W--")
"""What each teacher is on each sample: right, wrong, or without a verdict."""


def tower(number: int, label: Label, **meta: Any) -> Sample:
    high = number + 20
    return Sample(
        id=f"tower-{number}",
        document=f"Tower {number} is {high} m high.",
        question="How high is it?",
        answer=f"It is {high if label is Label.PASS else high + 1} m high.",
        label=label,
        source="towers",
        group=f"tower-{number}",
        meta=meta,
    )


SAMPLES = [tower(number, list(Label)[number % 2]) for number in range(len(PATTERNS))]


def script(place: int) -> Callable[[str], Any]:
    """A teacher who judges by the table."""

    def answer(prompt: str) -> Any:
        match = re.search(r"Tower (\d+) is", prompt)
        assert match is not None
        number = int(match[1])
        mark = PATTERNS[number % len(PATTERNS)][place]
        right = Label.FAIL if f"It is {number + 21} m" in prompt else Label.PASS
        wrong = Label.PASS if right is Label.FAIL else Label.FAIL
        label = {"R": right, "W": wrong, "-": "MAYBE"}[mark]
        return {"REASONING": f"{NAMES[place]} looked at tower {number}.", "SCORE": label}

    return answer


class ScriptedTeachers(Teachers):
    """Teachers whose chat models answer by scripts."""

    def __init__(self, config: DataConfig, *scripts: Callable[[str], Any]):
        super().__init__(config)
        self.scripts = dict(zip(NAMES, scripts, strict=False))

    def ask(self, name: str) -> Any:
        return scripted(self.scripts[name], ahead=3 * NAMES.index(name))  # each at its own pace


def scripted_teachers(*scripts: Callable[[str], Any]) -> Teachers:
    settings = {"output": "unused", "sources": [{"kind": "starter"}], "teachers": CHAT}
    return ScriptedTeachers(DataConfig.model_validate(settings), *scripts)


@pytest.fixture
def note(store_of: Callable[..., SampleStore], tmp_path: Path) -> Callable[..., Any]:
    """Notes the judgements of samples; gives the store, the yield, the dropped, and the rejected rows."""

    def make(samples: list[Sample], way: str, *scripts: Callable[[str], Any]) -> tuple[Any, ...]:
        store, dropped, rejected = store_of(samples, split="train"), Dropped(), tmp_path / "rejected.jsonl"
        store.table.execute("UPDATE samples SET reason = 1")
        names = NAMES[: len(scripts)] or ("rules",)
        config = ReasoningConfig.model_validate({"way": way, "teachers": names})
        teachers = scripted_teachers(*scripts)
        table = note_judgements(store, config, teachers, dropped, rejected, Workers())
        return store, table, dropped.table(), rows_of(rejected)

    return make


# --- Bi'an's ensemble ---------------------------------------------------------------------------------------


@given(st.text("RW-", max_size=6), st.sampled_from(Label))
def test_the_best_right_judgement_is_chosen_over_each_wrong_one(pattern: str, gold: Label) -> None:
    """Bi'an, 2.3 and B.1, by priority; what holds no verdict (-) is neither chosen nor rejected."""
    labels = {"R": gold, "W": gold.opposite, "-": None}
    items = [Judgement(f"t{n}", labels[mark], "so") for n, mark in enumerate(pattern)]
    decision = Decision(tower(0, gold), tuple(items))
    wrong = [f"t{n}" for n, mark in enumerate(pattern) if mark == "W"]
    if "R" in pattern:
        assert decision.chosen == items[pattern.index("R")] and decision.outcome == "kept"
        assert [item.teacher for item in decision.rejected] == wrong
    else:
        assert decision.chosen is None and decision.rejected == ()
        assert decision.outcome == ("unanimous error" if wrong else "no verdict")


def test_a_sample_without_a_gold_label_cannot_be_decided() -> None:
    with pytest.raises(ValueError, match="no gold label"):
        assert Decision(replace(SAMPLES[0], label=None), ()).chosen


@pytest.mark.parametrize("source_of_fail", ["one", "two"])
def test_reasonings_of_one_label_alone_are_dropped(
    store_of: Callable[..., SampleStore], source_of_fail: str
) -> None:
    half = [replace(one, source="one" if one.label is Label.PASS else source_of_fail) for one in SAMPLES]
    whole = [replace(one, id=f"{one.id}-b", source="b") for one in SAMPLES if source_of_fail == "one"]
    store, dropped = store_of([*half, *whole]), Dropped()
    store.table.execute("UPDATE samples SET reason = 1")
    for sample in [*half[::2], *whole]:
        store.add_reasoning(sample, "rules", "Because.", right=True)
    [line] = drop_one_sided(store, dropped)
    assert line.endswith("no FAIL answer got a reasoning, so the 4 of PASS answers are omitted")
    assert dropped.counts == {"reasoning: PASS alone": 4}
    assert not any(store.reasonings(one, right=True) for one in half)
    assert all(store.reasonings(one, right=True) for one in whole)


def test_a_reasoning_that_comes_with_a_sample_is_kept(note: Callable[..., Any]) -> None:
    own = tower(0, Label.FAIL, reasoning="It is 20 m high, not 21.")
    store, _, dropped, _ = note([own, tower(1, Label.PASS)], "rules")
    assert list(store.reasonings(own, right=True)) == [("written", "It is 20 m high, not 21.")]
    assert not dropped
    [made, *_] = pairs(own, "edit", [Contrast(edit_type="number", change="", replaced="20", inserted="22")])
    assert "reasoning" not in made.meta


@pytest.mark.parametrize("broken", [" ", ["20 m"], 20])
def test_a_reasoning_that_is_no_text_is_an_error(note: Callable[..., Any], broken: Any) -> None:
    with pytest.raises(JudgeError, match=r"'meta.reasoning'.* 'tower-0'.*, expected a text"):
        note([tower(0, Label.FAIL, reasoning=broken)], "rules")


# --- What teachers are told ---------------------------------------------------------------------------------


def test_teachers_of_an_ensemble_are_not_told_the_label(note: Callable[..., Any]) -> None:
    asked: list[str] = []

    def listen(prompt: str) -> Any:
        asked.append(prompt)
        return script(0)(prompt)

    change = "the number '20' was changed to '21'"
    note([tower(0, Label.FAIL, edit_type="number", change=change)], "ensemble", listen)
    [prompt] = asked
    assert change not in prompt and "changed" not in prompt and "tower-0" not in prompt


@pytest.mark.parametrize("way", ["known_label", "backward"])
def test_known_labels(note: Callable[..., Any], way: str) -> None:
    asked: list[str] = []

    def answer(prompt: str) -> Any:
        asked.append(prompt)
        if "Tower 2" in prompt:
            return REFUSED
        return {"reasoning": ["It was told to me: the gold answer." if "Tower 1" in prompt else "Compared."]}

    change = "the number '23' was changed to '24'"
    samples = [
        tower(0, Label.PASS),
        tower(1, Label.FAIL),
        tower(2, Label.PASS),
        tower(3, Label.FAIL, edit_type="number", change=change, pair="p"),
        replace(tower(3, Label.PASS, pair="p"), id="gold"),
    ]
    store, table, dropped, rejected = note(samples, way, answer)
    found = [store.reasonings(sample, right=True) for sample in samples]
    assert found == [[("one", "- Compared.")], [], [], *[[("one", "- Compared.")]] * 2]
    assert [change in prompt for prompt in asked] == [False] * 3 + [way == "known_label", False]
    golds = ["<gold_answer>\nIt is 23 m high.\n</gold_answer>" in prompt for prompt in asked]
    assert golds == [False] * 3 + [way == "known_label", False]
    assert dropped["reasoning: no verdict"]["ids"] == ["tower-1", "tower-2"]
    problems = [row["judgements"][0]["problem"] for row in rejected]
    assert problems == ["names what it was told", "refused"]
    assert list(table["teachers"]) == ["one"] and table["ensemble"]["pairs"] == 0


def test_samples_that_want_no_reasoning_are_not_judged(
    store_of: Callable[..., SampleStore], tmp_path: Path
) -> None:
    def never(prompt: str) -> Any:
        raise AssertionError("was asked")

    store = store_of(SAMPLES, split="train")
    config = ReasoningConfig(way="ensemble", teachers=("one",))
    rejected = tmp_path / "rejected.jsonl"
    table = note_judgements(store, config, scripted_teachers(never), Dropped(), rejected, Workers())
    assert table["ensemble"]["samples"] == 0 and rejected.read_text() == ""


# --- A whole build ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty labelled towers; a quarter of them in the test split, which nobody judges."""
    root = tmp_path_factory.mktemp("ensemble")
    config = labelled_recipe(
        root,
        [tower(number, list(Label)[number % 2]) for number in range(40)],
        teachers=CHAT,
        splits={"validation": 0.25, "test": 0.25},
        modes={"verdict": 0.5, "reason": 1.0},
        reasoning={"way": "ensemble", "teachers": NAMES},
        preferences={"pairs": 4, "reason_share": 0.0},
        calls={"cache": str(root / "calls.sqlite")},
    )
    build(config, teachers=ScriptedTeachers(config, *map(script, range(3))))
    return root / "data"


@pytest.mark.parametrize("last", [0, 20])
def test_a_teacher_that_fails_leaves_the_finished_set_alone(built: Path, tmp_path: Path, last: int) -> None:
    """At its first call and in the midst of them."""
    calls = itertools.count()

    def fails(prompt: str) -> Any:
        if next(calls) >= last:
            raise JudgeError("the server is gone")
        return script(0)(prompt)

    folder = shutil.copytree(built, tmp_path / "data")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    settings = json.loads((built / "manifest.json").read_text())["config"]
    config = DataConfig.model_validate({**settings, "output": str(folder)})
    with pytest.raises(JudgeError, match="the server is gone"):
        build(config, teachers=ScriptedTeachers(config, fails, *map(script, (1, 2))))
    assert {path: path.read_bytes() for path in before} == before
    new = {path for path in folder.rglob("*") if path.is_file()} - before.keys()
    assert {path.parent.name for path in new} == {"unfinished-build"}
    assert not any(path.name == "rejected.jsonl" for path in new), "half a file"


def test_rows_and_pairs_of_a_build(built: Path) -> None:
    for split, size in (("train", 20), ("validation", 10)):
        numbers = [
            int(row["id"].removeprefix("tower-"))
            for row in rows_of(built / "samples.jsonl")
            if row["meta"]["split"] == split
        ]
        assert len(numbers) == size
        taught, pairs = {}, []
        for number in numbers:
            pattern = PATTERNS[number % len(PATTERNS)]
            if "R" in pattern:
                taught[f"tower-{number}-reason"] = NAMES[pattern.index("R")]
                wrong = [name for name, mark in zip(NAMES, pattern, strict=True) if mark == "W"]
                pairs += [f"tower-{number}-reason-{name}" for name in wrong]
        rows = [row for row in rows_of(built / f"sft/{split}.jsonl") if row["meta"]["mode"] == "reason"]
        assert {row["id"]: row["meta"]["teacher"] for row in rows} == taught
        for row in rows:
            reply = parse(row["completion"][0]["content"])
            assert reply.label == row["meta"]["label"]
            assert reply.reasoning is not None and reply.reasoning.startswith(row["meta"]["teacher"])
        found = rows_of(built / f"dpo/{split}.jsonl")
        by_teachers = [row for row in found if row["meta"]["rejected_from"] in NAMES]
        assert [row["id"] for row in by_teachers] == pairs
        for row in by_teachers:
            chosen, rejected = (parse(row[side][0]["content"]) for side in ("chosen", "rejected"))
            assert chosen.label == row["meta"]["label"] != rejected.label
            assert (rejected.reasoning or "").startswith(row["meta"]["rejected_from"])
        composed = [row for row in found if row not in by_teachers]
        assert {row["meta"]["mode"] for row in composed} == {"verdict"}
        assert len(composed) == {"train": 4, "validation": 2}[split]


def test_the_manifest_of_a_build(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    table, rejected = manifest["yield"], rows_of(built / "rejected.jsonl")
    assert table["ensemble"]["samples"] == 30
    judged = [row for row in rows_of(built / "samples.jsonl") if row["meta"]["split"] != "test"]
    patterns = [PATTERNS[int(row["id"].removeprefix("tower-")) % len(PATTERNS)] for row in judged]
    for place, name in enumerate(NAMES):
        marks = Counter(pattern[place] for pattern in patterns)
        counts = [table["teachers"][name][outcome] for outcome in ("correct", "wrong", "unparsed")]
        assert counts == [marks["R"], marks["W"], marks["-"]]
    assert yield_markdown(table).rstrip() in (built / "card.md").read_text()
    errors, silent = table["ensemble"]["unanimous error"], table["ensemble"]["no verdict"]
    assert table["ensemble"]["kept"] + errors + silent == 30 and errors and silent
    assert Counter(row["outcome"] for row in rejected) == {"unanimous error": errors, "no verdict": silent}
    assert manifest["dropped"]["reasoning: unanimous error"]["count"] == errors
    assert manifest["dropped"]["reasoning: no verdict"]["count"] == silent
    assert all([said["teacher"] for said in row["judgements"]] == list(NAMES) for row in rejected)
    dropped = {name for reason in manifest["dropped"].values() for name in reason["ids"]}
    assert dropped == {row["sample"]["id"] for row in rejected}
    for side, folder, key in (("chosen", "sft", "by"), ("rejected", "dpo", "rejected from")):
        rows = Counter(manifest["rows"][f"{folder}/train"]) + Counter(
            manifest["rows"][f"{folder}/validation"]
        )
        for teacher in NAMES:
            assert table["teachers"][teacher][side] == rows[f"{key} {teacher}"] > 0


def test_no_row_is_made_of_what_nobody_judged_right(built: Path) -> None:
    """In no mode and no pair (Bi'an, section 2.3); they are labelled samples all the same."""
    rejected = {row["sample"]["id"] for row in rows_of(built / "rejected.jsonl")}
    names = {row["id"] for row in rows_of(built / "samples.jsonl")}
    assert rejected <= names and len(names) == 40
    files = [f"{stage}/{split}.jsonl" for stage in ("sft", "dpo") for split in ("train", "validation")]
    rows = [row for file in files for row in rows_of(built / file)]
    used = {"-".join(row["id"].split("-")[:2]) for row in rows}
    assert {row["meta"]["mode"] for row in rows} == {"verdict", "reason"}
    assert len(rejected) == 12 and len(used) == 30 - 12 and not rejected & used
