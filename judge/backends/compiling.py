"""``torch.compile`` for the transformers engine."""

from typing import Any

from judge.errors import InputError


def compile_layers(model: Any) -> None:
    """Compile each layer of a model, for any number of rows and tokens, when it first runs.

    The layers are alike: one's code serves all, so that a model of many takes no longer to compile.

    Raises:
        InputError: nothing here compiles: no C++ compiler for a CPU, no Triton for a GPU; or the model
            has no layers of transformers' kind.
    """
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler
    from torch.utils._triton import has_triton
    from transformers.modeling_layers import GradientCheckpointingLayer

    if model.device.type == "cpu":
        try:
            get_cpp_compiler()
        except InvalidCxxCompiler:
            raise InputError("--compile needs a C++ compiler (g++ or clang++); none is here") from None
    elif not has_triton():
        raise InputError("--compile needs Triton on a GPU: pip install triton")
    layers = [module for module in model.modules() if isinstance(module, GradientCheckpointingLayer)]
    if not layers:
        raise InputError(f"--compile knows no layers in {type(model).__name__}; leave it away")
    for layer in layers:
        layer.compile(dynamic=True)
