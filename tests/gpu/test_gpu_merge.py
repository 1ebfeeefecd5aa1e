"""``judge merge`` of a 1.5B adapter: seconds, host memory, and the merged judge beside it on the GPU."""

from pathlib import Path
from typing import Any

from benchmarks.doctor_memory import resident
from judge.models.hardware import GIB
from tests.gpu.child import in_process
from tests.gpu.world import make_samples

MINUTES = 2
LIMIT = 0.02  # the merged weights are bfloat16


def merged(adapter: str, output: str) -> dict[str, float]:
    """Merge in this process; seconds, and bytes above what the imports took."""
    import time

    import peft  # noqa: F401 (its memory belongs to the baseline)
    from transformers import AutoModelForCausalLM  # noqa: F401

    from judge.training.merge import merge

    base, start = resident("VmRSS"), time.perf_counter()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
    merge(adapter, Path(output), "base")
    return {"seconds": time.perf_counter() - start, "peak": resident("VmHWM") - base}


def p_fail(model: str) -> list[Any]:
    """What a judge says of some samples, in float32."""
    from judge.load import load_judge

    return [
        verdict.p_fail for verdict in load_judge(model, precision="float32").check(make_samples(16, 2, 8))
    ]


def test_the_merged_judge_is_the_adapter(record, adapter_of, tmp_path: Path):
    adapter, output = adapter_of("1.5B"), str(tmp_path / "merged")
    found = in_process("tests.gpu.test_gpu_merge:merged", adapter=adapter, output=output)
    one, two = (in_process("tests.gpu.test_gpu_merge:p_fail", model=model) for model in (adapter, output))
    apart = max(abs(first - second) for first, second in zip(one, two, strict=True))
    largest = max(file.stat().st_size for file in Path(output).glob("*.safetensors"))
    record(
        "merge/1.5B",
        seconds=found["seconds"],
        peak_gib=found["peak"] / GIB,
        largest_file_gib=largest / GIB,
        p_fail_apart=apart,
        p_fail_spread=max(one) - min(one),
    )
    assert apart <= LIMIT
