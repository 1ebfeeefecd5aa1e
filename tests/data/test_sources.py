"""Choosing, filtering and limiting sources; files of one's own and of the Hub by column mapping."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.starter import load_starter
from judge.errors import InputError
from judge.files import write_jsonl
from judge.types import Sample, Task

ROWS = [
    {"text": f"The pier is {metres} metres long.", "ask": "How long?", "reply": f"{metres} m", "extra": 1}
    for metres in range(5, 10)
]
COLUMNS = {"document": "text", "question": "ask", "answer": "reply"}
CLAIMS = {"document": "text", "answer": "reply", "label": "extra"}


def source(**values: Any) -> SourceConfig:
    return SourceConfig.model_validate(values)


def read(**values: Any) -> list[Sample]:
    return list(read_source(source(**values), seed=0))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.jsonl"
    write_jsonl(path, ROWS)
    return path


def test_own_file(own: Path) -> None:
    samples = read(kind="file", path=str(own), columns=COLUMNS)
    assert [sample.answer for sample in samples] == ["5 m", "6 m", "7 m", "8 m", "9 m"]
    assert {sample.source for sample in samples} == {"own"}
    assert {(sample.task, sample.language) for sample in samples} == {(Task.QA, "en")}
    constants = {"task": "dialogue", "language": "zh"}
    samples = read(kind="file", path=str(own), columns=COLUMNS, constants=constants)
    assert {(sample.task, sample.language) for sample in samples} == {(Task.DIALOGUE, "zh")}


@pytest.mark.parametrize(
    "form",
    [
        {"columns": COLUMNS},
        {"columns": {**CLAIMS, "language": "language"}, "form": "claims", "labels": {"1": "PASS"}},
    ],
)
def test_constants_are_what_rows_do_not_say(own: Path, form: dict[str, Any]) -> None:
    write_jsonl(own, [{**ROWS[0], "language": "en"}, {**ROWS[1], "language": ""}])
    samples = read(kind="file", path=str(own), constants={"task": "dialogue", "language": "zh"}, **form)
    assert [(one.task, one.language) for one in samples] == [(Task.DIALOGUE, "en"), (Task.DIALOGUE, "zh")]


def test_a_document_has_one_group_as_a_sample_and_in_a_form(own: Path) -> None:
    plain = read(kind="file", path=str(own), columns=COLUMNS)
    claims = read(kind="file", path=str(own), columns=CLAIMS, form="claims", labels={"1": "PASS"})
    assert [sample.group for sample in plain] == [sample.group for sample in claims]
    (own.parent / "g.jsonl").write_text('{"document": "d", "answer": "a", "group": "mine"}')
    assert read(kind="file", path=str(own.parent / "g.jsonl"))[0].group == "mine"


def test_any_file_in_squads_form(tmp_path: Path) -> None:
    asked = {"id": "1", "question": "几条?", "answers": [{"text": "两条", "answer_start": 1}]}
    path, paragraph = tmp_path / "rivers.v1.json", {"context": "有两条河。", "qas": [asked]}
    path.write_text(json.dumps({"data": [{"title": "x", "paragraphs": [paragraph]}]}), encoding="utf-8")
    (sample,) = read(kind="squad", path=str(path), constants={"language": "zh"})
    assert (sample.id, sample.source, sample.language) == ("rivers.v1-1", "rivers.v1", "zh")
    assert sample.answer == "两条"


def test_hub(own: Path) -> None:
    """A local folder, which the library reads as it reads one of the Hub."""
    folder = own.parent / "piers"
    folder.mkdir()
    own.rename(folder / "train.jsonl")
    samples = read(kind="hub", path=str(folder), columns=COLUMNS, constants={"task": "summarization"})
    assert [sample.answer for sample in samples] == ["5 m", "6 m", "7 m", "8 m", "9 m"]
    assert [sample.id for sample in samples][:2] == ["piers-train-1", "piers-train-2"]
    assert {sample.source for sample in samples} == {str(folder)}
    assert {sample.task for sample in samples} == {Task.SUMMARIZATION}
    assert len({sample.group for sample in samples}) == 5
    with pytest.raises(
        InputError, match=r"piers:1: field 'document': unknown column 'txt'; did you mean 'text'"
    ):
        read(kind="hub", path=str(folder), columns={**COLUMNS, "document": "txt"})
    with pytest.raises(InputError, match=r"split 'test', could not be read"):
        read(kind="hub", path=str(folder), columns=COLUMNS, split="test")


def test_hub_is_asked_for_the_split_and_subset_and_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked: list[tuple[Any, ...]] = []
    taken: list[int] = []

    def rows() -> Any:
        for number, row in enumerate(ROWS):
            taken.append(number)
            yield row

    def load(path: str, subset: str | None, *, split: str, streaming: bool) -> Any:
        asked.append((path, subset, split, streaming))
        return rows()

    monkeypatch.setattr(datasets, "load_dataset", load)
    samples = read_source(
        source(kind="hub", path="me/piers", subset="long", split="dev", columns=COLUMNS), seed=0
    )
    first = next(samples)
    assert (first.id, first.source) == ("piers-dev-1", "me/piers")
    assert asked == [("me/piers", "long", "dev", True)] and taken == [0]


def test_hub_out_of_reach_or_gone_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    def broken() -> Any:
        yield ROWS[0]
        raise ConnectionError("the line dropped\nmore")

    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: broken())
    with pytest.raises(InputError, match=r"me/piers.*could not be read.*the line dropped\); check"):
        read(kind="hub", path="me/piers", columns=COLUMNS)
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: [])
    with pytest.raises(InputError, match="split 'train' holds no row"):
        read(kind="hub", path="me/piers")


def test_nothing_left_after_filtering(own: Path) -> None:
    with pytest.raises(
        InputError, match="source file: none of its 5 samples has the wanted language and task"
    ):
        read(kind="file", path=str(own), columns=COLUMNS, languages=["zh"])


def test_public_set_without_a_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JUDGE_DATA_DIR", raising=False)
    with pytest.raises(InputError, match=r"source drop needs the original files.*'path'.*JUDGE_DATA_DIR"):
        read(kind="drop")
    monkeypatch.setenv("JUDGE_DATA_DIR", str(tmp_path))
    with pytest.raises(InputError, match=r"drop: no such folder.*drop_dataset_dev\.json.*allenai"):
        read(kind="drop", split="dev")
    with pytest.raises(InputError, match=r"gone: no such folder"):
        read(kind="drop", path=str(tmp_path / "gone"))


@settings(max_examples=20, deadline=None)
@given(limit=st.integers(9, 60), seed=st.integers(0, 5))
def test_a_limit_takes_whole_documents(limit: int, seed: int) -> None:
    """As many as fit, in the order of the source."""
    taken = list(read_source(source(kind="starter", limit=limit, tasks=["summarization"]), seed))
    summaries = [sample for sample in load_starter() if sample.task is Task.SUMMARIZATION]
    groups = {sample.group for sample in taken}
    assert taken == [sample for sample in summaries if sample.group in groups] and len(taken) <= limit
    left_out = Counter(sample.group for sample in summaries if sample.group not in groups)
    assert not left_out or min(left_out.values()) > limit - len(taken)


def test_a_limit_that_no_document_is_within(own: Path) -> None:
    write_jsonl(own, [{"document": "A pier.", "answer": row["reply"]} for row in ROWS])
    assert len(read(kind="file", path=str(own), limit=5)) == 5
    with pytest.raises(InputError, match="limit 4 is below the 5 samples of the smallest document"):
        read(kind="file", path=str(own), limit=4)


def test_reading_is_lazy(own: Path) -> None:
    """The first sample is there before a later line is looked at."""
    with own.open("a", encoding="utf-8") as stream:
        stream.write("{broken\n")
    samples = read_source(source(kind="file", path=str(own), columns=COLUMNS), seed=0)
    assert next(samples).answer == "5 m"
    with pytest.raises(InputError, match=r"own\.jsonl:6: is not valid JSON"):
        list(samples)
