"""Starts vLLM: its settings, their defaults on this device, and a synchronous wrapper of the engine."""

import asyncio
import atexit
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated, Any
from weakref import finalize

from pydantic import Field, PositiveInt

from judge.configs import StrictConfig
from judge.errors import InputError, JudgeError, brief
from judge.files import read_json

if TYPE_CHECKING:
    from vllm import RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that vLLM can reserve memory for; an adapter gets the next larger one."""
GPU_SHARE = 0.9
"""Share of a GPU's memory that several engines take together."""
CPU_CACHE_BYTES = 2 << 30
"""Memory for keys and values without a GPU: vLLM allocates all of it at once."""
TOGETHER = 8
"""Prompts of one call that stay on one copy; those of one sample share a prefix."""


class VLLMSettings(StrictConfig):
    """Settings under vLLM's own names (``--set vllm.KEY=VALUE``); ``None`` means what suits the device.

    ``tensor_parallel_size`` devices share one model; ``data_parallel_size`` copies of it share the work.
    ``gpu_memory_utilization`` is a share of the device's memory, or of the machine's if there is no GPU. If
    it is not set, ``sharing`` engines on one GPU take an equal part each. At most ``max_num_seqs`` sequences
    run together. ``enforce_eager`` starts faster and runs slower.
    """

    tensor_parallel_size: PositiveInt = 1
    data_parallel_size: PositiveInt = 1
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    sharing: PositiveInt = 1
    max_num_seqs: PositiveInt | None = None
    enforce_eager: bool | None = None


def import_vllm() -> str:
    """Import vLLM, quietly, and return its version.

    Raises:
        InputError: if it is not installed or cannot be imported.
    """
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")  # nothing is sent anywhere
    try:
        import vllm
    except ImportError as error:
        raise InputError(
            f'the backend vllm cannot be loaded ({error}); pip install "hallucination-judge[vllm]"'
        ) from None
    return str(vllm.__version__)


def device_precision(trained: str | None = None) -> str:
    """The number format for this device, found without initializing the GPU: the engine's process needs it.

    On a GPU it is the format that the judge was ``trained`` in, if vLLM supports that there.
    """
    from vllm.platforms import current_platform

    if current_platform.is_cpu():
        return "float32"
    formats = [str(dtype).removeprefix("torch.") for dtype in current_platform.supported_dtypes]
    return trained if trained in formats else formats[0]


def start_engine(
    model: str, *, settings: VLLMSettings, adapter: str | None = None, **arguments: Any
) -> "VLLMEngine":
    """Load a model into one engine, or into several copies.

    Args:
        model: folder or Hub id of the base model.
        settings: settings of the engine.
        adapter: folder of a LoRA adapter that requests may use.
        arguments: further arguments of ``vllm.AsyncEngineArgs``.

    Raises:
        JudgeError: if vLLM cannot run the model with these settings.
    """
    arguments = {"model": model, **_defaults(settings.sharing), **_chosen(settings), **arguments}
    if adapter is not None:
        arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": _reserved_rank(Path(adapter))}
    try:
        return VLLMEngine(settings.data_parallel_size, arguments)
    except Exception as error:  # an engine raises the errors of any of its libraries
        raise JudgeError(f"{model}: vLLM cannot run it ({brief(error, 400)})") from error


class VLLMEngine:
    """vLLM's asynchronous engine for callers in any thread; a call returns when its own replies are done.

    With several copies of a model, neighbouring prompts go to the same copy as far as possible, since each
    copy has its own prefix cache.

    Args:
        copies: number of copies of the model, each on its own devices.
        arguments: arguments of ``vllm.AsyncEngineArgs``.
    """

    def __init__(self, copies: int, arguments: Mapping[str, Any]):
        from vllm import AsyncEngineArgs
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.async_llm import AsyncLLM

        self._started = 0
        self._at_work = [0] * copies  # running prompts of each copy
        self._loop = asyncio.new_event_loop()
        thread = Thread(target=self._loop.run_forever, name="vllm", daemon=True)
        thread.start()

        async def start() -> Any:
            settings = AsyncEngineArgs(data_parallel_size=copies, disable_log_stats=True, **arguments)
            # As in vllm.LLM: batches are four times as large as in the low-latency default.
            return AsyncLLM.from_engine_args(settings, usage_context=UsageContext.LLM_CLASS)

        self._running = [self._wait(start())]
        # At the latest when the program ends, before multiprocessing waits for the engine's process.
        atexit.register(finalize(self, _stop, self._running, self._loop, thread))

    def generate(
        self,
        prompts: Sequence[Sequence[int]],
        params: "Sequence[SamplingParams]",
        adapter: "LoRARequest | None" = None,
    ) -> "list[RequestOutput]":
        """One output per prompt, in order."""
        return self._wait(self._generate(prompts, params, adapter))

    async def _generate(
        self,
        prompts: Sequence[Sequence[int]],
        params: "Sequence[SamplingParams]",
        adapter: "LoRARequest | None",
    ) -> "list[RequestOutput]":
        from vllm.inputs import tokens_input
        from vllm.sampling_params import RequestOutputKind

        async def run(prompt: Sequence[int], own: "SamplingParams", copy: int) -> Any:
            self._started += 1
            own.output_kind = RequestOutputKind.FINAL_ONLY
            rank = copy if len(self._at_work) > 1 else None
            request = self._running[0].generate(
                tokens_input(list(prompt)),
                own,
                str(self._started),
                lora_request=adapter,
                data_parallel_rank=rank,
            )
            try:
                return [output async for output in request][-1]
            finally:
                self._at_work[copy] -= 1

        size = max(TOGETHER, -(-len(prompts) // len(self._at_work)))
        copies: list[int] = []
        for start in range(0, len(prompts), size):
            idlest = self._at_work.index(min(self._at_work))
            together = min(size, len(prompts) - start)
            self._at_work[idlest] += together
            copies += [idlest] * together
        return await asyncio.gather(*map(run, prompts, params, copies))

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _stop(running: list[Any], loop: asyncio.AbstractEventLoop, thread: Thread) -> None:
    engine = running.pop()  # the last reference: vLLM cannot clean up during interpreter shutdown

    async def stop() -> None:
        engine.shutdown()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def _defaults(sharing: int) -> dict[str, Any]:
    """Arguments of vLLM that are the same for every model."""
    from vllm.config import StructuredOutputsConfig
    from vllm.platforms import current_platform

    arguments: dict[str, Any] = {
        "load_format": "safetensors",  # other formats can hold code
        "trust_remote_code": False,
        "use_tqdm_on_load": False,
        "enable_prefix_caching": True,
        "logprobs_mode": "raw_logprobs",
        "hf_overrides": {"head_dtype": "float32"},  # 16 bits are too coarse: judge/models/heads.py
        # Not xgrammar, which takes seconds per token if the length of a text is limited.
        "structured_outputs_config": StructuredOutputsConfig(
            backend="guidance", disable_any_whitespace=True, disable_additional_properties=True
        ),
    }
    if current_platform.is_cpu():
        arguments |= {
            "enforce_eager": True,  # compiling takes longer than most runs on a CPU
            "kv_cache_memory_bytes": CPU_CACHE_BYTES,
            "block_size": 32,  # only whole blocks are shared, and vLLM's default on a CPU is 128 tokens
        }
    elif sharing > 1:
        arguments["gpu_memory_utilization"] = round(GPU_SHARE / sharing, 3)
    return arguments


def _chosen(settings: VLLMSettings) -> Mapping[str, Any]:
    """The settings as arguments of vLLM, without those that are left to the device."""
    chosen = settings.model_dump(exclude={"data_parallel_size", "sharing"}, exclude_none=True)
    if settings.gpu_memory_utilization is not None:
        chosen["kv_cache_memory_bytes"] = None  # the share decides instead
    return chosen


def _reserved_rank(adapter: Path) -> int:
    """The rank that vLLM has to reserve memory for."""
    settings = read_json(adapter / "adapter_config.json")
    rank = max([settings.get("r", 8), *settings.get("rank_pattern", {}).values()])
    return min((size for size in LORA_RANKS if size >= rank), default=rank)
