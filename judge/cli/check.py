"""``judge check``: is one answer faithful to its document?"""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.batch.file import verdict_row
from judge.cli.options import MODEL, Settings, introduce, loads_judge, watch_languages
from judge.errors import InputError, JudgeError
from judge.files import dump
from judge.shipped import REFERENCE
from judge.types import Label, Sample, Task, Usage, Verdict

app = typer.Typer(add_completion=False)

UNUSED = ("sklearn", "scipy")
"""What transformers imports wherever it is installed, and no verdict uses: over a second of the start."""


def _document(value: str) -> str:
    """A document from a file, from standard input for ``-``, or the text itself; a text has several words.

    Nothing at all is no file's name either.
    """
    if len(value.split()) != 1 and not _is_file(value):
        return value
    return _text(value if value == "-" else f"@{value}", "the document")


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except OSError:  # longer than a name may be
        return False


def _text(value: str, what: str) -> str:
    """A text from the command line, from ``@FILE``, or from standard input for ``-``."""
    if value == "-":
        return sys.stdin.read()
    if not value.startswith("@"):
        return value
    path = Path(value[1:])
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{what} could not be read ({error.strerror})", file=path) from None
    except UnicodeDecodeError:
        raise InputError(f"{what} is not UTF-8 text", file=path) from None


@contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """For a process that gives one verdict and ends: looking for garbage would take two of seven seconds."""
    gc.disable()
    atexit.register(gc.freeze)  # nor is any looked for at the end
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _without(*packages: str) -> Iterator[None]:
    """Let no library find these packages, installed or not, by what Python has for it: ``None`` in its place.

    A library that looks once goes on without them, so this, too, is for a process of one verdict.
    """
    hidden: dict[str, Any] = {name: None for name in packages if name not in sys.modules}
    sys.modules.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


@app.command("check")
@loads_judge()
def check_command(
    settings: Settings,
    document: Annotated[str, typer.Option(help="The document, or a file with it; - is standard input.")],
    answer: Annotated[str, typer.Option(help="The answer, or @FILE.")],
    model: MODEL = REFERENCE,
    question: Annotated[str, typer.Option(help="The question, or @FILE.")] = "",
    task: Annotated[str, typer.Option(help=f"One of: {', '.join(Task)}.")] = "qa",
    language: Annotated[str, typer.Option(help="en or zh.")] = "en",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole verdict as JSON.")] = False,
) -> None:
    """Is an answer faithful to its document?"""
    from judge.load import load_judge
    from judge.samples import sample_from_row

    row = {
        "id": "check",
        "document": _document(document),
        "question": _text(question, "the question"),
        "answer": _text(answer, "the answer"),
        "task": task,
        "language": language,
    }
    sample = sample_from_row(row, file="judge check")
    unused = UNUSED if settings["backend"] == "transformers" and not model.startswith("floor:") else ()
    with _collecting_no_garbage(), _without(*unused):
        introduce(model)
        judge = load_judge(model, **settings, quick=True)
        [verdict] = judge.iter_check([sample])
    if verdict.label is not None:
        watch_languages(model, settings, at_once=True).see(sample)
    if as_json:
        typer.echo(dump(verdict_row(sample, verdict)))
    elif verdict.label is not None:
        typer.echo(_readable(verdict, sample, settings["claims"]))
    if verdict.label is None:
        failure = f"no verdict: {verdict.error}"
        raise InputError(failure) if verdict.usage == Usage() else JudgeError(failure)  # nothing was asked


def _readable(verdict: Verdict, sample: Sample, claims: bool) -> str:
    answer, document = sample.answer, sample.document_text
    meaning = {Label.PASS: "faithful", Label.FAIL: "hallucinated"}
    label = verdict.label or Label.FAIL
    chance = "" if verdict.p_fail is None else f", p(FAIL) = {verdict.p_fail:.3f}"
    lines = [f"{label} ({meaning[label]}{chance})"]
    if verdict.reasoning:
        lines.append(verdict.reasoning)
    for words in verdict.unsupported:
        lines.append(f"unsupported: {words.text!r}" + ("" if words.p is None else f" ({words.p:.2f})"))
    for claim in verdict.claims if claims else ():
        chance = "" if claim.p_fail is None else f" {claim.p_fail:.3f}"
        window = verdict.windows[claim.window]
        lines.append(f"{claim.label or 'none'}{chance}  {answer[claim.span.start : claim.span.end]}")
        lines.append(f"    document: {' '.join(document[window.start : window.end].split())}")
    if len(verdict.windows) > 1 and not claims:
        lines.append(f"note: the document was judged in {len(verdict.windows)} windows")
    if verdict.cut_chars:
        lines.append(f"note: the document's last {verdict.cut_chars} characters did not fit into the context")
    return "\n".join(lines)
