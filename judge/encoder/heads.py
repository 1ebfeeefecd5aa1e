"""What an encoder's outputs mean: which of its classes say that an answer is hallucinated.

Most encoders that judge faithfulness are classifiers on the Hub: NLI cross-encoders with an ``entailment``
class, fact checkers with ``supported`` and ``unsupported``, rerankers with one logit, and token classifiers
that mark hallucinated words. Their ``config.json`` names the classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.errors import InputError
from judge.files import read_json
from judge.types import Label

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["classes", "score", "tokens"]
"""Classes of a pair, one logit of a pair, or classes of each token."""

CONFIG = "config.json"
ENDINGS = {"ForSequenceClassification": "pairs", "ForTokenClassification": "tokens"}
"""Endings of architecture names, and what these classify."""

FAITHFUL = frozenset({
    "entailment", "entailed", "entails", "supported", "supports", "support", "faithful", "consistent",
    "factual", "grounded", "attributable", "pass", "true", "not_hallucinated", "no_hallucination",
})  # fmt: skip
"""Names of classes that say PASS, in lower case with underscores."""
HALLUCINATED = frozenset({
    "contradiction", "neutral", "not_entailment", "non_entailment", "unsupported", "not_supported",
    "not_enough_info", "refutes", "refuted", "unfaithful", "inconsistent", "hallucinated", "hallucination",
    "ungrounded", "not_attributable", "fail", "false",
})  # fmt: skip
"""Names of classes that say FAIL."""
WRITES = ("CausalLM", "LMHead", "ConditionalGeneration")
"""Parts of the names of architectures that write text."""
LABELS = tuple(label.value for label in Label)
NAMELESS = "label_"
"""Prefix of transformers' default class names: LABEL_0, LABEL_1."""


@dataclass(frozen=True, slots=True)
class Head:
    """How the outputs of a checkpoint become p(FAIL).

    ``fail`` has the classes whose probabilities add up to p(FAIL). A ``score`` is one logit: its sigmoid is
    p(FAIL) if ``fail`` is ``(0,)``, and p(PASS) if it is empty.
    """

    kind: Kind
    names: tuple[str, ...]
    fail: tuple[int, ...]

    def p_fail(self, logits: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """p(FAIL) from logits whose last axis is the classes; the result lacks that axis."""
        import numpy as np

        logits = logits.astype(np.float64)
        if self.kind == "score":
            score = logits[..., 0] if self.fail else -logits[..., 0]
            return sigmoid(score)
        odds = np.exp(logits - logits.max(-1, keepdims=True))
        found: np.ndarray[Any, Any] = odds[..., list(self.fail)].sum(-1) / odds.sum(-1)
        return found


def sigmoid(log_odds: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Probabilities of log-odds."""
    import numpy as np

    found: np.ndarray[Any, Any] = 1 / (1 + np.exp(-np.clip(log_odds.astype(np.float64), -700, 700)))
    return found


def read_outputs(
    head: Head,
    logits: "np.ndarray[Any, Any]",
    by_token: "np.ndarray[Any, Any] | None",
    own: Sequence[range],
) -> tuple[list[float], list[list[float]] | None]:
    """p(FAIL) of each row of a batch, and of its answer tokens if there are scores for them.

    Args:
        head: what the outputs mean.
        logits: ``(rows, classes)``, or ``(rows, tokens, classes)`` for a token classifier.
        by_token: log-odds of tokens, ``(rows, tokens)``, for a sequence classifier with a token head.
        own: places of the answer's tokens in each row.
    """
    if head.kind == "tokens":
        doubts = head.p_fail(logits)
    elif by_token is not None:
        doubts = sigmoid(by_token)
    else:
        return head.p_fail(logits).tolist(), None
    marked = [doubts[row, places.start : places.stop].tolist() for row, places in enumerate(own)]
    if head.kind == "tokens":
        return [max(some, default=0.0) for some in marked], marked
    return head.p_fail(logits).tolist(), marked


def read_config(folder: Path) -> dict[str, Any]:
    """The ``config.json`` of a model folder; empty if there is none.

    Raises:
        InputError: if the file is not a JSON object.
    """
    file = folder / CONFIG
    return read_json(file) if file.is_file() else {}


def classifies(config: Mapping[str, Any]) -> str | None:
    """What a checkpoint classifies, by its architecture: ``pairs``, ``tokens``, or ``None`` for neither."""
    for name in config.get("architectures") or ():
        for ending, what in ENDINGS.items():
            if str(name).endswith(ending):
                return what
    return None


def refuse_headless(config: Mapping[str, Any], model: str) -> None:
    """Raise ``InputError`` for a checkpoint that neither classifies nor writes text.

    transformers would load it as a language model, and a head of random weights would give verdicts.
    """
    names = [str(name) for name in config.get("architectures") or ()]
    if names and not classifies(config) and not any(part in name for name in names for part in WRITES):
        raise InputError(
            f"{model} is a {names[0]}, which neither classifies pairs nor writes text; make a judge of it: "
            f"judge encoder own-domain model={model}"
        )


def read_head(config: Mapping[str, Any], model: str, labels: Mapping[str, Label] | None = None) -> Head:
    """The meaning of a checkpoint's outputs.

    Args:
        config: its ``config.json``.
        model: its name, for messages.
        labels: the meaning of classes by name, if their names do not say it. If all are of one label, every
            other class gets the other label.

    Raises:
        InputError: if it is not a classifier, or the meaning of its classes is unclear.
    """
    what = classifies(config)
    if what is None:
        raise InputError(f"{model} is neither a sequence classifier nor a token classifier")
    names = class_names(config)
    kind: Kind = "tokens" if what == "tokens" else "classes" if len(names) > 1 else "score"
    if labels:
        return Head(kind, names, _given(names, labels, model))
    meant = [_meaning(name) for name in names]
    if kind == "score":
        return Head(kind, names, (0,) if meant[0] is Label.FAIL else ())
    if all(meant):
        return Head(kind, names, tuple(at for at, label in enumerate(meant) if label is Label.FAIL))
    if kind == "tokens" and len(names) == 2 and all(name.lower().startswith(NAMELESS) for name in names):
        return Head(kind, names, (1,))  # LettuceDetect's form: 1 marks a hallucinated token
    example = next((name for name in names if _meaning(name) is None), names[0])
    raise InputError(
        f"{model}: its classes are called {', '.join(names)}, which does not say what they mean; name the "
        f"one that means supported: --set labels.PASS={example} (judge export: in a judge.json next to it, "
        f'{{"labels": {{"PASS": "{example}"}}}})',
        field="labels",
    )


def class_names(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of a checkpoint's classes, in the order of its outputs."""
    named = config.get("id2label")
    if isinstance(named, Mapping) and named:
        return tuple(str(named[key]) for key in sorted(named, key=int))
    return tuple(f"LABEL_{number}" for number in range(int(config.get("num_labels", 2))))


def parse_labels(text: str | None) -> dict[str, Label] | None:
    """The value of ``--set labels.PASS=entailment``, as a mapping from classes to labels.

    Raises:
        InputError: if it is not a list of ``PASS=class`` or ``FAIL=class``.
    """
    if text is None:
        return None
    found = {}
    for pair in text.split(","):
        label, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not name or label.upper() not in LABELS:
            raise InputError(f"expected PASS=class or FAIL=class, found {pair!r}", field="labels")
        found[name] = Label(label.upper())
    return found


def _given(names: Sequence[str], labels: Mapping[str, Label], model: str) -> tuple[int, ...]:
    unknown = [name for name in labels if name not in names]
    if unknown:
        raise InputError(
            f"{model} has no class {unknown[0]!r}; its classes: {', '.join(names)}", field="labels"
        )
    if len(set(labels.values())) == 1:
        [label] = set(labels.values())
        labels = {**dict.fromkeys(names, label.opposite), **labels}
    missing = [name for name in names if name not in labels]
    if missing:
        raise InputError(f"say what {missing[0]!r} of {model} means, PASS or FAIL", field="labels")
    fail = tuple(at for at, name in enumerate(names) if labels[name] is Label.FAIL)
    if len(names) > 1 and len(fail) in (0, len(names)):
        raise InputError(f"all classes of {model} mean the same; name one that does not", field="labels")
    return fail


def _meaning(name: str) -> Label | None:
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in FAITHFUL:
        return Label.PASS
    return Label.FAIL if plain in HALLUCINATED else None
