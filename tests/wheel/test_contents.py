"""The distributions hold all that the code reads, and nothing else."""

import os
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

import judge
from tests.wheel.conftest import ROOT

PLACES = {"judge": "judge", "data_pipeline": "data_pipeline", "eval": "eval", "recipes": "judge/recipes",
          "accelerate_configs": "judge/accelerate_configs"}  # fmt: skip
BESIDE = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "SECURITY.md",
          "pyproject.toml", "setup.cfg", "setup.py"}  # fmt: skip
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".pkl", ".npz")


def files(folder: str) -> set[str]:
    """The files of a folder of the checkout, by their paths in it."""
    found = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {str(path.relative_to(ROOT / folder)) for path in found if "__pycache__" not in path.parts}


def test_the_wheel_is_the_packages(wheel: Path) -> None:
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    here = {f"{inside}/{name}" for folder, inside in PLACES.items() for name in files(folder)}
    assert {"data_pipeline/audit/page.html.jinja", "judge/py.typed", "judge/recipes/demo/sft.yaml"} <= here
    assert shipped == here
    # The toolkit's judges alone: a run's weights, put into a package by mistake, would be shipped too.
    assert {n for n in shipped if n.endswith(WEIGHTS)} == {
        "judge/reference/packed.safetensors",
        "judge/reference/trained_on.bin",  # hashes of documents
        "judge/reference/second/packed.safetensors",
        "judge/reference/token_head.safetensors",
        "judge/reference_1_5b/adapter_model.safetensors",
        "judge/reference_1_5b/trained_on.bin",
    }
    assert wheel.stat().st_size < 76e6


def test_the_sdist_is_what_the_wheel_is_built_from(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = [member.name.partition("/")[2] for member in archive if member.isfile()]
    shipped = {name for name in names if ".egg-info/" not in name}
    assert shipped == BESIDE | {f"{folder}/{name}" for folder in PLACES for name in files(folder)}


def test_one_version_everywhere(wheel: Path, sdist: Path) -> None:
    version = judge.__version__
    assert wheel.name.startswith(f"hallucination_judge-{version}-py3-")
    assert sdist.name == f"hallucination_judge-{version}.tar.gz"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == version
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{version}] - {cited['date-released']}\n" in changes


@pytest.mark.skipif("TWINE" not in os.environ, reason="make test-wheel names twine in TWINE")
def test_the_package_index_would_take_them(wheel: Path, sdist: Path) -> None:
    command = [os.environ["TWINE"], "check", "--strict", str(wheel), str(sdist)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.count("PASSED") == 2, done.stdout + done.stderr
