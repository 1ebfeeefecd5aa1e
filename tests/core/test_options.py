"""The options that load a judge, as every command has them."""

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from judge.backends.vllm_engine import VLLMSettings
from judge.cli.options import DEFAULTS, MODEL, Settings, loads_judge
from judge.errors import InputError
from judge.load import load_judge


def call(*arguments: object, without: tuple[str, ...] = ()) -> tuple[Result, dict[str, Any]]:
    """Call a command that has the options; what it was given."""
    app, given = typer.Typer(add_completion=False), {}

    @app.command()
    @loads_judge(without=without)
    def command(model: MODEL, settings: Settings, count: int = 1) -> None:
        """What it does."""
        given.update(model=model, count=count, settings=settings)

    return CliRunner().invoke(app, [str(item) for item in arguments], catch_exceptions=False), given


def test_a_command_gets_its_own_options_and_those_of_the_judge() -> None:
    asked = ("--mode", "reason", "--cascade-threshold", "0.7", "--call-cache", "calls")
    _, given = call("--model", "m", "--count", 2, *asked)
    assert (given["model"], given["count"]) == ("m", 2)
    assert given["settings"] == {**DEFAULTS, "mode": "reason", "sure": 0.7, "call_cache": Path("calls")}
    assert call("--model", "m")[1]["settings"] == DEFAULTS


def test_the_options_are_what_loads_a_judge() -> None:
    with pytest.raises(InputError, match="unknown floor"):  # and not TypeError
        load_judge("floor:none", **DEFAULTS)


def test_an_option_can_be_left_out() -> None:
    result, given = call("--model", "m", "--threshold", "0.3", without=("threshold",))
    assert result.exit_code == 2 and not given
    assert call("--model", "m", without=("threshold",))[1]["settings"] == DEFAULTS


def test_settings_of_vllm() -> None:
    _, given = call("--model", "m", "--vllm", "tensor_parallel_size=2", "--vllm", "enforce_eager=true")
    assert given["settings"]["vllm"] == VLLMSettings(tensor_parallel_size=2, enforce_eager=True)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("tensor_parallel=2", "field 'tensor_parallel': .*did you mean 'tensor_parallel_size'"),
        ("tensor_parallel_size=two", "field 'tensor_parallel_size': .*found 'two'"),
        ("data_parallel_size=0", "field 'data_parallel_size': .*found 0"),
        ("gpu_memory_utilization=90", "field 'gpu_memory_utilization': .*found 90"),
        ("eager", "'eager' is not an override; write key=value"),
    ],
)
def test_wrong_settings_of_vllm(setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call("--model", "m", "--vllm", setting)
