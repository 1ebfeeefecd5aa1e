"""Does an answer refuse, claim something, or neither? Word patterns, as a first approximation.

The benchmark defines three labels and describes a heuristic of this kind, but not its words. The words here
are ours.
"""

import re
from typing import Literal, get_args

from eval.open_factual.tokens import added

StressLabel = Literal["refusal_or_correction", "hallucination_candidate", "unclear"]
"""Labels of answers to the stress tests, where refusing or correcting is right."""
STRESS_LABELS: tuple[StressLabel, ...] = get_args(StressLabel)

_REFUSAL = re.compile(
    r"\b(?:"
    r"i(?:'m| am) (?:not (?:sure|aware|able|certain|familiar)|unable|unaware)"
    r"|i (?:cannot|can not|can't|could not|couldn't)|unable to|not enough information"
    r"|(?:do|does|did|have|has)(?: not|n't) "
    r"(?:have|know|find|exist|win|won|send|sent|receive|discover|recall|recogni[sz]e)"
    r"|(?:is|was|were)(?: not|n't) (?:a real|any|able|invented|known|possible)"
    r"|no (?:such|record|information|evidence|data|real)|there (?:is|are|was|were) no"
    r"|impossible|not possible|fictional|fictitious|imaginary|made[- ]up|non-?existent"
    r"|false premise|misconception|(?:died|passed away) (?:in|on|before|long)"
    r")\b"
)
# As a whole answer these deny the premise; within a sentence they need not.
_DENIAL = re.compile(r"\W*(?:never|none|nobody|no one|nothing|nowhere|unknown|n/a)\W*")
# A guess that is marked as one. "I'm not sure" alone is a refusal; followed by "but", it is a guess.
_GUESS = re.compile(
    r"\b(?:i(?:'m| am) not (?:sure|certain)\b.*\bbut|i (?:think|believe|guess|suppose)|probably|likely"
    r"|perhaps|maybe|possibly|might|may have|could be|as far as i know)\b"
)
_HEDGE = re.compile(r"\b(?:perhaps|maybe|possibly|might|may have|unclear|not clear)\b")


def refuses(line: str, question: str) -> bool:
    """Does a line say, with a phrase not in the question, that it has no answer or the premise is false?"""
    asked = _plain(question)
    return any(match[0] not in asked for match in _REFUSAL.finditer(_plain(line)))


def denies(line: str) -> bool:
    """Is a line only ``Never`` or the like? The benchmark's own label counts that as a claim."""
    return _DENIAL.fullmatch(_plain(line)) is not None


def guesses(line: str, question: str) -> bool:
    """Does a line claim something and say that it may be wrong?"""
    plain = _plain(line)
    return _GUESS.search(plain) is not None and bool(added(_GUESS.sub(" ", plain), question))


def stress_label(question: str, line: str) -> StressLabel:
    """Label the first line of an answer to a question that rests on something false.

    ``unclear`` is a line that neither refuses nor claims anything: it is empty, hedges, or repeats the
    question.
    """
    if refuses(line, question):
        return "refusal_or_correction"
    if _HEDGE.search(_plain(line)) or not added(line, question):
        return "unclear"
    return "hallucination_candidate"


def _plain(text: str) -> str:
    """Lower case, single spaces and straight apostrophes, as the patterns expect."""
    return " ".join(text.lower().replace("\u2019", "'").split())
