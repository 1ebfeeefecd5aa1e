"""The command line, called in this process, and the types of fixtures of conftest.py."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from judge.cli.help import app_of
from judge.cli.main import main
from judge.load import load_judge
from judge.types import Sample

ModelFolder = Callable[[str], Path]
Ran = Callable[..., Any]
Refused = Callable[..., str]


def p_fails(model: Path, samples: Sequence[Sample]) -> list[float | None]:
    """What the judge in a folder says of samples."""
    return [verdict.p_fail for verdict in load_judge(str(model)).check(samples)]


def call(*arguments: object) -> int:
    """Run ``judge`` with these arguments; returns the exit code."""
    with pytest.raises(SystemExit) as caught:
        main([str(item) for item in arguments])
    code = caught.value.code
    assert isinstance(code, int)
    return code


def invoke(command: typer.Typer | Callable[..., None], *arguments: object) -> Result:
    """Run the app of one command with these arguments; its errors are raised as they are."""
    return CliRunner().invoke(app_of(command), [str(item) for item in arguments], catch_exceptions=False)
