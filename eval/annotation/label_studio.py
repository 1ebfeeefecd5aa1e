"""Files of Label Studio: writes tasks and the labelling config, reads exports.

Texts of samples are only in the tasks, as JSON values; the config refers to them by name, and Label Studio's
``Text`` shows them as plain text. Gold labels are in neither.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from pydantic import BaseModel, TypeAdapter, ValidationError

from judge.errors import InputError, counted, warn
from judge.files import sha256_text
from judge.types import Sample

Choice = Literal["PASS", "FAIL", "UNSURE"]
CHOICES: tuple[Choice, ...] = ("PASS", "FAIL", "UNSURE")


class Shown(BaseModel):
    """A sample in a task; ``group`` is a hash of its group or document, the unit of resampling."""

    id: str
    source: str
    group: str
    document: str
    question: str
    answer: str
    reasoning: str = ""

    @classmethod
    def of(cls, sample: Sample, reasoning: str = "") -> "Shown":
        """From a sample and a judge's reasoning about it."""
        return cls(
            id=sample.id,
            source=sample.source,
            group=sha256_text(sample.unit)[:16],
            document=sample.document_text,
            question=sample.question,
            answer=sample.answer,
            reasoning=reasoning,
        )


def make_tasks(samples: Iterable[Sample], reasonings: Mapping[str, str]) -> list[dict[str, Any]]:
    """The samples as tasks; ``reasonings`` holds a judge's reasonings by sample id."""
    return [{"data": Shown.of(sample, reasonings.get(sample.id, "")).model_dump()} for sample in samples]


def labelling_config(types: Sequence[str], question: bool, reasoning: bool) -> str:
    """The labelling config: texts to read and to mark, a choice of PASS, FAIL or unsure, and a note.

    Args:
        types: the types of marks in the answer; if empty, "unsupported".
        question: whether to show a question.
        reasoning: whether to show a judge's reasoning.

    Raises:
        InputError: if a type holds unprintable characters.
    """
    for name in types:
        if not name.isprintable():
            raise InputError(f"{name!r} holds characters that no type may have", field="--types")
    page = Element("View", style="display: flex; gap: 2em; align-items: flex-start")
    left, right = (SubElement(page, "View", style="flex: 1") for _ in range(2))

    def text(side: Element, name: str, marks: str = "", kinds: Sequence[str] = ()) -> None:
        SubElement(side, "Header", value=name.capitalize())
        if marks:
            labels = SubElement(side, "Labels", name=marks, toName=name)
            for kind in kinds:
                SubElement(labels, "Label", value=kind)
        SubElement(side, "Text", name=name, value=f"${name}", valueType="text", granularity="word")

    text(left, "document", "evidence", ("evidence",))
    for name in ["question"] * question + ["reasoning"] * reasoning:
        text(right, name)
    text(right, "answer", "unsupported", types or ("unsupported",))
    once = {"choice": "single", "showInline": "true", "required": "true"}
    choices = SubElement(right, "Choices", once, name="verdict", toName="answer")
    for choice in CHOICES:
        SubElement(choices, "Choice", value=choice, hotkey=choice[0].lower())
    SubElement(right, "TextArea", name="note", toName="answer", placeholder="Note", rows="2")
    indent(page)
    return tostring(page, encoding="unicode") + "\n"


@dataclass(frozen=True, slots=True)
class Mark:
    """Marked words, with their position in code points and their type."""

    start: int
    end: int
    text: str
    type: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotator's label and note on a sample, and the marks in its answer and document."""

    sample: Shown
    annotator: str
    label: Choice
    unsupported: tuple[Mark, ...]
    evidence: tuple[Mark, ...]
    note: str


class _Value(BaseModel):
    choices: list[Choice] = []
    labels: list[str] = []
    text: str | list[str] = []
    start: int = 0
    end: int = 0


class _Result(BaseModel):
    from_name: str
    value: _Value


class _Annotation(BaseModel):
    completed_by: int | dict[str, Any]
    was_cancelled: bool = False
    result: list[_Result]


class _Task(BaseModel):
    data: Shown
    annotations: list[_Annotation]


def read_exports(paths: Sequence[Path]) -> list[Annotation]:
    """The last annotation of every annotator on every sample; skipped tasks are left out.

    Annotators are identified by email or, if the export has none, by number. With several exports, the file
    name precedes the number, since each may come from a different Label Studio.

    Raises:
        InputError: if a file is not an export of such tasks, or two tasks with one id have different texts.
    """
    found: dict[tuple[str, str], Annotation] = {}
    replaced = 0
    samples: dict[str, Shown] = {}
    for path in paths:
        for number, task in enumerate(_read(path)):
            sample, place = task.data, f"{number}.data"
            if samples.setdefault(sample.id, sample) != sample:
                message = f"{sample.id!r} has another text than before; do not mix exports of two sets"
                raise InputError(message, file=path, field=place)
            for entry in task.annotations:
                labels = [choice for item in entry.result for choice in item.value.choices]
                if entry.was_cancelled or not labels:
                    continue
                user = entry.completed_by
                name = user.get("email") if isinstance(user, dict) else None
                name = name or (f"{path.stem}: {user}" if len(paths) > 1 else f"user {user}")
                try:
                    marks = (
                        _marks(entry, "unsupported", sample.answer),
                        _marks(entry, "evidence", sample.document),
                    )
                except InputError as error:
                    raise InputError(f"{sample.id!r}: {error}", file=path, field=place) from None
                notes = [item.value.text for item in entry.result if item.from_name == "note"]
                note = "\n".join(
                    line for note in notes for line in ([note] if isinstance(note, str) else note)
                )
                new = Annotation(sample, name, labels[0], *marks, note)
                replaced += found.get((name, sample.id), new) != new
                found[name, sample.id] = new
    if replaced:
        warn(f"{counted(replaced, 'earlier annotation')} replaced by the same annotator's last")
    return list(found.values())


def _read(path: Path) -> list[_Task]:
    try:
        return TypeAdapter(list[_Task]).validate_json(path.read_bytes().removeprefix(BOM_UTF8))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        message = f"{first['msg']}; export a project with the tasks of `judge annotate` as JSON"
        raise InputError(message, file=path, field=".".join(map(str, first["loc"])) or None) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", file=path) from None


def _marks(entry: _Annotation, name: str, text: str) -> tuple[Mark, ...]:
    found = []
    for value in (item.value for item in entry.result if item.from_name == name):
        if not 0 <= value.start < value.end <= len(text):
            raise InputError(f"a mark from {value.start} to {value.end} in a text of {len(text)} characters")
        found += [Mark(value.start, value.end, text[value.start : value.end], kind) for kind in value.labels]
    return tuple(found)


def by_sample(annotations: Iterable[Annotation]) -> dict[str, list[Annotation]]:
    """The annotations of each sample, by its id, in order."""
    found: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        found.setdefault(annotation.sample.id, []).append(annotation)
    return found
