"""A hook of MkDocs: cross-references in docstrings show as plain code."""

import re
from typing import Any

ROLE = re.compile(r":(?:class|mod|func|meth|data|attr):\s*(<code>)~?")


def on_page_content(html: str, **_: Any) -> str:
    """The page with ``:class:`` and its like taken away."""
    return ROLE.sub(r"\1", html)
