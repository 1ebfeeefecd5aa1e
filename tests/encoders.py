"""Tiny encoders with random weights, of every architecture that judges are made of."""

import json
from pathlib import Path
from typing import Any

WORDS = ["the", "a", "tower", "is", "was", "high", "m", "low", "red", "blue", "it", "built", "by", "king"]
WORDS += ["20", "21", "22", "23", "24", "not", "how", "?", ".", ",", "anna"]
SIZES = {
    "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "max_position_embeddings": 66,
}  # fmt: skip
DISTANCES = {"relative_attention": True, "position_buckets": 4, "pos_att_type": ["p2c", "c2p"]}
NO_POSITIONS = {"position_biased_input": False, "type_vocab_size": 0}
MODERN = {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "global_attn_every_n_layers": 2}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", {}),
    "roberta": ("Roberta", {"type_vocab_size": 1}),
    "deberta": ("Deberta", {**DISTANCES, "max_relative_positions": 32}),
    "deberta-v3": ("DebertaV2", {**DISTANCES, "share_att_key": True, **NO_POSITIONS}),
    "modernbert": ("ModernBert", {**MODERN, "local_attention": 16}),
    "nomic": ("NomicBert", {"rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}}),
    "xlm-roberta": ("XLMRoberta", {"type_vocab_size": 1}),
}  # fmt: skip
"""Names of transformers' classes, and settings of tiny models."""
NLI = {0: "contradiction", 1: "entailment", 2: "neutral"}


def save_tokenizer(folder: Path, roberta: bool = False) -> int:
    """A tiny tokenizer in a folder; returns the size of its vocabulary."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [prefix + letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789" for prefix in ("", "##")]
    ends = ("<s>", "</s>") if roberta else ("[CLS]", "[SEP]")
    special = ["[PAD]", "[UNK]", *ends, "[MASK]"]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys([*special, *WORDS, *letters]))}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    first, last = ends
    joined = f"{first} $A {last} {last} $B {last}" if roberta else f"{first} $A {last} $B:1 {last}:1"
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", pair=joined, special_tokens=[(end, vocabulary[end]) for end in ends]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", cls_token=first, sep_token=last
    ).save_pretrained(folder)
    return len(vocabulary)


def save_model(folder: Path, kind: str, task: str, names: dict[int, str] | None = None, **more: Any) -> Path:
    """A tiny random model of an architecture: ``Model``, ``ForSequenceClassification`` and so on."""
    import torch
    import transformers

    name, own = ARCHITECTURES[kind]
    size = save_tokenizer(folder, "roberta" in kind)
    labels = (
        {} if names is None else {"id2label": names, "label2id": {name: at for at, name in names.items()}}
    )
    config = getattr(transformers, f"{name}Config")(
        **{**SIZES, "vocab_size": size, "pad_token_id": 0, **own, **labels, **more}
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}{task}")(config)
    with torch.no_grad():  # far enough from even odds that classes can be told apart
        for parameter in model.parameters():
            parameter.mul_(3)
    model.save_pretrained(folder)
    return folder


def save_judge(folder: Path, known: dict[str, Any] | None = None) -> Path:
    """An untrained judge of a tiny BERT, whose answers differ; ``known`` goes into its ``judge.json``."""
    from judge.encoder.network import start_network
    from judge.encoder.pairs import Form

    save_model(folder, "bert", "Model")
    network, _ = start_network(str(folder), token_head=True)
    for parameter in network.model.classifier.parameters():
        parameter.data *= 50
    network.save(folder)
    identity = {"stage": "encoder", "languages": ["en"], **(known or {}), **Form(window_tokens=64).describe()}
    (folder / "judge.json").write_text(json.dumps(identity))
    return folder
