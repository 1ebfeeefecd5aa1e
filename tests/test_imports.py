"""Who may import whom, and what must not be loaded before it is needed; read from the syntax trees."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("judge", "data_pipeline", "eval")
FORBIDDEN = {
    "judge": {"data_pipeline", "eval", "recipes"},
    "data_pipeline": {"eval", "recipes"},
    "eval": {"data_pipeline", "recipes"},
}
HEAVY = {"torch", "transformers", "datasets", "trl", "peft", "sklearn", "pyarrow"}
MAY_LOAD = {f"judge/training/{name}.py" for name in ("callbacks", "lion", "trainer")}
MODULES = [path.relative_to(ROOT) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def roots(node: ast.AST) -> Iterator[str]:
    """First parts of the names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports are absolute"
        yield (node.module or "").partition(".")[0]


def at_load(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is loaded: not those in functions or under TYPE_CHECKING."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from at_load(node.orelse)
            continue
        yield node
        for part in ("body", "orelse", "finalbody"):
            yield from at_load(getattr(node, part, []))
        for handler in getattr(node, "handlers", []):
            yield from at_load(handler.body)


def parse(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_layers(module: Path) -> None:
    found = {root for node in ast.walk(parse(module)) for root in roots(node)}
    assert not found & FORBIDDEN[module.parts[0]]


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_heavy_libraries_are_loaded_where_they_are_used(module: Path) -> None:
    found = {root for node in at_load(parse(module).body) for root in roots(node)}
    if module.as_posix() not in MAY_LOAD:
        assert not found & HEAVY


def test_the_rules_look_at_something() -> None:
    assert len(MODULES) > 30
    source = "if TYPE_CHECKING:\n import torch\nelse:\n import peft\n"
    source += "try:\n import trl\nexcept X:\n import datasets\n"
    source += "class A:\n import sklearn\n def f(self):\n  import pyarrow\n"
    found = {root for node in at_load(ast.parse(source).body) for root in roots(node)}
    assert found == {"peft", "trl", "datasets", "sklearn"}


@pytest.mark.parametrize(
    "package", ["judge", "judge.judge", "judge.samples", "judge.training", "eval", "data_pipeline"]
)
def test_importing_loads_no_torch(package: str) -> None:
    code = f"import {package}, sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
