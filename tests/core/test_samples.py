"""Every wrong input names the file, the line, the field, what was found and what is wanted."""

import gzip
import io
import json
import os
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.errors import InputError, JudgeWarning
from judge.rows import as_file, parse_label, read_rows
from judge.samples import read_samples, row_from_sample, write_samples
from judge.types import LANGUAGES, Label, Sample, Task, shows
from tests.spreadsheet import CellError, sheet

ROW = {"document": "The sky is blue.", "answer": "Blue."}


def write(path: Path, *lines: object) -> Path:
    path.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines),
        encoding="utf-8",
    )
    return path


WRONG_ROWS: list[tuple[object, str | None, str]] = [
    ("{", None, r"is not valid JSON \(.* at column 2\); expected one object per line"),
    ("[" * 100_000, None, "is not valid JSON"),
    ('{"document": ' + "9" * 5000 + "}", None, "is not valid JSON"),
    ('{"document": "d", "document": "e"}', None, "is not valid JSON .key 'document' is given twice"),
    ("[1, 2]", None, "is a JSON list, expected an object; a file of one list is named .json"),
    (
        {"document": "d"},
        "answer",
        r"is missing \(the row has: document\); where columns have other names, say so: --columns FIELD=",
    ),
    ({**ROW, "anwser": "x"}, "anwser", "unknown field 'anwser'; did you mean 'answer'.*under 'meta'"),
    ({**ROW, "label": "PSAS"}, "label", "unknown label 'PSAS'; did you mean 'PASS'"),
    ({**ROW, "label": 1}, "label", "1 may mean hallucinated or supported; say which: --gold-labels 0=PASS"),
    ({**ROW, "query": "q"}, "query", "unknown field 'query'; .*: --columns question=query"),
    (
        {"context": "d", "response": "a", "prompt": "q"},
        "document",
        "is missing .*document=context,question=prompt,a",
    ),
    ({"source": "d", "answer": "a"}, "document", "is missing .*--columns document=source"),
    (
        {**ROW, "notes": "x"},
        "notes",
        "unknown .*under 'meta', or name .*: --columns",
    ),
    ({**ROW, "task": "summarisation"}, "task", "unknown task 'summarisation'; did you mean 'summarization'"),
    ({**ROW, "language": "eng"}, "language", "holds 'eng', expected en or zh"),
    ({**ROW, "document": ""}, "document", "is empty"),
    ({**ROW, "document": "\u200b\ufeff \u2060"}, "document", "is empty or shows nothing"),
    ({**ROW, "answer": "\u00ad\u3164\u2800\U000e0020"}, "answer", "is empty or shows nothing"),
    ({**ROW, "document": None}, "document", "holds None, expected a text or a list of texts"),
    ({**ROW, "document": ["a", 2]}, "document", r"holds \['a', 2\], expected a text or a list"),
    ({**ROW, "document": ["x" * 10_000, 1]}, "document", "holds .*expected a text or a list"),
    ({**ROW, "answer": ""}, "answer", "is empty or shows nothing; there is nothing to judge"),
    ({**ROW, "answer": None}, "answer", "is empty"),
    ({**ROW, "group": 3}, "group", "holds 3, expected a text"),
    ({**ROW, "meta": "x"}, "meta", "holds 'x', expected an object"),
    ({**ROW, "answer": "cut \ud83d"}, "answer", r"holds \\ud83d, half a character"),
    ({**ROW, "meta": {"a": ["\udc00"]}}, "meta", r"holds \\udc00, half a character"),
    ({**ROW, "id": ["a"]}, "id", r"holds \['a'\], expected a text or a number"),
    ({**ROW, "id": "first"}, "id", "'first' is already on line 1"),
]


@pytest.mark.parametrize(("row", "field", "message"), WRONG_ROWS, ids=lambda value: str(value)[:40])
def test_a_wrong_row(row: object, field: str | None, message: str, tmp_path: Path) -> None:
    # One right row and a blank line before it: the number is the line's, not the row's.
    path = write(tmp_path / "in.jsonl", {**ROW, "id": "first"}, "", row)
    where = rf"in\.jsonl:3: {'' if field is None else f'field {field!r}: '}{message}"
    with pytest.raises(InputError, match=where) as caught:
        list(read_samples(path))
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("in.jsonl", b'{"document": "caf\xe9", "answer": "x"}\n', r"in\.jsonl:1: is not UTF-8 text"),
        (
            "in.csv",
            b"document,answer\ncaf\xe9,x\n",
            r"in\.csv:2: is not UTF-8 text \(byte 0xe9\).*--encoding cp1252",
        ),
        ("in.jsonl", json.dumps(ROW).encode("utf-16"), r"in\.jsonl:1: is not UTF-8 text.*--encoding utf-16"),
        ("in.json", b'{"answer": "x"}\n[', r"in\.json:1: field 'document': is missing"),
        ("in.json", b'[{"answer": "x"}, 3]', r"in\.json:1: field 'document': is missing"),
        ("in.json", b'[{"a": 1, "a": 2}]', "key 'a' is given twice"),
        ("in.json", b'{\n"data": [{"answer": "x"}]}', r"in\.json: holds one object; .* a list of objects"),
        ("in.jsonl", b'{"document": "d', r"in\.jsonl:1: .*Unterminated string starting at column 14\)"),
        ("in.json", b"[3]", r"in\.json:1: is a JSON int, expected an object"),
        ("in.json", b'[\n{"answer"', r"in\.json:2: is not valid JSON"),
        ("in.json", b'\n\r\n [\n{"a" 1}', r"in\.json:4: is not valid JSON .Expecting ':' .* at column 6.$"),
        ("in.jsonl", gzip.compress(b"{}"), r"in\.jsonl: is a gzip file; rename it in\.jsonl\.gz"),
        ("in.xlsx", b"PK", r"in\.xlsx: is damaged or not a spreadsheet"),
        (
            "in.jsonl.gz",
            gzip.compress(json.dumps(ROW).encode() * 99)[:-9],
            r"damaged gzip file.*fetch it again",
        ),
        ("in.jsonl.gz", gzip.compress(bytes(range(256)) * 50)[:40] + b"\xff" * 60, "damaged gzip|UTF-8"),
        ("in.parquet", b"PAR1 is what it begins with", r"in\.parquet: is not a Parquet file"),
        ("in.jsno", b"[]", r"in\.jsno: unknown file type '\.jsno'; did you mean '\.json'"),
        *[("in.jsonl", content, r"in\.jsonl: holds no sample") for content in (b"", b"\n\n", b" \n")],
        *[("in.csv", content, r"in\.csv: holds no sample") for content in (b"", b"document,answer\n")],
    ],
)
def test_a_wrong_file(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(read_samples(tmp_path / name))


@pytest.mark.parametrize("name", ["in.jsonl", "in.parquet"])
def test_no_file_and_a_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name}: no such file"):
        list(read_samples(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=name):
        list(read_samples(tmp_path / name))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=name):
        list(read_samples(tmp_path / "file" / name))


def test_defaults(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", "", ROW, {**ROW, "document": ["a", "b"], "id": 7, "label": None})
    first, second = read_samples(str(path))
    assert first == Sample(
        id="row-2", document="The sky is blue.", answer="Blue.", group="The sky is blue.", task=Task.QA
    )
    assert (second.id, second.document, second.group) == ("7", ("a", "b"), "a\n\nb")


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("PASS", "PASS"),
        (" fail ", "FAIL"),
        ("通过", "PASS"),
        ("失败", "FAIL"),
        ("", None),
        (None, None),
        ("NOT_SUPPORTED", "FAIL"),
    ],
)
def test_labels(word: object, label: str | None) -> None:
    assert parse_label(word) == label


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n" + json.dumps(ROW).encode() + b"\r\n"
    )
    assert [sample.id for sample in read_samples(path)] == ["row-1", "row-2"]


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        "id,document,answer,question,label,meta\n"
        '1,"two\nlines","a ""b"", c",q,FAIL,"{""k"": [1]}"\n,d,e,,,\n',
        encoding="utf-8",
    )
    first, second = read_samples(path)
    assert (first.document, first.answer, first.label, first.meta) == (
        "two\nlines",
        'a "b", c',
        Label.FAIL,
        {"k": [1]},
    )
    assert (second.id, second.question, second.label, second.meta) == ("row-4", "", None, {})
    path.write_text(path.read_text().replace("meta", "info"))
    assert [one.meta for one in read_samples(path, {"meta": "info"})] == [{"k": [1]}, {}]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("document,answer\nd,a\nd,a,b\n", r"in\.csv:3: has more cells than the header \(3, not 2\)"),
        ("document,answer\nd,a\nd\n", r"in\.csv:3: has fewer cells than the header"),
        ('document,answer\nd,"a\nd,a\nd,a\n', r"in\.csv:2: opens a quotation mark that nothing closes"),
        ('document,answer\nd,"a" b\n', r"in\.csv:2: is not a row of CSV .*doubled"),
        ("document,answer,answer\nd,a,b\n", r"in\.csv:1: column 'answer' appears twice in the header"),
        ("id,document,answer,\n1,d,a,\n2,d,a,or so\n", r"in\.csv:3: has text in column 4, which has no name"),
        ("document,answer\n\"['d', 'e']\",a\n", r"in\.csv:2: field 'document': is not valid JSON as in"),
        ("document,answer,meta\nd,a,{\n", r"in\.csv:2: field 'meta': is not valid JSON, expected an object"),
        ('document;answer;meta\nd;a;"{""k"": 1, ""k"": 2}"\n', r"in\.csv:2: field 'meta': is not valid JSON"),
        ("document,answer,lable\nd,a,PASS\n", r"in\.csv:2: field 'lable': unknown field.*'label'"),
    ],
)
def test_wrong_csv(lines: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(lines)
    with pytest.raises(InputError, match=message):
        list(read_samples(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in.csv", '\ufeffdocument;answer\n"a,b;c";1,5\n;\n\n'),
        ("in.csv", "document\tanswer\na,b;c\t1,5\n"),
        ("in.csv", 'document|answer\n"a,b;c"|1,5\n'),
        ("in.csv", 'sep=;\r\ndocument;answer\r\n"a,b;c";1,5\r\n'),
        ("in.csv", "\tdocument\tanswer\n0\ta,b;c\t1,5\n"),
        ("in.tsv", "document\tanswer\r\na,b;c\t1,5\r\n"),
        ("in.ndjson", '{"document": "a,b;c", "answer": "1,5"}\n'),
        ("in.json", ' [{"document": "a,b;c", "answer": "1,5"}]'),
        ("in.json", '{"document": "a,b;c", "answer": "1,5"}\n'),
        ("in.JSONL", '{"document": "a,b;c", "answer": "1,5"}\n'),
    ],
)
def test_kinds_of_files(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    [sample] = read_samples(tmp_path / name)
    assert (sample.document, sample.answer) == ("a,b;c", "1,5")


def test_commas_in_a_quoted_header(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text('"document";answer;"label (PASS, FAIL, or none, ""see"" it)"\n"a,b;c";1,5;\n')
    [sample] = read_samples(path, {"document": "document"})
    assert (sample.document, sample.answer) == ("a,b;c", "1,5")


def test_cells_with_lists_of_passages(tmp_path: Path) -> None:
    """A text that only begins with a bracket stays one, and so does an answer that is a list."""
    path = tmp_path / "in.csv"
    path.write_text('context,answer\n"[""a"", ""b""]","[""x""]"\n[1] Smith [2],y\n', encoding="utf-8")
    first, second = read_samples(path, {"document": "context"})
    assert (first.document, first.answer, second.document) == (("a", "b"), '["x"]', "[1] Smith [2]")


def test_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "in.xlsx"
    path.write_bytes(sheet([{"id": 7, "document": "d", "answer": 42, "label": "FAIL"}]))
    [sample] = read_samples(path)
    assert (sample.id, sample.document, sample.answer, sample.label) == ("7", "d", "42", Label.FAIL)
    path.write_bytes(sheet([ROW], "One", "Two"))
    with pytest.warns(JudgeWarning, match=r"in\.xlsx: only its first sheet is read, 'One', not 'Two'"):
        assert len(list(read_samples(path))) == 1
    path.write_bytes(sheet([{**ROW, "question": CellError("#N/A")}, {**ROW, "question": "#N/A"}]))
    with pytest.warns(JudgeWarning, match=r"in\.xlsx: 1 cell with an error such as #N/A, read as empty"):
        assert [sample.question for sample in read_samples(path)] == ["", "#N/A"]


def test_other_encodings_and_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("document;answer\ncafé – 5 €;x\n".encode("cp1252"))
    with as_file(path, "cp1252") as file:
        assert [sample.document for sample in read_samples(file)] == ["café – 5 €"]
    for wrong, message in (
        ("cp1525", "'cp1525' is not an encoding"),
        ("utf-16", r"in\.csv: is not utf-16 text"),
    ):
        with pytest.raises(InputError, match=message), as_file(path, wrong):
            pass
    path.write_text("document;answer\ncafé;x\n", encoding="utf-8-sig")
    with pytest.raises(InputError, match=r"in\.csv: is UTF-8 .*omit --encoding"), as_file(path, "cp1252"):
        pass
    with as_file(path, "utf8") as file:
        assert [sample.document for sample in read_samples(file)] == ["café"]
    with pytest.raises(InputError, match=r"none\.csv: cannot be read \(No such file or directory\)$"):
        as_file(tmp_path / "none.csv", "cp1252").__enter__()
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"), as_file(Path("-")):
        pass
    given = b'{"document": "d"}', b'[{"document": "d"}]', b"document\nd\n"
    for content in (*given, *map(gzip.compress, given)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        message = r"^standard input:\d: field 'answer': is missing"
        with pytest.raises(InputError, match=message), as_file(Path("-")) as file:
            list(read_samples(file))
    assert not file.exists()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sheet([ROW], "One", "Two"))))
    with (
        pytest.warns(JudgeWarning, match=r"^standard input\.xlsx: only its first sheet"),
        as_file(Path("-")) as file,
    ):
        list(read_samples(file))
    reads, writes = os.pipe()
    os.write(writes, b"document,answer\nd,a\n")
    os.close(writes)
    pipe = Path(f"/dev/fd/{reads}")
    with pytest.raises(InputError, match="is a stream"):
        list(read_samples(pipe))
    with as_file(pipe) as file:
        assert len(list(read_samples(file))) == len(list(read_samples(file))) == 1
    os.close(reads)


def test_labels_by_the_name_of_their_column_and_by_what_was_said(tmp_path: Path) -> None:
    rows = [{**ROW, "is_hallucinated": word, "supported": word} for word in (1, "no", 0.0, True, 1.0, "0.0")]
    path = write(tmp_path / "in.jsonl", *rows)
    for column, wanted in (("is_hallucinated", "FPPFFP"), ("supported", "PFFPPF")):
        read = read_samples(path, {"label": column})
        assert "".join(str(sample.label)[0] for sample in read) == wanted
    said = read_samples(path, {"label": "supported"}, labels={"1": Label.FAIL, "0": None})
    assert [sample.label for sample in said] == ["FAIL", "FAIL", None, "PASS", "FAIL", None]
    write(path, {**ROW, "label": "1"}, {**ROW, "label": "who knows"})
    assert [sample.label for sample in read_samples(path, labelled=False)] == [None, None]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    meta = {"k": 1, "at": datetime(2024, 5, 1), "size": Decimal("1.5"), "raw": b"\xff", "most": float("inf")}
    rows = [
        {
            "id": "1",
            "document": ["a", "b"],
            "answer": "x",
            "label": "FAIL",
            "meta": meta,
            "__index_level_0__": 5,
        },
        {"id": "2", "document": ["c"], "answer": "y", "label": None, "meta": None},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = read_samples(path)
    told = {**meta, "at": "2024-05-01T00:00:00", "size": "1.5", "raw": {"bytes": "ff"}}
    assert (first.document, first.label, first.meta) == (("a", "b"), Label.FAIL, told)
    assert (second.document, second.label, second.meta) == (("c",), None, {})
    pq.write_table(
        pa.Table.from_pylist([{"document": "d", "answer": "x"}, {"document": "d", "answer": ""}]), path
    )
    with pytest.raises(InputError, match=r"in\.parquet:2: field 'answer': is empty"):
        list(read_samples(path))
    pq.write_table(pa.Table.from_pylist([{"document": b"d", "answer": "x"}]), path)
    with pytest.raises(InputError, match=r"field 'document': holds \{'bytes': '64'\}, expected a text"):
        list(read_samples(path))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"in\.parquet: is not a Parquet file"):
        list(read_samples(path))


def test_columns(tmp_path: Path) -> None:
    columns = {"document": "context", "answer": "response", "question": "query"}
    rows = [{"context": "d", "response": "a", "query": "q", "label": "FAIL", "other": 1}]
    [sample] = read_samples(write(tmp_path / "in.jsonl", *rows), columns)
    assert (sample.document, sample.answer, sample.question, sample.label) == ("d", "a", "q", Label.FAIL)
    [sample] = read_samples(tmp_path / "in.jsonl", {"document": "query", "answer": "label"})
    assert (sample.document, sample.answer, sample.label) == ("q", "FAIL", None)
    with pytest.raises(InputError, match=r"in\.jsonl:1: field 'label': unknown column 'respons'.*'response'"):
        list(read_samples(tmp_path / "in.jsonl", {**columns, "label": "respons"}))
    write(tmp_path / "in.jsonl", {"ID": 1, "Document": "d", "Source": "s", "Meta": {}, "Answer": "a"})
    named = "id=ID,document=Document,answer=Answer,source=Source,meta=Meta "
    with pytest.raises(InputError, match=f"--columns {named}"):
        list(read_samples(tmp_path / "in.jsonl"))
    write(tmp_path / "in.jsonl", *rows)
    with pytest.raises(InputError, match="label': is missing; sample 'row-2' needs a gold label"):
        list(read_samples(write(tmp_path / "gold.jsonl", {**ROW, "label": "PASS"}, ROW), gold=True))
    with pytest.raises(InputError, match="unknown field 'anser'; did you mean 'answer'"):
        list(read_samples(tmp_path / "in.jsonl", {**columns, "anser": "response"}))


words = st.text(min_size=1).filter(shows)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    samples=st.lists(
        st.builds(
            Sample,
            id=words,
            document=words | st.lists(words, min_size=1, max_size=3).map(tuple),
            answer=words,
            question=st.text(),
            task=st.sampled_from(list(Task)),
            language=st.sampled_from(LANGUAGES),
            label=st.sampled_from([*Label, None]),
            source=st.text(),
            group=words,
            meta=st.dictionaries(st.text(), values, max_size=2),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda sample: sample.id,
    ),
    packed=st.booleans(),
)
def test_what_is_written_is_read_again(samples: list[Sample], packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "round.jsonl"
    assert write_samples(path, samples) == len(samples)
    if packed:
        content = path.read_bytes()
        path = tmp_path / "round.jsonl.gz"
        path.write_bytes(gzip.compress(content))
    assert list(read_samples(path)) == samples
    rows: list[dict[str, Any]] = [row for _, row in read_rows(path)]
    assert rows == json.loads(json.dumps([row_from_sample(sample) for sample in samples]))
    with pytest.raises(InputError, match=r"samples are JSON Lines; give a name such as w\.jsonl, not \.csv"):
        write_samples(tmp_path / "w.csv", samples)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([{"answer": " "}], r"field 'answer': is empty .*\(sample 'a0'\)"),
        ([{}, {"id": "a0"}], "field 'id': two samples have the id 'a0'"),
    ],
)
def test_what_cannot_be_read_is_not_written(rows: list[dict[str, str]], error: str, tmp_path: Path) -> None:
    samples = [Sample(**{"id": f"a{i}", **ROW, **row}) for i, row in enumerate(rows)]
    with pytest.raises(InputError, match=error):
        write_samples(tmp_path / "rows.jsonl", samples)
    assert not list(tmp_path.iterdir())
