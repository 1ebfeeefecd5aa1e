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
    r"\b(borne|bears?|at hand|so many|what came of it|from which on|goes on after a kill)\b"
    r"|\bleave (it|them|\S+) away\b|\bis no JSON\b|\bis wanted\b",
    re.IGNORECASE,
)


def texts() -> Iterator[tuple[Path, int, str]]:
    """Lines of the pages, and strings of the modules that are no docstrings, with their places."""
    for page in (*PAGES, *ROOT.glob("*/*/assets/*")):
        if page.name not in NOT_READ:
            for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
                yield page, number, line
    for file in (
        file for package in ("judge", "eval", "data_pipeline") for file in (ROOT / package).rglob("*.py")
    ):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield file, node.lineno, node.value


def test_pages_and_messages_are_plain_english() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text.strip()[:120]!r}"
        for file, line, text in texts()
        if TURNS.search(text)
    ]
    assert not found, "\n".join(found)
