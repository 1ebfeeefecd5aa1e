"""Loads an encoder judge by its name: one trained here, or a classifier from the Hub as it is."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.configs import make_config
from judge.encoder.calibrated import BATCH_TOKENS
from judge.encoder.checker import EncoderJudge
from judge.encoder.heads import Head, classifies, parse_labels, read_config, read_head, refuse_headless
from judge.encoder.pairs import Form, Pairing
from judge.errors import InputError
from judge.files import JUDGE_FILE
from judge.models.hub import fetch
from judge.models.identity import ENCODER
from judge.shipped import model_path
from judge.types import Label

if TYPE_CHECKING:
    from judge.encoder.checker import Network
    from judge.encoder.network import EncoderNetwork
    from judge.prompting.templates import TemplatePrompt

FORM = "form"
"""The field of ``judge.json`` that holds a :class:`judge.encoder.pairs.Form`."""
LABELS = "labels"
"""The field of ``judge.json`` that says what classes mean: ``{"PASS": "entailment"}``."""
LONGEST = {"classes": 512, "score": 512, "tokens": 4096}
"""Maximum tokens of a pair, by kind of head, if ``judge.json`` has no form."""


def is_encoder(model: str, identity: Mapping[str, Any], revision: str | None = None) -> bool:
    """Whether a judge is an encoder: one trained here, or a sequence or token classifier.

    Raises:
        InputError: if it is neither an encoder nor a model that writes text.
    """
    if "stage" in identity:
        return bool(identity["stage"] == ENCODER)
    config = _config_of(model, revision)
    refuse_headless(config, model)
    return classifies(config) is not None


def _config_of(model: str, revision: str | None) -> dict[str, Any]:
    """The ``config.json`` of a folder or Hub id; empty if there is none."""
    folder = Path(model_path(model))
    if folder.is_dir() or model.count("/") != 1:
        return read_config(folder)
    found = fetch(model, "config.json", revision)
    return {} if found is None else read_config(found.parent)  # loading the weights will say what is wrong


def default_form(head: Head) -> Form:
    """The form for a classifier whose ``judge.json`` has none.

    NLI classifiers and rerankers read statements, so they get the answer sentence by sentence, without the
    question. Token classifiers get the whole answer, and the question with the document, as in LettuceDetect.
    """
    if head.kind == "tokens":
        return Form(question="premise", sentences="whole")
    return Form(question="none", sentences="worst")


def load_encoder(
    folder: Path,
    identity: Mapping[str, Any],
    *,
    name: str = "",
    precision: str = "float32",
    max_length: int | None = None,
    batch_tokens: int | None = None,
    labels: str | None = None,
    pair: Sequence[str] | None = None,
    template: "TemplatePrompt | None" = None,
) -> EncoderJudge:
    """The encoder judge of a local folder.

    Args:
        folder: an output folder of ``judge encoder``, or a classifier of transformers.
        identity: its ``judge.json``; empty if it has none.
        name: its name in reports.
        precision: number format to compute in.
        max_length: maximum tokens of a document; the rest is not read, and its characters are counted.
        batch_tokens: padded tokens per batch.
        labels: what classes mean, as ``PASS=entailment``.
        pair: fields of the form that replace the judge's own, as ``question=hypothesis``.
        template: renders the premise.

    Raises:
        InputError: if the folder holds no such judge, or a setting is wrong.
        JudgeError: if a weight is missing or cannot be read.
    """
    from judge.calibration.curve import read_calibrations
    from judge.encoder.folder import longest_pair, read_tokenizer
    from judge.models.runtimes import EXPORT, exported

    config = read_config(folder)
    given = parse_labels(labels) or {
        str(found): Label(label) for label, found in identity.get(LABELS, {}).items()
    }
    head = read_head(config, name or str(folder), given)
    stored = identity.get(FORM)
    if stored is None:
        stored = {**default_form(head).model_dump(), "window_tokens": LONGEST[head.kind]}
    form = make_config(Form, dict(stored), (), folder / JUDGE_FILE)
    form = make_config(Form, form.model_dump(), pair or ())  # a fault here is not one of that file
    form = form.model_copy(update={"window_tokens": longest_pair(config, form.window_tokens)})
    network: Network
    if exported(identity, "onnx"):
        from judge.encoder.onnx import OnnxNetwork

        network = OnnxNetwork.open(folder, identity, head)
        precision = identity[EXPORT]["type"]
    else:
        import torch

        device = "cuda" if torch.cuda.is_available() else "cpu"
        network = stored_network(folder, head).to(device).eval()
    trained = identity.get("stage") == ENCODER
    return EncoderJudge(
        network,
        name or str(folder),
        precision,
        tuple(identity.get("languages", ("en",) if trained else ())),
        batch_tokens or BATCH_TOKENS,
        read_calibrations(str(folder)),
        pairing=Pairing(read_tokenizer(folder), form, template, max_length),
    )


def stored_network(folder: Path, head: Head, **settings: Any) -> "EncoderNetwork":
    """The network of a judge's folder.

    Args:
        folder: folder with full weights, or with packed ones.
        head: what its outputs mean.
        settings: settings of transformers' config, such as no dropout.

    Raises:
        InputError: if there are no weights in safetensors.
        JudgeError: if a weight is missing or cannot be read.
    """
    from judge.encoder.folder import WEIGHTS
    from judge.encoder.network import load_network
    from judge.encoder.packed import PACKED, load_packed

    if (folder / PACKED).is_file():
        return load_packed(folder, head, **settings)
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"holds neither {WEIGHTS} nor {PACKED}; only safetensors are read", file=folder)
    return load_network(folder, head, **settings)
