"""Every shell and Python block of README and docs is run here, or says above it why not.

The marks, which no reader of the rendered page sees:

    <!-- not run: REASON -->
    <!-- run by TEST FILE -->
    <!-- run but for COMMAND; COMMAND: REASON -->   a command is left out that has all words of a COMMAND
"""

import json
import re
import runpy
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import judge
import judge.shipped
from eval.annotation.label_studio import make_tasks
from judge.files import write_json, write_jsonl
from judge.load import load_judge
from judge.types import Sample
from tests.calling import call
from tests.encoders import save_judge
from tests.tiny_data import build_towers, rows_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "recipes/*/README.md", "judge/reference*/README.md")
    for path in ROOT.glob(pattern)
)
SHELL = re.compile(
    r"(?:\$ |export |for |[A-Z_]+=\S+ |)(?:judge [a-z]|python3? |pip |make\b(?! it)|curl |accelerate |vllm )"
    r"|\.venv/bin/|export "
)
MARK = re.compile(r"<!-- (not run|run by|run but for)(?::)? (.+) -->")
DOCUMENT = "The Tarn Bridge opened on 3 May 1931. It replaced a ferry."


@dataclass(frozen=True)
class Block:
    """A block of code, and the mark above it."""

    page: Path
    line: int
    code: str
    kind: str
    mark: str = ""
    told: str = ""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def kind_of(info: str, code: str) -> str:
    """``python``, ``shell``, or nothing: what a block shows."""
    if info:
        return {"python": "python", "sh": "shell", "bash": "shell"}.get(info.split()[0], "")
    if re.match(r"(?:from [\w.]+ |)import \w", code):
        return "python"
    return "shell" if any(SHELL.match(line) for line in code.splitlines()) else ""


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, fenced or indented, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    mark = ("", "")
    while at < len(lines):
        line, start, info = lines[at], at, ""
        at += 1
        if line.startswith("```"):
            info = line[3:].strip()
            while not lines[at].startswith("```"):
                at += 1
            code, at = "\n".join(lines[start + 1 : at]), at + 1
        elif line.startswith("    ") and (start == 0 or not lines[start - 1].strip()):
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            code = textwrap.dedent("\n".join(lines[start:at])).strip()
        else:
            if line.strip():
                found = MARK.fullmatch(line.strip())
                mark = (found[1], found[2]) if found else ("", "")
            continue
        yield Block(page, start + 1, code, kind_of(info, code), *mark)
        mark = ("", "")


BLOCKS = [block for page in PAGES for block in blocks(page) if block.kind]
RUN = [block for block in BLOCKS if block.mark in ("", "run but for")]


def commands(block: Block) -> Iterator[list[str]]:
    """The words of each command of a shell block, of which one may have several lines; where one line begins
    with ``$``, the others are output."""
    lines = block.code.replace("\\\n", " ").splitlines()
    typed = [line[2:] for line in lines if line.startswith("$ ")] or lines
    exceptions, _, _ = block.told.rpartition(": ")
    left_out = [set(shlex.split(part)) for part in exceptions.split(";") if part.strip()]
    begun = ""
    for line in typed:
        try:
            words = shlex.split(f"{begun} {line.strip()}".strip(), comments=True)
        except ValueError:  # a quotation that is not closed
            begun = f"{begun} {line.strip()}"
            continue
        begun = ""
        if words and not any(some <= set(words) for some in left_out):
            yield words
    assert not begun or block.mark == "not run", f"{block.place}: {begun}"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_marks_give_a_reason(block: Block) -> None:
    if block.mark == "run by":
        assert (ROOT / block.told).is_file(), f"{block.place}: no {block.told}"
    elif block.mark == "not run":
        assert len(block.told) > 10, f"{block.place}: why is it not run?"
    elif block.mark == "run but for":
        every = list(commands(Block(block.page, block.line, block.code, block.kind)))
        exceptions, _, reason = block.told.rpartition(": ")
        assert len(reason) > 10 and 0 < len(list(commands(block))) < len(every), block.place
        for one in exceptions.split(";"):
            assert any(set(shlex.split(one)) <= set(words) for words in every), (
                f"{block.place}: {one} is not there"
            )


@pytest.fixture(scope="module")
def world(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the pages name: documents, answers, judges, results. The judges are tiny."""
    world = tmp_path_factory.mktemp("world")
    shipped = json.loads((ROOT / "judge" / "reference" / "judge.json").read_text())
    kept = {key: shipped[key] for key in ("modes", "measured", "parameters")}
    model = save_judge(world / "reference", kept)
    copies = ("reference_1_5b", "MODEL", "ckpt", "runs/own-domain/encoder", "runs/demo/sft")
    for name in (*copies, "runs/demo/dpo"):
        shutil.copytree(model, world / name)

    for name in ("FILE", "document.txt", "bridge.txt"):
        (world / name).write_text(DOCUMENT)
    data = build_towers(world, 24, 2)  # writes samples.jsonl, with wrong spans marked
    shutil.copytree(data, world / "runs" / "own-domain" / "data")
    shutil.copytree(data, world / "DATA")
    data.rename(world / "runs" / "my-data")
    rows = rows_of(world / "samples.jsonl")
    # Labelled as the tiny judge ranks them: nothing calibrates a judge that cannot tell labels apart.
    verdicts = load_judge(str(model)).check([Sample(**row) for row in rows])
    ranks = sorted(verdict.p_fail or 0.0 for verdict in verdicts)
    for row, verdict in zip(rows, verdicts, strict=True):
        fails = (verdict.p_fail or 0.0) >= ranks[len(ranks) // 2]
        row |= {
            "label": "FAIL" if fails else "PASS",
            "meta": {"spans": [{"start": 3, "end": 5}] if fails else []},
        }
    for name in ("answers.jsonl", "mine.jsonl", "marked.jsonl", "DATA/validation.jsonl",
                 "runs/own-domain/data/validation.jsonl"):  # fmt: skip
        write_jsonl(world / name, rows)
    for name in ("reference", "reference_1_5b"):  # what comes with the toolkit is calibrated
        assert call("calibrate", "--model", world / name, "--data", world / "DATA" / "validation.jsonl") == 0
    tasks = make_tasks([Sample(**row) for row in rows], {})
    for row, task in zip(rows, tasks, strict=True):
        said = [{"from_name": "verdict", "value": {"choices": [row["label"]]}}]
        task["annotations"] = [{"completed_by": person, "result": said} for person in (1, 2)]
    write_json(world / "export.json", tasks)
    measure = (
        "eval",
        "--model",
        "baseline:overlap",
        "--samples",
        world / "mine.jsonl",
        "--set",
        "bootstrap=0",
    )
    for name in ("result", "other"):
        assert call(*measure, "--out", world / "runs" / name) == 0
    return world


@pytest.fixture
def here(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the world, which is the working folder; its judge is the one that comes with the toolkit."""
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(judge.shipped, "PACKAGE", tmp_path)
    return tmp_path


def test_the_overview_is_what_its_script_draws() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "overview.py"))
    assert script["OUT"].read_text(encoding="utf-8") == script["draw"]()


def run_shell(words: list[str]) -> None:
    assert words[0] == "judge", f"{words[0]} is not run: mark the block"
    paths = [sorted(map(str, Path.cwd().glob(word))) if "*" in word else [word] for word in words[1:]]
    given = [word for found in paths for word in found]
    for option in {"-o", "--out"} & set(given):  # an earlier block may have written there
        out = Path(given[given.index(option) + 1])
        if out.is_dir():
            shutil.rmtree(out)
        elif "--resume" not in given:
            out.unlink(missing_ok=True)
    gate = {"--fail-on", "--fail-under"} & set(given)
    assert call(*given) in ((0, 1) if gate else (0,)), words


@pytest.mark.parametrize("page", sorted({block.page for block in RUN}), ids=lambda page: page.name)
@pytest.mark.filterwarnings("ignore")
def test_blocks_run(page: Path, here: Path) -> None:
    names: dict[str, Any] = {}
    for block in RUN:
        if block.page != page:
            continue
        if block.kind == "python":
            exec(compile(block.code, block.place, "exec"), names)
            continue
        for words in commands(block):
            run_shell(words)
