"""Fixtures that several tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the original public data sets; tests that need it are skipped where it is not there."""
    named = os.environ.get("JUDGE_DATA_DIR")
    folders = [Path(named)] if named else []
    folders += [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    for folder in folders:
        if (folder / "halubench").is_dir():
            return folder
    pytest.skip("no folder with the original data sets (JUDGE_DATA_DIR)")
