"""Memory of ``judge merge`` beside that of PEFT's merge of the whole model, and whether their weights agree.

    python -m tests.bench.merge_memory runs/demo/model --shard 20MB [--quantized] [--dtype float32]

Makes a random adapter of rank 16 on every linear layer, and a copy of the base in shards of that size. Each
way is a process of its own; its peak is what it takes above its imports. Prints a Markdown table.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from judge.models.checkpoint import Checkpoint
from tests.bench.doctor_memory import resident

GIB = 2**30


def prepare(model: str, folder: Path, shard: str, quantized: bool) -> None:
    """Write ``base`` and ``adapter`` into a folder."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = AutoModelForCausalLM.from_pretrained(model, dtype="auto")
    base.save_pretrained(folder / "base", max_shard_size=shard)
    AutoTokenizer.from_pretrained(model).save_pretrained(folder / "base")
    torch.manual_seed(0)
    settings = LoraConfig(r=16, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
    adapted = get_peft_model(base, settings)
    for name, weight in adapted.named_parameters():
        if "lora_" in name:
            weight.data.mul_(0.1)
    adapted.peft_config["default"].base_model_name_or_path = str(folder / "base")
    adapted.save_pretrained(folder / "adapter")
    if quantized:
        identity = {"recipe": {"quantization": "nf4"}, "versions": {}}
        (folder / "adapter" / "judge.json").write_text(json.dumps(identity))


def merge_whole(adapter: str, output: Path, shard: str, quantized: bool, dtype: str) -> None:
    """All of the model in memory, in float32."""
    import torch
    from transformers import AutoConfig

    from judge.models.base import find_model
    from judge.models.weights import load_weights

    model, tokenizer = load_weights(
        adapter, precision="float32", quantization="nf4" if quantized else None, dequantize=True
    )
    base = AutoConfig.from_pretrained(find_model(adapter)[0])
    stored = base.dtype if dtype == "base" else getattr(torch, dtype)
    model.merge_and_unload().to(stored).save_pretrained(output, max_shard_size=shard)
    tokenizer.save_pretrained(output)


def same_weights(one: Path, other: Path) -> bool:
    """Whether two models hold the same tensors, bit for bit; a tensor of each is read at a time."""
    import torch

    first, second = (Checkpoint(sorted(folder.glob("*.safetensors"))) for folder in (one, other))
    return set(first.tensors) == set(second.tensors) and all(
        torch.equal(first.read(name), second.read(name)) for name in first.tensors
    )


def measure(way: str, folder: Path, shard: str, quantized: bool, dtype: str) -> tuple[int, float]:
    """Merge in this process; returns the peak above the imports, and seconds."""
    import peft  # noqa: F401 (its memory belongs to the baseline)
    from transformers import AutoModelForCausalLM  # noqa: F401

    import judge.training.merge as merging

    if quantized:
        import bitsandbytes  # noqa: F401
    merging.model_card = lambda identity: ""  # the adapter here was never trained
    before, start = resident("VmRSS"), time.perf_counter()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the imports
    if way == "whole":
        merge_whole(str(folder / "adapter"), folder / way, shard, quantized, dtype)
    else:
        merging.merge(str(folder / "adapter"), folder / way, dtype)
    return resident("VmHWM") - before, time.perf_counter() - start


def run(arguments: list[str]) -> Any:
    """This script in a process of its own; what its last line holds."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.merge_memory", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model", help="model folder")
    parser.add_argument("--shard", default="5GB", help="largest file of the base, as transformers reads it")
    parser.add_argument("--quantized", action="store_true", help="as after QLoRA")
    parser.add_argument("--dtype", default="base", help="number format of the merged weights")
    parser.add_argument("--scratch", help="where the copies go, three times the model's size")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parsed = parser.parse_args()
    same = [parsed.model, "--shard", parsed.shard, "--dtype", parsed.dtype]
    same += ["--quantized"] if parsed.quantized else []
    if parsed.child:
        way, folder = parsed.child[0], Path(parsed.child[1])
        if way == "prepare":
            print(f"\n{json.dumps(prepare(parsed.model, folder, parsed.shard, parsed.quantized))}")
        else:
            print(f"\n{json.dumps(measure(way, folder, parsed.shard, parsed.quantized, parsed.dtype))}")
        return
    with tempfile.TemporaryDirectory(dir=parsed.scratch) as scratch:
        folder = Path(scratch)
        run([*same, "--child", "prepare", scratch])
        ways = {way: run([*same, "--child", way, scratch]) for way in ("whole", "tensors")}
        files = sorted((folder / "base").glob("*.safetensors"))
        shard = max(file.stat().st_size for file in files)
        alike = same_weights(folder / "whole", folder / "tensors")
    print(f"{parsed.model}, {len(files)} files, the largest {shard / GIB:.3f} GiB; same weights: {alike}\n")
    print("| way | peak GiB | of the largest file | seconds |\n| --- | ---: | ---: | ---: |")
    for way, (peak, seconds) in ways.items():
        print(f"| {way} | {peak / GIB:.2f} | {peak / shard:.2f} | {seconds:.1f} |")
    print(f"\nratio {ways['whole'][0] / ways['tensors'][0]:.1f}")


if __name__ == "__main__":
    main()
