"""Who may import whom, without circles; what must not be loaded too early; what packages hand out.

All of it is read from the syntax trees, so that imports within functions count too.
"""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("judge", "data_pipeline", "eval")
FORBIDDEN = {
    "judge": {"data_pipeline", "eval", "recipes"},
    "data_pipeline": {"eval", "recipes"},
    "eval": {"data_pipeline", "recipes"},
}
LEVELS = (
    {"errors", "types", "markdown", "progress"},
    {"files"},
    {"rows"},
    {"columns"},
    {"configs", "samples", "checker", "shipped"},
    {"prompting", "formats", "remote", "baselines"},
    {"models", "injections"},
    {"calibration"},
    {"backends", "cascade"},
    {"calibrated"},
    {"judge", "encoder", "claims"},
    {"pages"},
    {"load"},
    {"batch", "serving", "training", "adapters"},
    {"exports"},
    {"cli", "testing"},
    {"__main__"},
)
"""Modules and wings of ``judge``, lowest first: each imports from lower levels and from itself alone."""
LAYERS = (
    {"text"}, {"sources"}, {"edits"}, {"teachers"}, {"pairs"}, {"config"}, {"labels"}, {"leaks"}, {"audit"},
    {"build"}, {"papers"}, {"cli"},
)  # fmt: skip
"""The same for ``data_pipeline``; there is nothing else at its top."""
HEAVY = {"torch", "transformers", "datasets", "trl", "peft", "sklearn", "pyarrow"}
MAY_LOAD = {
    f"judge/training/{name}.py"
    for name in ("batches", "callbacks", "encoder", "encoder_trainer", "lion", "pages", "starts", "trainer")
}
MAY_LOAD |= {f"judge/models/{name}.py" for name in ("bert", "blocked_attention", "float32_linear")}
MAY_LOAD |= {"judge/encoder/network.py", "judge/pages/model.py", "judge/exports/onnx_file.py"}
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


def dotted(module: Path) -> str:
    """The name by which a module is imported."""
    return ".".join(module.with_suffix("").parts).removesuffix(".__init__")


NAMES = {dotted(module): module for module in MODULES}


def imported(module: Path) -> set[str]:
    """Modules of this project that a module imports by name, wherever in it, and for whatever reason."""
    found = set()
    for node in ast.walk(parse(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in NAMES else str(node.module) for name in names}
    return found & set(NAMES)


@cache
def parse(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", PACKAGES)
def test_layers(package: str) -> None:
    modules = [module for module in MODULES if module.parts[0] == package]
    found = {(root, module) for module in modules for node in ast.walk(parse(module)) for root in roots(node)}
    assert len(modules) > 30 and [pair for pair in found if pair[0] in FORBIDDEN[package]] == []


def test_no_circles() -> None:
    TopologicalSorter({dotted(module): imported(module) for module in MODULES}).prepare()


@pytest.mark.parametrize(("package", "levels"), [("judge", LEVELS), ("data_pipeline", LAYERS)])
def test_levels_inside_a_package(package: str, levels: tuple[set[str], ...]) -> None:
    level = {part: number for number, parts in enumerate(levels) for part in parts}
    for module in (name for name in NAMES if name.startswith(f"{package}.")):
        own = module.split(".")[1]
        names = (name for name in imported(NAMES[module]) if name.startswith(f"{package}."))
        others = {name.split(".")[1] for name in names} - {own}
        assert [other for other in others if level[other] >= level[own]] == [], module


FACES = [name for name, module in NAMES.items() if "\n__all__ = " in (ROOT / module).read_text("utf-8")]


@pytest.mark.parametrize("package", FACES)
def test_packages_hand_out_what_they_say(package: str) -> None:
    face = importlib.import_module(package)
    assert all(getattr(face, name) is not None for name in face.__all__)


def test_the_public_names_of_judge() -> None:
    import judge

    assert judge.__all__ == [
        "Checker", "InputError", "Judge", "JudgeError", "Label", "Message", "Mode", "Sample", "Task", "Usage",
        "Verdict", "load_judge",
    ]  # fmt: skip
    assert {"Judge", "load_judge", "Checker"} <= set(dir(judge))
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        judge.jugde  # noqa: B018


def test_heavy_libraries_are_loaded_where_they_are_used() -> None:
    others = (module for module in MODULES if module.as_posix() not in MAY_LOAD)
    found = {
        (root, module) for module in others for node in at_load(parse(module).body) for root in roots(node)
    }
    assert [pair for pair in found if pair[0] in HEAVY] == []


def test_the_rules_look_at_something() -> None:
    source = "if TYPE_CHECKING:\n import torch\nelse:\n import peft\n"
    source += "try:\n import trl\nexcept X:\n import datasets\n"
    source += "class A:\n import sklearn\n def f(self):\n  import pyarrow\n"
    found = {root for node in at_load(ast.parse(source).body) for root in roots(node)}
    assert found == {"peft", "trl", "datasets", "sklearn"}


def test_importing_loads_no_torch() -> None:
    packages = "judge, judge.judge, judge.samples, judge.training, eval, data_pipeline"
    code = f"import {packages}, sys; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
