"""Data parallelism: several vLLM engines behind one front, asked like a single one."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from itertools import count
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import finalize

if TYPE_CHECKING:
    from vllm import RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

Result = TypeVar("Result")

TOGETHER = 8
"""Prompts of one call that stay on one copy, as those of one sample do: they begin alike."""


class VLLMReplicas:
    """Copies of one model, each on devices of its own; any number of threads may ask them.

    vLLM runs several copies in one program only through its asynchronous engine; this is its face without an
    event loop, with the one method of ``vllm.LLM`` that a judge needs. Prompts that stand next to each other
    go to the same copy as far as possible, since each has a prefix cache of its own.

    Args:
        replicas: number of copies.
        arguments: those of ``vllm.LLM``.
    """

    def __init__(self, replicas: int, arguments: Mapping[str, Any]):
        from vllm import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

        self.replicas = replicas
        self._numbers = count()
        self._at_work = [0] * replicas  # prompts of each copy
        self._loop = asyncio.new_event_loop()
        thread = Thread(target=self._loop.run_forever, name="vllm", daemon=True)
        thread.start()

        async def start() -> Any:
            return AsyncLLM.from_engine_args(AsyncEngineArgs(data_parallel_size=replicas, **arguments))

        self._running = [self._wait(start())]
        finalize(self, _stop, self._running, self._loop, thread)  # at the end of the program at the latest

    def generate(
        self,
        prompts: "Sequence[dict[str, Any]]",
        sampling_params: "Sequence[SamplingParams]",
        *,
        lora_request: "LoRARequest | None" = None,
    ) -> "list[RequestOutput]":
        """One output a prompt (``{"prompt_token_ids": [...]}``), in order."""
        from vllm.inputs import tokens_input
        from vllm.sampling_params import RequestOutputKind

        async def run(place: int, copy: int) -> Any:
            params = sampling_params[place]
            params.output_kind = RequestOutputKind.FINAL_ONLY
            try:
                async for output in self._running[0].generate(
                    tokens_input(prompts[place]["prompt_token_ids"]),
                    params,
                    str(next(self._numbers)),
                    lora_request=lora_request,
                    data_parallel_rank=copy,
                ):
                    last = output
            finally:
                self._at_work[copy] -= 1
            return last

        async def run_all() -> "list[RequestOutput]":
            size = max(TOGETHER, -(-len(prompts) // self.replicas))
            copies = []
            for start in range(0, len(prompts), size):
                idlest = self._at_work.index(min(self._at_work))
                together = min(size, len(prompts) - start)
                self._at_work[idlest] += together
                copies += [idlest] * together
            return await asyncio.gather(*map(run, range(len(prompts)), copies))

        return self._wait(run_all())

    def _wait(self, work: "Coroutine[Any, Any, Result]") -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _stop(running: list[Any], loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    engine = running.pop()  # the last hold on it: vLLM cannot clean up once the interpreter is going down

    async def stop() -> None:
        engine.shutdown()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
