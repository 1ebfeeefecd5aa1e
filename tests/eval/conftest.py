"""What all tests of measuring share."""

import pytest


@pytest.fixture(autouse=True)
def _no_default_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of benchmarks are read where a test says, and nowhere else."""
    monkeypatch.delenv("JUDGE_DATA_DIR", raising=False)
