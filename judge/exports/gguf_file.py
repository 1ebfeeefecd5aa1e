"""GGUF files of decoders: plain weights in F16 or Q8_0, with tokenizer and chat template inside.

The format is llama.cpp's; the library ``gguf`` provides its names and its 8-bit blocks. Tensors are read and
written one at a time, so memory holds one of them.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import InputError, JudgeError
from judge.exports.gguf_vocabulary import Vocabulary
from judge.models.checkpoint import Checkpoint, find_checkpoint
from judge.prompting.rendering import Renderer

if TYPE_CHECKING:
    import numpy as np

FAMILIES = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
"""``model_type`` of a config.json to the architecture's name in llama.cpp."""
BLOCK = 32
"""Weights per Q8_0 block, which share a 16-bit scale."""
PLAIN = "{% for message in messages %}{{ message['content'] + '\\n\\n' }}{% endfor %}"
"""Template for a model without one; does what :class:`judge.prompting.rendering.Renderer` does then."""


def write_gguf(folder: Path, file: Path, kind: str, name: str) -> int:
    """Write a decoder's plain weights, tokenizer and chat template to one file.

    Args:
        folder: weights, config and tokenizer.
        file: the file to write.
        kind: F16 or Q8_0. Norms and biases stay in float32.
        name: the judge's name.

    Returns:
        The context length in tokens.

    Raises:
        InputError: if the architecture, tokenizer or scaling of positions is not supported.
        JudgeError: if a weight is too large for the number format.
    """
    import gguf
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, trust_remote_code=False).get_text_config()
    if config.model_type not in FAMILIES:
        known = ", ".join(sorted(FAMILIES))
        raise InputError(f"is a {config.model_type}; GGUF export knows {known}", file=folder / "config.json")
    if getattr(config, "sliding_window", None):
        raise InputError("has sliding windows, which GGUF export does not write", file=folder / "config.json")
    checkpoint, _ = find_checkpoint(str(folder))
    writer = gguf.GGUFWriter(file, FAMILIES[config.model_type])
    try:
        writer.add_name(name)
        writer.add_file_type(getattr(gguf.LlamaFileType, f"MOSTLY_{kind}"))
        _add_sizes(writer, config)
        _add_tokenizer(writer, folder, config.vocab_size)
        _add_weights(writer, checkpoint, config, kind)
    finally:
        writer.close()
    return int(config.max_position_embeddings)


def _head_size(config: Any) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _add_sizes(writer: Any, config: Any) -> None:
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(_head_size(config))
    writer.add_value_length(_head_size(config))
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_dimension_count(_head_size(config))
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])


def _add_tokenizer(writer: Any, folder: Path, size: int) -> None:
    from judge.exports.gguf_vocabulary import read_vocabulary
    from judge.models.weights import load_tokenizer

    vocabulary: Vocabulary = read_vocabulary(folder / "tokenizer.json", size)
    tokenizer = load_tokenizer(str(folder))
    writer.add_tokenizer_model("gpt2")  # any byte-level BPE
    writer.add_tokenizer_pre(vocabulary.splitter)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    writer.add_token_merges(vocabulary.merges)
    for key in ("bos", "eos", "pad", "unk"):
        number = getattr(tokenizer, f"{key}_token_id")
        if number is not None:
            getattr(writer, f"add_{key}_token_id")(number)
    # A chat template writes its own first token; with a second one, prompts would differ from training.
    template = tokenizer.chat_template
    first = Renderer(tokenizer).encode("") if template is None else []
    writer.add_add_bos_token(bool(first))
    writer.add_add_eos_token(False)
    writer.add_chat_template(PLAIN if template is None else template)


def _add_weights(writer: Any, checkpoint: Checkpoint, config: Any, kind: str) -> None:
    """Write the list of tensors, then the tensors one by one in the same order."""
    import gguf
    import numpy as np

    arch = next(arch for arch, name in gguf.MODEL_ARCH_NAMES.items() if name == writer.arch)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    factors = rope_factors(config.rope_parameters, _head_size(config))
    places: dict[str, str] = {}
    for key in checkpoint.shapes:
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        name = names.get_name(key, try_suffixes=(".weight", ".bias"))
        if name is None:
            raise InputError(f"holds {key}, which llama.cpp has no place for", file=checkpoint.files[0])
        places[name] = key
        shape = checkpoint.shapes[key]
        stored = _stored(shape, kind)
        if stored == "Q8_0":
            block = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_0][1]
            row = shape[-1] // BLOCK * block
            writer.add_tensor_info(
                name, (*shape[:-1], row), np.dtype(np.uint8), math.prod(shape[:-1]) * row,
                raw_dtype=gguf.GGMLQuantizationType.Q8_0,
            )  # fmt: skip
        else:
            dtype = np.dtype(np.float32 if stored == "F32" else np.float16)
            writer.add_tensor_info(name, shape, dtype, math.prod(shape) * dtype.itemsize)
    if factors is not None:
        writer.add_tensor_info("rope_freqs.weight", factors.shape, factors.dtype, factors.nbytes)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for key in places.values():
        value = checkpoint.read(key).float().numpy()
        if writer.arch == "llama" and ("q_proj" in key or "k_proj" in key):
            value = in_pairs(value, value.shape[0] // _head_size(config))
        stored = _stored(value.shape, kind)
        if stored == "Q8_0":
            value = gguf.quants.quantize(value, gguf.GGMLQuantizationType.Q8_0)
        elif stored == "F16":
            value = value.astype(np.float16)
            if not np.isfinite(value).all():
                raise JudgeError(f"{checkpoint.files[0]}: {key} has values that are too large for F16")
        writer.write_tensor_data(value)
    if factors is not None:
        writer.write_tensor_data(factors)


def _stored(shape: tuple[int, ...], kind: str) -> str:
    """The number format of a tensor: float32 for vectors, F16 if its rows do not fill whole blocks."""
    if len(shape) < 2:
        return "F32"
    return "F16" if shape[-1] % BLOCK else kind


def in_pairs(weight: "np.ndarray[Any, Any]", heads: int) -> "np.ndarray[Any, Any]":
    """The rows of a query or key projection in the order of llama.cpp's rotary embedding for Llama models.

    transformers rotates the first half of a head's dimensions against the second half; RoFormer (arXiv
    2104.09864, section 3.2) and llama.cpp rotate neighbouring ones.
    """
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def rope_factors(rope: Mapping[str, Any], head_size: int) -> "np.ndarray[Any, Any] | None":
    """The divisors of each pair's rotary angle, float32; ``None`` if positions are not scaled.

    Raises:
        InputError: if they are scaled in another way than Llama 3.1's or by a constant.
    """
    import numpy as np

    kind = rope.get("rope_type", "default")
    if kind == "default":
        return None
    pairs = head_size // 2
    if kind == "linear":
        return np.full(pairs, rope["factor"], dtype=np.float32)
    if kind != "llama3":
        raise InputError(f"positions are scaled by {kind!r}, which GGUF export does not write")
    angles = float(rope["rope_theta"]) ** (-np.arange(pairs) / pairs)
    turns = rope["original_max_position_embeddings"] * angles / (2 * math.pi)
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    # Pairs that rotate often within the original context are kept, slow ones slowed down, others in between.
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return (1 / ((1 - kept) / rope["factor"] + kept)).astype(np.float32)
