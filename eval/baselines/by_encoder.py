"""The variants of SelfCheckGPT with an encoder: BERTScore and natural language inference.

- ``selfcheck-bertscore:`` similarity of a sentence to the nearest one of each sampled text (section 5.1);
- ``selfcheck-nli:`` whether the text contradicts it (section 5.4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from eval.baselines.selfcheck import Consistency, SelfCheck
from eval.embeddings import TextEncoder
from judge.checker import Checker
from judge.encoder.heads import Head, sigmoid
from judge.errors import InputError
from judge.prompting.sentences import sentence_spans
from judge.types import Sample

if TYPE_CHECKING:
    import numpy as np
    import torch

UNRELATED = 200
"""Pairs of unrelated sentences from which the zero of BERTScore is estimated."""


def f1(one: "torch.Tensor", other: "torch.Tensor") -> float:
    """BERTScore (arXiv 1904.09675, section 3) of two texts from their token vectors, weighted equally."""
    if not len(one) or not len(other):
        return 0.0
    near = one @ other.T
    recall, precision = near.amax(1).mean().item(), near.amax(0).mean().item()
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class SelfCheckBERTScore(Consistency):
    """By BERTScore: does a sampled text contain a sentence like this one?

    Scores are rescaled so that 0 is the mean of unrelated sentences (BERTScore, section 5). These come from
    the bundled probes, since published baselines are for other encoders. Vectors are from the last layer.
    """

    method = "selfcheck-bertscore"
    encoder: TextEncoder

    def settings(self) -> dict[str, Any]:
        """The sampling, and the encoder."""
        return {**super().settings(), "encoder": self.encoder.model, "baseline": round(self.baseline, 4)}

    @cached_property
    def baseline(self) -> float:
        """The mean score of unrelated sentences."""
        from eval.benchmarks.probes.benchmark import read

        documents = dict.fromkeys(sample.document_text for sample in read(None))
        firsts = [_sentences(text)[0] for text in islice(documents, UNRELATED + 1)]
        return mean(f1(*pair) for pair in pairwise(self.encoder.tokens(firsts)))

    def compare(
        self, samples: Sequence[Sample], texts: Sequence[Sequence[str]]
    ) -> Iterator[tuple[float | None, int]]:
        """One minus the mean score of a sentence's nearest neighbours in the texts."""
        for sample, found in zip(samples, texts, strict=True):
            if not found:
                yield None, 0
                continue
            answers = [_sentences(sample.answer), *map(_sentences, found)]
            vectors = iter(self.encoder.tokens([sentence for some in answers for sentence in some]))
            own, *others = [list(islice(vectors, len(some))) for some in answers]
            scores = [max(f1(sentence, one) for one in some) for sentence in own for some in others]
            rescaled = (mean(scores) - self.baseline) / (1 - self.baseline)
            yield 1 - min(max(rescaled, 0.0), 1.0), 0


@dataclass(frozen=True, kw_only=True)
class SelfCheckInference(SelfCheck):
    """By an NLI encoder: does a sampled text contradict a sentence? The class neutral is ignored."""

    method = "selfcheck-nli"
    encoder: Checker

    def settings(self) -> dict[str, Any]:
        """The sampling, and the encoder."""
        return {**super().settings(), "encoder": self.encoder.name}

    @property
    def comparing(self) -> Checker:
        """The encoder."""
        return self.encoder


@dataclass(frozen=True, slots=True)
class _Contradiction(Head):
    """Probability of contradiction against entailment; other classes are ignored."""

    def p_fail(self, logits: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        contradiction, entailment = self.fail
        return sigmoid(logits[..., contradiction] - logits[..., entailment])


def load_inference(model: str) -> Checker:
    """An NLI classifier, from the Hub or a folder, that scores contradiction against entailment.

    Raises:
        InputError: if it does not have these two classes.
    """
    from judge.encoder.checker import EncoderJudge
    from judge.encoder.network import EncoderNetwork
    from judge.load import load_judge

    found = load_judge(model)
    if isinstance(found, EncoderJudge) and isinstance(found.network, EncoderNetwork):
        head = found.network.head
        places = {name.lower(): at for at, name in enumerate(head.names)}
        if {"contradiction", "entailment"} <= places.keys():
            classes = places["contradiction"], places["entailment"]
            found.network.head = _Contradiction(head.kind, head.names, classes)
            return found
    raise InputError(
        f"{model} has no classes called contradiction and entailment; name an NLI cross-encoder, such as "
        "cross-encoder/nli-deberta-v3-small",
        field="--set encoder",
    )


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentence_spans(text)]
