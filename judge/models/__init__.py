"""The language model under a judge: weights and number formats, attention over prefix trees, the head.

``architecture`` and ``hardware`` tell what a model and a device are without loading either, ``room`` whether
the one fits the other; ``checkpoint`` reads and changes files of weights by tensor; ``bundled`` brings the
demo's model.
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
