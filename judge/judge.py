"""The judge: a backend, a prompt and a mode; samples in, verdicts out, in order."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from threading import Event, RLock
from typing import TYPE_CHECKING, Any, Literal

from judge.backends.asking import Fitted, read_replies, read_verdicts, reply_form
from judge.backends.base import WORD_TOKENS, Backend, Decoding, Guide
from judge.calibrated import CalibratedChecker
from judge.checker import VERDICT_CHUNK, ahead, in_chunks, judgeable
from judge.prompting.finishing import finish
from judge.prompting.fitting import TooLong, fit
from judge.prompting.prompts import BuiltinPrompt, Prompt
from judge.prompting.windows import check_in_windows
from judge.types import Message, Mode, Sample, Span, Verdict

if TYPE_CHECKING:
    from judge.calibration.curve import Calibration

MAX_NEW_TOKENS = 512
Decodings = Literal["constrained", "free"]
"""Whether reason mode's replies are held to the form of a verdict."""
CHUNK = {"verdict": VERDICT_CHUNK, "reason": 32}
"""Samples per chunk, by mode: they are sorted into batches together, and verdicts follow after each chunk."""


@dataclass(frozen=True)
class Judge(CalibratedChecker):
    """Says whether answers are faithful to their documents.

    Args:
        backend: the engine with its model.
        name: what reports call the judge.
        prompt: turns a sample into messages; the project's own by default.
        mode: ``verdict`` reads one label word from one prefill; ``reason`` generates JSON with a reasoning.
        max_new_tokens: length limit of a reason-mode reply.
        temperature: 0 is greedy; above 0 tokens are sampled, seeded by ``seed``. Verdict mode never samples.
        top_p: sample from the likeliest tokens that together have this probability.
        top_k: sample from this many of the likeliest tokens; 0 for all.
        guide: a regular expression or JSON schema for reason-mode replies, for engines with constrained
            decoding.
        windows: judge a document that is too long in windows (:mod:`judge.prompting.windows`), instead of
            shortening it.
        calibrations: by mode; see :mod:`judge.calibration`. ``p_fail`` is then the calibrated probability.
        threshold: the label is ``FAIL`` at or above this ``p_fail``. By default 0.5 in verdict mode; in
            reason mode, the label as written in the reply.
    """

    backend: Backend
    name: str = "judge"
    prompt: Prompt = field(default_factory=BuiltinPrompt)
    mode: Mode = "verdict"
    max_new_tokens: int = MAX_NEW_TOKENS
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    guide: Guide | None = None
    windows: bool = False
    calibrations: "Mapping[Mode, Calibration]" = field(default_factory=dict)
    threshold: float | None = None
    _working: RLock = field(default_factory=RLock, repr=False, compare=False)

    @property
    def chunk(self) -> int:
        """How many samples are judged together: :data:`CHUNK`, or more in reason mode if the engine wants."""
        return max(CHUNK[self.mode], self.backend.replies_together if self.mode == "reason" else 0)

    @property
    def at_once(self) -> int:
        """As many callers as the engine runs sequences together, if it makes its own batches; else 1."""
        return self.backend.at_once

    async def acheck(self, samples: Iterable[Sample]) -> list[Verdict]:
        """:meth:`check` for an event loop, in a thread.

        An engine in this process handles one call after another; a server takes many at once. A cancelled
        call ends once the samples in progress are judged: at most :attr:`chunk`, or about :attr:`at_once` on
        an engine that makes its own batches.
        """
        cancelled = Event()

        def work() -> list[Verdict]:
            verdicts: list[Verdict] = []
            with self._alone():
                if not cancelled.is_set():
                    for verdict in self.iter_check(list(judgeable(samples))):
                        verdicts.append(verdict)
                        if cancelled.is_set():
                            break
            return verdicts

        try:
            return await asyncio.to_thread(work)
        finally:
            cancelled.set()

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and their sentences; sentences always in verdict mode, since reasoning is slow."""
        if self.mode == "verdict":
            yield from super().check_sentences(samples, sentences)
            return
        by_sentence = replace(self, mode="verdict").check_sentences(samples, sentences)
        for whole, (_, parts) in zip(self.iter_check(samples), by_sentence, strict=True):
            yield whole, parts

    def iter_check(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """Judge samples as a stream; each chunk's prompts are made while the previous chunk is computed."""
        if not self.windows and self.at_once == 1:
            return self._check(samples)
        return super().iter_check(samples)

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples together, each document whole, shortened, or in windows."""
        if not self.windows:
            return self._check(samples)
        return check_in_windows(samples, lambda sample: self._fit(sample).cut_chars, self._check)

    def _check(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """Judge a stream of samples, shortening documents that do not fit."""
        for fitted in ahead(self._prepare, in_chunks(samples, self.chunk)):
            with self._alone():
                verdicts = list(self._judge(fitted))
            yield from verdicts

    def _alone(self) -> AbstractContextManager[object]:
        """Locks out other threads if the engine serves one caller at a time."""
        return nullcontext() if self.at_once > 1 else self._working

    def _prepare(self, samples: Sequence[Sample]) -> list[Fitted]:
        """The prompts of some samples, tokenized together; the engine keeps their tokens."""
        whole = [self.prompt.messages(sample, self.mode, sample.document_text) for sample in samples]
        self.backend.read_ahead(whole)
        return [self._fit(*pair) for pair in zip(samples, whole, strict=True)]

    def _judge(self, fitted: Sequence[Fitted]) -> Iterator[Verdict]:
        """The verdicts on some samples, computed together."""
        curve = self.curve()
        able = [item for item in fitted if item.error is None]
        if self.mode == "verdict":
            verdicts = read_verdicts(self.backend, self.prompt, able)
        else:
            decoding = self.decoding(self.max_new_tokens, self.guide)
            verdicts = read_replies(self.backend, self.prompt, able, decoding)
        for item in fitted:
            if item.error is not None:
                yield Verdict(None, error=item.error)
            else:
                yield finish(next(verdicts), item.sample, self.mode, curve, self.threshold)

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the judge: model, prompt, mode, decoding."""
        decoding: dict[str, Any] = {}
        if self.mode == "reason":
            decoding = {**self.decoding(self.max_new_tokens).describe(), "guided": self.guide is not None}
        if self.windows:
            decoding["windows"] = True
        return {**super().describe(), **decoding}

    def reads_with(self) -> dict[str, Any]:
        """The engine with its model, and the prompt."""
        return {**self.backend.describe(), **self.prompt.describe()}

    def decoding(self, max_new_tokens: int, guide: Guide | None = None) -> Decoding:
        """How replies of this judge are decoded."""
        return Decoding(max_new_tokens, self.temperature, self.seed, guide, self.top_p, self.top_k)

    def _fit(self, sample: Sample, whole: Sequence[Message] | None = None) -> Fitted:
        """A sample's messages, made to fit; ``whole`` are those with the full document, if already made."""
        if whole is None:
            whole = self.prompt.messages(sample, self.mode, sample.document_text)
        before = reply_form(self.prompt, sample).before  # at most one token per character
        word = WORD_TOKENS + len(before)
        limit = self.backend.context_length - (self.max_new_tokens if self.mode == "reason" else word)
        if self.backend.surely_fits(whole, limit):
            return Fitted(sample, whole)
        try:
            messages, cut = fit(
                sample.document_text,
                lambda text: (
                    whole if text == sample.document_text else self.prompt.messages(sample, self.mode, text)
                ),
                self.backend.count_tokens,
                limit,
            )
        except TooLong as error:
            return Fitted(sample, error=str(error))
        return Fitted(sample, messages, cut)
