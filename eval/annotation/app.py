"""The page of ``judge annotate`` and its endpoints: on this machine alone, loading nothing from elsewhere.

Texts of samples go out as JSON and are set as text by the script; neither the page nor its policy lets any of
them become markup, style or script. Gold labels are never sent.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from eval.annotation.records import Name, Said
from eval.annotation.work import Work
from judge.errors import InputError, JudgeError
from judge.serving.page import HEADERS, add_page

ASSETS = Path(__file__).parent / "assets"
OWN = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
HOSTS = ["127.0.0.1", "localhost"]
"""What requests may call this server: another site whose name is made to point here is refused."""
Who = Annotated[Name, Query(alias="annotator")]


def create_app(work: Work, title: str) -> FastAPI:
    """Make the web application that one set of samples is annotated on; ``title`` stands on the page."""
    app = FastAPI(title=title, docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guarded(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await go_on(request)
        response.headers.update(HEADERS)
        return response

    app.add_middleware(TrustedHostMiddleware, allowed_hosts=HOSTS)  # added last, asked first

    add_page(app, ASSETS, OWN)

    @app.get("/api/work")
    def overview() -> dict[str, Any]:
        """What there is to do, and who has done how much of it."""
        done = {name: len(work.said(name)) for name in work.annotators()}
        return {"title": title, "samples": len(work.samples), "types": work.types, "annotators": done}

    @app.get("/api/labels")
    def labels(who: Who) -> list[str | None]:
        """What an annotator has said of each sample so far."""
        said = work.said(who)
        return [said[sample.id].label if sample.id in said else None for sample in work.samples]

    @app.get("/api/samples/{number}")
    def show(number: int, who: Who) -> dict[str, Any]:
        """One sample, without its label, and what the annotator has said of it."""
        sample = work.samples[_place(number)]
        said = work.said(who).get(sample.id)
        return {
            "id": sample.id,
            "source": sample.source,
            "task": sample.task,
            "language": sample.language,
            "document": sample.document_text,
            "question": sample.question,
            "answer": sample.answer,
            "said": None if said is None else said.model_dump(include=set(Said.model_fields)),
        }

    @app.post("/api/samples/{number}")
    def save(number: int, who: Who, said: Said) -> dict[str, int]:
        """Write down what an annotator says; gives back how many samples that makes."""
        try:
            work.save(who, _place(number), said)
        except InputError as error:
            raise HTTPException(422, str(error)) from None
        except JudgeError as error:
            raise HTTPException(500, str(error)) from None
        return {"done": len(work.said(who))}

    def _place(number: int) -> int:
        if not 0 <= number < len(work.samples):
            raise HTTPException(404, f"there are {len(work.samples)} samples, numbered from 0")
        return number

    return app
