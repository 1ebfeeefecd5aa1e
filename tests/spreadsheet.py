"""Spreadsheets as tests need them."""

import io
import zipfile
from typing import Any
from xml.sax.saxutils import escape

Row = dict[str, Any]


class CellError(str):
    """An error in place of a value, such as ``#N/A``."""


def sheet(rows: list[Row], *names_of_sheets: str) -> bytes:
    """A spreadsheet, its cells as texts and numbers; sheets that are named have all the same contents."""
    sheets = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r1"/>'
        for number, name in enumerate(names_of_sheets or ("Sheet1",), start=1)
    )
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = [names, *([row.get(name, "") for name in names] for row in rows)] if rows else []

    def cell(value: object) -> str:
        if isinstance(value, int):
            return f"<c><v>{value}</v></c>"
        if isinstance(value, CellError):
            return f'<c t="e"><f>NA()</f><v>{value}</v></c>'
        return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'

    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in table)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": (
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{sheets}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
        ),
        "xl/worksheets/sheet1.xml": (f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'),
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return stream.getvalue()
