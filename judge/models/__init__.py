"""The language model under a judge: weights and number formats, attention over prefix trees, the head.

``architecture`` and ``hardware`` describe a model and a device without loading either, ``room`` checks if one
fits the other; ``checkpoint`` reads and writes weights tensor by tensor; ``bundled`` downloads the small
models that commands need.
"""

from judge.models.architecture import Architecture, read_architecture
from judge.models.bundled import bring_model
from judge.models.hardware import KNOWN_DEVICES, Device, this_device
from judge.models.heads import float32_head
from judge.models.prefix_tree import PrefixTree, make_tree
from judge.models.weights import LoadedModel, default_precision, load_model, load_weights

__all__ = [
    "KNOWN_DEVICES",
    "Architecture",
    "Device",
    "LoadedModel",
    "PrefixTree",
    "bring_model",
    "default_precision",
    "float32_head",
    "load_model",
    "load_weights",
    "make_tree",
    "read_architecture",
    "this_device",
]
