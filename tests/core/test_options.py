"""The options that load a judge, as every command has them."""

from pathlib import Path
from typing import Annotated, Any

import pytest
from typer.testing import Result

from judge.backends.vllm_engine import VLLMSettings
from judge.cli.options import DEFAULTS, MODEL, Settings, loads_judge
from judge.cli.settings import setting
from judge.errors import InputError
from judge.load import load_judge
from tests.calling import Refused, invoke


def call(*arguments: object, without: tuple[str, ...] = ()) -> tuple[Result, dict[str, Any]]:
    """Call a command that has the options; what it was given."""
    given: dict[str, Any] = {}

    @loads_judge(without=without)
    def command(
        model: MODEL,
        settings: Settings,
        count: int = 1,
        share: Annotated[float, setting("A number.", max=1)] = 0.5,
        twice: Annotated[bool, setting("A switch.")] = False,
    ) -> None:
        """What it does."""
        given.update(model=model, count=count, share=share, twice=twice, settings=settings)

    return invoke(command, *arguments), given


def test_a_command_gets_its_own_options_and_those_of_the_judge() -> None:
    changes = ("--set", "share=0.1", "--set=twice=true", "--set", "cascade_threshold=0.7")
    changes += ("--set", "vllm.tensor_parallel_size=2", "--set", "labels.PASS=a", "--set", "labels.PASS=b")
    _, given = call(
        "--model", "m", "--count", 2, "--mode", "reason", *changes, "--set", "call_cache=a=b"
    )  # fmt: skip
    assert (given["model"], given["count"], given["share"], given["twice"]) == ("m", 2, 0.1, True)
    assert given["settings"] == {
        **DEFAULTS,
        "mode": "reason",
        "cascade_threshold": 0.7,
        "call_cache": Path("a=b"),
        "vllm": VLLMSettings(tensor_parallel_size=2),
        "labels": "PASS=a,PASS=b",
    }
    _, given = call("--model", "m", "--set", "twice=false")
    assert given["settings"] == DEFAULTS and not given["twice"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("precison=float32", "unknown setting 'precison'; did you mean 'precision'"),
        ("base_url=x", "base_url is an option of its own: --base-url"),
        ("precision", "'precision' is not KEY=VALUE"),
        ("twice=yes", "twice is true or false, found 'yes'"),
        ("vllm.tensor_parallel=2", "field 'tensor_parallel': .*did you mean 'tensor_parallel_size'"),
        ("vllm.tensor_parallel_size=two", "field 'tensor_parallel_size': .*found 'two'"),
        ("vllm.eager", "'vllm.eager' is not KEY=VALUE"),
    ],
)
def test_wrong_settings(given: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call("--model", "m", "--set", given)


@pytest.mark.parametrize("command", [("sft",), ("data", "build")])
def test_keys_of_a_recipe_are_no_settings(command: tuple[str, ...], refused: Refused) -> None:
    assert "written without it: KEY=VALUE" in refused(*command, "demo", "--set", "seed=1")


def test_a_wrong_value_is_told_by_the_setting() -> None:
    result, given = call("--model", "m", "--set", "share=2")
    assert result.exit_code == 2 and not given and "'--set share'" in result.output
    result, _ = call("--model", "m", "--precision", "float32")
    assert result.exit_code == 2 and "No such option: --precision" in result.output
    result, _ = call("--model", "m", "--set")
    assert result.exit_code == 2 and "requires an argument" in result.output


def test_the_options_are_what_loads_a_judge() -> None:
    with pytest.raises(InputError, match="unknown baseline"):  # and not TypeError
        load_judge("baseline:none", **DEFAULTS)


def test_an_option_can_be_left_out() -> None:
    result, given = call("--model", "m", "--threshold", "0.3", without=("threshold",))
    assert result.exit_code == 2 and not given
    assert call("--model", "m", without=("threshold",))[1]["settings"] == DEFAULTS
