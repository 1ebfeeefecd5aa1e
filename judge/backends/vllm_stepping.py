"""One vLLM engine for callers in any thread: a request joins at the next step, and is answered when done.

``vllm.LLM`` takes a closed list of prompts and answers when the last of them is done. Here a thread of its
own adds what has come and makes one step after another, so that what is short never waits for what is long.
"""

import atexit
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import finalize

if TYPE_CHECKING:
    from vllm import RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

STOPPING = 10.0
"""Seconds that the end of the program waits for a step."""


class _Request(NamedTuple):
    tokens: list[int]
    params: "SamplingParams"
    adapter: "LoRARequest | None"
    output: "Future[RequestOutput]"


_Inbox = SimpleQueue["list[_Request] | None"]


class SteppedEngine:
    """An engine with the one method of ``vllm.LLM`` that a judge needs; any number of threads may call it.

    Args:
        start: gives an ``LLMEngine``, which nobody else uses. It is called in the thread that steps: on a CPU
            an engine counts on the number of OpenMP threads that it set, and each thread has its own.

    Raises whatever ``start`` raises.
    """

    def __init__(self, start: Callable[[], Any]):
        self._inbox: _Inbox = SimpleQueue()
        started: Future[None] = Future()
        thread = Thread(target=_run, args=(start, started, self._inbox), name="vllm", daemon=True)
        thread.start()
        started.result()
        # At the end of the program at the latest, before multiprocessing waits there for the engine to end.
        atexit.register(finalize(self, _stop, self._inbox, thread))

    def generate(
        self,
        prompts: "Sequence[dict[str, Any]]",
        sampling_params: "Sequence[SamplingParams]",
        *,
        lora_request: "LoRARequest | None" = None,
    ) -> "list[RequestOutput]":
        """One output a prompt (``{"prompt_token_ids": [...]}``), in order."""
        from vllm.sampling_params import RequestOutputKind

        requests = []
        for prompt, params in zip(prompts, sampling_params, strict=True):
            params.output_kind = RequestOutputKind.FINAL_ONLY
            requests.append(_Request(prompt["prompt_token_ids"], params, lora_request, Future()))
        self._inbox.put(requests)
        return [request.output.result() for request in requests]


def _run(start: Callable[[], Any], started: "Future[None]", inbox: _Inbox) -> None:
    """Make the engine and tell; then work."""
    try:
        engine = start()
    except BaseException as error:
        started.set_exception(error)
        return
    started.set_result(None)
    _step(engine, inbox)


def _step(engine: Any, inbox: _Inbox) -> None:
    """Add what comes, step while there is work, and wait while there is none; until ``None`` comes."""
    from vllm.inputs import tokens_input

    waiting: dict[str, Future[RequestOutput]] = {}
    added = 0
    failure: Exception | None = None
    while True:
        while not (waiting and inbox.empty()):
            requests = inbox.get()
            if requests is None:
                engine.engine_core.shutdown()
                return
            for request in requests:
                added += 1
                try:
                    if failure is not None:
                        raise failure
                    prompt = tokens_input(request.tokens)
                    engine.add_request(str(added), prompt, request.params, lora_request=request.adapter)
                except Exception as error:  # of this request, such as a schema that cannot be kept to
                    request.output.set_exception(error)
                else:
                    waiting[str(added)] = request.output
        try:
            for output in engine.step():
                if output.finished:
                    waiting.pop(output.request_id).set_result(output)
        except Exception as error:  # an engine that failed within a step is of no more use
            failure = error
            for future in waiting.values():
                future.set_exception(error)
            waiting.clear()


def _stop(inbox: _Inbox, thread: Thread) -> None:
    inbox.put(None)
    thread.join(STOPPING)
