"""The Colab notebook runs from top to bottom, here with a tiny model on the CPU through its parameters.

It installs the toolkit itself, from the built wheel, into an environment that has none, beside a torchvision
that does not fit torch, as after an upgrade on Colab.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.wheel.conftest import ROOT, Environment, linked_environment

NOTEBOOK = ROOT / "recipes" / "t4" / "colab.ipynb"
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(1800)]  # of the kernel's advice
MISFIT = "raise RuntimeError('operator torchvision::nms does not exist')\n"


def with_parameters(values: dict[str, Any]) -> Any:
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    [first] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    names = {line.split(" = ")[0] for line in first.source.splitlines()}
    assert names >= set(values)
    first.source += "".join(f"\n{name} = {value!r}" for name, value in values.items())
    return notebook


def execute(notebook: Any, environment: Environment, folder: Path) -> list[str]:
    """Run all cells in a folder of its own; returns what each printed."""
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    class Manager(AsyncKernelManager):  # type: ignore[misc]
        kernel_spec = KernelSpec(
            argv=[str(environment.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        )

    client = NotebookClient(
        notebook,
        timeout=900,
        kernel_manager_class=Manager,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=environment.variables)
    return ["".join(output.get("text", "") for output in cell.get("outputs", [])) for cell in notebook.cells]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return linked_environment(tmp_path / "environment")


@pytest.fixture
def torchvision(environment: Environment) -> Path:
    """A torchvision, as pip knows one, that cannot be imported."""
    [library] = environment.python.parents[1].glob("lib/python*/site-packages")
    package, known = library / "torchvision", library / "torchvision-0.1.dist-info"
    package.mkdir()
    known.mkdir()
    (package / "__init__.py").write_text(MISFIT)
    (known / "METADATA").write_text("Metadata-Version: 2.1\nName: torchvision\nVersion: 0.1\n")
    (known / "RECORD").write_text("torchvision/__init__.py,,\ntorchvision-0.1.dist-info/METADATA,,\n")
    (known / "INSTALLER").write_text("pip\n")
    return package


def test_the_notebook_runs(
    wheel: Path, environment: Environment, model: Path, torchvision: Path, tmp_path: Path
) -> None:
    from data_pipeline.sources.starter import load_starter
    from judge.samples import write_samples

    uploads = tmp_path / "uploads"  # not where the notebook stands
    uploads.mkdir()
    write_samples(
        uploads / "my-answers.jsonl", [sample for sample in load_starter() if sample.language == "en"][:40]
    )
    parameters = {
        "toolkit": wheel.as_uri(),
        "documents": "my-answers.jsonl",
        "model": str(model),
        "output": str(tmp_path / "a run"),
        "launch": "accelerate_configs/cpu.yaml",
        "quantization": "none",
        "build_settings": "preferences.pairs=4",
        "sft_settings": "max_steps=2 evaluations=1 judged_samples=4 trainer.optim=adamw_torch_fused "
        "precision=float32",
        "dpo_settings": "max_steps=1 trainer.optim=adamw_torch_fused precision=float32",
        "merge": True,
    }
    printed = execute(with_parameters(parameters), environment, tmp_path)
    told = "\n".join(printed)
    assert not torchvision.exists(), told
    assert str(uploads / "my-answers.jsonl") in told
    for made in ("sft/judge.json", "dpo/judge.json", "eval-dpo/report.json", "merged/model.safetensors"):
        assert (tmp_path / "a run" / made).is_file(), f"{made}\n{told}"
    assert printed[-2].splitlines()[-1].startswith(("PASS", "FAIL")), printed[-2]


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({}, "no toolkit is here: upload its wheel"),
        ({"toolkit": "WHEEL"}, "torch sees no GPU"),
        (
            {"toolkit": "WHEEL", "documents": "mine.jsonl", "launch": "accelerate_configs/cpu.yaml"},
            r"mine\.jsonl is not here",
        ),
    ],
    ids=["toolkit", "gpu", "documents"],
)
def test_it_stops_where_something_is_missing(
    parameters: dict[str, Any],
    error: str,
    wheel: Path,
    environment: Environment,
    tmp_path: Path,
) -> None:
    from nbclient.exceptions import CellExecutionError

    if "toolkit" in parameters:
        parameters = {**parameters, "toolkit": wheel.as_uri()}
    hidden = replace(environment, variables={**environment.variables, "CUDA_VISIBLE_DEVICES": ""})
    with pytest.raises(CellExecutionError, match=error):
        execute(with_parameters(parameters), hidden, tmp_path)
    assert not (tmp_path / "runs").exists()
