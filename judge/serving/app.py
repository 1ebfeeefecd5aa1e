"""The endpoints of ``judge serve``."""

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

import judge
from judge.checker import Checker
from judge.claims.checker import ClaimsJudge
from judge.serving.batching import Batcher, QueueFull
from judge.serving.limits import Limits
from judge.serving.metrics import CountRequests, Metrics
from judge.serving.models import (
    ErrorResponse,
    HealthResponse,
    JudgeRequest,
    JudgeResponse,
    ModelResponse,
    VerdictOut,
    inline_schema,
)
from judge.serving.page import add_page
from judge.serving.reading import GONE, read_request
from judge.types import Sample, Verdict

_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {}}}}
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": inline_schema(JudgeRequest)}},
    }
}


def create_app(
    checker: Checker,
    limits: Limits | None = None,
    token: str | None = None,
    seen: Callable[[Sample], object] = lambda sample: None,
) -> FastAPI:
    """Make the web application of one judge.

    Args:
        checker: the judge, without claims, which requests ask for.
        limits: limits of a request and of the queue.
        token: what clients must send as ``Authorization: Bearer TOKEN``, except to ``/health`` and the page;
            without one, access is open.
        seen: called with every sample that is judged.
    """
    limits = limits or Limits()
    metrics = Metrics()
    batcher = Batcher(checker, ClaimsJudge(checker), limits, metrics, seen)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        running = asyncio.create_task(batcher.run())
        yield  # the server resumes this after the last response, so nothing is waiting any more
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    app = FastAPI(
        title="Hallucination judge",
        version=judge.__version__,
        lifespan=lifespan,
        docs_url=None,  # their pages load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_middleware(CountRequests, metrics=metrics)
    app.add_exception_handler(Exception, _failed)
    allowed = [Depends(_bearer(token))] if token is not None else []

    @app.post(
        "/v1/judge",
        dependencies=allowed,
        response_model=JudgeResponse,
        responses=_errors(400, 401, 408, 413, 415, 422, 429, 500),
        openapi_extra=_BODY,
    )
    async def judge_samples(request: Request) -> Any:
        """Is each answer faithful to its document? One verdict a sample, in order."""
        try:
            batcher.check_room()  # before reading a body for nothing
            samples, with_claims = await read_request(request, limits)
            verdicts = await _unless_gone(request, batcher.check(samples, with_claims))
        except QueueFull as error:
            raise HTTPException(429, str(error), {"Retry-After": str(error.retry_after)}) from None
        if verdicts is None:
            return Response(status_code=GONE)
        metrics.note_verdicts(verdicts)
        found = [VerdictOut.of(*pair) for pair in zip(samples, verdicts, strict=True)]
        return JudgeResponse(model=checker.name, verdicts=found)

    @app.get("/v1/model", dependencies=allowed, response_model=ModelResponse, responses=_errors(401))
    def model() -> Any:
        """Which judge answers here."""
        described = checker.describe()
        return ModelResponse(
            model=checker.name,
            mode=checker.mode,
            version=judge.__version__,
            calibrated="calibration" in described,
            describe=described,
        )

    @app.get("/health", response_model=HealthResponse)
    async def health() -> Any:
        """The model is loaded and requests are taken."""
        return HealthResponse()

    @app.get("/metrics", dependencies=allowed, responses=_errors(401) | _TEXT)
    async def figures() -> Response:
        """Figures for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    add_page(app)
    return app


def _errors(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": ErrorResponse} for code in codes}


def _bearer(token: str) -> Any:
    """A dependency that requires the token, compared in constant time."""
    wanted = token.encode()
    scheme = HTTPBearer(auto_error=False)

    def allow(given: Annotated[HTTPAuthorizationCredentials | None, Depends(scheme)]) -> None:
        # Headers are decoded as Latin-1 by the standard; this restores the bytes that were sent.
        sent = b"" if given is None else given.credentials.encode("latin-1")
        if not hmac.compare_digest(sent, wanted):
            raise HTTPException(401, "a valid token is required", {"WWW-Authenticate": "Bearer"})

    return allow


async def _unless_gone(request: Request, judging: Any) -> list[Verdict] | None:
    """The verdicts, or ``None`` if the client disconnects first, so that its samples do not delay others."""
    work, gone = asyncio.ensure_future(judging), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait((work, gone), return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        work.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _failed(_: Request, __: Exception) -> JSONResponse:
    """The response to an unexpected error; the traceback goes only to the server's log."""
    return JSONResponse({"detail": "the judge failed; the server's log says why"}, 500)
