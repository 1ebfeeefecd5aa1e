"""The toolkit as a wheel, built and installed elsewhere: nothing here may come from the checkout."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md",
              "CITATION.cff", "SECURITY.md", "tests", "judge", "data_pipeline", "eval", "recipes",
              "accelerate_configs")  # fmt: skip
OWN = ("hallucination_judge", "__editable__")  # how what an installed checkout leaves is named

SCRIPTS = {"accelerate": "accelerate.commands.accelerate_cli", "judge": "judge.cli.main"}

Command = Callable[..., str]


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy to build from: what an earlier build left in the checkout would get into the distributions."""
    source = tmp_path_factory.mktemp("source")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    return source


@pytest.fixture(scope="session")
def sdist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    out = tmp_path_factory.mktemp("sdist")
    build = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    command = [sys.executable, "-c", build, str(out)]
    subprocess.run(command, check=True, timeout=300, cwd=source, capture_output=True)
    [built] = out.glob("*.tar.gz")
    return built


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution: whoever has the one can make the other."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out)]
    subprocess.run([*command, str(sdist)], check=True, timeout=300)
    [built] = out.glob("*.whl")
    return built


@dataclass(frozen=True)
class Environment:
    """An interpreter, and the variables with which its commands are found and the checkout is not."""

    python: Path
    variables: dict[str, str]


def without_checkout(python: Path) -> Environment:
    """The variables for an interpreter's commands; sees that the toolkit is not there yet."""
    assert subprocess.run([str(python), "-I", "-c", "import judge"], capture_output=True).returncode
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{python.parent}{os.pathsep}{kept['PATH']}"
    return Environment(python, {**kept, "PATH": path, "HF_HUB_OFFLINE": "1"})


def linked_environment(folder: Path) -> Environment:
    """A virtual environment with the packages of this one, as Colab's has many, and without the toolkit."""
    import yaml

    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=120)
    packages = folder / "packages"
    packages.mkdir()
    for path in Path(yaml.__file__).parents[1].iterdir():
        if not path.name.startswith(OWN) and not path.name.endswith(".pth"):
            (packages / path.name).symlink_to(path)
    [library] = folder.glob("lib/python*/site-packages")
    (library / "packages.pth").write_text(f"{packages}\n")
    python = folder / "bin" / "python"
    write_script(python, "accelerate", SCRIPTS["accelerate"])
    return without_checkout(python)


def write_script(python: Path, name: str, module: str) -> None:
    """A command beside an interpreter, for a package that pip did not install there itself."""
    script = python.parent / name
    script.write_text(f"#!{python}\nfrom {module} import main\n\nif __name__ == '__main__':\n    main()\n")
    script.chmod(0o755)


def pip_install(environment: Environment, *words: str) -> None:
    """``pip install`` as a user types it, with the versions that the tests here run with."""
    pins = ["--constraint", str(ROOT / "requirements" / "cpu.txt")]
    command = [str(environment.python), "-m", "pip", "install", "--quiet", *pins, *words]
    subprocess.run(command, check=True, timeout=900, env=environment.variables, cwd="/")


def run(environment: Environment, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command of an environment, run in a folder to its end."""
    command = [str(environment.python.parent / words[0]), *words[1:]]
    variables = environment.variables
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of two layers whose tokenizer knows the words of the starter corpus."""
    from data_pipeline.sources.starter import load_starter
    from tests.conftest import tiny_model, tiny_tokenizer

    tokenizer = tiny_tokenizer("chatml", 6000, [sample.document_text for sample in load_starter()])
    folder = tmp_path_factory.mktemp("model")
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment after ``pip install WHEEL``: the toolkit, its dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("core")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    environment = without_checkout(folder / "bin" / "python")
    pip_install(environment, str(wheel))
    return environment


def layered(folder: Path, *below: Environment) -> Environment:
    """A fresh environment that sees what was installed in others too."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=120)
    environment = without_checkout(folder / "bin" / "python")
    [library] = folder.glob("lib/python*/site-packages")
    seen = [str(one) for each in below for one in each.python.parents[1].glob("lib/python*/site-packages")]
    (library / "below.pth").write_text("\n".join([*seen, ""]))
    for name, module in SCRIPTS.items():
        write_script(environment.python, name, module)
    return environment


@pytest.fixture(scope="session")
def building(core: Environment, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """After ``pip install WHEEL[data]`` on top of that."""
    environment = layered(tmp_path_factory.mktemp("data"), core)
    pip_install(environment, f"{wheel}[data]")
    return environment


@pytest.fixture(scope="session")
def installed(
    core: Environment, building: Environment, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Command:
    """Runs a command where ``WHEEL[train]`` was installed on top of both; returns what it printed."""
    environment = layered(tmp_path_factory.mktemp("train"), building, core)
    pip_install(environment, f"{wheel}[train]")

    def checked(folder: Path, *words: str) -> str:
        done = run(environment, folder, *words)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    return checked
