"""Consistency (SelfCheckGPT, arXiv 2303.08896, section 5.5): what a model knows, it says again.

Answers to the same question, from the same document, are sampled from the model. For each sentence of the
judged answer and each sampled answer the model is then asked whether the sampled answer supports the
sentence. Where the paper reads a yes or no, this takes the probability, from one prefill. ``p_fail`` is the
mean over sentences and sampled answers; FAIL from one half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import mean
from typing import Any

from eval.baselines.base import Baseline
from eval.baselines.prompts import ask_answer
from judge.backends.base import Decoding
from judge.prompting.fitting import TooLong, fit
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Message, Sample, Usage, Verdict


@dataclass(frozen=True, kw_only=True)
class SelfCheck(Baseline):
    """Consistency as a judge.

    Args:
        answers: how many are sampled for each sample.
        temperature: of the sampling, as are ``top_p``, ``top_k`` and ``seed``.
        max_new_tokens: limit of a sampled answer.
    """

    method = "selfcheck"
    answers: int = 5
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    max_new_tokens: int = 128

    def settings(self) -> dict[str, Any]:
        """The sampling."""
        return {"answers": self.answers, **self._decoding().describe()}

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Sample answers, and compare the judged answers' sentences with them, all together."""
        asked: list[Sequence[Message] | None] = [self._ask(sample) for sample in samples]
        conversations = [messages for messages in asked if messages is not None for _ in range(self.answers)]
        replies = iter(self.judge.backend.generate(conversations, self._decoding()))
        sampled = [[] if messages is None else list(islice(replies, self.answers)) for messages in asked]
        pairs = [
            [
                replace(sample, document=reply.text, answer=sample.answer[span.start : span.end])
                for reply in found
                if reply.text.strip()
                for span in sentence_spans(sample.answer)
            ]
            for sample, found in zip(samples, sampled, strict=True)
        ]
        checks = self.supports.iter_check([pair for found in pairs for pair in found])
        for messages, answers, found in zip(asked, sampled, pairs, strict=True):
            verdicts = list(islice(checks, len(found)))
            spent = 0 if messages is None else self.judge.backend.count_tokens(messages) * len(answers)
            usage = Usage(
                spent + sum(verdict.usage.prompt_tokens for verdict in verdicts),
                sum(reply.completion_tokens for reply in answers),
            )
            scores = [verdict.p_fail for verdict in verdicts if verdict.p_fail is not None]
            if not scores:
                yield Verdict(None, error="no answer was sampled to compare with", usage=usage)
                continue
            p_fail = mean(scores)
            yield Verdict(
                Label.FAIL if p_fail >= 0.5 else Label.PASS,
                p_fail,
                reasoning="\n".join(reply.text.strip() for reply in answers),
                usage=usage,
            )

    def _decoding(self) -> Decoding:
        return Decoding(self.max_new_tokens, self.temperature, self.seed, top_p=self.top_p, top_k=self.top_k)

    def _ask(self, sample: Sample) -> Sequence[Message] | None:
        """The request for an answer, its document made to fit; ``None`` if nothing can be asked."""
        backend = self.judge.backend
        if not sample.question.strip() and not sample.document_text.strip():
            return None
        try:
            messages, _ = fit(
                sample.document_text,
                lambda document: ask_answer(sample, document),
                backend.count_tokens,
                backend.context_length - self.max_new_tokens,
            )
        except TooLong:
            return None
        return messages
