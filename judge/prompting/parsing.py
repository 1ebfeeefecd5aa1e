"""The one verdict parser: reads a judge's completion, never the prompt, and never guesses.

A verdict is read from a JSON object with the reasoning and the label (keys of either language, in any case),
or from a completion that is nothing but a label word. Everything else, two objects that disagree included,
is *not parsed*, with a reason, and is counted as such. What only repeats the sample is no verdict either: a
document can hold an object that looks like one.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from judge.prompting.prompts import KEYS, LABEL_WORDS, guard
from judge.types import Label, Sample

WORDS: dict[str, Label] = {word: label for words in LABEL_WORDS.values() for label, word in words.items()}
_REASONING_KEYS = {keys[0] for keys in KEYS.values()}
_SCORE_KEYS = {keys[1] for keys in KEYS.values()}
# Letters of other alphabets have no part in the words' upper and lower case, though some fold to ASCII ones.
_WORD = f"(?a:{'|'.join(WORDS)})"
_SCORE = re.compile(
    rf'(?P<open>["“]?)(?<![A-Za-z0-9_])(?:{"|".join(_SCORE_KEYS)})(?P<close>["”]?)\s*[:\uff1a]'
    rf'\s*["“]?(?P<word>{_WORD})(?![A-Za-z\u4e00-\u9fff])["”]?(?=\s*(?:[}},]|```|\Z)|[ \t]*[\r\n])',
    re.IGNORECASE,
)
# A reasoning that is opened like this may hold anything, scores as well.
_REASONING = re.compile(rf'"(?:{"|".join(_REASONING_KEYS)})"\s*[:\uff1a]', re.IGNORECASE)
# A bare label word may come with quotes, asterisks or a full stop.
_EXACT = re.compile(_WORD, re.IGNORECASE)
_BARE = re.compile(rf"[\s\"'“”*`]*(?P<word>{_WORD})[\s\"'“”*`\u3002.!\uff01]*", re.IGNORECASE)

_LINE_BREAK = re.compile(r"[\r\n]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a completion said. ``label_start`` is the offset of the label word in it, where there is one."""

    label: Label | None
    reasoning: str | None = None
    error: str | None = None
    label_start: int | None = None


def _no_conflict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Keep an object's pairs; a key that occurs twice with different values makes it unreadable."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise ValueError(f"key {key!r} occurs twice")
    return found


def _objects(text: str) -> Iterator[tuple[range, dict[str, Any]]]:
    """All top-level JSON objects in a text, in order, each with its place; the unreadable is passed over."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_no_conflict)
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict):
                yield range(position, end), value
        position = text.find("{", end)


def _text(reasoning: object) -> str | None:
    """Reasoning as one text; bullet points come as a list in the papers' own format."""
    if isinstance(reasoning, list):
        return "\n".join(str(point) for point in reasoning)
    return None if reasoning is None else str(reasoning)


def _field(value: dict[str, Any], names: set[str]) -> Any:
    return next((item for key, item in value.items() if key.strip().upper() in names), None)


def _outside(matches: Iterable[re.Match[str]], spans: Sequence[range]) -> Iterator[int]:
    """Where the matches start that lie in none of some spans."""
    starts = (match.start() for match in matches)
    return (start for start in starts if not any(start in span for span in spans))


class _Echo:
    """Tells what stands in a sample too, word for word, whatever the white space between the words."""

    def __init__(self, sample: Sample | None):
        self._sample = sample

    @cached_property
    def _text(self) -> str:
        """All that was read, as it is and as prompts show it; made only for a reply that may repeat it."""
        sample = self._sample
        read = () if sample is None else (sample.document_text, sample.question, sample.answer)
        return "\n".join(part for plain in read for part in (plain, guard(plain)))

    @cached_property
    def _words(self) -> str:
        return " ".join(self._text.split())

    @cached_property
    def _lines(self) -> str:
        return _lines(self._text)

    def holds(self, text: str, span: range) -> bool:
        """Is a part of a text a part of the sample?"""
        return " ".join(text[span.start : span.stop].split()) in self._words

    def holds_lines(self, text: str, match: re.Match[str]) -> bool:
        """Are the lines that a match stands on, as a whole, lines of the sample?"""
        before = _LINE_BREAK.split(text[: match.start()])[-1]
        after = _LINE_BREAK.split(text[match.end() :])[0]
        return _lines(before + match.group() + after) in self._lines


def _lines(text: str) -> str:
    """A text line by line, each between line breaks, without empty lines and needless white space."""
    found = (" ".join(line.split()) for line in _LINE_BREAK.split(text))
    return "".join(f"\n{line}\n" for line in found if line)


def parse(completion: str, sample: Sample | None = None) -> Parsed:
    """Read the verdict of one completion.

    Never raises. ``label`` is ``None``, with ``error`` saying why, for text that holds no verdict or more
    than one.

    Args:
        completion: the reply alone.
        sample: what was judged. An object that occurs in its texts, or a line with a score that is one of
            their lines, is an echo and not read.
    """
    if bare := _BARE.fullmatch(completion):
        return Parsed(WORDS[bare["word"].upper()], label_start=bare.start("word"))

    echo = _Echo(sample)
    objects = list(_objects(completion))
    spans = [span for span, _ in objects]
    echoed = [span for span in spans if echo.holds(completion, span)]
    verdicts = [
        (_text(_field(value, _REASONING_KEYS)), WORDS[str(score).strip().upper()])
        for span, value in objects
        if span not in echoed and _EXACT.fullmatch(str(score := _field(value, _SCORE_KEYS)).strip())
    ]
    # The label's place in the text; also the way to read an object whose reasoning holds stray quotes.
    # Within an object only a quoted key counts, not what the reasoning says about scores; one that was cut
    # off within its reasoning has no end.
    opened = min(_outside(_REASONING.finditer(completion), spans), default=len(completion))
    outside = set(_outside(_SCORE.finditer(completion), spans))
    places = [
        place
        for place in _SCORE.finditer(completion)
        if (place["open"] == place["close"] == '"' or (place.start() in outside and place.start() < opened))
        and not any(place.start() in span for span in echoed)
        and not (place.start() in outside and echo.holds_lines(completion, place))
    ]
    if not verdicts:
        verdicts = [(None, WORDS[place["word"].upper()]) for place in places]
    labels = {label for _, label in verdicts} | {WORDS[place["word"].upper()] for place in places}
    if not labels:
        if echoed:
            return Parsed(None, error="the output repeats a verdict that the sample holds, and gives none")
        return Parsed(None, error="no verdict in the output" if completion.strip() else "empty output")
    if len(labels) > 1:
        return Parsed(None, error="the output holds verdicts that disagree")
    reasoning, label = verdicts[-1]
    return Parsed(label, reasoning, label_start=places[-1].start("word") if places else None)
