"""A second encoder beside another: one judge, whose log-odds are the weighted mean of both, or the first's.

    judge/reference/           reads pairs; judge.json has {"second": {"weight": 0.55, "short_documents": 60}}
    judge/reference/second/    a judge of its own, which reads pages

Judges that err in different places do better together (:func:`judge.calibration.curve.mean_chance`).
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from pydantic import Field, NonNegativeInt

from judge.calibration.curve import Curve, mean_chance
from judge.configs import StrictConfig, make_config
from judge.encoder.calibrated import CalibratedEncoder
from judge.encoder.spans import labelled
from judge.errors import InputError
from judge.files import JUDGE_FILE, write_json
from judge.models.identity import ENCODER, SECOND, read_identity
from judge.models.trained_on import FILE as TRAINED_ON
from judge.prompting.finishing import finish
from judge.types import Label, Sample, Span, Usage, Verdict


class Second(StrictConfig):
    """The field ``second`` of a ``judge.json``."""

    weight: float = Field(gt=0, lt=1)
    """Weight of the second judge's log-odds; the first has the rest."""
    short_documents: NonNegativeInt = 0
    """Answers to no question about documents of fewer words, as in data sets of inference, are judged by the
    first alone. 0 if both judge all."""


@dataclass(frozen=True)
class TwoEncoders(CalibratedEncoder):
    """Two encoder judges as one: calibration and threshold apply to the mean of their log-odds.

    Args:
        first: judges all answers, and names unsupported words where the second names none.
        second: judges with it, or leaves short documents to it.
        shares: the part of each.
    """

    first: CalibratedEncoder = field(kw_only=True)
    second: CalibratedEncoder = field(kw_only=True)
    shares: Second = field(kw_only=True)

    @classmethod
    def of(cls, first: CalibratedEncoder, second: CalibratedEncoder, shares: Second) -> Self:
        """The judge of two, with the first's calibrations, which were fitted to both."""
        # Uncalibrated, and FAIL whatever the probability, so that both name the words that they doubt.
        plain = [replace(one, calibrations={}, threshold=0.0) for one in (first, second)]
        return cls(
            first.network,
            first.model,
            first.precision,
            first.languages,
            first.batch_tokens,
            first.calibrations,
            first=plain[0],
            second=plain[1],
            shares=shares,
        )

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples with both, or with the first alone (:attr:`Second.short_documents`)."""
        curve = self.curve()
        shared = self._shared(samples)
        asked = [samples[place] for place in shared]
        seconds = dict(zip(shared, self.second.check_chunk(asked), strict=True))
        for place, first in enumerate(self.first.check_chunk(samples)):
            verdicts = (first, seconds[place]) if place in seconds else (first,)
            yield self._verdict(samples[place], verdicts, curve)

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and each of their sentences, with the same judges as :meth:`check_chunk`."""
        curve = self.curve()
        shared = self._shared(samples)
        asked = [samples[place] for place in shared], [sentences[place] for place in shared]
        seconds = dict(zip(shared, self.second.check_sentences(*asked), strict=True))
        for place, first in enumerate(self.first.check_sentences(samples, sentences)):
            verdicts = (first, seconds[place]) if place in seconds else (first,)
            yield (
                self._verdict(samples[place], [whole for whole, _ in verdicts], curve),
                tuple(self._part(parts) for parts in zip(*(parts for _, parts in verdicts), strict=True)),
            )

    def _shared(self, samples: Sequence[Sample]) -> list[int]:
        """The places of the samples that both judge."""
        shortest = self.shares.short_documents
        return [
            place
            for place, sample in enumerate(samples)
            if sample.question.strip() or len(sample.document_text.split()) >= shortest
        ]

    def _verdict(self, sample: Sample, verdicts: Sequence[Verdict], curve: Curve | None) -> Verdict:
        """The verdict of those that judged; if one gave no probability, its verdict, which says why."""
        p_fail = self._chance(verdicts)
        if p_fail is None:
            return next(verdict for verdict in verdicts if verdict.p_fail is None)
        # Encoders read, and write nothing.
        usage = Usage(sum(verdict.usage.prompt_tokens for verdict in verdicts))
        cut_chars = max(verdict.cut_chars for verdict in verdicts)
        raw = Verdict(None, p_fail, cut_chars=cut_chars, usage=usage)
        verdict = finish(raw, sample, self.mode, curve, self.threshold)
        if verdict.label is Label.FAIL:
            verdict = replace(verdict, unsupported=verdicts[-1].unsupported or verdicts[0].unsupported)
        return verdict

    def _part(self, verdicts: Sequence[Verdict]) -> Verdict:
        """The verdict on a sentence; without a probability of one, that of the first."""
        p_fail = self._chance(verdicts)
        return verdicts[0] if p_fail is None else labelled(p_fail)

    def _chance(self, verdicts: Sequence[Verdict]) -> float | None:
        first, second = verdicts[0].p_fail, verdicts[-1].p_fail
        return None if first is None or second is None else mean_chance(first, second, self.shares.weight)

    def reads_with(self) -> dict[str, Any]:
        """What the first reads with, and under ``second`` the other; the hash is that of both."""
        first, second = self.first.reads_with(), self.second.reads_with()
        second.pop("model")  # its folder, a path of this machine
        both = (first["prompt_hash"], second["prompt_hash"], self.shares)
        return {
            **first,
            "parameters": first["parameters"] + second["parameters"],
            "prompt_hash": sha256(repr(both).encode()).hexdigest()[:12],
            SECOND: {**self.shares.model_dump(), **second},
        }


def read_second(identity: Mapping[str, Any], folder: Path) -> Second | None:
    """The field ``second`` of a ``judge.json``, if there is one.

    Raises:
        InputError: if it is not valid.
    """
    values = identity.get(SECOND)
    return None if values is None else make_config(Second, dict(values), (), folder / JUDGE_FILE)


def copy_second(second: Path, judge: Path) -> None:
    """Put a copy of an encoder judge into the folder of another, without its own calibrations.

    Args:
        second: its folder.
        judge: folder of the first judge, whose ``judge.json`` names the second by a field.

    Raises:
        InputError: if the second is no encoder judge in a folder, or has a second itself.
    """
    identity = read_identity(str(second))
    if identity.get("stage") != ENCODER or SECOND in identity:
        raise InputError("expected the folder of an encoder judge, without a second one", file=second)
    shutil.copytree(second, judge / SECOND, ignore=shutil.ignore_patterns("README.md", TRAINED_ON))
    identity.pop("calibration", None)  # the judge has one for both
    write_json(judge / SECOND / JUDGE_FILE, identity)
