"""The Makefile installs what suits the machine: builds with CUDA where nvidia-smi shows a GPU."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GPU = "GPU 0: Tesla T4 (UUID: GPU-1)"
BROKEN = "NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver."


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize(
    ("says", "target", "pins"),
    [
        (GPU, "install", "gpu"),
        (GPU, "install-cpu", "cpu"),
        (BROKEN, "install", "cpu"),
        (None, "install", "cpu"),
        (None, "install-gpu", "gpu"),
    ],
)
def test_pins(says: str | None, target: str, pins: str, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    script = tools / "nvidia-smi"
    script.write_text(f"#!/bin/sh\necho '{says}'\n" if says else "#!/bin/sh\nexit 127\n")
    script.chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    command = ["make", "--dry-run", "--always-make", target]
    run = subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert f"--requirement requirements/{pins}.txt" in run.stdout
    assert ("gpu.txt" in run.stdout) is (pins == "gpu")


def test_gpu_pins_are_the_cpu_pins_and_a_torch_with_cuda() -> None:
    lines = (ROOT / "requirements" / "gpu.txt").read_text().splitlines()
    pinned = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert pinned[0] == "-r"
    [torch] = [line for line in (ROOT / "requirements" / "cpu.txt").read_text().splitlines()
               if line.startswith("torch==")]  # fmt: skip
    assert torch.replace("==", "===") in pinned, "=== takes no build with a local version, such as +cpu"
