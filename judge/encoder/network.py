"""An encoder of transformers that scores pairs, and the answer's tokens."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from judge.encoder.folder import TOKEN_HEAD, find_folder
from judge.encoder.heads import CONFIG, Head, classifies, read_config, read_head, read_outputs
from judge.encoder.rows import Row, padded
from judge.errors import InputError, JudgeError, brief
from judge.models.identity import ENCODER
from judge.models.weights import refuse_missing

NAMES = {0: "hallucinated"}
"""Class names of a judge trained here: it has one logit."""
OF_RERANKER = -0.2
"""What a reranker's single logit is multiplied by when training starts: it stands for PASS, and is larger
than log-odds (standard deviation 5.6 on pairs of inference; docs/research/experiments.md)."""


class EncoderNetwork(nn.Module):
    """A sequence or token classifier, read as probabilities of FAIL.

    Args:
        model: a classifier of transformers.
        head: what its outputs mean.
        token_head: scores tokens from the last hidden states of a sequence classifier, if it has one.
    """

    backend = ENCODER

    def __init__(self, model: Any, head: Head, token_head: nn.Linear | None = None):
        super().__init__()
        self.model = model
        self.head = head
        self.token_head = token_head
        wanted = "token_type_ids" in inspect.signature(model.forward).parameters
        self.segments = wanted and int(getattr(model.config, "type_vocab_size", 0) or 0) > 1

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        device: torch.device = self.model.device
        return device

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(value.numel() for value in self.parameters())

    @property
    def marks_tokens(self) -> bool:
        """Whether it scores the tokens of an answer."""
        return self.head.kind == "tokens" or self.token_head is not None

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Logits of pairs and of tokens.

        Args:
            ids: tokens, ``(rows, tokens)``.
            mask: 1 for tokens, 0 for padding.
            types: the segment of each token; only used by models that have segments.

        Returns:
            ``(rows, classes)``, and ``(rows, tokens)`` with a token head, else ``None``; for a token
            classifier ``(rows, tokens, classes)`` and ``None``.
        """
        segments = {"token_type_ids": types} if self.segments else {}
        hidden = {"output_hidden_states": True} if self.token_head is not None else {}
        out = self.model(input_ids=ids, attention_mask=mask, **segments, **hidden)
        logits = out.logits.float()
        if self.token_head is None:
            return logits, None
        # Log-odds in 16 bits would be too coarse.
        with torch.autocast(ids.device.type, enabled=False):
            return logits, self.token_head(out.hidden_states[-1].float()).squeeze(-1)

    def probabilities(
        self, rows: Sequence[Row], precision: str = "float32"
    ) -> tuple[list[float], list[list[float]] | None]:
        """p(FAIL) of each pair, and of each of its answer tokens if the network scores them."""
        arrays = padded(rows, self.pad_id)
        batch = {name: torch.from_numpy(table).to(self.device) for name, table in arrays.items()}
        half = getattr(torch, precision) if precision in ("bfloat16", "float16") else None
        with torch.inference_mode(), torch.autocast(self.device.type, half, enabled=half is not None):
            logits, by_token = self(**batch)
        token_logits = None if by_token is None else by_token.float().cpu().numpy()
        return read_outputs(self.head, logits.cpu().numpy(), token_logits, [row.own for row in rows])

    @property
    def pad_id(self) -> int:
        """The padding token; it is masked."""
        return int(self.model.config.pad_token_id or 0)

    def save(self, folder: Path) -> None:
        """Write weights and config in transformers' format, and the token head next to them."""
        from safetensors.torch import save_file

        self.model.save_pretrained(folder)
        if self.token_head is not None:
            save_file(self.token_head.state_dict(), folder / TOKEN_HEAD)


def quiet() -> None:
    """Keep transformers from reporting on loading; missing weights are an error here anyway."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()


def load_network(folder: Path, head: Head, **settings: Any) -> EncoderNetwork:
    """A classifier from a folder, in float32.

    Raises:
        JudgeError: if a weight is missing from the checkpoint or cannot be read: a judge with random weights
            would give random verdicts.
    """
    model = load_classifier(folder, "tokens" if head.kind == "tokens" else "pairs", **settings)
    return EncoderNetwork(model, head, read_token_head(folder))


def read_token_head(folder: Path) -> nn.Linear | None:
    """The token head of a judge's folder, if it has one; raises ``JudgeError`` if it cannot be read."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not (folder / TOKEN_HEAD).is_file():
        return None
    try:
        weights = load_file(folder / TOKEN_HEAD)
        found = nn.Linear(weights["weight"].shape[1], 1)
        found.load_state_dict(weights)
    except (OSError, KeyError, RuntimeError, SafetensorError) as error:
        raise JudgeError(f"{folder / TOKEN_HEAD}: cannot be read ({error})") from error
    return found


def load_classifier(folder: Path, what: str, **settings: Any) -> Any:
    """A sequence or token classifier of transformers; raises ``JudgeError`` if a weight is missing."""
    model, loading_info = _pretrained(folder, str(folder), what, **settings)
    refuse_missing(str(folder), loading_info)
    return model


def _pretrained(folder: Path, name: str, what: str, **settings: Any) -> tuple[Any, dict[str, Any]]:
    """A classifier of pairs or tokens in float32, and what transformers tells about its weights."""
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

    kind = AutoModelForTokenClassification if what == "tokens" else AutoModelForSequenceClassification
    quiet()
    try:
        model, loading_info = kind.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False,
            output_loading_info=True, **settings,
        )  # fmt: skip
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise JudgeError(f"{name}: the encoder could not be loaded ({brief(error, 200)})") from error
    return model, loading_info


def start_network(model: str, token_head: bool) -> tuple[EncoderNetwork, Path]:
    """A network to train, and the folder of the encoder that it starts from.

    To keep what an NLI classifier knows, the new logit starts as the mean of its other classes minus
    entailment. That of a reranker is its own, times :data:`OF_RERANKER`.

    Args:
        model: folder or Hub id of an encoder, whether trained as a classifier before or not.
        token_head: also train a head that scores tokens.

    Raises:
        InputError: if there is no such model.
        JudgeError: if its weights cannot be read.
    """
    folder = find_folder(model)
    config = read_config(folder)
    if not config:
        raise InputError("is missing; it names the encoder's architecture", file=folder / CONFIG)
    settings = {"num_labels": 1, "ignore_mismatched_sizes": True, **training_settings(config)}
    loaded, loading_info = _pretrained(folder, model, "pairs", **settings)
    kept = [name for name in loading_info["missing_keys"] if _of_encoder(loaded, name)]
    refuse_missing(model, {"missing_keys": kept, "mismatched_keys": ()})
    loaded.config.id2label, loaded.config.label2id = dict(NAMES), {name: at for at, name in NAMES.items()}
    loaded.config.problem_type = None
    if classifies(config) == "pairs":
        _keep_entailment(loaded, folder, config)
    head = Head("score", tuple(NAMES.values()), (0,))
    own = nn.Linear(loaded.config.hidden_size, 1) if token_head else None
    loaded.get_input_embeddings().weight.requires_grad_(False)
    return EncoderNetwork(loaded, head, own), folder


def training_settings(config: dict[str, Any]) -> dict[str, Any]:
    """Settings of transformers for training: no dropout, and eager attention on a CPU.

    One pass over much data needs no dropout, which halves the speed of attention on a CPU. Eager attention is
    15 to 30 % faster there than PyTorch's kernel, up to 512 tokens.
    """
    off = {name: 0.0 for name in config if name.endswith(("dropout", "dropout_prob")) and config[name]}
    return off if torch.cuda.is_available() else {**off, "attn_implementation": "eager"}


def _of_encoder(model: Any, name: str) -> bool:
    """Whether a weight belongs to the encoder below its pooler and head."""
    return name.startswith(model.base_model_prefix + ".") and "pooler" not in name


def _keep_entailment(loaded: Any, folder: Path, config: dict[str, Any]) -> None:
    try:
        head = read_head(config, str(folder))
        before = load_classifier(folder, "pairs").state_dict()
    except (InputError, JudgeError):
        return  # the meaning of the classes is unclear: the layer starts at random
    now = loaded.state_dict()
    says_pass = head.kind == "score" and not head.fail
    for name, value in before.items():
        if name in now and now[name].shape == value.shape:
            if says_pass and value.shape[:1] == (1,) and not _of_encoder(loaded, name):
                now[name].mul_(OF_RERANKER)
            continue
        if head.kind == "classes" and name in now and value.shape[0] == len(head.names):
            fail = list(head.fail)
            others = [at for at in range(len(head.names)) if at not in fail]
            now[name].copy_((value[fail].mean(0) - value[others].mean(0))[None].reshape(now[name].shape))
