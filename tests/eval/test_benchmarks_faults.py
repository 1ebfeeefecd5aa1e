"""Every loader, fed with a small file in its release's form: whole, truncated, empty, wrong."""

import csv
import gzip
import io
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from eval.benchmarks import BENCHMARKS, WHOLE, get_benchmark, load_benchmark
from eval.benchmarks.samples_file import samples_file
from judge.errors import InputError
from judge.formats.files import MissingFiles
from judge.types import LANGUAGES, Label, Task
from tests.made_up import ONION
from tests.spreadsheet import sheet

Row = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A loader's file in its original form; the column to leave away and the label to spoil.

    Those without such a column read by :mod:`judge.formats`; tests/data/test_sources_readers.py spoils them.
    """

    benchmark: str
    path: str
    rows: list[Row]
    column: str = ""
    wrong: Row | None = None
    form: str = "lines"
    others: dict[str, list[Row]] = field(default_factory=dict)

    def content(self, rows: list[Row]) -> bytes:
        if self.form == "sheet":
            return sheet(rows)
        if self.form == "csv":
            stream = io.StringIO()
            writer = csv.DictWriter(stream, list(rows[0]) if rows else [])
            if rows:
                writer.writeheader()
                writer.writerows(rows)
            return stream.getvalue().encode()
        if self.form == "list":
            return json.dumps(rows).encode()
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()

    def put(self, folder: Path, content: bytes, suffix: str = "") -> None:
        path = folder / f"{self.path}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        for name, rows in self.others.items():
            other = replace(
                self, path=name, rows=rows, others={}, form="sheet" if "xlsx" in name else "lines"
            )
            other.put(folder, other.content(rows))


PAIR = {"document": "A long text.", "right_summary": "A text.", "hallucinated_summary": "A song."}
QA_PAIR = {
    "knowledge": "Oslo is in Norway.",
    "question": "Where?",
    "right_answer": "Norway",
    "hallucinated_answer": "Oslo is in Sweden.",
}
DIALOGUE_PAIR = {
    "knowledge": "k",
    "dialogue_history": "[Human]: Who?",
    "right_response": "a",
    "hallucinated_response": "b",
}
BIAN = {
    "id": 213, "task": "Question Answering", "context": ["新闻一", "新闻二"], "question": "谁？",
    "answer": "他", "label": "通过", "source_ds": "CRUD_MDQA",
}  # fmt: skip
DIALOGUE = {
    "ID": 1, "Dialogue": "A1: Hi & <b>\nB1: Two and two is five.", "Label": 1,
    "Hallucination Type": '[[1,"Reasoning Error"]]', "Domain": "Reasoning", "Source": "GSM8K",
}  # fmt: skip
DIALOGUE_LINE = {
    "ID": 1, "text": DIALOGUE["Dialogue"], "label": 0, "index": "[]", "domain": "World Knowledge",
    "Which LLM": "GPT4",
}  # fmt: skip
CONFLICT = {
    "question": "q?", "memory_answer": "m", "parametric_memory": "M.", "counter_answer": "c",
    "counter_memory": "C.",
}  # fmt: skip
FIB = {
    "id": 5,
    "input": "News.",
    "correct_choice": "<t> Right. </t>",
    "list_choices": ["<t> Wrong. </t>", "<t> Right. </t>"],
}
SUMMARY_FILES = {
    "halueval/dialogue_data.json": [DIALOGUE_PAIR],
    "halueval/summarization_data.json": [PAIR],
}

CASES = [
    *(Case(
        name, "halubench/halubench.csv",
        [{"id": 7, "passage": "p", "question": "q", "answer": "a", "label": "PASS", "source_ds": "DROP"}],
        "source_ds", {"label": "MAYBE"}, "csv",
    ) for name in ("halubench", "halubench_held_out")),
    Case("halueval", "halueval/qa_data.json", [QA_PAIR], others=SUMMARY_FILES),
    Case("halueval_qa", "halueval/qa_data.json", [QA_PAIR]),
    Case("halueval_dialogue", "halueval/dialogue_data.json", [DIALOGUE_PAIR]),
    Case("halueval_summarization", "halueval/summarization_data.json", [PAIR]),
    Case(
        "halueval_general", "halueval/general_data.json",
        [{"ID": "1", "user_query": "q", "chatgpt_response": "a", "hallucination": "yes"}],
        "chatgpt_response", {"hallucination": "perhaps"},
    ),
    Case(
        "ragtruth", "ragtruth/response.jsonl",
        [{"id": "a", "source_id": "1", "model": "m", "labels": [], "split": "test", "response": "x"}],
        others={"ragtruth/source_info.jsonl": [
            {"source_id": "1", "task_type": "QA", "source_info": {"question": "q?", "passages": "x"}}
        ]},
    ),
    Case("bianbench_en", "bianbench/bianbench_en.jsonl",
         [{**BIAN, "context": "text", "label": "FAIL", "question": "", "task": "Machine Translation"}],
         "context", {"label": "maybe"}),
    Case("bianbench_zh", "bianbench/bianbench_zh.jsonl", [BIAN], "source_ds", {"label": "也许"}),
    Case("bianbench_cf", "bianbench/bianbench_cf.json", [BIAN], "task", {"label": "也许"}, "list"),
    Case("fib", "fib/xsum-fib-binary_choice-using_bart-base_distractors.jsonl", [FIB]),
    Case("fib_held_out", "fib/xsum-fib-binary_choice-using_bart-base_distractors.jsonl",
         [{**FIB, "input": "The news."}]),
    Case("conflictqa", "conflictqa/conflictQA-strategyQA-gpt4.json", [CONFLICT]),
    Case("diahalu", "diahalu/DiaHalu_V1.xlsx", [DIALOGUE], "Domain", {"Label": 2}, "sheet"),
    Case("diahalu_v2", "diahalu/DiaHalu_Bench.jsonl", [DIALOGUE_LINE], "text", {"label": 1}),
    Case("diahalu_one_shot", "diahalu/DiaHalu_V1.xlsx", [DIALOGUE], "Label", None, "sheet"),
    Case("diahalu_evidence", "diahalu/evidence.jsonl", [{"ID": 1, "evidence": ["a", "b"]}], "evidence", None,
         others={"diahalu/DiaHalu_V1.xlsx": [DIALOGUE]}),
    *(Case(name, "onioneval/with_context.json", [ONION], "context", None, "list")
      for name in BENCHMARKS if name.startswith("onioneval")),
    Case("injection", "halueval/qa_data.json", [QA_PAIR]),
]  # fmt: skip
BY_NAME = {case.benchmark: case for case in CASES}

every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.benchmark)
own = pytest.mark.parametrize(
    "case", [case for case in CASES if case.column], ids=lambda case: case.benchmark
)


def one_error(case: Case, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_benchmark(case.benchmark, folder)
    message = str(caught.value)
    assert "\n" not in message and Path(case.path).name in message
    return message


def test_there_is_a_case_for_every_benchmark() -> None:
    bundled = ["probes"]  # whose files are no user's: tests/eval/test_probes.py
    assert [*BY_NAME, *bundled] == list(BENCHMARKS) and set(WHOLE) <= set(BENCHMARKS)


@every
@pytest.mark.parametrize("packed", [False, True])
def test_a_whole_file(case: Case, packed: bool, tmp_path: Path) -> None:
    content = case.content(case.rows)
    case.put(tmp_path, gzip.compress(content) if packed else content, ".gz" if packed else "")
    benchmark = get_benchmark(case.benchmark)
    assert benchmark.name == case.benchmark and benchmark.title
    samples = benchmark.load(tmp_path)
    assert samples and len({sample.id for sample in samples}) == len(samples)
    for sample in samples:
        assert sample.label is not None and sample.answer.strip() and sample.source and sample.group
        assert sample.task in Task and sample.language in LANGUAGES
    tables = benchmark.tables(samples)
    assert tables
    for rows in tables.values():
        assert {place for places in rows.values() for place in places} <= set(range(len(samples)))
    for baseline in benchmark.baselines:
        assert len(list(baseline.iter_check(samples))) == len(samples)


@own
def test_an_empty_file(case: Case, tmp_path: Path) -> None:
    case.put(tmp_path, b"" if case.form in ("lines", "csv") else case.content([]))
    message = one_error(case, tmp_path)
    assert "holds no" in message


@own
def test_a_missing_column(case: Case, tmp_path: Path) -> None:
    row = {name: value for name, value in case.rows[0].items() if name != case.column}
    case.put(tmp_path, case.content([row]))
    message = one_error(case, tmp_path)
    assert f"{case.column}'" in message and "is missing" in message


@pytest.mark.parametrize("case", [case for case in CASES if case.wrong], ids=lambda case: case.benchmark)
def test_a_wrong_label(case: Case, tmp_path: Path) -> None:
    assert case.wrong is not None
    case.put(tmp_path, case.content([{**case.rows[0], **case.wrong}]))
    message = one_error(case, tmp_path)
    assert any(f"{name}'" in message for name in case.wrong)


@every
def test_files_that_are_not_there(case: Case, tmp_path: Path) -> None:
    with pytest.raises(MissingFiles):
        load_benchmark(case.benchmark, tmp_path)
    if not case.benchmark.startswith("halu"):  # those are on the Hub
        with pytest.raises(MissingFiles, match="--data-dir"):
            load_benchmark(case.benchmark)


@pytest.mark.parametrize("content", [b"", b"no spreadsheet", sheet([DIALOGUE])[:600]])
def test_a_damaged_spreadsheet(content: bytes, tmp_path: Path) -> None:
    BY_NAME["diahalu"].put(tmp_path, content)
    assert "not a spreadsheet" in one_error(BY_NAME["diahalu"], tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Hallucination Type": "[1]"}, r"xlsx:2.*field 'Hallucination Type'.*a list of \[turn, type\]"),
        ({"Hallucination Type": '[[1,"Lie"]]'}, r"xlsx:2.*unknown type 'Lie'"),
        ({"Hallucination Type": "[]"}, r"xlsx:2.*field 'Label'.*is 1, and 0 hallucinations are marked"),
        ({"Domain": "Sport"}, r"xlsx:2.*unknown domain 'Sport'"),
    ],
)
def test_dialogues_that_contradict_themselves(change: Row, message: str, tmp_path: Path) -> None:
    case = BY_NAME["diahalu"]
    case.put(tmp_path, case.content([{**DIALOGUE, **change}]))
    with pytest.raises(InputError, match=message):
        load_benchmark("diahalu", tmp_path)


def test_evidence_for_a_dialogue_that_is_not_there(tmp_path: Path) -> None:
    case = BY_NAME["diahalu_evidence"]
    case.put(tmp_path, case.content([{"ID": 1, "evidence": "e"}, {"ID": 9, "evidence": "e"}]))
    assert "diahalu-9" in one_error(case, tmp_path)


def test_an_id_that_occurs_twice(tmp_path: Path) -> None:
    case = BY_NAME["bianbench_zh"]
    case.put(tmp_path, case.content([BIAN, BIAN]))
    with pytest.raises(InputError, match="'bianbench-zh-213' occurs a second time"):
        load_benchmark("bianbench_zh", tmp_path)


def test_any_samples_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"document": "d", "answer": "a", "label": "FAIL"}\n{"document": "d", "answer": "b"}\n')
    with pytest.raises(InputError, match=r"mine\.jsonl.*field 'label'.*'row-2'"):
        samples_file(path).load()
    path.write_text('{"document": "d", "answer": "a", "label": "FAIL"}\n')
    assert [sample.label for sample in samples_file(path).load()] == [Label.FAIL]
    assert samples_file(path).name == "mine.jsonl"
