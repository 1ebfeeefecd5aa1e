"""The encoder judge: p(FAIL) of an answer from pairs of a document window and a part of the answer."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judge.encoder.calibrated import CalibratedEncoder
from judge.encoder.pairs import Pairing, Pairs
from judge.encoder.spans import labelled, sentence_verdict, unsupported_words
from judge.models.batching import by_length
from judge.prompting.finishing import NO_NUMBER, NOTHING_READ, finish
from judge.prompting.fitting import TooLong
from judge.types import Claim, Label, Sample, Span, Usage, Verdict

if TYPE_CHECKING:
    from judge.calibration.curve import Curve
    from judge.encoder.network import EncoderNetwork
    from judge.encoder.onnx import OnnxNetwork

    Network = EncoderNetwork | OnnxNetwork


@dataclass(frozen=True, slots=True)
class _Scored:
    """The scores of a sample: of each unit, in the window that supports it best, and of tokens."""

    pairs: Pairs
    by_unit: tuple[float, ...]
    windows: tuple[int, ...]
    tokens: Mapping[tuple[int, int], float] | None

    def whole(self, rule: str) -> float:
        """The raw probability of FAIL of the answer, by the ``sentences`` rule of the form."""
        if rule == "mean":
            return sum(self.by_unit) / len(self.by_unit)
        return max(self.by_unit)


@dataclass(frozen=True)
class EncoderJudge(CalibratedEncoder):
    """Judges whether answers are faithful to their documents, with an encoder.

    Long answers and questions are read in parts, long documents in windows. A part gets the score of the
    window that supports it best, an answer that of its least faithful part.

    Args:
        pairing: how samples become pairs; for the others see :class:`CalibratedEncoder`.
    """

    network: "Network"
    pairing: Pairing = field(kw_only=True)

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples together."""
        curve = self.curve()
        for sample, found in zip(samples, self._scored(samples), strict=True):
            yield self._verdict(sample, found, curve)

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and each of their sentences.

        If the network scores tokens, a sentence's probability is that of its most doubted tokens
        (:func:`~judge.encoder.spans.sentence_verdict`), read in the context of the answer; else the sentence
        is judged on its own.
        """
        curve, scored = self.curve(), self._scored(samples)
        if self.network.marks_tokens:
            parts = [
                tuple(
                    Verdict(None, error=found)
                    if isinstance(found, str)
                    else sentence_verdict((found.tokens or {}).items(), span)
                    for span in spans
                )
                for found, spans in zip(scored, sentences, strict=True)
            ]
        else:
            alone = self._scored(samples, sentences)
            parts = [
                tuple(labelled(p if curve is None else curve(p)) for p in found.by_unit)
                if isinstance(found, _Scored)
                else tuple(Verdict(None, error=found) for _ in spans)
                for found, spans in zip(alone, sentences, strict=True)
            ]
        for sample, found, some in zip(samples, scored, parts, strict=True):
            yield self._verdict(sample, found, curve), some

    def _verdict(self, sample: Sample, found: _Scored | str, curve: "Curve | None") -> Verdict:
        if isinstance(found, str):
            return Verdict(None, error=found)
        form, pairs = self.pairing.form, found.pairs
        usage = Usage(sum(map(len, pairs.rows)))
        raw = Verdict(None, found.whole(form.sentences), cut_chars=pairs.cut_chars, usage=usage)
        verdict = finish(raw, sample, self.mode, curve, self.threshold)
        if verdict.label is Label.FAIL and found.tokens is not None:
            verdict = replace(verdict, unsupported=unsupported_words(sample.answer, found.tokens.items()))
        if len(pairs.windows) == 1 and len(pairs.units) == 1:
            return verdict
        claims = (
            Claim(span, window, p if curve is None else curve(p))
            for span, window, p in zip(pairs.units, found.windows, found.by_unit, strict=True)
        )
        return replace(verdict, windows=pairs.windows, claims=tuple(claims))

    def _scored(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]] | None = None
    ) -> list[_Scored | str]:
        """The scores of each sample, or the reason why it cannot be read."""
        prepared = [
            self._laid(sample, None if sentences is None else sentences[at] or None)
            for at, sample in enumerate(samples)
        ]
        rows = [row for pairs in prepared if isinstance(pairs, Pairs) for row in pairs.rows]
        scores: list[float] = [0.0] * len(rows)
        tokens: list[list[float] | None] = [None] * len(rows)
        for indices in by_length([len(row) for row in rows], self.batch_tokens, self._most_padding()):
            p_fail, marked = self.network.probabilities([rows[at] for at in indices], self.precision)
            for place, at in enumerate(indices):
                scores[at], tokens[at] = p_fail[place], marked[place] if marked else None
        found: list[_Scored | str] = []
        first = 0
        for pairs in prepared:
            if isinstance(pairs, str):
                found.append(pairs)
                continue
            stop = first + len(pairs.rows)
            if any(map(math.isnan, scores[first:stop])):
                found.append(NO_NUMBER)
            else:
                found.append(_combined(pairs, scores[first:stop], tokens[first:stop]))
            first = stop
        return found

    def _laid(self, sample: Sample, units: Sequence[Span] | None) -> Pairs | str:
        """The pairs of a sample, or the reason why there are none."""
        if foreign := self._foreign(sample.language):
            return foreign
        try:
            pairs = self.pairing.pairs(sample, units, whole_question=True)
        except TooLong as error:
            return str(error)
        return pairs if any(row.spans for row in pairs.rows) else NOTHING_READ

    def reads_with(self) -> dict[str, Any]:
        """The network, its number format and how samples are read."""
        head = self.network.head
        classes = {"kind": head.kind, "fail": [head.names[at] for at in head.fail]}
        return {**super().reads_with(), "head": classes, **self.pairing.describe()}


def _combined(pairs: Pairs, scores: Sequence[float], tokens: Sequence[list[float] | None]) -> _Scored:
    """Combine scores: the best window for each part of an answer, then the worst part of each unit."""
    width = len(pairs.windows)
    by_unit = [-1.0] * len(pairs.units)
    windows = [0] * len(pairs.units)
    doubts: dict[tuple[int, int], float] = {}
    for number, owner in enumerate(pairs.owners):
        column = scores[number * width : (number + 1) * width]
        best = min(range(width), key=lambda window, column=column: column[window])  # type: ignore[misc]
        if column[best] > by_unit[owner]:
            by_unit[owner], windows[owner] = column[best], best
        for window in range(width):
            at = number * width + window
            marked = tokens[at]
            for span, doubt in zip(pairs.rows[at].spans, marked or (), strict=bool(marked)):
                doubts[span] = min(doubt, doubts.get(span, 1.0))
    return _Scored(
        pairs,
        tuple(by_unit),
        tuple(windows),
        doubts if any(marked is not None for marked in tokens) else None,
    )
