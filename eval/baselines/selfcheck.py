"""Consistency (SelfCheckGPT, arXiv 2303.08896): a model repeats what it knows.

Answers to the same question, from the same document, are sampled from the model. Without either, as in
DiaHalu, the judged text itself is rephrased instead (DiaHalu, section 5.1). Each sentence of the judged
answer is then compared with each sampled text, in one of two ways here, or with an encoder
(:mod:`eval.baselines.by_encoder`):

- ``selfcheck:`` by prompt (section 5.5): the model is asked whether the text supports the sentence;
- ``selfcheck-ngram:`` by n-gram (section 5.3): how surprising the sentence's words are given the texts.

For the first, the paper reads a yes or no; here its probability is taken, from one prefill. ``p_fail`` is the
mean over sentences and texts; the label is FAIL from 0.5 on.
"""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import mean
from typing import Any

from eval.baselines.base import Baseline
from eval.baselines.prompts import ask_answer, ask_rephrasing
from judge.backends.base import Decoding, Generation
from judge.baselines.overlap import units
from judge.checker import Checker
from judge.prompting.fitting import TooLong, fit
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Message, Sample, Usage, Verdict

NOTHING = "no answer was sampled to compare with"
LIMIT_STEP = 128
"""Token limits of rephrasings are rounded up to a multiple of this, unless ``max_new_tokens`` is larger."""


@dataclass(frozen=True, kw_only=True)
class Consistency(Baseline):
    """Consistency as a judge.

    Args:
        answers: number of texts sampled per sample.
        temperature: of the sampling, like ``top_p``, ``top_k`` and ``seed``. Rephrasings each have a
            different temperature, in equal steps up to this one (DiaHalu, section 5.1).
        max_new_tokens: limit of a sampled answer; rephrasings may be a quarter longer than the original.
    """

    answers: int = 5
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    max_new_tokens: int = 128

    def settings(self) -> dict[str, Any]:
        """The sampling."""
        again = [temperature for temperature, _ in self._temperatures(again=True)]
        return {"answers": self.answers, **self._decoding().describe(), "temperatures_again": again}

    @abstractmethod
    def compare(
        self, samples: Sequence[Sample], texts: Sequence[Sequence[str]]
    ) -> Iterator[tuple[float | None, int]]:
        """How much each answer disagrees with its texts, from 0 to 1, and the tokens read for that.

        ``None`` if nothing can be compared; ``texts`` are never blank.
        """

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Sample texts, and compare the judged answers with them."""
        asked = [self._ask(sample) for sample in samples]
        sampled = self._sample(asked)
        texts = [[reply.text for reply in found if reply.text.strip()] for found in sampled]
        for request, replies, (p_fail, read) in zip(
            asked, sampled, self.compare(samples, texts), strict=True
        ):
            spent = 0
            if request is not None:
                spent = self.judge.backend.count_tokens(request.messages) * len(replies)
            usage = Usage(spent + read, sum(reply.completion_tokens for reply in replies))
            if p_fail is None:
                yield Verdict(None, error=NOTHING, usage=usage)
                continue
            yield Verdict(
                Label.FAIL if p_fail >= 0.5 else Label.PASS,
                p_fail,
                reasoning="\n".join(reply.text.strip() for reply in replies),
                usage=usage,
            )

    def _decoding(self) -> Decoding:
        return Decoding(self.max_new_tokens, self.temperature, self.seed, top_p=self.top_p, top_k=self.top_k)

    def _temperatures(self, again: bool) -> list[tuple[float, int]]:
        """Temperatures of the sampled texts, and the number of texts at each."""
        if not again:
            return [(self.temperature, self.answers)]
        steps = range(1, self.answers + 1)
        return [(round(self.temperature * step / self.answers, 4), 1) for step in steps]

    def _sample(self, asked: "Sequence[_Request | None]") -> list[list[Generation]]:
        """The sampled texts of each request; those with the same limit and temperature are batched."""
        found: list[list[Generation]] = [[] for _ in asked]
        alike: dict[tuple[int, bool], list[tuple[int, _Request]]] = {}
        for place, request in enumerate(asked):
            if request is not None:
                alike.setdefault((request.limit, request.again), []).append((place, request))
        for (limit, again), requests in sorted(alike.items()):
            for number, (temperature, count) in enumerate(self._temperatures(again)):
                prompts = [request.messages for _, request in requests for _ in range(count)]
                seed = self.seed + 1000 * number  # repeated runs count the seed up by one
                decoding = replace(self._decoding(), max_new_tokens=limit, temperature=temperature, seed=seed)
                replies = iter(self.judge.backend.generate(prompts, decoding))
                for place, _ in requests:
                    found[place] += islice(replies, count)
        return found

    def _ask(self, sample: Sample) -> "_Request | None":
        """The request for a text, with its document shortened to fit; ``None`` if it cannot fit."""
        backend = self.judge.backend
        again = not sample.question.strip() and not sample.document_text.strip()
        limit = self.max_new_tokens
        if again:
            bare = backend.count_tokens([{"role": "user", "content": sample.answer}])
            # Rounded to few different limits: small models often generate up to the limit, so one long answer
            # should not set the limit of all, and each answer should not be its own batch.
            limit = max(limit, -(-bare * 5 // (4 * LIMIT_STEP)) * LIMIT_STEP)
        try:
            messages, _ = fit(
                sample.document_text,
                lambda document: ask_rephrasing(sample) if again else ask_answer(sample, document),
                backend.count_tokens,
                backend.context_length - limit,
            )
        except TooLong:
            return None
        return _Request(messages, limit, again)


@dataclass(frozen=True, slots=True)
class _Request:
    """The prompt for a text, the token limit of the reply, and whether it is a rephrasing."""

    messages: Sequence[Message]
    limit: int
    again: bool


@dataclass(frozen=True, kw_only=True)
class SelfCheck(Consistency):
    """By prompt: does a sampled text support a sentence?"""

    method = "selfcheck"

    @property
    def comparing(self) -> Checker:
        """The judge of whether a text supports a sentence."""
        return self.supports

    def compare(
        self, samples: Sequence[Sample], texts: Sequence[Sequence[str]]
    ) -> Iterator[tuple[float | None, int]]:
        """The mean probability that a text does not support a sentence."""
        pairs = [
            [
                replace(sample, document=text, question="", answer=sample.answer[span.start : span.end])
                for text in found
                for span in sentence_spans(sample.answer)
            ]
            for sample, found in zip(samples, texts, strict=True)
        ]
        checks = self.comparing.iter_check([pair for found in pairs for pair in found])
        for found in pairs:
            verdicts = list(islice(checks, len(found)))
            scores = [verdict.p_fail for verdict in verdicts if verdict.p_fail is not None]
            read = sum(verdict.usage.prompt_tokens for verdict in verdicts)
            yield (mean(scores) if scores else None), read


@dataclass(frozen=True, kw_only=True)
class SelfCheckNgram(Consistency):
    """By unigram, the paper's best n-gram: how surprising a sentence's words are.

    The mean over its words, by their counts in the answer and the sampled texts.
    """

    method = "selfcheck-ngram"

    def compare(
        self, samples: Sequence[Sample], texts: Sequence[Sequence[str]]
    ) -> Iterator[tuple[float | None, int]]:
        """The mean over sentences; the model reads no further tokens."""
        for sample, found in zip(samples, texts, strict=True):
            yield self._surprise(sample, found), 0

    def _surprise(self, sample: Sample, texts: Sequence[str]) -> float | None:
        """The surprise of a word is ``-log(count + 1)`` up to a constant (counts smoothed by one).

        The paper ranks by that. Here it is scaled so that 0 means that every text has the word as often as
        the answer, and 1 that no text has it; this makes answers of any length comparable.
        """
        own = Counter(units(sample.answer, sample.language))
        counts = Counter(word for text in texts for word in units(text, sample.language))
        if not texts or not own:
            return None
        surprise = {word: self._share(count, counts[word], len(texts)) for word, count in own.items()}
        sentences = [
            units(sample.answer[span.start : span.end], sample.language)
            for span in sentence_spans(sample.answer)
        ]
        scores = [mean(surprise.get(word, 1.0) for word in found) for found in sentences if found]
        return mean(scores) if scores else mean(surprise.values())

    @staticmethod
    def _share(own: int, sampled: int, texts: int) -> float:
        most, least = math.log(own * (texts + 1) + 1), math.log(own + 1)
        return min(max((most - math.log(own + sampled + 1)) / (most - least), 0.0), 1.0)


METHODS: Mapping[str, type[Consistency]] = {found.method: found for found in (SelfCheck, SelfCheckNgram)}
"""The two methods by name."""
