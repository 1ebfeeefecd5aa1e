"""Rows of a spreadsheet, each a record that knows where it stands."""

import gzip
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.formats.records import Record


def read_sheet(path: Path) -> Iterator[Record]:
    """The rows of the first sheet of an ``.xlsx`` file, plain or ``.gz``; its first row names the columns.

    Whole numbers come as ``int``, empty cells are left out.

    Raises:
        InputError: the file is damaged or no spreadsheet.
    """
    from python_calamine import CalamineError, load_workbook

    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        cells = load_workbook(BytesIO(content)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"is a damaged gzip file ({error}); fetch it again", file=path) from None
    except (CalamineError, OSError) as error:
        raise InputError(f"is damaged or no spreadsheet ({error}); fetch it again", file=path) from None
    if not cells:
        return
    names = [str(name).strip() for name in cells[0]]
    for line, row in enumerate(cells[1:], start=2):
        values = {
            name: _plain(cell)
            for name, cell in zip(names, row, strict=True)
            if name and cell not in ("", None)
        }
        if values:
            yield Record(values, path, line)


def _plain(cell: Any) -> Any:
    """Spreadsheets know no whole numbers."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell
