"""``judge check``: is one answer faithful to its document?"""

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from judge.batch.file import verdict_row
from judge.cli.options import MODEL, Settings, introduce, loads_judge, watch_languages
from judge.cli.settings import setting
from judge.cli.texts import HELP, read_texts
from judge.errors import InputError, JudgeError, counted
from judge.files import dump
from judge.shipped import REFERENCE, is_baseline
from judge.types import LANGUAGES, Label, Sample, Task, Usage, Verdict

UNUSED = ("sklearn", "scipy")
"""Packages that transformers imports if installed, and no verdict uses: over a second of the start."""


@contextmanager
def _collecting_no_garbage() -> Iterator[None]:
    """Turn off garbage collection: in a process for one verdict it would take two of seven seconds."""
    gc.disable()
    atexit.register(gc.freeze)  # no collection at exit either
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def _without(*packages: str) -> Iterator[None]:
    """Hide packages from all libraries, by Python's way of doing so: ``None`` in ``sys.modules``.

    A library that looks once does without them from then on, so this, too, is for a process of one verdict.
    """
    hidden: dict[str, Any] = {name: None for name in packages if name not in sys.modules}
    sys.modules.update(hidden)
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


@loads_judge()
def check_command(
    settings: Settings,
    document: Annotated[str, typer.Option(help=f"The document to check against: {HELP}.")],
    answer: Annotated[str, typer.Option(help="The answer to check, given in the same way.")],
    question: Annotated[str, typer.Option(help="The question, if there is one, given in the same way.")] = "",
    model: MODEL = REFERENCE,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole verdict as JSON.")] = False,
    task: Annotated[str, setting(f"Kind of answer: {', '.join(Task)}.")] = "qa",
    language: Annotated[str, setting(f"Language of the texts: {', '.join(LANGUAGES)}.")] = "en",
) -> None:
    """Is an answer faithful to its document?

    Text is used as it is; @FILE reads a file, and @@ at the start means @.
    """
    from judge.load import load_judge
    from judge.samples import sample_from_row

    texts = read_texts({"--document": document, "--question": question, "--answer": answer})
    named = {option.removeprefix("--"): text for option, text in texts.items()}
    row = {"id": "check", **named, "task": task, "language": language}
    sample = sample_from_row(row, file="judge check")
    rule = is_baseline(model) or is_baseline(settings["cascade"] or "")
    unused = UNUSED if settings["backend"] == "transformers" and not rule else ()
    with _collecting_no_garbage(), _without(*unused):
        introduce(model)
        judge = load_judge(model, **settings)
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
    """A verdict in lines, with the sentences of the answer if claims were asked for."""
    answer, document = sample.answer, sample.document_text
    meaning = {Label.PASS: "faithful", Label.FAIL: "hallucinated"}
    label = verdict.label or Label.FAIL
    chance = "" if verdict.p_fail is None else f", p(FAIL) = {verdict.p_fail:.3f}"
    lines = [f"{label} ({meaning[label]}{chance})"]
    if verdict.reasoning:
        lines.append(verdict.reasoning)
    for words in verdict.unsupported:
        # Next to the probabilities of sentences, those of words would only confuse.
        lines.append(
            f"unsupported: {words.text!r}" + ("" if words.p is None or claims else f" ({words.p:.2f})")
        )
    if claims:
        lines.append("doubt about each sentence, 0 to 1 (the verdict is on the answer as a whole):")
        for claim in verdict.claims:
            chance = "  ?  " if claim.p_fail is None else f"{claim.p_fail:.3f}"
            window = verdict.windows[claim.window]
            lines.append(f"{chance}  {answer[claim.span.start : claim.span.end]}")
            if claim.p_fail is not None:
                lines.append(f"       document: {' '.join(document[window.start : window.end].split())}")
    elif len(verdict.windows) > 1:
        lines.append(f"note: the document was judged in {len(verdict.windows)} windows")
    if verdict.cut_chars:
        lines.append(
            f"note: not read, since it did not fit into the context: the document's end, "
            f"{counted(verdict.cut_chars, 'character')}; another --model reads more, or --windows with a "
            "language model"
        )
    return "\n".join(lines)
