"""Pages that servers of this toolkit show: files, and headers that let them load nothing from elsewhere.

The page of ``judge serve`` and that of ``judge annotate`` share a style and a few functions (``SHARED``).
Texts of samples reach a page as JSON and are set as text; its policy keeps them from becoming anything else.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse

ASSETS = Path(__file__).parent / "assets"
SHARED = {"/base.css": "base.css", "/common.js": "common.js", "/icon.svg": "icon.svg"}
OWN = {
    "/": "page.html",
    "/page.css": "page.css",
    "/page.js": "page.js",
    "/batch.js": "batch.js",
    "/rows.js": "rows.js",
    "/examples.js": "examples.js",
}
"""The page of ``judge serve``: what is asked for, and the file."""
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


def add_page(app: FastAPI, folder: Path = ASSETS, files: Mapping[str, str] = OWN) -> None:
    """Let an application show a page: its own files and the shared ones, to whoever asks."""
    found = {path: folder / name for path, name in files.items()}
    found |= {path: ASSETS / name for path, name in SHARED.items()}
    for path, file in found.items():
        app.add_api_route(path, _sender(file), methods=["GET"], include_in_schema=False)


def _sender(path: Path) -> Callable[[], FileResponse]:
    def send() -> FileResponse:
        return FileResponse(path, headers=HEADERS)

    return send
