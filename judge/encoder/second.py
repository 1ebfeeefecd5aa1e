"""A second encoder beside another: one judge, whose log-odds are the weighted mean of both.

    judge/reference/           reads pages; judge.json has {"second": {"weight": 0.45}}
    judge/reference/second/    a judge of its own, which reads pairs

Judges that err in different places do better together (:func:`judge.calibration.curve.mean_chance`).
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from pydantic import Field

from judge.calibration.curve import Curve, mean_chance
from judge.configs import StrictConfig, make_config
from judge.encoder.calibrated import CalibratedEncoder
from judge.encoder.folder import find_folder
from judge.encoder.spans import labelled
from judge.errors import InputError
from judge.files import JUDGE_FILE, write_json
from judge.models.identity import ENCODER, FITTED, SECOND, read_identity
from judge.models.trained_on import FILE as TRAINED_ON
from judge.prompting.finishing import finish
from judge.shipped import model_path
from judge.types import Label, Sample, Span, Usage, Verdict


class Second(StrictConfig):
    """The field ``second`` of a ``judge.json``."""

    weight: float = Field(gt=0, lt=1)
    """Weight of the second judge's log-odds; the first has the rest."""


@dataclass(frozen=True)
class TwoEncoders(CalibratedEncoder):
    """Two encoder judges as one: calibration and threshold apply to the mean of their log-odds.

    Args:
        first: judges, and names the unsupported words.
        second: judges too, and names words where the first names none.
        weight: see :class:`Second`.
    """

    first: CalibratedEncoder = field(kw_only=True)
    second: CalibratedEncoder = field(kw_only=True)
    weight: float = field(kw_only=True)

    @classmethod
    def of(cls, first: CalibratedEncoder, second: CalibratedEncoder, weight: float) -> Self:
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
            weight=weight,
        )

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples with both."""
        curve = self.curve()
        both = (self.first.check_chunk(samples), self.second.check_chunk(samples))
        for sample, first, second in zip(samples, *both, strict=True):
            yield self._mean(sample, first, second, curve)

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and each of their sentences with both."""
        curve = self.curve()
        both = (one.check_sentences(samples, sentences) for one in (self.first, self.second))
        for sample, (whole, parts), (whole_too, parts_too) in zip(samples, *both, strict=True):
            means = (self._chance(*pair) for pair in zip(parts, parts_too, strict=True))
            yield (
                self._mean(sample, whole, whole_too, curve),
                tuple(
                    part if mean is None else labelled(mean) for part, mean in zip(parts, means, strict=True)
                ),
            )

    def _mean(self, sample: Sample, first: Verdict, second: Verdict, curve: Curve | None) -> Verdict:
        """The verdict of both; without a probability of one, that one's, which says why."""
        p_fail = self._chance(first, second)
        if p_fail is None:
            return first if first.p_fail is None else second
        usage = Usage(first.usage.prompt_tokens + second.usage.prompt_tokens)  # encoders write nothing
        raw = Verdict(None, p_fail, cut_chars=max(first.cut_chars, second.cut_chars), usage=usage)
        verdict = finish(raw, sample, self.mode, curve, self.threshold)
        if verdict.label is Label.FAIL:
            verdict = replace(verdict, unsupported=first.unsupported or second.unsupported)
        return verdict

    def _chance(self, first: Verdict, second: Verdict) -> float | None:
        if first.p_fail is None or second.p_fail is None:
            return None
        return mean_chance(first.p_fail, second.p_fail, self.weight)

    def reads_with(self) -> dict[str, Any]:
        """What the first reads with, and under ``second`` the other; the hash is that of both."""
        first, second = self.first.reads_with(), self.second.reads_with()
        both = (first["prompt_hash"], second["prompt_hash"], self.weight)
        return {
            **first,
            "parameters": first["parameters"] + second["parameters"],
            "prompt_hash": sha256(repr(both).encode()).hexdigest()[:12],
            SECOND: {"weight": self.weight, **second},
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
    write_json(
        judge / SECOND / JUDGE_FILE, {name: value for name, value in identity.items() if name not in FITTED}
    )


def carry_second(judge: str, folder: Path) -> None:
    """Copy the second of a judge, if it has one, to a judge that was trained from it."""
    if SECOND in read_identity(judge):
        shutil.copytree(find_folder(model_path(judge)) / SECOND, folder / SECOND)
