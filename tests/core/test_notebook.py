"""The Colab notebook runs from top to bottom, here with a tiny model on the CPU through its parameters."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "recipes" / "t4-qlora-qwen2.5-7b" / "colab.ipynb"
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytestmark = pytest.mark.filterwarnings("ignore")  # the kernel's advice


def test_the_notebook_runs(
    model_folder: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    parameters = {
        "model": str(model_folder("chatml")),
        "documents": str(tmp_path / "answers.jsonl"),
        "output": str(tmp_path / "run"),
        "launch": "accelerate_configs/cpu.yaml",
        "quantization": "none",
        "build_settings": "--set sources.0.limit=30 --set preferences.pairs=4",
        "train_settings": "max_steps=2 evaluations=1 judged_samples=4 max_length=4096 "
        "optimizer=adamw precision=float32",
    }
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    [first] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    names = {line.split(" = ")[0] for line in first.source.splitlines()}
    assert names == {*parameters, "repository"}
    first.source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    client = NotebookClient(notebook, timeout=500, resources={"metadata": {"path": str(ROOT)}})
    client.execute()

    printed = [
        "".join(output.get("text", "") for output in cell.get("outputs", [])) for cell in notebook.cells
    ]
    assert (tmp_path / "run" / "sft" / "judge.json").is_file(), "\n".join(printed)
    assert (tmp_path / "run" / "eval" / "report.json").is_file(), "\n".join(printed)
    assert printed[-2].splitlines()[-1].startswith(("PASS", "FAIL")), printed[-2]
