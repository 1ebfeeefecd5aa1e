"""Host memory of a process while a model is loaded under ZeRO-3: sharded at once, and only afterwards.

    python -m tests.bench.sharded_loading [--model runs/demo/model]

Without a model, a random one of 213 million weights in 16 layers is made, whose largest tensor is 2 % of it.
Two processes (``accelerate launch`` with ``accelerate_configs/zero3.yaml``, on the CPU) load the model in
float32: once as the trainers do, by ``judge.training.models.load_trainable``, and once in the order of
before, without training arguments until the model is there. Memory is what a process has of its own (RssAnon
of /proc, so not the checkpoint's pages, which processes share), beyond what it had before loading; it is
looked at every 20 ms.
"""

import argparse
import ctypes
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import nullcontext
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
MIB = 2**20
PROCESSES = 2


def own_memory() -> int:
    """Bytes in use that this process shares with no file."""
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # of what was freed, glibc keeps much
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("/proc/self/status tells no RssAnon")


def work(model: str, folder: Path, order: str) -> None:
    """Load as one of the processes, and write down the memory that it took."""
    import deepspeed
    import torch
    from transformers import TrainingArguments

    from judge.training import models
    from judge.training.arguments import common_arguments
    from judge.training.config import SFTRecipe
    from tests.bench.launch import leave_cpus_to_gloo

    leave_cpus_to_gloo()
    recipe = SFTRecipe(model=model, data="", output=str(folder / "out"), lora=None, precision="float32")
    # What both orders need, so that it counts for neither: the process group, and the libraries.
    settings = common_arguments(recipe, sequences=1)
    del settings["max_length"]
    TrainingArguments(**settings)
    deepspeed.init_distributed(dist_backend=torch.distributed.get_backend())
    if order == "afterwards":
        models.sharded_loading = lambda _: nullcontext()  # type: ignore[assignment]

    before, peak, done = own_memory(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, own_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    loaded, _ = models.load_trainable(recipe)
    done.set()
    watcher.join()
    gc.collect()
    sharded = all(hasattr(parameter, "ds_tensor") for parameter in loaded.parameters())
    rank = torch.distributed.get_rank()
    found = {
        "parameters": sum(getattr(value, "ds_numel", value.numel()) for value in loaded.parameters()),
        "peak": peak - before,
        "after": own_memory() - before,
        "sharded": sharded,
    }
    (folder / f"{order}-{rank}.json").write_text(json.dumps(found))
    torch.distributed.barrier()


def make_model(folder: Path) -> Path:
    """A random Llama with a small vocabulary, so that its layers are nearly all of it."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.conftest import tiny_tokenizer

    sizes = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 16}
    config = LlamaConfig(vocab_size=4096, num_attention_heads=16, tie_word_embeddings=False, **sizes)
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    tiny_tokenizer("chatml").save_pretrained(folder)
    return folder


def main() -> None:
    """Launch both orders and print what each process took, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model")
    parser.add_argument("--work", nargs=2, metavar=("FOLDER", "ORDER"), help=argparse.SUPPRESS)
    settings = parser.parse_args()
    if settings.work:
        work(settings.model, Path(settings.work[0]), settings.work[1])
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = yaml.safe_load((ROOT / "accelerate_configs" / "zero3.yaml").read_text(encoding="utf-8"))
        (folder / "zero3.yaml").write_text(yaml.safe_dump({**config, "use_cpu": True}), encoding="utf-8")
        command = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", folder / "zero3.yaml"]
        command += ["--num_processes", str(PROCESSES), "-m", "tests.bench.sharded_loading"]
        model = Path(settings.model) if settings.model else make_model(folder / "model")
        command += ["--model", str(model.resolve()), "--work", str(folder)]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "DS_ACCELERATOR": "cpu",
            "CUDA_VISIBLE_DEVICES": "",
        }
        taken: dict[str, dict[str, int]] = {}
        print("| cut into shards | process | peak | after loading | of the model's float32 size |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for order in ("afterwards", "while loading"):
            done = subprocess.run(
                [*command, order], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise SystemExit(done.stderr)
            found = [json.loads((folder / f"{order}-{rank}.json").read_text()) for rank in range(PROCESSES)]
            taken[order] = {key: max(process[key] for process in found) for key in ("peak", "after")}
            for rank, process in enumerate(found):
                share = process["after"] / (4 * process["parameters"])
                sizes = f"{process['peak'] / MIB:,.0f} MiB | {process['after'] / MIB:,.0f} MiB"
                print(f"| {order} | {rank} | {sizes} | {100 * share:.0f} % |", flush=True)
        for key, label in (("peak", "peak"), ("after", "after loading")):
            before, now = taken["afterwards"][key], taken["while loading"][key]
            print(f"{label}, the larger process: {now / before:.2f} of before")


if __name__ == "__main__":
    main()
