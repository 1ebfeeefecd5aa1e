"""Prompts for benchmarks that the common prompt does not fit, because they have no documents.

They keep the contract of :mod:`judge.prompting.prompts`: the same tags around what is judged, guarded in the
same way, and the same label words and keys in the reply.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from judge.checker import Checker
from judge.files import sha256_text
from judge.judge import Judge
from judge.prompting.prompts import Prompt, material, user_turn
from judge.types import Message, Mode, Sample

REPLY: Mapping[Mode, str] = {
    "verdict": "Reply with one word: PASS if the ANSWER is free of that, FAIL if it is not.",
    "reason": (
        'Reply with JSON: first "REASONING", a short account of what you checked, then "SCORE", which is '
        "PASS if the ANSWER is free of that and FAIL if it is not."
    ),
}


@dataclass(frozen=True)
class BenchmarkPrompt:
    """The prompt of one benchmark: rules, what is judged, and how to reply.

    Args:
        version: name and number; any change of the texts needs a new one.
        rules: what to look for in the answer.
        evidence: added to the rules if there is a document.
    """

    version: str
    rules: str
    evidence: str = ""

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """One user turn, see :class:`judge.prompting.prompts.Prompt`."""
        rules = f"{self.rules} {self.evidence}" if sample.document_text.strip() else self.rules
        return user_turn(rules, *material(sample, document), REPLY[mode])

    def describe(self) -> dict[str, str]:
        """The version, and the hash of all texts."""
        return identity(self.version, self.rules, self.evidence, *REPLY.values())


def identity(version: str, *texts: str) -> dict[str, str]:
    """What identifies a prompt made of these texts."""
    return {"prompt_version": version, "prompt_hash": sha256_text("\0".join(texts))[:16]}


def with_prompt(prompt: Prompt) -> Callable[[Judge], Checker]:
    """For :attr:`eval.benchmarks.base.Benchmark.ask`: the same judge with another prompt."""
    return lambda judge: replace(judge, prompt=prompt)
