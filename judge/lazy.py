"""Public names that a package imports on first use, so that the package itself loads fast."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(package: str, where: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The module functions ``__getattr__`` and ``__dir__`` of a package (PEP 562).

    Args:
        package: the package's ``__name__``.
        where: the module that defines each name.
    """

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(where[name]), name)

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *where})

    return get, names
