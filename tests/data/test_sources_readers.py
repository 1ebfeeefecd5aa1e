"""Every reader on small files of our own, in the form in which its set is published."""

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.sources.readers import READERS
from judge.errors import InputError
from judge.formats.shared import SIDED
from judge.samples import row_from_sample
from judge.types import Label, Sample, Task


def squad(language: str = "en") -> dict[str, Any]:
    context = {"en": "Oslo has two rivers.", "zh": "奥斯陆有两条河。"}[language]
    answers = [{"text": " two ", "answer_start": 9}, {"text": "2", "answer_start": 0}]
    questions = [
        {"id": 7, "question": "How many rivers?", "answers": answers},
        {"id": "b", "question": "Who named them?", "answers": [], "is_impossible": True},
        {"id": "c", "question": "Which town?", "answers": [{"text": "Oslo", "answer_start": 0}]},
    ]
    return {"data": [{"title": "Oslo", "paragraphs": [{"context": context, "qas": questions}]}]}


ASQA = {
    "train": {
        "-12": {
            "ambiguous_question": "When was it built?",
            "qa_pairs": [
                {
                    "context": "The pier rose in 1890.", "question": "When did the pier rise?",
                    "short_answers": ["1890"],
                },
                {
                    "context": "No context provided", "question": "When the mill?",
                    "short_answers": ["1901", "in 1901"],
                },
            ],
            "annotations": [
                {
                    "knowledge": [{"content": "Both stand in Hull.", "wikipage": "Hull"}],
                    "long_answer": "The pier in Hull was built in 1890 and the mill in 1901.",
                },
                {"knowledge": [], "long_answer": "The pier dates from 1890, the mill from 1901."},
            ],
        },
    },
}  # fmt: skip
CSDS = [
    {
        "DialogueID": 31, "QRole": "用户",
        "Dialogue": [
            {"speaker": "Q", "turn": 0, "utterance": "订单 到 了 吗"},
            {"speaker": "A", "turn": 1, "utterance": "iPhone 15 Pro 明天 到"},
        ],
        "FinalSumm": ["用户问订单。", "客服说明天到。"],
    },
]  # fmt: skip
CRUD = {
    "event_summary": [{"ID": "e", "event": "x", "text": "报道一。", "summary": "摘要。"}],
    "questanswer_1doc": [
        {"ID": "a", "news1": "报道一。", "questions": "谁?", "answers": "甲。"},
        {"ID": "b", "news1": "报道二。", "questions": "", "answers": "乙。"},
    ],
    "questanswer_2docs": [
        {"ID": "c", "news1": "报道一。", "news2": "报道三。", "questions": "几?", "answers": "三。"},
    ],
    "questanswer_3docs": [],
}  # fmt: skip
RAMS = "The Rams kicked 2 field goals on 3 May 1990."
DROP = {
    "nfl_1": {
        "passage": RAMS,
        "qa_pairs": [
            {"query_id": "q0", "question": "How many?", "answer": {"number": "2", "date": {}, "spans": []}},
            {
                "query_id": "q1", "question": "Who?",
                "answer": {"number": "", "date": {"day": ""}, "spans": ["Rams", "They"]},
            },
            {
                "query_id": "q2", "question": "When?",
                "answer": {"number": "", "date": {"day": "3", "month": "May", "year": "1990"}, "spans": []},
            },
            {"query_id": "q3", "question": "Why?", "answer": {"number": "", "spans": []}},
        ],
    },
}  # fmt: skip
DROP["nfl_1"]["qa_pairs"][1]["answer"]["date"] = {"day": "", "month": "", "year": ""}  # type: ignore[index]
TABLE = {"columns": ["city", "rivers"], "data": [["Oslo", 2], ["Hull", None]]}
TABLEBENCH = [
    {"id": "t1", "qtype": "FactChecking", "table": TABLE, "question": "Rivers of Oslo?", "answer": "2"},
    {"id": "t2", "qtype": "Visualization", "table": TABLE, "question": "Draw it.", "answer": "y = [[2]]"},
    {"id": "t3", "qtype": "NumericalReasoning", "table": TABLE, "question": "Cities?", "answer": "2"},
]
WEBCPM = [
    {
        "question": "河有多长?", "answer": "河长9公里【1】<2>。",
        "digests": [
            {"title": "x", "datas": [{"desc": "河长"}, {"desc": "9公里。"}]}, {"datas": [{"desc": " "}]},
        ],
    },
]  # fmt: skip
WEBQA = {
    "Q_TRN_1": {
        "question": "河在哪里",
        "evidences": {
            "Q_TRN_1#00": {"answer": ["no_answer"], "evidence": "不知道"},
            "Q_TRN_1#01": {"answer": ["奥斯陆", "Oslo"], "evidence": "河在奥斯陆"},
        },
    },
}  # fmt: skip
PUBMEDQA = {
    "101": {
        "QUESTION": "Does it help?", "CONTEXTS": ["We gave it.", "Half got well."],
        "LONG_ANSWER": "It helps half.",
    },
}  # fmt: skip
FINANCEBENCH = [
    {
        "financebench_id": "financebench_id_00007", "doc_name": "ACME_2020_10K", "question": "Revenue?",
        "answer": "$7.00",
        "evidence": [
            {"evidence_text": "Revenue 7", "doc_name": "ACME_2020_10K"}, {"evidence_text": "in millions"},
        ],
    },
]  # fmt: skip
IFQA = [
    {
        "idx": 4, "question": "If Oslo had no river, what then?", "answers": ["", "Less water"],
        "context": ["Rivers bring water."],
    },
]  # fmt: skip
LAWBENCH_QA = [
    {"instruction": "x", "question": "段落:甲借给乙一千元。问题:借了多少？", "answer": "回答:一千元"},
]  # fmt: skip
LAWBENCH_SUM = [{"instruction": "x", "question": "甲借给乙一千元，乙不还。", "answer": "乙不还钱。"}]
FIB = [
    {
        "id": "9", "input": "A ship sank off Hull.", "correct_choice": "<t> A ship sank . </t>",
        "list_choices": ["<t> A plane fell . </t>", "<t> A ship sank . </t>"], "lbl": 1,
    },
]  # fmt: skip
CONFLICTQA = [
    {
        "question": "Can cats swim?", "memory_answer": "Cats can swim.",
        "counter_answer": "Cats cannot swim.", "parametric_memory": "Cats swim well.",
        "counter_memory": "No cat was ever seen to swim.",
    },
]  # fmt: skip
HALUEVAL = [
    {
        "knowledge": "Oslo is in Norway.", "question": "Where?", "right_answer": "Norway",
        "hallucinated_answer": "In Sweden.",
    },
]  # fmt: skip
RAGTRUTH_SOURCES = [
    {"source_id": "1", "task_type": "QA", "source_info": {"question": "q?", "passages": "passage 1: x"}}
]
RAGTRUTH_RESPONSES = [
    {"id": "5", "source_id": "1", "model": "m", "labels": [], "split": "train", "response": "x"},
    {"id": "6", "source_id": "1", "model": "m", "labels": [], "split": "test", "response": "y"},
]
RGB_EN = [
    {
        "id": 4, "query": "Who won in 2019?", "answer": "Ann Bell", "fakeanswer": "Cid Drew",
        "positive": ["Ann Bell won.", "She won.", "Ann Bell beat Cid Drew."],
        "positive_wrong": ["Cid Drew won.", "She won.", "Ann Bell and Cid Drew won."],
        "negative": ["Tickets for 2019.", " "],
    },
]  # fmt: skip
RGB_ZH = [
    {
        "id": 0, "query": "有多少个议席？", "answer": [["70个", "70"]], "fakeanswer": "170",
        "positive": ["共有70个议席"], "positive_wrong": ["共有170个议席"], "negative": ["1970年有70人"],
    },
    {
        "id": 1, "query": "在哪举办？", "answer": ["澳大利亚", "悉尼"], "fakeanswer": ["中国", "北京"],
        "positive": ["在澳大利亚的悉尼"], "positive_wrong": ["在中国"], "negative": [],
    },
    {
        "id": 2, "query": "谁?", "answer": "甲甲", "fakeanswer": "甲甲", "positive": ["甲甲"],
        "positive_wrong": ["甲甲"], "negative": ["乙"],
    },
]  # fmt: skip
UHGEVAL = [
    {
        "id": "num_1", "type": "num", "newsBeginning": "  桥长9米。",
        "newsRemainder": "\n  桥宽2米。桥很老。", "realContinuation": "\n  桥宽2米。",
        "hallucinatedContinuation": "**桥高5米，宽2米。", "generatedBy": "m",
        "annotations": ["桥<sep>合理", "高5米<sep>不合理，没有提到"],
    },
    {
        "id": "num_2", "type": "num", "newsBeginning": "河长9米。", "newsRemainder": "有多宽？",
        "realContinuation": "有多宽？", "hallucinatedContinuation": "河宽5米。", "generatedBy": "m",
        "annotations": ["5米<sep>不合理，没有提到"],
    },
]  # fmt: skip
WEBNLG = """<?xml version='1.0' encoding='utf-8'?>
<benchmark><entries><entry category="Airport" eid="Id1" size="2">
<originaltripleset><otriple>a | b | c</otriple></originaltripleset>
<modifiedtripleset><mtriple>Oslo_Airport | city | Oslo</mtriple>
<mtriple>Oslo | country | Norway</mtriple></modifiedtripleset>
<lex comment="good" lid="Id1">Oslo Airport serves Oslo &amp; Norway.</lex>
<lex comment="toFix" lid="Id2">Oslo Airport airport.</lex>
<lex comment="good" lid="Id3" lang="ru">x</lex>
</entry></entries></benchmark>
"""

Texts = dict[str, str]


def jsonl(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


# Kind: files in the data folder. The JSON ones are given as values, so that they can be spoilt below.
JSON: dict[str, dict[str, Any]] = {
    "asqa": {"asqa/ASQA.json": ASQA}, "cmrc2018": {"cmrc2018/cmrc2018_train.json": squad("zh")},
    "conflictqa": {"conflictqa/conflictQA-popQA-m.json": CONFLICTQA},
    "covid_qa": {"covid-qa/COVID-QA.json": squad()}, "crud": {"crud/crud_split/split_merged.json": CRUD},
    "csds": {"csds/train.json": CSDS}, "drcd": {"drcd/DRCD_training.json": squad("zh")},
    "drop": {"drop/drop_dataset_train.json": DROP},
    "fib": {"fib/xsum/fib/binary_choice-using_t5_distractors.jsonl": FIB},
    "financebench": {"financebench/financebench_open_source.jsonl": FINANCEBENCH},
    "halueval": {"halueval/qa_data.json": HALUEVAL}, "ifqa": {"ifqa/train.json": IFQA},
    "lawbench": {"lawbench/2-5.json": LAWBENCH_QA, "lawbench/2-7.json": LAWBENCH_SUM},
    "pubmedqa": {"pubmedqa/ori_pqal.json": PUBMEDQA},
    "ragtruth": {
        "ragtruth/response.jsonl": RAGTRUTH_RESPONSES, "ragtruth/source_info.jsonl": RAGTRUTH_SOURCES,
    },
    "rgb": {"rgb/en_fact.json": RGB_EN, "rgb/zh_fact.json": RGB_ZH},
    "tablebench": {"tablebench/TableBench.jsonl": TABLEBENCH},
    "uhgeval": {"uhgeval/dataset_uhgeval_concise.jsonl": UHGEVAL},
    "webcpm": {"webcpm/interactive_data/data.json": WEBCPM}, "webqa": {"webqa/me_train.json": WEBQA},
    "xquad": {"xquad/xquad.en.json": squad(), "xquad/xquad.zh.json": squad("zh")},
}  # fmt: skip
PLAIN: dict[str, Texts] = {
    "pdc": {
        "pdc/pdc.en": "".join(f"Line {number}.\n" for number in range(6)) + "\n\nOne.\nTwo.\n",
        "pdc/pdc.zh": "".join(f"第{number}行。\n" for number in range(6)) + "\n一二。\n",
    },
    "webnlg": {"webnlg/train/2triples/2triples_Airport_train_release.xml": WEBNLG},
    "wmt21": {
        "wmt21/newstest2021.en-zh.src.en": "The sea.\n\nThe sky.\n",
        "wmt21/newstest2021.en-zh.ref.A.zh": "海。\nx\n天。\n",
        "wmt21/newstest2021.en-zh.ref.B.zh": "大海。\nx\n天空。\n",
        "wmt21/newstest2021.zh-en.src.zh": "山。\n", "wmt21/newstest2021.zh-en.ref.A.en": "The hill.\n",
    },
}  # fmt: skip
JSON_LINES = ("conflictqa", "fib", "financebench", "halueval", "ragtruth", "rgb", "tablebench", "uhgeval")


def texts_of(kind: str, values: dict[str, Any]) -> Texts:
    dump = jsonl if kind in JSON_LINES else lambda value: json.dumps(value, ensure_ascii=False)
    return {name: dump(value) for name, value in values.items()}


ORIGINALS: dict[str, Texts] = {**{kind: texts_of(kind, values) for kind, values in JSON.items()}, **PLAIN}


def put(folder: Path, files: Texts, packed: bool = False) -> Path:
    for name, text in files.items():
        path = folder / (f"{name}.gz" if packed else name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return folder


def read(kind: str, folder: Path, split: str | None = None) -> Iterator[Sample]:
    reader = READERS[kind]
    return reader.read(folder, *([split or reader.splits[0]] if reader.splits else []))


# (id, task, language, document, question, answer, label) of all samples of the originals above
Row = tuple[str, str, str, str, str, str, Label | None]


def qa(name: str, document: str, question: str, answer: str, language: str = "en") -> Row:
    return (name, "qa", language, document, question, answer, None)


def summary(name: str, document: str, answer: str) -> Row:
    return (name, "summarization", "zh", document, "", answer, None)


def translation(name: str, language: str, document: str, answer: str) -> Row:
    return (name, "translation", language, document, "", answer, None)


def both(start: str, task: str, language: str, document: str, question: str, *answers: str) -> list[Row]:
    """A faithful answer and hallucinated ones."""
    labels = (Label.PASS, *[Label.FAIL] * (len(answers) - 1))
    return [
        (f"{start}-{label.value.lower()}", task, language, document, question, answer, label)
        for answer, label in zip(answers, labels, strict=True)
    ]


def rivers(start: str, language: str = "en", end: str = "") -> list[Row]:
    """Of the file in SQuAD's form."""
    context = squad(language)["data"][0]["paragraphs"][0]["context"]
    asked = (("7", "How many rivers?", "two"), ("c", "Which town?", "Oslo"))
    return [qa(f"{start}-{name}{end}", context, question, said, language) for name, question, said in asked]


PIER = "The pier rose in 1890.\n\nWhen the mill? 1901 / in 1901"
CITIES = "| city | rivers |\n| --- | --- |\n| Oslo | 2 |\n| Hull |  |"
EN = ["Line 0. Line 1. Line 2. Line 3. Line 4.", "Line 5.", "One. Two."]
ZH = ["".join(f"第{n}行。" for n in range(5)), "第5行。", "一二。"]
BELL, DREW, WON, SEATS = "Ann Bell won.", "Cid Drew won.", "Who won in 2019?", "有多少个议席？"
EXPECTED: dict[str, list[Row]] = {
    "asqa": [
        qa(
            "asqa--12-0", f"{PIER}\n\nBoth stand in Hull.", "When was it built?",
            "The pier in Hull was built in 1890 and the mill in 1901.",
        ),
        qa("asqa--12-1", PIER, "When was it built?", "The pier dates from 1890, the mill from 1901."),
    ],
    "cmrc2018": rivers("cmrc2018", "zh"),
    "conflictqa": both(
        "conflictqa-popQA-m-0", "qa", "en", "No cat was ever seen to swim.", "Can cats swim?",
        "Cats cannot swim.", "Cats can swim.",
    ),
    "covid_qa": rivers("covid_qa"),
    "crud": [
        qa("crud-questanswer_1doc-0", "报道一。", "谁?", "甲。", "zh"),
        qa("crud-questanswer_2docs-0", "报道一。\n\n报道三。", "几?", "三。", "zh"),
        summary("crud-event_summary-0", "报道一。", "摘要。"),
    ],
    "csds": [
        summary(
            "csds-31", "用户\uff1a订单到了吗\n客服\uff1aiPhone 15 Pro明天到", "用户问订单。客服说明天到。",
        ),
    ],
    "drcd": rivers("drcd", "zh"),
    "drop": [
        qa("drop-nfl_1-0", RAMS, "How many?", "2"), qa("drop-nfl_1-1", RAMS, "Who?", "Rams, They"),
        qa("drop-nfl_1-2", RAMS, "When?", "3 May 1990"),
    ],
    "fib": both(
        "fib-xsum-9-t5", "summarization", "en", "A ship sank off Hull.", "", "A ship sank .",
        "A plane fell .",
    ),
    "financebench": [qa("financebench-00007", "Revenue 7\n\nin millions", "Revenue?", "$7.00")],
    "halueval": both("halueval-qa-0", "qa", "en", "Oslo is in Norway.", "Where?", "Norway", "In Sweden."),
    "ifqa": [qa("ifqa-train-4", "Rivers bring water.", "If Oslo had no river, what then?", "Less water")],
    "lawbench": [
        qa("lawbench-2-5-0", "甲借给乙一千元。", "借了多少？", "一千元", "zh"),
        summary("lawbench-2-7-0", "甲借给乙一千元，乙不还。", "乙不还钱。"),
    ],
    "pdc": [
        row
        for piece, en, zh in zip(("0-0", "0-1", "1-0"), EN, ZH, strict=True)
        for row in (
            translation(f"pdc-{piece}-en-zh", "zh", en, zh), translation(f"pdc-{piece}-zh-en", "en", zh, en),
        )
    ],
    "pubmedqa": [qa("pubmedqa-101", "We gave it.\n\nHalf got well.", "Does it help?", "It helps half.")],
    "ragtruth": [("5", "qa", "en", "passage 1: x", "q?", "x", Label.PASS)],
    "rgb": [
        *both("rgb-en-4-positive", "qa", "en", BELL, WON, "Ann Bell", "Cid Drew"),
        *both("rgb-en-4-counterfactual", "qa", "en", DREW, WON, "Cid Drew", "Ann Bell"),
        ("rgb-en-4-negative-fail", "qa", "en", "Tickets for 2019.", WON, "Ann Bell", Label.FAIL),
        *both("rgb-zh-0-positive", "qa", "zh", "共有70个议席", SEATS, "70个", "170"),
        *both("rgb-zh-0-counterfactual", "qa", "zh", "共有170个议席", SEATS, "170", "70个"),
        *both(
            "rgb-zh-1-positive", "qa", "zh", "在澳大利亚的悉尼", "在哪举办？", "澳大利亚，悉尼", "中国，北京",
        ),
    ],
    "tablebench": [
        qa("tablebench-t1", CITIES, "Rivers of Oslo?", "2"), qa("tablebench-t3", CITIES, "Cities?", "2"),
    ],
    "uhgeval": both(
        "uhgeval-num_1", "qa", "zh", "桥长9米。\n  桥宽2米。桥很老。", "", "桥宽2米。", "桥高5米，宽2米。",
    ),
    "webcpm": [qa("webcpm-0", "河长9公里。", "河有多长?", "河长9公里。", "zh")],
    "webnlg": [
        (
            "webnlg-train-2triples_Airport-Id1-Id1", "data2text", "en",
            "Oslo Airport | city | Oslo\nOslo | country | Norway", "", "Oslo Airport serves Oslo & Norway.",
            None,
        ),
    ],
    "webqa": [qa("webqa-Q_TRN_1#01", "河在奥斯陆", "河在哪里", "奥斯陆", "zh")],
    "wmt21": [
        translation("wmt21-en-zh-1-A", "zh", "The sea.", "海。"),
        translation("wmt21-en-zh-3-A", "zh", "The sky.", "天。"),
        translation("wmt21-en-zh-1-B", "zh", "The sea.", "大海。"),
        translation("wmt21-en-zh-3-B", "zh", "The sky.", "天空。"),
        translation("wmt21-zh-en-1-A", "en", "山。", "The hill."),
    ],
    "xquad": rivers("xquad", "en", "-en") + rivers("xquad", "zh", "-zh"),
}  # fmt: skip


def test_every_reader_has_an_original_here() -> None:
    assert set(ORIGINALS) == set(EXPECTED) == set(READERS)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", READERS)
def test_reader_on_the_published_form(tmp_path: Path, kind: str, packed: bool) -> None:
    samples = list(read(kind, put(tmp_path, ORIGINALS[kind], packed)))
    found = [
        (s.id, s.task.value, s.language, s.document_text, s.question, s.answer, s.label) for s in samples
    ]
    assert found == EXPECTED[kind]
    assert all(sample.group and sample.source for sample in samples)


@pytest.mark.parametrize("kind", READERS)
def test_missing_files_are_named_with_where_to_get_them(tmp_path: Path, kind: str) -> None:
    name = next(iter(ORIGINALS[kind])).split("/")[0]
    with pytest.raises(InputError, match=rf"{name}.*no such folder.*the original files are at \S+"):
        list(read(kind, tmp_path))
    (tmp_path / name).mkdir()
    with pytest.raises(
        InputError, match=rf"{name}.*(has none of|has no file|no such folder).*original files"
    ):
        list(read(kind, tmp_path))


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a JSON value has parts, from the whole down to the leaves."""
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*at, key))


def change(value: Any, at: tuple[Any, ...], how: Callable[[Any, Any], None]) -> Any:
    spoilt = copy.deepcopy(value)
    parent = spoilt
    for key in at[:-1]:
        parent = parent[key]
    how(parent, at[-1])
    return spoilt


WRONG: list[Any] = [
    None, 3, 1.5, True, "", " \n", "x", "\ud800", [], [None], [""], ["x"], {}, {"x": "y"}, [{}], [[1]],
]  # fmt: skip


# The other sets in SQuAD's form are read by the same lines.
@pytest.mark.parametrize("kind", sorted(set(JSON) - {"cmrc2018", "drcd", "xquad"}))
def test_whatever_a_file_holds_there_are_samples_or_one_clear_error(tmp_path: Path, kind: str) -> None:
    """Each part of each original is replaced by everything that it is not, and left out."""

    def spoil(content: Any) -> Iterator[Any]:
        for at in places(content):
            if at:
                yield change(content, at, lambda parent, key: parent.pop(key))
                for wrong in WRONG:
                    yield change(content, at, lambda parent, key, wrong=wrong: parent.__setitem__(key, wrong))

    errors = 0
    put(tmp_path, ORIGINALS[kind])
    for name, content in JSON[kind].items():
        path = tmp_path / name
        for spoilt in spoil(content):
            path.write_text(
                "".join(json.dumps(row) + "\n" for row in spoilt)
                if kind in JSON_LINES
                else json.dumps(spoilt)
            )
            try:
                samples = list(read(kind, tmp_path))
            except InputError as error:
                errors += 1
                assert str(path) in str(error), error
                continue
            for sample in samples:
                assert sample.answer.strip() and sample.document_text.strip() and sample.id and sample.group
                json.dumps(row_from_sample(sample), ensure_ascii=False).encode()
        path.write_text(ORIGINALS[kind][name], encoding="utf-8")
    assert errors > 20


@pytest.mark.parametrize(
    ("kind", "name", "old", "new", "message"),
    [
        (
            "pubmedqa", "ori_pqal.json", '"LONG_ANSWER"', '"LONG"',
            r"field '101.LONG_ANSWER': is missing.*has: QUESTION",
        ),
        (
            "pubmedqa", "ori_pqal.json", "}}", "}",
            r"ori_pqal\.json:1: is not valid JSON .*fetch the original",
        ),
        (
            "financebench", "source.jsonl", '"Revenue 7"', "null",
            r"source\.jsonl:1: field 'evidence.0.evidence_text': holds None",
        ),
        (
            "csds", "train.json", '"A"', '"S"',
            r"field '0.Dialogue.1.speaker': unknown speaker 'S'.*known: A, Q",
        ),
        ("lawbench", "2-5.json", "问题", "问", r"field '0.question': holds no paragraph with a question"),
        ("webnlg", "release.xml", "</benchmark>", "", r"release\.xml:\d+: is not valid XML"),
        ("webnlg", "release.xml", 'eid="Id1"', "", r"entry \(without eid\) has no category"),
        (
            "webnlg", "release.xml", "<benchmark>", "<!DOCTYPE x [<!ENTITY y 'z'>]><benchmark>",
            "declares a document type",
        ),
        (
            "rgb", "zh_fact.json", '["澳大利亚", "悉尼"]', "[[]]",
            r"zh_fact\.json:2: field 'answer': holds \[\[\]\]",
        ),
        ("uhgeval", "concise.jsonl", "<sep>合理", "合理", r"jsonl:1: field 'annotations': has '桥合理'"),
        ("wmt21", "src.zh", "\n", "\n水。\n", r"ref\.A\.en:2: has no such line"),
        ("pdc", "pdc.en", "\n\nOne.", "One.", r"pdc\.en: has 1 articles, but .*pdc\.zh has more"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_named_with_the_place(
    tmp_path: Path, kind: str, name: str, old: str, new: str, message: str
) -> None:
    files = dict(ORIGINALS[kind])
    (hit,) = [key for key in files if key.endswith(name)]
    assert old in files[hit]
    files[hit] = files[hit].replace(old, new)
    with pytest.raises(InputError, match=message):
        list(read(kind, put(tmp_path, files)))


@pytest.mark.parametrize("kind", ["financebench", "halueval", "tablebench", "conflictqa", "fib"])
def test_files_of_lines_are_streamed(tmp_path: Path, kind: str) -> None:
    """The first sample is there before the second line is looked at."""
    ((name, text),) = ORIGINALS[kind].items()
    samples = read(kind, put(tmp_path, {name: text.splitlines()[0] + "\n{broken\n"}))
    assert next(samples).id == EXPECTED[kind][0][0]
    with pytest.raises(InputError, match=":2: is not valid JSON"):
        list(samples)


def test_groups_hold_what_belongs_together(tmp_path: Path) -> None:
    """Pieces, passages of a question, reports that come back, references of a sentence, translations."""
    sizes = {"pdc": 2, "asqa": 1, "crud": 1, "wmt21": 3, "webnlg": 1, "xquad": 1}
    for kind, size in sizes.items():
        assert len({s.group for s in read(kind, put(tmp_path, ORIGINALS[kind]))}) == size, kind


@pytest.mark.parametrize("kind", SIDED)
def test_each_document_is_on_one_side(tmp_path: Path, kind: str) -> None:
    """Of WebQA a question and a passage may be on different sides; such are on none."""
    reader = READERS[kind]
    folder = put(tmp_path, ORIGINALS[kind])
    whole, source, benchmark = (
        {sample.id for sample in reader.read(folder, *reader.splits[:1], side=side)}
        for side in (None, "source", "benchmark")
    )
    assert not source & benchmark
    assert source | benchmark <= whole and (source | benchmark == whole or kind == "webqa")


@pytest.mark.parametrize("kind", ["fib", "webnlg", "conflictqa", "wmt21"])
def test_a_file_that_is_there_plain_and_packed_is_read_once(tmp_path: Path, kind: str) -> None:
    put(tmp_path, ORIGINALS[kind], packed=True)
    assert [sample.id for sample in read(kind, put(tmp_path, ORIGINALS[kind]))] == [
        row[0] for row in EXPECTED[kind]
    ]


def test_fib_takes_each_summary_once(tmp_path: Path) -> None:
    ((name, text),) = ORIGINALS["fib"].items()
    files = {name: text, name.replace("t5", "z"): text.replace("plane fell", "train fell")}
    ids = [sample.id for sample in read("fib", put(tmp_path, files))]
    assert ids == ["fib-xsum-9-t5-pass", "fib-xsum-9-t5-fail", "fib-xsum-9-z-fail"]


def test_halueval_parts(tmp_path: Path) -> None:
    row = {"document": "Long.", "right_summary": "Short.", "hallucinated_summary": "Wrong."}
    put(tmp_path, {"halueval/summarization_data.json": jsonl([row])})
    (right, wrong) = read("halueval", tmp_path, "summarization")
    assert (right.id, right.task, wrong.answer) == (
        "halueval-summarization-0-pass",
        Task.SUMMARIZATION,
        "Wrong.",
    )


def test_uhgeval_keeps_the_wrong_keywords_as_spans(tmp_path: Path) -> None:
    right, wrong = read("uhgeval", put(tmp_path, ORIGINALS["uhgeval"]))
    assert wrong.meta["spans"] == [{"start": 1, "end": 4, "text": "高5米", "reason": "没有提到"}]
    assert right.group == wrong.group and right.meta["pair"] == wrong.meta["pair"]
    assert "spans" not in right.meta
