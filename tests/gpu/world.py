"""Random models of Qwen2.5's sizes, adapters and samples: nothing has to be fetched.

Speed and memory do not depend on what the weights are. Whether engines agree does, a little;
``JUDGE_GPU_MODEL`` names a real model for that.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.models.architecture import known_config
from judge.models.checkpoint import write_checkpoint
from judge.types import Sample

REHEARSAL = os.environ.get("JUDGE_GPU_TESTS") == "cpu"
"""Everything runs on the CPU, at toy size, to see that it works; no figure of it is kept."""

TOY = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128, "vocab_size": 32_768,
}  # fmt: skip
CONTEXT = 32_768
SPREAD = 0.02
"""Standard deviation of the weights, as transformers draws them."""


def size(real: Any, toy: Any) -> Any:
    """One value on a GPU, another in a rehearsal."""
    return toy if REHEARSAL else real


def write_tokenizer(folder: Path) -> Any:
    """A byte-level tokenizer of 8,192 tokens, trained on the starter corpus."""
    from data_pipeline.sources.starter import load_starter
    from tests.conftest import tiny_tokenizer

    texts = [f"{sample.document_text}\n{sample.question}\n{sample.answer}" for sample in load_starter()]
    small = tiny_tokenizer("chatml")
    tokenizer = small.train_new_from_iterator(texts, vocab_size=size(8192, 1024), show_progress=False)
    tokenizer.chat_template = small.chat_template
    tokenizer.model_max_length = CONTEXT
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_model(folder: str, name: str) -> None:
    """A model with the sizes of Qwen2.5-``name``, bfloat16; memory holds one file's part of it at a time."""
    import torch
    from transformers import Qwen2Config

    out = Path(folder)
    tokenizer = write_tokenizer(out)
    known = known_config(f"Qwen/Qwen2.5-{name}")
    assert known is not None
    config = Qwen2Config(
        **(known | (TOY if REHEARSAL else {})),
        max_position_embeddings=CONTEXT,
        rope_parameters={"rope_type": "default", "rope_theta": 1_000_000.0},
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        architectures=["Qwen2ForCausalLM"],
        dtype="bfloat16",
    )
    config.save_pretrained(out)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    draw = torch.Generator(device).manual_seed(0)

    def weights() -> Iterator[tuple[str, torch.Tensor]]:
        for key, shape in shapes(config):
            if len(shape) > 1:
                weight = torch.empty(shape, dtype=torch.bfloat16, device=device)
                yield key, weight.normal_(std=SPREAD, generator=draw).cpu()
            else:
                yield key, torch.full(shape, 0.0 if key.endswith("bias") else 1.0, dtype=torch.bfloat16)

    write_checkpoint(weights(), out)


def shapes(config: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Names and shapes of a model's weights, by its config."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config)
    for key, weight in skeleton.state_dict().items():
        if not (config.tie_word_embeddings and key == "lm_head.weight"):
            yield key, tuple(weight.shape)


def write_adapter(folder: str, model: str, rank: int = 16) -> None:
    """A random LoRA adapter on every linear layer: updates of about a quarter of the weights' size."""
    import torch
    from peft import LoraConfig
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoTokenizer

    lora = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
    lora.base_model_name_or_path = model
    lora.target_modules = set()
    tensors = {}
    draw = torch.Generator().manual_seed(1)
    for key, shape in shapes(AutoConfig.from_pretrained(model)):
        if len(shape) != 2 or "layers" not in key:
            continue
        layer = key.removesuffix(".weight")
        lora.target_modules.add(layer.rpartition(".")[2])
        first = torch.randn(rank, shape[1], generator=draw) / shape[1] ** 0.5
        second = torch.randn(shape[0], rank, generator=draw) * SPREAD
        tensors[f"base_model.model.{layer}.lora_A.weight"] = first
        tensors[f"base_model.model.{layer}.lora_B.weight"] = second
    lora.save_pretrained(folder)
    save_file(tensors, Path(folder) / "adapter_model.safetensors", metadata={"format": "pt"})
    AutoTokenizer.from_pretrained(model).save_pretrained(folder)


def make_samples(documents: int, answers: int, sentences: int) -> list[Sample]:
    """Answers about made-up protocols; a sentence has about 20 tokens."""
    samples = []
    for number in range(documents):
        year = 1500 + number
        facts = [
            f"Protocol {number}, part {part}: the committee met on day {(number * part) % 28 + 1} of the "
            f"year {year + part} and spoke about the bridge of {part * number % 97} metres."
            for part in range(sentences)
        ]
        for answer in range(answers):
            samples.append(
                Sample(
                    id=f"{number}-{answer}",
                    document=" ".join(facts),
                    question="In which year did the committee meet?",
                    answer=f"It met in the year {year + answer}.",
                    group=str(number),
                )
            )
    return samples
