"""The command line, called in this process."""

import pytest

from judge.cli.main import main


def call(*arguments: object) -> int:
    """Run ``judge`` with these arguments; returns the exit code."""
    with pytest.raises(SystemExit) as caught:
        main([str(item) for item in arguments])
    code = caught.value.code
    assert isinstance(code, int)
    return code
