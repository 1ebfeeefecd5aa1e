"""Harmless dressings: changes to the form of an answer that keep its meaning.

A verdict that changes with one of them was about the form, not about the facts. Dressings that could change
the meaning of a pair (upper case in code, a second citation mark) are left out: :func:`dressed_pairs`.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping

from judge.prompting.sentences import sentence_spans

MARK = " [1]"
EMOJI = " \U0001f642"
BULLET = "\u2022 "
OPENINGS = (
    "Based on the context: ", "Sure! ", "In short: ", "To answer your question: ", "From what I can tell, ",
    "Good question. ", "As the document explains, ", "Here you go: ",
)  # fmt: skip
CLOSINGS = (
    "\n\nLet me know if you need anything else.", " I hope that answers your question.", "\n\nBest regards",
    " Feel free to ask me more.", "\n\nPlease check the source to be sure.",
    " That is what the document says.", "\n\nAnything else?", " Happy to help!",
)  # fmt: skip
NO_BREAK = "\u00a0"
TURNS = 4
"""Each dressing is applied to one pair in this many."""
LITERAL = ("code", "json")
"""Categories in which letter case, blanks and asterisks can be part of the meaning."""

_END = re.compile(r"[.!?]*[\"'\u201d\u2019)]*$")
_CITED = re.compile(r"\[\d+\]|\(source", re.IGNORECASE)
_LITERAL = re.compile(r"[`*_=@/\\<>{}|\n]|[a-z][A-Z]|(?<!\w)--?[a-z]")
"""Matches answers of other categories for which the same is true: code, paths, options, units as ``mW``."""


def _cite_sentences(answer: str) -> str:
    parts, end = [], 0
    for span in sentence_spans(answer):
        sentence = answer[span.start : span.end]
        found = _END.search(sentence)
        cut = span.start + (len(sentence) if found is None else found.start())
        parts += [answer[end:cut], MARK]
        end = cut
    return "".join([*parts, answer[end:]])


def _embolden(answer: str) -> str:
    """The answer with its longest word with a digit in bold, or its longest word if none has a digit."""
    words = list(re.finditer(r"\w+(?:[.,:'\u2019-]\w+)*", answer))
    if not words:
        return f"**{answer}**"
    word = max(words, key=lambda found: (any(map(str.isdigit, found[0])), len(found[0]), -found.start()))
    return f"{answer[: word.start()]}**{word[0]}**{answer[word.end() :]}"


def _space_out(answer: str) -> str:
    """Two spaces between words, a line break in the middle, spaces before it, and a blank line after it."""
    words = answer.split()
    middle = (len(words) + 1) // 2
    lines = [part for part in (words[:middle], words[middle:]) if part]
    return "  " + "\n".join(map("  ".join, lines)) + " \n\n"


def _one_of(phrases: tuple[str, ...], number: int) -> str:
    """The phrase for a pair; they take turns over the pairs that get one."""
    return phrases[number // TURNS % len(phrases)]


DRESSINGS: Mapping[str, Callable[[str, int], str]] = {
    "citation": lambda answer, _: answer + MARK,
    "sentence citations": lambda answer, _: _cite_sentences(answer),
    "emoji": lambda answer, _: answer + EMOJI,
    "bold": lambda answer, _: _embolden(answer),
    "opening": lambda answer, number: _one_of(OPENINGS, number) + answer,
    "closing": lambda answer, number: answer + _one_of(CLOSINGS, number),
    "upper case": lambda answer, _: answer.upper(),
    "spacing": lambda answer, _: _space_out(answer),
    "Unicode": lambda answer, _: unicodedata.normalize("NFD", answer).replace(" ", NO_BREAK),
    "bullet": lambda answer, _: BULLET + answer,
}
"""Name of a dressing to the function that applies it to an answer of a pair, given the pair's number.
``Unicode`` imitates text copied from a web page: accents as separate characters (NFD), no-break spaces."""


def dressed_pairs(
    number: int, category: str, document: str, answers: tuple[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The dressings of a pair, each with both dressed answers.

    Args:
        number: the position of the pair in the whole set, which determines its dressings and their phrases.
        category: one of the benchmark's categories.
        document: the document of the pair.
        answers: the faithful and the hallucinated answer; a dressing must fit both, or it is left out.
    """
    for turn, (name, dress) in enumerate(DRESSINGS.items()):
        fits = all(_fits(name, category, document, answer) for answer in answers)
        if fits and (number - turn) % TURNS == 0:
            yield name, (dress(answers[0], number), dress(answers[1], number))


def _fits(name: str, category: str, document: str, answer: str) -> bool:
    if name in ("citation", "sentence citations"):
        later = sentence_spans(answer)[1:] if name == "sentence citations" else ()
        abbreviated = any(answer[span.start].isdigit() for span in later)  # "the cellar of no. 8"
        return not abbreviated and not _CITED.search(answer) and MARK.strip() not in document
    if name in ("bold", "upper case", "spacing"):
        return category not in LITERAL and not _LITERAL.search(answer)
    return DRESSINGS[name](answer, 0) != answer  # Unicode has nothing to change in "Yes."
