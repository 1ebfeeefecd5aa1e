"""Estimates the memory that a recipe needs from the sizes of its model; nothing is loaded.

The terms follow what autograd keeps for a decoder layer of transformers with LoRA: the inputs of its norms,
linear layers and products. ``benchmarks/doctor_memory.py`` compares the estimates with real runs.
"""

from dataclasses import astuple, dataclass

from judge.models.architecture import Architecture
from judge.models.hardware import GIB, Device
from judge.models.room import weight_bytes
from judge.training.arguments import optimizer_of
from judge.training.config import DPORecipe, SFTRecipe, TrainingConfig

LABEL_SHARE = 1 / 8
"""Share of a sequence's tokens that belong to replies and have a loss; assumes long reasonings."""

TILE = 32_768
"""Columns of the vocabulary that TRL's DPO head computes at once."""

OVERHEAD = {"cpu": 0.2 * GIB, "cuda": 0.6 * GIB}
"""Bytes of tokenizer, data set and libraries; on a GPU, of its context."""

GAPS = {"cpu": 1.2, "cuda": 1.1}
"""Memory that the allocator reserves for activations, divided by the memory in use at once."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes at the peak of a training run, by what they hold.

    ``casts`` are autocast's copies of trained weights, ``masks`` the attention masks of prefix trees.
    """

    weights: float
    adapter: float
    casts: float
    gradients: float
    optimizer: float
    activations: float
    masks: float
    logits: float
    overhead: float

    @property
    def total(self) -> float:
        """All of them."""
        return sum(astuple(self))


def estimate(recipe: TrainingConfig, model: Architecture, device: Device) -> Memory:
    """The peak memory of one process that holds the whole model.

    Assumes micro-batches full of the longest sequences that the recipe allows.
    """
    precision = device.precision(training=True) if recipe.precision == "auto" else recipe.precision
    size = 4 if precision == "float32" else 2
    optimizer = optimizer_of(recipe)  # Lion keeps one number per parameter, Adam two
    states = (1 if "lion" in optimizer else 2) * (1 if "8bit" in optimizer else 4)
    if recipe.lora is None:
        trained = model.linear_parameters + model.other_parameters
        precomputed = recipe.trainer.get("precompute_ref_log_probs")
        references = 2 if isinstance(recipe, DPORecipe) and not precomputed else 1
        weights, adapter = 4.0 * trained * references, 0.0
    else:
        trained = model.adapter_parameters(recipe.lora.rank)
        weights, adapter = weight_bytes(model, precision, recipe.quantization), 4.0 * trained

    rows, tokens = sequences_of(recipe)
    batch = rows * tokens
    layer = batch * layer_bytes(recipe, model, device, size)
    # The gradients of one layer's activations, and the weights dequantized from 4 bits for a product.
    working = float(batch * (3 * size * model.intermediate_size + 16 * model.hidden_size))
    if recipe.quantization:
        working += size * model.hidden_size * model.intermediate_size
    if recipe.gradient_checkpointing:
        kept = float(batch * size * model.hidden_size * model.num_hidden_layers)
        working += layer
    else:
        kept = layer * model.num_hidden_layers
    shared = getattr(recipe, "prefix_sharing", False)
    logits = head_bytes(recipe, model, device, size)
    return Memory(
        weights=weights,
        adapter=adapter,
        casts=2.0 * trained if size == 2 else 0.0,
        gradients=4.0 * trained,
        optimizer=float(states * trained),
        # The logits are freed before the backward pass of the layers.
        activations=GAPS[device.kind] * (kept + max(working - logits, 0)),
        # A tree's boolean mask of tokens by tokens; on a GPU also one of numbers, shared by all layers.
        masks=float(shared * batch * tokens * (1 if device.kind == "cpu" else 1 + size)),
        logits=logits,
        overhead=OVERHEAD[device.kind],
    )


def sequences_of(recipe: TrainingConfig) -> tuple[int, int]:
    """Rows of a micro-batch and tokens of each row, as seen by the model."""
    if isinstance(recipe, DPORecipe):
        if recipe.prefix_sharing:
            return recipe.batch_size, round((1 + LABEL_SHARE) * recipe.max_length)
        return 2 * recipe.batch_size, recipe.max_length
    if isinstance(recipe, SFTRecipe) and recipe.prefix_sharing:
        return recipe.batch_size, max(recipe.max_length, recipe.sequence_tokens)
    return recipe.batch_size, recipe.max_length


def layer_bytes(recipe: TrainingConfig, model: Architecture, device: Device, size: int) -> float:
    """What autograd keeps of one layer for the backward pass, in bytes per token.

    Args:
        size: bytes per number in the training's format.
    """
    hidden, wide, queries = model.hidden_size, model.intermediate_size, model.attention_width
    keys = model.num_key_value_heads * model.head_dim
    rows, tokens = sequences_of(recipe)
    # Norms compute in float32; their outputs are the inputs of the linear maps.
    norms = 2 * (4 * hidden + size * hidden)
    if recipe.lora is None and size == 2:  # a float32 residual stream, and a cast of it for each linear map
        norms = 2 * 8 * hidden + 5 * size * hidden
    attention = float(size * 2 * (queries + keys))
    shared = getattr(recipe, "prefix_sharing", False)
    if device.kind != "cpu" and (shared or (rows > 1 and isinstance(recipe, DPORecipe))):
        # With a mask, PyTorch's kernels keep keys and values for every head. The mask of a tree is shared by
        # all layers (see estimate); TRL's padded rows have one of numbers in each layer. On a CPU only the
        # inputs are kept (judge.models.blocked_attention).
        attention = float(size * (5 * queries + (0 if shared else tokens)))
    mlp = size * 4 * wide
    adapters = 0
    if recipe.lora is not None:
        adapters = size * 7 * recipe.lora.rank
        if recipe.lora.dropout:  # a copy of each linear map's input, and its dropout mask
            adapters += 2 * size * (5 * hidden + queries + wide)
    return norms + attention + mlp + adapters


def head_bytes(recipe: TrainingConfig, model: Architecture, device: Device, size: int) -> float:
    """Bytes of the logits, their softmax and its gradient in float32, on the tokens that have a loss.

    TRL's DPO computes the logits in tiles and keeps none; on a CPU a tile takes eight float32 copies.
    """
    if isinstance(recipe, DPORecipe):
        replies = 2 * recipe.batch_size * recipe.max_length * LABEL_SHARE
        return (8 * 4 if device.kind == "cpu" else size) * replies * min(TILE, model.vocab_size)
    rows, tokens = sequences_of(recipe)
    return 3 * 4 * LABEL_SHARE * rows * tokens * model.vocab_size
