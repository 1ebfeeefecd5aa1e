"""The web page of ``judge serve``: its files, and headers that forbid it to load anything from elsewhere.

Texts of samples reach it as JSON and are shown as text; its content security policy prevents anything else.
"""

from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse

ASSETS = Path(__file__).parent / "assets"
OWN = {"/": "page.html"} | {
    f"/{name}": name
    for name in (
        "page.css", "page.js", "batch.js", "rows.js", "examples.js", "base.css", "common.js", "icon.svg",
    )
}  # fmt: skip
"""Paths and their files."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def add_page(app: FastAPI) -> None:
    """Add the page to an application, without a token."""
    for path, name in OWN.items():
        app.add_api_route(path, _sender(ASSETS / name), methods=["GET"], include_in_schema=False)


def _sender(path: Path) -> Callable[[], FileResponse]:
    def send() -> FileResponse:
        return FileResponse(path, headers=HEADERS)

    return send
