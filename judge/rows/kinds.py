"""Rows of files, whatever their kind: JSON Lines, JSON, CSV, spreadsheets and Parquet."""

import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, time
from functools import partial
from io import BytesIO
from itertools import chain, islice
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from judge.errors import InputError, brief, counted, unknown, warn
from judge.files import is_stream, open_text, parse_json, read_jsonl

Row = dict[str, Any]
Rows = Iterator[tuple[int, Row]]

ENCODING = (
    "save it as UTF-8, or name its encoding (judge batch, eval, calibrate and teach: --encoding cp1252)"
)
_LIST = re.compile(r"\s*\[\s*(?:[\"']|\]\s*$)")
"""The beginning of a cell with a list of texts; ``[1] Smith et al.`` and ``[music]`` are texts."""

_SEPARATOR = re.compile("sep=.?", re.IGNORECASE)
"""A line that Excel may write above the header."""
_QUOTED = re.compile(r'(?<![^,;\t|])"(?:[^"]|"")*"?')
"""A quoted cell of CSV."""


def file_type(path: Path) -> str:
    """The suffix of a file's name, in lower case and without ``.gz``."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def read_rows(path: Path, document: str = "document") -> Rows:
    """Yield ``(number, row)`` of a file of one of the :data:`FILE_TYPES`, text and spreadsheets also ``.gz``.

    The number is the line on which a row begins, or in formats without lines (JSON lists, Parquet) the row
    number, from 1. Values of CSV and spreadsheets are texts.

    Args:
        path: the file.
        document: the column of a table whose cells may be a JSON list of passages.

    Raises:
        InputError: if the file is not what its name says, or a row is incomplete; names file and line.
    """
    kind = file_type(path)
    if is_stream(path):
        raise InputError("is a stream, which can be read only once; save it as a file", file=path)
    if kind not in FILE_TYPES:
        if path.is_dir():
            raise InputError("is a folder; name a file in it", file=path)
        raise InputError(unknown("file type", kind or "(none)", FILE_TYPES), file=path)
    return FILE_TYPES[kind](path, document)


# --- One reader a kind --------------------------------------------------------------------------------------


def _json_lines(path: Path, _: str) -> Rows:
    return read_jsonl(path, ENCODING)


def _json(path: Path, document: str) -> Rows:
    """The objects of a JSON list; other ``.json`` files have one object per line, like HaluEval's."""
    with open_text(path, remedy=ENCODING) as stream:
        above, begins = 0, stream.read(1)
        while begins.isspace():
            above, begins = above + (begins == "\n"), stream.read(1)
        if begins == "[":
            try:
                rows = parse_json(begins + stream.read())
            except (ValueError, RecursionError) as error:
                if isinstance(error, UnicodeDecodeError):
                    raise  # open_text has the message for it
                line, reason = None, str(error)
                if isinstance(error, json.JSONDecodeError):
                    line, reason = above + error.lineno, f"{error.msg} at column {error.colno}"
                raise InputError(f"is not valid JSON ({reason})", file=path, line=line) from None
    if begins != "[":
        lines = _json_lines(path, document)
        try:
            first = list(islice(lines, 1))
        except InputError:
            if _is_one_object(path):
                raise InputError(
                    "holds one object; a .json file holds a list of objects ([...]) or one object per line",
                    file=path,
                ) from None
            raise
        yield from chain(first, lines)
        return
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise InputError(f"is a JSON {type(row).__name__}, expected an object", file=path, line=number)
        yield number, row


def _is_one_object(path: Path) -> bool:
    with open_text(path) as stream:
        try:
            return isinstance(json.load(stream), dict)
        except (ValueError, RecursionError):
            return False


def _csv(path: Path, document: str, separators: str = ",;\t|") -> Rows:
    """A header and rows of cells; the separator is the one that splits the header into most cells."""
    csv.field_size_limit(sys.maxsize)
    with open_text(path, remedy=ENCODING) as stream:
        begins = []
        for line in stream:
            begins.append("\n" if _SEPARATOR.fullmatch(line.strip()) else line)
            line = begins[-1]
            if line.strip():
                break
        separator = max(separators, key=_QUOTED.sub("", begins[-1] if begins else "").count)
        lines = csv.reader(chain(begins, stream), delimiter=separator, strict=True)
        yield from _table(path, _cells(path, lines), document)


def _cells(path: Path, lines: Any) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of a ``csv.reader``, each with the line on which it begins."""
    while True:
        begins = lines.line_num + 1
        try:
            yield begins, next(lines)
        except StopIteration:
            return
        except csv.Error as error:
            open_end = lines.line_num > begins or "unexpected end" in str(error)
            why = (
                "opens a quotation mark that nothing closes" if open_end else f"is not a row of CSV ({error})"
            )
            message = f"{why}; marks within a quoted cell are doubled"
            raise InputError(message, file=path, line=begins) from None


def _sheet(path: Path, document: str) -> Rows:
    """The first sheet of a spreadsheet."""
    from python_calamine import CalamineError, SheetTypeEnum, load_workbook

    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        book = load_workbook(BytesIO(content))
        cells = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
        tables = [sheet.name for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
        # total_height counts from 0, so a header alone gives 0.
        others = [name for name in tables[1:] if book.get_sheet_by_name(name).total_height]
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file ({error}); fetch it again", file=path) from None
    except (CalamineError, OSError) as error:
        raise InputError(f"is damaged or not a spreadsheet ({error}); fetch it again", file=path) from None
    if others:
        unread = ", ".join(map(repr, others))
        warn(f"{path.name}: only its first sheet is read, {book.sheet_names[0]!r}, not {unread:.80}")
    if errors := _count_errors(content):
        warn(f"{path.name}: {counted(errors, 'cell')} with an error such as #N/A, read as empty")
    texts = ([_cell_text(cell) for cell in row] for row in cells)
    return _table(path, enumerate(texts, start=1), document)


def _count_errors(content: bytes) -> int:
    """How many cells of a spreadsheet hold an error such as ``#N/A``, which the library reads as nothing."""
    try:
        with ZipFile(BytesIO(content)) as book:
            sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/")]
            return sum(book.read(name).count(b't="e"') for name in sheets)
    except BadZipFile:  # an older format
        return 0


def _cell_text(cell: Any) -> str:
    """A cell as text, as in CSV; spreadsheets store whole numbers as floats."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def _table(path: Path, rows: Iterable[tuple[int, Sequence[str]]], document: str) -> Rows:
    """Rows of a table as dicts: the first row names the columns, and blank rows are skipped."""
    filled = ((line, cells) for line, cells in rows if any(cell.strip() for cell in cells))
    head, header = next(filled, (0, ()))
    names = [name.strip() for name in header]
    for name in names:
        if name and names.count(name) > 1:
            raise InputError(f"column {name!r} appears twice in the header", file=path, line=head)
    # The first column may be the index that pandas writes.
    unnamed = [place for place, name in enumerate(names) if not name and place > 0]
    for line, cells in filled:
        if len(cells) != len(names):
            more = "more" if len(cells) > len(names) else "fewer"
            raise InputError(
                f"has {more} cells than the header ({len(cells)}, not {len(names)})", file=path, line=line
            )
        for place in unnamed:
            if cells[place].strip():
                raise InputError(
                    f"has text in column {place + 1}, which has no name in the header", file=path, line=line
                )
        row: Row = {name: cell for name, cell in zip(names, cells, strict=True) if name}
        for name, cell in row.items():
            if name == document and _LIST.match(cell):
                row[name] = _parsed(cell, path, line, name)
        yield line, row


def _parsed(cell: str, path: Path, line: int, field: str) -> Any:
    try:
        return parse_json(cell)
    except (ValueError, RecursionError):
        raise InputError(
            f'is not valid JSON as in ["one passage", "another"]: {cell!r:.60}',
            file=path,
            line=line,
            field=field,
        ) from None


def _parquet(path: Path, _: str) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(path).iter_batches()
        number = 0
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                # Without the index that pandas writes.
                named = {name: row[name] for name in row if not name.startswith("__index_level_")}
                yield number, json.loads(json.dumps(named, default=_as_json))
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a Parquet file ({brief(error)})", file=path) from None


def _as_json(value: Any) -> Any:
    """What JSON has no form for, as in spreadsheets; bytes are no text."""
    return {"bytes": value.hex()} if isinstance(value, bytes) else _cell_text(value)


FILE_TYPES: dict[str, Callable[[Path, str], Rows]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": partial(_csv, separators="\t"),
    ".xlsx": _sheet,
    ".parquet": _parquet,
}
