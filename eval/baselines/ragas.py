"""Faithfulness (RAGAS, arXiv 2309.15217, section 3): the share of an answer's claims that are supported.

The model splits the answer into claims, and is then asked for each whether the document supports it. RAGAS
reads a generated verdict; here the more probable label word counts, from one prefill. ``p_fail`` is the share
of unsupported claims. The label is FAIL if less than half are supported, as in Lynx (section 4.1). An answer
in which the model finds no claims gets no verdict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from eval.baselines.base import Baseline
from eval.baselines.prompts import ask_claims, lines
from judge.backends.base import Decoding, Generation
from judge.types import Label, Sample, Usage, Verdict

THRESHOLD = 0.5


@dataclass(frozen=True, kw_only=True)
class Ragas(Baseline):
    """Faithfulness as a judge.

    Args:
        max_new_tokens: limit of the list of claims, which is generated greedily; at most half of the
            model's context length. If the list is cut off, its last line is dropped.
    """

    method = "ragas"
    max_new_tokens: int = 1024

    def settings(self) -> dict[str, Any]:
        """The threshold, and the limit of a list of claims."""
        return {"threshold": THRESHOLD, "max_new_tokens": self._limit}

    @property
    def _limit(self) -> int:
        return min(self.max_new_tokens, self.judge.backend.context_length // 2)

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Split the answers into claims, and check the claims of all answers together."""
        backend = self.judge.backend
        limit = backend.context_length - self._limit
        asked = [ask_claims(sample) for sample in samples]
        tokens = [backend.count_tokens(messages) for messages in asked]
        fitting = [row for row, count in enumerate(tokens) if count <= limit]
        replies = dict(
            zip(
                fitting,
                backend.generate([asked[row] for row in fitting], Decoding(self._limit)),
                strict=True,
            )
        )
        claims = [_claims(replies[row]) if row in replies else [] for row in range(len(samples))]
        checks = self.supports.iter_check(
            [
                replace(sample, answer=claim)
                for sample, found in zip(samples, claims, strict=True)
                for claim in found
            ]
        )
        for row, found in enumerate(claims):
            verdicts = list(islice(checks, len(found)))
            yield _verdict(tokens[row], replies.get(row), found, verdicts)


def _claims(reply: Generation) -> list[str]:
    found = lines(reply.text)
    return found[:-1] if reply.truncated and len(found) > 1 else found


def _verdict(
    tokens: int, reply: Generation | None, claims: Sequence[str], verdicts: Sequence[Verdict]
) -> Verdict:
    """The verdict on one answer, from the reply with its claims and the verdicts on them."""
    if reply is None:
        return Verdict(None, error="too long to take apart")
    usage = Usage(tokens + sum(verdict.usage.prompt_tokens for verdict in verdicts), reply.completion_tokens)
    labels = [verdict.label for verdict in verdicts if verdict.label is not None]
    if not labels:
        error = verdicts[0].error if verdicts else "no claim was found"
        return Verdict(None, raw=reply.text, error=error, truncated=reply.truncated, usage=usage)
    supported = labels.count(Label.PASS) / len(labels)
    checked = zip(verdicts, claims, strict=True)
    return Verdict(
        Label.FAIL if supported < THRESHOLD else Label.PASS,
        1 - supported,
        reasoning="\n".join(f"{verdict.label or 'no verdict'}: {claim}" for verdict, claim in checked),
        raw=reply.text,
        truncated=reply.truncated,
        cut_chars=max(verdict.cut_chars for verdict in verdicts),
        usage=usage,
    )
