"""From an installed wheel: the demo and the recipes, in a folder that holds nothing else."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from data_pipeline.sources.starter import load_starter
from judge.cli.teach import FEWEST
from judge.cli.train import TRL
from judge.errors import DATA
from judge.samples import write_samples
from judge.types import Label
from tests.core.test_doc_blocks import Block, blocks, commands
from tests.wheel.conftest import ROOT, Command, Environment, run

pytestmark = pytest.mark.timeout(1800)  # the environments are installed within the first tests
EVERYDAY = ROOT / "docs" / "research" / "everyday.md"
CASE = r"^\| ([\w-]+) \| (?:PASS|FAIL) \| (PASS|FAIL) \|"


def test_nothing_comes_from_the_checkout(installed: Command, tmp_path: Path) -> None:
    code = "import judge, data_pipeline, eval, judge.shipped as s; print(judge.__file__, s.RECIPES)"
    printed = installed(tmp_path, "python", "-c", code)
    assert "site-packages/judge/__init__.py" in printed and str(ROOT) not in printed
    listed = installed(tmp_path, "judge", "recipes").splitlines()
    assert [line.split()[0] for line in listed] == sorted(
        {path.parent.name for path in (ROOT / "recipes").glob("*/*.yaml")}
    )


# --- With nothing but pip install . -------------------------------------------------------------------------

LACKING = {
    "serve": ("serve", "fastapi, prometheus_client, uvicorn"),
    "sft": ("train", ", ".join(TRL)),
    "dpo": ("train", ", ".join(TRL)),
    "demo": ("train", ", ".join((*TRL, *DATA))),
    "teach my-answers.jsonl": ("data", ", ".join(DATA)),
    "data build demo": ("data", ", ".join(DATA)),
}
"""Extra and packages that a command wants."""
SECTIONS = ("Hallucination judges", "Use it")
"""Of the README: what is promised to run after ``pip install .``."""
TEACHING = ("Teach it your documents",)
"""And after ``pip install ".[data]"``."""


def promised(sections: tuple[str, ...]) -> list[list[str]]:
    """The commands of these sections, those that other tests leave out too; extras are marked."""
    page = ROOT / "README.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    found = []
    for block in blocks(page):
        title = next(line for line in reversed(lines[: block.line]) if line.startswith("#"))
        if block.kind == "shell" and title.lstrip("# ").startswith(sections):
            found += commands(Block(page, block.line, block.code, block.kind))
    return [words for words in found if words[0] == "judge"]


def test_the_readme_after_pip_install(core: Environment, building: Environment, tmp_path: Path) -> None:
    """In the README's order. What the judges were made from comes from the package index."""
    for package in (*TRL, *DATA):
        assert run(core, tmp_path, "python", "-c", f"import {package}").returncode
    rows = [sample for sample in load_starter() if sample.language == "en"]
    documents = [*dict.fromkeys(sample.document_text for sample in rows)][:FEWEST]
    rows = [next(one for one in rows if one.document_text == text) for text in documents]
    labelled = [replace(row, label=[*Label][number % 2]) for number, row in enumerate(rows)]
    write_samples(tmp_path / "my-answers.jsonl", labelled)
    write_samples(tmp_path / "answers.jsonl", rows[:5])
    (tmp_path / "FILE").write_text("The Tarn Bridge opened on 3 May 1931.")
    ran = [(core, words) for words in promised(SECTIONS)]
    ran += [(building, words) for words in promised(TEACHING)]
    assert {"check", "batch", "serve", "teach"} <= {words[1] for _, words in ran}
    for environment, words in ran:
        if words[1] == "serve":  # "extra: serve", says the line
            continue
        done = run(environment, tmp_path, *words)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert (tmp_path / "verdicts.jsonl").read_text().count("\n") == 5


@pytest.mark.parametrize("command", LACKING)
def test_what_needs_an_extra_says_so(command: str, core: Environment, tmp_path: Path) -> None:
    extra, packages = LACKING[command]
    done = run(core, tmp_path, "judge", *command.split())
    name = command.removesuffix(" my-answers.jsonl").removesuffix(" demo")
    wanted = f'error: judge {name} needs {packages}; pip install "hallucination-judge[{extra}]"\n'
    assert (done.returncode, done.stdout, done.stderr) == (2, "", wanted)
    assert list(tmp_path.iterdir()) == []


# --- With the extra train -----------------------------------------------------------------------------------


def test_the_default_judge_on_everyday_cases(installed: Command, tmp_path: Path) -> None:
    """It needs no download; docs/research/everyday.md lists the verdicts."""
    cases = Path(__file__).with_name("everyday.jsonl")
    rows = [json.loads(line) for line in cases.read_text().splitlines()]
    installed(tmp_path, "judge", "batch", str(cases), "-o", "verdicts.jsonl")
    said = [json.loads(line)["label"] for line in (tmp_path / "verdicts.jsonl").read_text().splitlines()]
    listed = re.findall(CASE, EVERYDAY.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(zip([row["id"] for row in rows], said, strict=True)) == listed
    printed = installed(tmp_path, "judge", "check", "--document", rows[1]["document"], "--answer", "60 days.")
    assert printed.startswith("FAIL (hallucinated")


DEMO = """
import sys
from dataclasses import replace
from pathlib import Path

from judge.cli import demo

shorter = {
    "data": ("sources.0.limit=60",),
    "sft": ("max_steps=2",),
    "dpo": ("max_steps=1",),
    "eval": ("--limit", "4"),
}
if __name__ == "__main__":
    out = Path("runs/demo")
    for step in demo.steps(out, sys.argv[1]):
        demo.run(replace(step, command=(*step.command, *shorter.get(step.command[3], ()))))
    demo.show(out)
    print(demo.what_was_shown(out))
"""


def test_the_demo(installed: Command, model: Path, tmp_path: Path) -> None:
    """Its own commands in its own way, each made short."""
    (tmp_path / "short_demo.py").write_text(DEMO)
    printed = installed(tmp_path, "python", "short_demo.py", str(model))
    assert all(text in printed for text in ("SFT + DPO", "baseline:overlap", "What this shows: on 4 answers"))
    out = tmp_path / "runs" / "demo"
    assert (out / "sft" / "judge.json").is_file() and (out / "dpo" / "judge.json").is_file()
    installed(tmp_path, "judge", "data", "audit", str(out / "data"))
    installed(tmp_path, "judge", "report", str(out / "eval" / "sft-verdict"), "--html", "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000

    # What the demo built is trained on as the README of a recipe says.
    installed(tmp_path, "judge", "recipes", "demo", "--copy", ".")
    changes = (f"model={model}", "max_steps=1", "output=launched")
    printed = installed(
        tmp_path, "accelerate", "launch", "--config_file", "accelerate_configs/cpu_ddp.yaml",
        "-m", "judge", "sft", "recipes/demo/sft.yaml", *changes,
    )  # fmt: skip
    assert "launched: rows" in printed
    assert json.loads((tmp_path / "launched" / "judge.json").read_text())["training"]["steps"] == 1
