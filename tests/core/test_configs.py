"""Configs: every key is known, every value typed, and every error names the key and the nearest right one."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import PositiveInt, TypeAdapter, ValidationError, model_validator

from judge.configs import Place, StrictConfig, load_config, make_config, text_override
from judge.errors import InputError
from judge.training.config import SFTRecipe


class Inner(StrictConfig):
    rank: PositiveInt = 8
    scale: float = 1.0


class Outer(StrictConfig):
    name: str
    rate: float = 0.1
    steps: PositiveInt = 1
    kind: Literal["one", "two"] = "one"
    inner: Inner = Inner()
    maybe: Inner | None = None
    several: list[Inner] = []  # noqa: RUF012 (pydantic copies it)
    named: dict[str, Inner] = {}  # noqa: RUF012

    @model_validator(mode="after")
    def check(self) -> "Outer":
        if self.name == "forbidden":
            raise ValueError("this name is taken")
        return self


def load(folder: Path, text: str, *overrides: str) -> Outer:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config(Outer, path, overrides)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nstep: 3", ": field 'step': .*unknown key 'step'; did you mean 'steps'"),
        (
            "name: a\ninner: {rnk: 3}",
            r": field 'inner.rnk': .*unknown key 'rnk'; did you mean 'rank'\? \(known: rank, scale",
        ),
        ("name: a\nseveral: [{rnk: 3}]", ": field 'several.0.rnk': .*unknown key 'rnk'; did you mean 'rank'"),
        ("name: a\nnamed: {x: {rnk: 3}}", ": field 'named.x.rnk': .*unknown key 'rnk'; did you mean 'rank'"),
        ("rate: 3", ": field 'name': .*is missing"),
        ("name: a\nsteps: 0", ": field 'steps': .*greater than 0, found 0"),
        ("name: a\nkind: three", ": field 'kind': .*'one' or 'two', found 'three'"),
        ("name: a\nsteps: 0\nrate: x\nfoo: 1", r": field 'rate': .*\(and 2 more problems\)"),
        ("name: forbidden", ": this name is taken$"),  # a rule over several keys names no field
        ("", ": holds no mapping of keys to values"),
        ("- a\n- b", ": holds no mapping of keys to values"),
        ("name: a\nrate: [1, 2\nsteps: 3\n", ":3: is not valid YAML"),
        ("name: a\n\tsteps: 3", ":2: is not valid YAML"),
        ("name: 'a", ":1: is not valid YAML"),
        ("name: a\ninner: {rank: 3}\nname: b", r":3: is not valid YAML \(key 'name' again\)"),
        ("name: a\nrate: .inf", ": field 'rate': .*finite number"),
        ("name: !!python/object/apply:os.getcwd []", ".*is not valid YAML"),  # YAML cannot make objects
        ("name: a\x00b", r".*is not valid YAML \(unacceptable character [^\n]*\)$"),
    ],
)
def test_a_wrong_config(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"config\.yaml{message}"):
        load(tmp_path, text)


def test_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert TypeAdapter(Place).validate_python("~/runs/2") == "/home/ada/runs/2"
    with pytest.raises(ValidationError, match="is empty; name a file or folder"):
        TypeAdapter(Place).validate_python("")


@pytest.mark.parametrize(
    "wrong", ["seed=-1", "seed=4294967296", "max_steps=0", "max_steps=-5", "source_weights={a: 1e9}"]
)
def test_numbers_that_no_training_can_take(wrong: str) -> None:
    field = wrong.partition("=")[0]
    with pytest.raises(InputError, match=f"field '{field}"):
        make_config(SFTRecipe, {"model": "m", "data": "d", "output": "o"}, [wrong])


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.yaml: no such file"):
        load_config(Outer, tmp_path / "absent.yaml")


def test_overrides(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        "name: a\nsteps: 2",
        "steps=5",
        "rate=1e-5",
        "inner.rank=4",
        "maybe.scale=2",
        "name=b=c",
        "several=[{rank: 9}]",
    )
    assert (config.steps, config.rate, config.inner, config.name) == (5, 1e-5, Inner(rank=4), "b=c")
    assert config.maybe == Inner(scale=2) and config.several == [Inner(rank=9)]
    assert load(tmp_path, "name: a\nmaybe: {rank: 3}", "maybe=null").maybe is None
    listed = load(tmp_path, "name: a\nseveral: [{rank: 3, scale: 2}, {}]", "several.0.rank=4", "several.1={}")
    assert listed.several == [Inner(rank=4, scale=2), Inner()]
    # What the file says beside the overridden key stays.
    assert load(tmp_path, "name: a\ninner: {scale: 3}", "inner.rank=4").inner == Inner(rank=4, scale=3)


@pytest.mark.parametrize(
    "text", ["set #2", "2024", "yes", "1e3", "2024-01-01", "[v1]/x", "a: b", "a ", '"b"', "runs", "*.jsonl"]
)
def test_a_text_override_stays_as_it_is(text: str, tmp_path: Path) -> None:
    assert load(tmp_path, "name: a", text_override("name", text)).name == text
    assert load(tmp_path, "name: a", "name=set #2").name == "set #2"
    for written in ("runs/a b", "*.jsonl"):
        assert text_override("name", written) == f"name={written}"


class Words(StrictConfig):
    some: tuple[str, ...] = ()
    maybe: list[str] | None = None
    one: str = ""
    numbers: tuple[int, ...] = ()


def test_lists_of_words_need_no_brackets() -> None:
    assert make_config(Words, {}, ["some=entity,number"]).some == ("entity", "number")
    assert make_config(Words, {"some": "entity, number"}).some == ("entity", "number")
    assert make_config(Words, {}, ["some=entity", "maybe=MIT,CC BY 4.0", "one=a,b"]) == Words(
        some=("entity",), maybe=["MIT", "CC BY 4.0"], one="a,b"
    )
    with pytest.raises(InputError, match="valid tuple"):
        make_config(Words, {}, ["numbers=a,b"])


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("steps", "'steps' is not an override; write key=value"),
        ("name.rank=3", "'name.rank=3': it has no keys under 'name'"),
        ("name.inner.rank=3", "'inner' is not a key or place there"),
        ("several.1.rank=3", "'1' is not a key or place there"),
        ("several.²=3", "'²' is not a key or place there"),
        ("steps=[1", r"'steps=\[1': the value is not valid YAML"),
        ("steps=x", "valid integer"),
    ],
)
def test_wrong_overrides(override: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load(tmp_path, "name: a\nseveral: [{}]", override)
