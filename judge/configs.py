"""Strict, typed YAML configs: unknown keys are errors, which name the key and the nearest known one."""

import json
import os
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from judge.errors import InputError, counted, unknown
from judge.files import open_text


class StrictConfig(BaseModel):
    """A config that refuses unknown keys and values of the wrong type.

    A list of words may be written without brackets (``edit_types=entity,number``).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)

    gone: ClassVar[Mapping[str, str]] = {}
    """Removed keys, and what to do instead."""

    @model_validator(mode="before")
    @classmethod
    def _lists_without_brackets(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        lists = {name for name, field in cls.model_fields.items() if _holds_words(field.annotation)}
        return {
            name: [part.strip() for part in value.split(",")]
            if name in lists and isinstance(value, str)
            else value
            for name, value in values.items()
        }


def _holds_words(annotation: Any) -> bool:
    """Is a type a list of words, possibly optional, and not also a single word?"""
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        return len(parts) == 1 and _holds_words(parts[0])
    items = [item for item in get_args(annotation) if item is not Ellipsis]
    words = all(item is str or get_origin(item) is Literal or _is_enum(item) for item in items)
    return get_origin(annotation) in (list, tuple) and len(items) == 1 and words


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


Config = TypeVar("Config", bound=StrictConfig)


def _a_place(path: str) -> str:
    if not path:
        raise ValueError("is empty; name a file or folder")
    return os.path.expanduser(path)  # noqa: PTH111 (a glob, or a name of the Hub, stays as it is)


Place = Annotated[str, AfterValidator(_a_place)]
"""A file or folder in a config; ``~`` is the home folder, and an empty text an error."""


class _KeysOnce(yaml.SafeLoader):
    """A loader to which a key given twice is an error, instead of forgetting the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping, after a look at its keys."""
        keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        seen: set[str] = set()
        for key in keys:
            if key.value in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value!r} again", problem_mark=key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_config(kind: type[Config], path: Path, overrides: Sequence[str] = ()) -> Config:
    """Read a YAML file into a config, with overrides on top (``lora.rank=8``, ``sources.0.limit=9``).

    Raises:
        InputError: if the file is not a YAML mapping, a key is unknown, or a value has the wrong type.
    """
    with open_text(path) as stream:
        try:
            values = yaml.load(stream, _KeysOnce)  # noqa: S506 (a SafeLoader)
        except yaml.YAMLError as error:
            line = getattr(getattr(error, "problem_mark", None), "line", None)
            raise InputError(
                f"is not valid YAML ({_problem(error)})",
                file=path,
                line=None if line is None else line + 1,
            ) from None
    if not isinstance(values, dict):
        raise InputError("holds no mapping of keys to values", file=path)
    return make_config(kind, values, overrides, path)


def make_config(
    kind: type[Config], values: dict[str, Any], overrides: Sequence[str] = (), path: Path | None = None
) -> Config:
    """Check the values of a config, with overrides on top; ``path`` is the file that errors name.

    Raises:
        InputError: if a key is unknown, a value has the wrong type, or an override is malformed.
    """
    for override in overrides:
        _override(values, override)
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise _explain(kind, error, path) from None


def _problem(error: yaml.YAMLError) -> str:
    return str(getattr(error, "problem", str(error).partition("\n")[0]))


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise InputError(f"{override!r} is not an override; write key=value, such as learning_rate=1e-5")
    *parents, last = key.split(".")
    target: Any = values
    for parent in parents:
        target = _step(target, parent, override)
    value = _value(text, override)
    if isinstance(target, list):
        _step(target, last, override)
        target[int(last)] = value
    elif isinstance(target, dict):
        target[last] = value
    else:
        raise InputError(f"{override!r}: it has no keys under {'.'.join(parents)!r}")


def _value(text: str, override: str) -> Any:
    """The value of an override: YAML, but a number may be 1e-5, and a text may have a ``*`` or ``#``."""
    if text.startswith("*"):  # a glob; YAML would look for an anchor of that name, and there are none
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{override!r}: the value is not valid YAML ({_problem(error)})") from None
    if isinstance(value, str) and text.strip().startswith(value):  # neither quoted nor a block
        with suppress(ValueError):
            return float(text)
        return text.strip()
    return value


def text_override(key: str, value: object) -> str:
    """An override whose value is a text, also if YAML would read something else (a folder named ``2024``)."""
    text = str(value)
    try:
        plain = _value(text, key) == text
    except InputError:
        plain = False
    return f"{key}={text if plain else json.dumps(text, ensure_ascii=False)}"


def _step(target: Any, part: str, override: str) -> Any:
    """The value under one part of an override's key: a mapping key, or a list index from 0."""
    if isinstance(target, dict):
        return target.setdefault(part, {})
    if isinstance(target, list) and part.isdecimal() and int(part) < len(target):
        return target[int(part)]
    raise InputError(f"{override!r}: {part!r} is not a key or place there")


def _explain(kind: type[StrictConfig], error: ValidationError, path: Path | None) -> InputError:
    """The first validation error as a clear message; the others are only counted."""
    first, *others = error.errors()
    field = ".".join(str(part) for part in first["loc"])
    message = str(first["msg"]).removeprefix("Value error, ")
    if not isinstance(first["input"], dict):
        message += f", found {first['input']!r:.60}"
    if first["type"] == "missing":
        message = "is missing"
    elif first["type"] == "extra_forbidden":
        owners: list[type[BaseModel]] = [kind]
        for part in first["loc"][:-1]:  # list positions and the like are not fields and are skipped
            inner = [
                _models(owner.model_fields[part].annotation) for owner in owners if part in owner.model_fields
            ]
            owners = [model for models in inner for model in models] or owners
        key = str(first["loc"][-1])
        gone = {name: text for owner in owners for name, text in getattr(owner, "gone", {}).items()}
        known = {name for owner in owners for name in owner.model_fields}
        message = f"is gone: {gone[key]}" if key in gone else unknown("key", key, known)
    if others:
        message += f" (and {counted(len(others), 'more problem')})"
    return InputError(message, file=path, field=field or None)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """The models in a type: itself, or those in its union, list or mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]
