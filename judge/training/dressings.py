"""Dresses answers with markdown, citation marks, emoji and polite phrases that do not change their meaning.

A judge trained only on bare answers mistakes form for fact: ``Ada works here. [1]`` becomes FAIL.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from judge.types import Sample

_BEFORE = (
    "Answer: ", "- ", "* ", "1. ", "> ", "### Answer\n", "Sure! ", "Of course. ", "Hello! ", "\u2705 ",
    "According to the document, ", "The text says: ", "Here is what I found: ", "From the passage: ",
)  # fmt: skip
_AFTER = (
    " [2]", " [3]", " (1)", "\u00b9", " [source]", " (see above)", " [doc 1]", " \U0001f44d", " \U0001f389",
    "\n\nI hope this helps!", " Feel free to ask if you have other questions.", "\n\nSource: the document.",
    " Have a nice day!", "\n", " \u2014", "\n\nThat is all I found.", " Happy to help with more!",
    " Thank you for asking.", "\n\nPlease ask again if this is unclear.", "\n\nWould you like more details?",
    " Just tell me if I can do more for you.", "\n\nI can explain this further if you like.",
    "\n\nBest wishes!",
)  # fmt: skip
MARKS = ("spans", "errors", "inserted", "pair")
"""Fields of ``meta`` that say where an answer is wrong."""


def _word_in(mark: str) -> Callable[[str, random.Random], str]:
    """Puts one word between marks, as in ``**bold**``."""

    def dress(answer: str, draw: random.Random) -> str:
        words = answer.split(" ")
        place = draw.randrange(len(words))
        words[place] = f"{mark}{words[place]}{mark}"
        return " ".join(words)

    return dress


def _lines(answer: str, draw: random.Random) -> str:
    """Replaces some of the spaces with two spaces or a line break."""
    return "".join(draw.choice(("  ", "\n", " ", " ")) if letter == " " else letter for letter in answer)


_DRESSES: tuple[Callable[[str, random.Random], str], ...] = (
    lambda answer, draw: draw.choice(_BEFORE) + answer,
    lambda answer, draw: answer + draw.choice(_AFTER),
    lambda answer, draw: draw.choice(_BEFORE) + answer + draw.choice(_AFTER),
    lambda answer, draw: f"**{answer}**",
    lambda answer, draw: f'"{answer}"',
    lambda answer, draw: answer.rstrip(".!"),
    lambda answer, draw: answer.upper(),
    _word_in("**"),
    _word_in("_"),
    _word_in("`"),
    _lines,
)  # fmt: skip


def with_dressed(samples: Sequence[Sample], share: float, seed: int) -> list[Sample]:
    """The samples, plus copies of some of them with dressed answers; a copy keeps its label.

    A copy has no ``meta.spans`` or other :data:`MARKS`, because its words have moved.

    Args:
        samples: labelled samples.
        share: share of the samples that get a copy, 0 to 1; drawn whatever the label.
        seed: decides which samples, and how they are dressed.
    """
    draw = random.Random(seed)
    found: list[Sample] = []
    for sample in samples:
        found.append(sample)
        if draw.random() < share:
            answer = draw.choice(_DRESSES)(sample.answer, draw)
            meta = {key: value for key, value in sample.meta.items() if key not in MARKS}
            found.append(replace(sample, id=f"{sample.id}:dressed", answer=answer, meta=meta))
    return found
