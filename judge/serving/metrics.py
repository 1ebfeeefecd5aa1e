"""A server's metrics for Prometheus. They never contain texts that were judged."""

import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge.types import Label, Verdict

PATHS = ("/", "/v1/judge", "/v1/model", "/health", "/metrics", "/openapi.json")
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter("judge_requests", "Requests.", ("path", "status"), registry=registry)
        self.request_seconds = Histogram(
            "judge_request_seconds", "Seconds a request.", ("path",), buckets=SECONDS, registry=registry
        )
        self.verdicts = Counter(
            "judge_verdicts", "Verdicts; label none: no verdict.", ("label",), registry=registry
        )
        self.queue = Gauge("judge_queue_samples", "Samples that wait.", registry=registry)
        self.batch_samples = Histogram(
            "judge_batch_samples", "Samples a batch.", buckets=SIZES, registry=registry
        )
        self.batch_seconds = Histogram(
            "judge_batch_seconds", "Seconds a batch.", buckets=SECONDS, registry=registry
        )
        for label in (*Label, "none"):  # a rate has to start from zero
            self.verdicts.labels(label)

    def note_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Count verdicts that were sent."""
        for verdict in verdicts:
            self.verdicts.labels(verdict.label or "none").inc()

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self.registry)


class CountRequests:
    """Middleware that counts and times requests."""

    def __init__(self, app: ASGIApp, metrics: Metrics):
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its status and duration."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in PATHS else "other"  # bounds the number of label values
        status = 500
        start = time.perf_counter()

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.request_seconds.labels(path).observe(time.perf_counter() - start)
