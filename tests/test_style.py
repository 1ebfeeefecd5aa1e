"""User pages, help and messages are plain English (docs/contributing/style.md)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/contributing/*.md"),
    *ROOT.glob("recipes/*/README.md"),
]
NOT_READ = {"style.md", "CHANGELOG.md"}
TURNS = re.compile(
    r"\b(borne|bears|at hand|what came of it|from which on|goes on after a kill|leave (it|them|\S+) away)\b"
    r"|\bdraw so many\b|\bso many of\b|\bis no JSON\b|\bis wanted\b",
    re.IGNORECASE,
)
RECORDED = {
    "data_pipeline/build/manifest.py",
    "data_pipeline/labels/supported.py",
    "data_pipeline/teachers/reasoning/wording.py",
}
"""Their words stand in data sets that were built, which stay the same byte for byte."""


def messages(file: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every string of a module that is not a docstring."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.lineno, node.value


def test_pages_are_plain_english() -> None:
    found = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for page in PAGES
        if page.name not in NOT_READ
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        if TURNS.search(line)
    ]
    assert not found, "\n".join(found)


def test_messages_are_plain_english() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text[:120]!r}"
        for package in ("judge", "eval", "data_pipeline")
        for file in sorted((ROOT / package).rglob("*.py"))
        if str(file.relative_to(ROOT)) not in RECORDED
        for line, text in messages(file)
        if TURNS.search(text)
    ]
    assert not found, "\n".join(found)
