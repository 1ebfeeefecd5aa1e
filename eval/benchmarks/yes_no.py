"""Judges that reply yes or no, or neither: for benchmarks whose protocol counts unmatched replies.

``meta["yes"]`` of a sample says which label a yes stands for.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from judge.backends.asking import Fitted
from judge.backends.base import LabelRequest
from judge.checker import Checker
from judge.judge import Judge
from judge.prompting.fitting import TooLong, fit
from judge.prompting.prompts import Prompt
from judge.types import Label, Mode, Sample, Usage, Verdict

SHORT_REPLY = 32
"""Token limit of a reply; a model that follows instructions replies with one word (OnionEval's setting)."""
UNMATCHED = "neither yes nor no in the output"

# "Answer: yes", and "the answer is yes." if a clause ends there, unlike "the answer is no longer known".
_MARKED = re.compile(
    r"\banswer(?:\s+is(?=\W{1,8}(?:yes|no)\b[\"'*)]*(?:[.,;:!\r\n]|\s*$)))?\W{1,8}(yes|no)\b", re.IGNORECASE
)
_FIRST = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)


def match_yes_no(reply: str) -> re.Match[str] | None:
    """A match whose group 1 is the yes or no of a reply; ``None`` if it says neither, or both.

    This is the last ``Answer: yes`` or ``The answer is no.``, otherwise the first word of the reply if the
    opposite does not occur in it.
    """
    if marked := list(_MARKED.finditer(reply)):
        return marked[-1]
    words = {word.lower() for word in _WORD.findall(reply)}
    return _FIRST.match(reply) if len(words) == 1 else None


def label_of(sample: Sample, yes: bool) -> Label:
    """The label that a yes or a no stands for on a sample."""
    meant = Label(sample.meta["yes"])
    return meant if yes else meant.opposite


@dataclass(frozen=True)
class YesNoJudge(Checker):
    """A judge that is asked with another prompt and replies yes or no.

    Verdict mode generates a short reply, because a label read from probabilities would never be unmatched;
    ``p_fail`` compares yes with no. Reason mode generates up to the judge's limit and expects an answer last.
    """

    judge: Judge
    prompt: Prompt

    @property
    def name(self) -> str:
        """The judge's."""
        return self.judge.name

    @property
    def mode(self) -> Mode:
        """The judge's."""
        return self.judge.mode

    @property
    def chunk(self) -> int:
        """The judge's."""
        return self.judge.chunk

    @property
    def threshold(self) -> float | None:
        """The judge's: a matched reply is ``FAIL`` at or above this ``p_fail``; ``None`` keeps the reply."""
        return self.judge.threshold

    @property
    def max_new_tokens(self) -> int:
        """Token limit of a reply."""
        return SHORT_REPLY if self.mode == "verdict" else self.judge.max_new_tokens

    def describe(self) -> dict[str, Any]:
        """Model, prompt, mode, decoding."""
        return {
            **self.judge.describe(),
            **self.prompt.describe(),
            **self.judge.decoding(self.max_new_tokens).describe(),
        }

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Ask about some samples together."""
        fitted = [self._fit(sample) for sample in samples]
        made = self._answers([item for item in fitted if item.error is None])
        for item in fitted:
            yield next(made) if item.error is None else Verdict(None, error=item.error)

    def _fit(self, sample: Sample) -> Fitted:
        backend = self.judge.backend
        try:
            messages, cut = fit(
                sample.document_text,
                lambda document: self.prompt.messages(sample, self.mode, document),
                backend.count_tokens,
                backend.context_length - self.max_new_tokens,
            )
        except TooLong as error:
            return Fitted(sample, error=str(error))
        return Fitted(sample, messages, cut)

    def _answers(self, asked: Sequence[Fitted]) -> Iterator[Verdict]:
        replies = self.judge.backend.generate(
            [item.messages for item in asked],
            self.judge.decoding(self.max_new_tokens),
        )
        answers = [match_yes_no(reply.text) for reply in replies]
        scores = self._p_yes(asked, answers)
        for item, reply, answer, p_yes in zip(asked, replies, answers, scores, strict=True):
            yes_is_fail = label_of(item.sample, yes=True) is Label.FAIL
            p_fail = p_yes if p_yes is None or yes_is_fail else 1 - p_yes
            label = None if answer is None else label_of(item.sample, answer[1].lower() == "yes")
            if label is not None and p_fail is not None and self.threshold is not None:
                label = Label.FAIL if p_fail >= self.threshold else Label.PASS
            yield Verdict(
                label,
                p_fail,
                reasoning=reply.text if self.mode == "reason" else None,
                raw=reply.text,
                error=UNMATCHED if answer is None else None,
                truncated=reply.truncated,
                cut_chars=item.cut_chars,
                usage=Usage(self.judge.backend.count_tokens(item.messages), reply.completion_tokens),
            )

    def _p_yes(self, asked: Sequence[Fitted], answers: Sequence[re.Match[str] | None]) -> list[float | None]:
        """Probability of yes against no, at the answer in the reply or, without one, as the first word.

        ``None`` in reason mode if the reply has no answer.
        """
        requests: dict[int, LabelRequest] = {}
        for row, (item, answer) in enumerate(zip(asked, answers, strict=True)):
            if answer is not None:
                before = answer.string[: answer.start(1)]
                requests[row] = LabelRequest(item.messages, _as_in(answer[1]), before)
            elif self.mode == "verdict":
                requests[row] = LabelRequest(item.messages, ("yes", "no"))
        found = zip(requests, self.judge.backend.label_logprobs(list(requests.values())), strict=True)
        scores = {row: 1 / (1 + math.exp(min(pair[1] - pair[0], 700))) for row, pair in found if pair}
        return [scores.get(row) for row in range(len(asked))]


def _as_in(word: str) -> tuple[str, str]:
    """Yes and no, written like ``word``."""
    if word.isupper():
        return "YES", "NO"
    return ("Yes", "No") if word[0].isupper() else ("yes", "no")


class AlwaysYes(Checker):
    """The trivial baseline for a benchmark whose questions are all answered correctly by yes."""

    name = "baseline:always-yes"
    mode: Mode = "verdict"
    chunk = 0

    def describe(self) -> dict[str, Any]:
        """Name and kind."""
        return {"model": self.name, "backend": "constant"}

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Yes to every sample."""
        for sample in samples:
            label = label_of(sample, yes=True)
            yield Verdict(label, p_fail=float(label is Label.FAIL))
