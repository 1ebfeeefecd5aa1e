"""Memory estimates: of a model's weights, checked before loading them, and of a batch of replies."""

from judge.errors import InputError
from judge.models import hardware
from judge.models.architecture import Architecture, read_architecture
from judge.models.quantization import NF4_BYTES, Quantization

FREE = 0.9
"""Share of the memory of several GPUs that a model may take."""


def weight_bytes(model: Architecture, precision: str, quantization: Quantization | None = None) -> float:
    """Bytes of a model's weights; in a quantized model only the layers' linear maps are in 4 bits."""
    size = 4 if precision == "float32" else 2
    return (NF4_BYTES if quantization else size) * model.linear_parameters + size * model.other_parameters


def cache_bytes(model: Architecture, size: int) -> int:
    """Bytes of the keys and values of one token in all layers, with ``size`` bytes per number."""
    return 2 * size * model.num_hidden_layers * model.num_key_value_heads * model.head_dim


def prefill_bytes(model: Architecture, size: int, tokens: int) -> int:
    """Bytes that the prefill of a prompt takes besides its cache: a layer's activations, and the mask."""
    layer = 4 * model.hidden_size + 3 * model.intermediate_size + 2 * model.attention_width
    return size * layer * tokens + (1 + size) * tokens**2


def check_room(name: str, precision: str, quantization: Quantization | None = None) -> None:
    """Refuse weights that are larger than the device's memory, or the host's, through which they are loaded.

    Models of unknown size, such as mixtures of experts, are not checked.

    Raises:
        InputError: if they do not fit; says what to do.
    """
    try:
        needed = weight_bytes(read_architecture(name), precision, quantization)
    except InputError:  # if something is wrong, loading will report it
        return
    device = hardware.this_device()
    # Quantized weights are made on the device, one by one; others are read on the host first.
    host = device.memory_bytes if quantization else hardware.main_memory()
    room, where = min((device.memory_bytes, device.name), (host, "this machine's main memory"))
    if needed <= room:
        return
    gib = hardware.GIB
    message = f"{name}: its weights take {needed / gib:.0f} GiB in {quantization or precision}, and "
    message += f"{where} has {room / gib:.0f} GiB; "
    if device.kind == "cuda":
        count = 2
        while needed > FREE * count * device.memory_bytes:
            count *= 2
        message += f"spread it over {count} GPUs: --backend vllm --set vllm.tensor_parallel_size={count}"
        raise InputError(message)
    raise InputError(f"{message}ask a server that runs it: --backend openai --base-url URL")
