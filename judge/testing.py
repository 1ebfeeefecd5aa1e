"""Assertions for test suites: are an application's answers faithful to its documents?

    from judge.testing import assert_faithful

    def test_the_answer_keeps_to_the_handbook():
        question = "How long can I return it?"
        assert_faithful(my_application(question), HANDBOOK, question)

With pytest, ``--judge MODEL`` sets the judge for a whole run; the default is the reference judge.
"""

import functools
from typing import TYPE_CHECKING, Any

from judge.shipped import REFERENCE
from judge.types import Label, Language, Task, Verdict

if TYPE_CHECKING:
    import pytest

    from judge.checker import Checker

SHOWN = 400
"""Characters of a document that a failure shows."""

_chosen = REFERENCE


def assert_faithful(
    answer: str,
    document: "str | list[str]",
    question: str = "",
    *,
    task: Task = Task.QA,
    language: Language = "en",
    judge: "Checker | str | None" = None,
) -> Verdict:
    """Fail if an answer is not faithful to its document; the failure shows what is not supported.

    Args:
        answer: what was answered.
        document: one text, or a list of passages.
        question: what was asked; empty if there is none.
        task: what kind of answer it is.
        language: ``en`` or ``zh``.
        judge: a judge or a model name; by default that of ``--judge``. A named model is loaded once.

    Returns:
        The verdict, for further checks.

    Raises:
        AssertionError: the verdict is FAIL.
        InputError: document or answer is empty, or the model does not exist.
        JudgeError: the judge could give no verdict.
    """
    from judge.adapters import make_sample, why_none

    __tracebackhide__ = True
    checker = _load(judge or _chosen) if judge is None or isinstance(judge, str) else judge
    sample = make_sample(document, question, answer, task, language)
    [verdict] = checker.check([sample])
    if error := why_none(verdict):
        raise error
    if verdict.label is Label.FAIL:
        raise AssertionError(_failure(checker.name, verdict, answer, sample.document_text, question))
    return verdict


@functools.cache
def _load(model: str) -> "Checker":
    from judge.load import load_judge  # not at the top, where it would slow every start of pytest

    return load_judge(model)


def _failure(name: str, verdict: Verdict, answer: str, document: str, question: str) -> str:
    """What a person reads when the assertion fails."""
    chance = "" if verdict.p_fail is None else f", p(FAIL) = {verdict.p_fail:.2f}"
    doubted = [words.text for words in verdict.unsupported]
    short = document if len(document) <= SHOWN else f"{document[:SHOWN]}..."
    lines = [f"the answer is not faithful to its document (judge {name}{chance})", f"  answer: {answer}"]
    lines += [f"  not supported: {text}" for text in doubted]
    lines += [f"  question: {question}"] if question else []
    lines += [f"  why: {verdict.reasoning}"] if verdict.reasoning else []
    return "\n".join([*lines, f"  document: {short}"])


# --- pytest's plugin ----------------------------------------------------------------------------------------


def pytest_addoption(parser: Any) -> None:
    """Add ``--judge MODEL``."""
    parser.addoption("--judge", metavar="MODEL", help="the judge of assert_faithful", default=REFERENCE)


def pytest_configure(config: "pytest.Config") -> None:
    """Remember the judge that ``--judge`` names."""
    global _chosen
    _chosen = config.getoption("--judge")
