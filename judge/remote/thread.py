"""A session that runs in a thread of its own, for callers without an event loop."""

import asyncio
from collections import deque
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial
from threading import Thread

from judge.remote.chat import ChatRequest, Reply
from judge.remote.session import ChatSession


class CallThread:
    """Runs a session's calls while the caller does other work; several threads may hand requests over.

    After the first call that fails no other is sent. Calls that are left at the end are cancelled.
    """

    users = 0
    """Runs that use it now; counted by :class:`~judge.remote.client.ChatClient`."""

    def __init__(self, session: ChatSession):
        self._session = session
        self._handed: deque[tuple[ChatRequest, Future[Reply]]] = deque()
        self._woken = False
        self._failure: Exception | None = None
        self._ready: Future[None] = Future()
        live = partial(copy_context().run, lambda: asyncio.run(self._live()))  # shows what its maker shows
        self._thread = Thread(target=live, name="chat-calls", daemon=True)

    def __enter__(self) -> "CallThread":
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def submit(self, request: ChatRequest) -> Future[Reply]:
        """Hand a request over; the future has the reply, or what :meth:`ChatSession.complete` raises."""
        future: Future[Reply] = Future()
        self._handed.append((request, future))
        if not self._woken:  # one wake-up for all that are handed over before the thread looks
            self._woken = True
            self._loop.call_soon_threadsafe(self._start_calls)
        return future

    @property
    def failed(self) -> bool:
        """Whether a call has failed, and nothing more is sent."""
        return self._failure is not None

    def stop(self) -> None:
        """Send nothing more; calls on the wire end as they would."""
        self._loop.call_soon_threadsafe(self._session.stop)

    async def _live(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self._calls: set[asyncio.Task[None]] = set()
        try:
            async with self._session:
                self._ready.set_result(None)
                await self._end.wait()
                for call in self._calls:
                    call.cancel()
                await asyncio.gather(*self._calls, return_exceptions=True)
        except Exception as error:
            if self._ready.done():
                raise
            self._ready.set_exception(error)

    def _start_calls(self) -> None:
        self._woken = False
        while self._handed:
            task = self._loop.create_task(self._call(*self._handed.popleft()))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)

    async def _call(self, request: ChatRequest, future: Future[Reply]) -> None:
        try:
            future.set_result(await self._session.complete(request))
        except Exception as error:
            self._failure = self._failure or error  # the calls that it stops fail for the same reason
            self._session.stop()
            future.set_exception(self._failure)
        finally:
            future.cancel()  # where the call was cancelled, nobody must wait; else it changes nothing
