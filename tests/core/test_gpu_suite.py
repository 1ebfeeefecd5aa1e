"""What the measurements of tests/gpu rest on, where there is no GPU."""

import re
from pathlib import Path

import pytest

from tests.gpu import world
from tests.gpu.child import OutOfMemory, in_process
from tests.gpu.performance_page import TITLES

MODULES = Path(__file__).parents[1] / "gpu"


def test_modules_share_less_than_forty_minutes_and_each_has_a_table():
    sources = [path.read_text() for path in MODULES.glob("test_*.py")]
    minutes = [int(re.search(r"^MINUTES = (\d+)$", source, re.M)[1]) for source in sources]
    assert sum(minutes) < 40
    recorded = {name for source in sources for name in re.findall(r'record\(\s*f?"(\w+)/', source)}
    assert recorded == set(TITLES)
    assert len(sources) == len(recorded)


def test_a_process_gives_back_a_result_or_the_reason_for_none():
    assert in_process("tests.core.test_gpu_suite:double", value=3) == 6
    with pytest.raises(RuntimeError, match="unsupported operand"):
        in_process("tests.core.test_gpu_suite:double", value=None)
    with pytest.raises(OutOfMemory):
        in_process("tests.core.test_gpu_suite:run_out")


def double(value: int) -> int:
    print("what it prints is not a result")
    return 2 * value


def run_out() -> None:
    class OutOfMemoryError(RuntimeError):
        pass

    raise OutOfMemoryError


def test_a_made_model_and_its_adapter_load_whole(tmp_path, monkeypatch):
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    monkeypatch.setattr(world, "REHEARSAL", True)
    monkeypatch.setattr(world, "SHARD_BYTES", 2**20)
    base, adapter = str(tmp_path / "base"), str(tmp_path / "adapter")
    world.write_model(base, "0.5B")
    world.write_adapter(adapter, base)
    assert len([*Path(base).glob("*.safetensors")]) > 1
    model, found = AutoModelForCausalLM.from_pretrained(base, output_loading_info=True)
    assert not found["missing_keys"] and not found["unexpected_keys"]
    assert AutoTokenizer.from_pretrained(base).chat_template
    adapted = PeftModel.from_pretrained(model, adapter)
    second = [weight for name, weight in adapted.named_parameters() if "lora_B" in name]
    assert len(second) == 7 * world.TOY["num_hidden_layers"]
    assert all(weight.any() for weight in second)  # PEFT starts them at nought
