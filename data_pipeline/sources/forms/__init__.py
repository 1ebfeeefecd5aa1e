"""The forms that labelled sets come in: a row of such a set gives answers whose labels people made.

Each form is a small function from a row to labelled answers, or to the reason why the row gives none. It
names the fields that it reads; ``columns`` of a source says where a set calls them otherwise. A key, a label
or a kind of value that a form does not know is one clear error.
"""

from collections.abc import Mapping
from dataclasses import replace

from data_pipeline.sources.forms.base import COMMON, Asked, Form, LeftOut
from data_pipeline.sources.forms.choice import multiple_choice
from data_pipeline.sources.forms.labels import claims, nli, spans, unanswerable
from judge.errors import unknown
from judge.formats.files import group_of
from judge.formats.records import Record
from judge.samples import sample_from_row
from judge.types import Sample

FORMS: Mapping[str, Form] = {
    "multiple_choice": Form(multiple_choice, ("document", "question", "options", "answer")),
    "nli": Form(nli, ("document", "answer", "label")),
    "unanswerable": Form(unanswerable, ("document", "question", "answers"), ("plausible_answers",)),
    "claims": Form(claims, ("document", "answer", "label")),
    "spans": Form(spans, ("document", "answer", "spans")),
}
LABELLED = ("nli", "claims")
"""Forms with a column of labels, whose words a recipe may explain."""


def read_row(name: str, row: Record, asked: Asked) -> list[Sample] | LeftOut:
    """The samples of one row, whose ``id`` is set; their ids begin with it.

    Raises:
        InputError: naming file, line and field, what was found and what is wanted.
    """
    form = FORMS[name]
    for key in row.values:
        if key not in form.fields:
            raise row.wrong(key, f"{unknown('field', key, form.fields)}; columns maps other names")
    for key in form.needs:
        row.get(key)
    identifier = row.name("id")
    found = form.read(row, asked)
    if isinstance(found, str):
        return LeftOut(identifier, f"form {name}: {found}")
    values = {key: row.values[key] for key in ("document", *COMMON) if key in row.values and key != "licence"}
    licence = {"licence": row.text("licence").strip()} if row.values.get("licence") else {}
    samples = []
    for answer in found:
        own = {
            "id": f"{identifier}-{answer.name}" if answer.name else identifier,
            "answer": answer.text,
            "label": answer.label,
            "meta": {**licence, **answer.meta},
        }
        sample = sample_from_row({**values, **own}, file=row.file, line=row.line)
        # One document has one group, in whichever set it turns up.
        samples.append(
            sample if values.get("group") else replace(sample, group=group_of(sample.document_text))
        )
    return samples
