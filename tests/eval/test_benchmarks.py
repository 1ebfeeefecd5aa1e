import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval.benchmarks import load_benchmark
from judge.errors import InputError
from judge.formats import files as files_module
from judge.formats.files import group_of, hub_files
from judge.formats.ragtruth import load_split
from judge.types import Label, Task
from tests.eval.test_benchmarks_faults import DIALOGUE_PAIR, PAIR, QA_PAIR

HALUBENCH = "id,passage,question,answer,label,source_ds\n7,The sky is blue.,Colour?,blue,PASS,DROP\n"
SOURCES = [
    {"source_id": "1", "task_type": "QA", "source_info": {"question": "q?", "passages": "passage 1: x"}},
    {"source_id": "2", "task_type": "Summary", "source_info": "News of the day."},
    {"source_id": "3", "task_type": "Data2txt", "source_info": {"name": "Café", "stars": 4}},
]
SPAN = {"start": 0, "end": 3, "text": "bad", "label_type": "Evident Conflict"}
RESPONSES = [
    {"id": "a", "source_id": "1", "model": "m", "labels": [], "split": "test", "response": "x"},
    {"id": "b", "source_id": "1", "model": "m", "labels": [SPAN], "split": "test", "response": "bad y"},
    {"id": "c", "source_id": "2", "model": "m", "labels": [], "split": "test", "response": "News."},
    {"id": "d", "source_id": "3", "model": "m", "labels": [], "split": "test", "response": "A café."},
    {"id": "e", "source_id": "2", "model": "m", "labels": [SPAN], "split": "train", "response": "bad z"},
]


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def put_ragtruth(folder: Path, responses: list[dict] = RESPONSES, sources: list[dict] = SOURCES) -> None:
    put(folder, "ragtruth/response.jsonl", lines(*responses))
    put(folder, "ragtruth/source_info.jsonl", lines(*sources))


def test_halubench_row(tmp_path: Path) -> None:
    put(tmp_path, "halubench/halubench_1000.csv", HALUBENCH)
    (sample,) = load_benchmark("halubench", tmp_path)
    assert (sample.id, sample.document, sample.question) == ("7", "The sky is blue.", "Colour?")
    assert (sample.answer, sample.label, sample.source) == ("blue", Label.PASS, "DROP")
    assert sample.group == group_of("The sky is blue.")


def test_halubench_reads_the_release_before_a_part_of_it(tmp_path: Path) -> None:
    put(tmp_path, "halubench/halubench_1000.csv", HALUBENCH)
    row = {"id": "7", "passage": "p", "question": "q", "answer": "a", "label": "FAIL", "source_ds": "s"}
    pq.write_table(pa.Table.from_pylist([row, row]), tmp_path / "halubench" / "test-00000-of-00001.parquet")
    samples = load_benchmark("halubench", tmp_path)
    assert [sample.id for sample in samples] == ["7", "7#2"]
    put(tmp_path, "b/halubench/halubench.jsonl", lines(row))
    assert load_benchmark("halubench", tmp_path / "b")[0].label is Label.FAIL


def test_halueval_gives_a_pair_a_row(tmp_path: Path) -> None:
    put(tmp_path, "halueval/qa_data.json", lines(QA_PAIR))
    put(tmp_path, "halueval/dialogue_data.json", lines(DIALOGUE_PAIR))
    put(tmp_path, "halueval/summarization_data.json", lines(PAIR))
    samples = load_benchmark("halueval", tmp_path)
    assert [sample.task for sample in samples[::2]] == [Task.QA, Task.DIALOGUE, Task.SUMMARIZATION]
    assert [sample.label for sample in samples] == [Label.PASS, Label.FAIL] * 3
    assert samples[1].answer == "Oslo is in Sweden."
    assert samples[2].document == DIALOGUE_PAIR["knowledge"]
    assert samples[2].question == DIALOGUE_PAIR["dialogue_history"]
    assert samples[4].question == ""
    for good, bad in zip(samples[::2], samples[1::2], strict=True):
        assert good.group == bad.group
    assert len({sample.id for sample in samples}) == 6
    parts = [load_benchmark(f"halueval_{part}", tmp_path) for part in ("qa", "dialogue", "summarization")]
    assert [sample for part in parts for sample in part] == samples


def test_ragtruth_tasks_and_splits(tmp_path: Path) -> None:
    put_ragtruth(tmp_path)
    samples = load_benchmark("ragtruth", tmp_path)
    assert [sample.id for sample in samples] == ["a", "b", "c", "d"]
    assert [sample.label for sample in samples] == [Label.PASS, Label.FAIL, Label.PASS, Label.PASS]
    qa, bad, summary, data = samples
    assert (qa.document, qa.question, qa.task) == ("passage 1: x", "q?", Task.QA)
    assert (summary.document, summary.question, summary.task) == ("News of the day.", "", Task.SUMMARIZATION)
    assert (json.loads(data.document_text), data.task) == ({"name": "Café", "stars": 4}, Task.DATA2TEXT)
    assert "Café" in data.document_text
    assert bad.meta["spans"] == [SPAN] and bad.meta["model"] == "m" and bad.meta["task_type"] == "QA"
    assert [sample.id for sample in load_split("train", tmp_path)] == ["e"]


def test_groups_are_the_same_in_all_sets() -> None:
    assert group_of("a  b\n") == group_of("a b") != group_of("a c")


def test_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "halubench/halubench.csv", HALUBENCH)
    monkeypatch.setenv("JUDGE_DATA_DIR", str(tmp_path))
    assert len(load_benchmark("halubench")) == 1
    monkeypatch.setenv("JUDGE_DATA_DIR", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="no such folder"):
        load_benchmark("halubench")


def test_missing_file_says_what_was_looked_for(tmp_path: Path) -> None:
    put_ragtruth(tmp_path)
    (tmp_path / "ragtruth/source_info.jsonl").unlink()
    with pytest.raises(InputError, match=r"source_info\.jsonl.*ParticleMedia/RAGTruth"):
        load_benchmark("ragtruth", tmp_path)


def test_ragtruth_without_a_response_or_its_source(tmp_path: Path) -> None:
    put_ragtruth(tmp_path, [])
    with pytest.raises(InputError, match="no response of the split 'test'"):
        load_benchmark("ragtruth", tmp_path)
    put_ragtruth(tmp_path, [{**RESPONSES[0], "source_id": "9"}])
    with pytest.raises(InputError, match=r"response\.jsonl:1.*'9' is not in"):
        load_benchmark("ragtruth", tmp_path)


def test_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    (tmp_path / "qa").mkdir()
    pq.write_table(pa.Table.from_pylist([QA_PAIR]), tmp_path / "qa" / "data.parquet")
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    assert [sample.id for sample in load_benchmark("halueval_qa")] == ["qa-0-pass", "qa-0-fail"]
    with pytest.raises(InputError, match=r"has no file data/\*\.parquet"):
        load_benchmark("halubench")


def test_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def fail(*_: object, **__: object) -> str:
        raise OSError("offline mode\nmore")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(InputError, match=r"could not be fetched.*\(offline mode\).*--data-dir"):
        hub_files("a/b", "*.parquet")
    assert files_module.DATA_DIR_ENV == "JUDGE_DATA_DIR"
