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
from functools import cached_property, lru_cache
from typing import Any

from judge.prompting.prompts import guard
from judge.prompting.replies import DEFAULT, ReplyForm
from judge.types import Label, Sample


class _Grammar:
    """What label words and keys look like in a completion."""

    def __init__(self, words: Sequence[tuple[str, Label]], reasoning: Sequence[str], score: Sequence[str]):
        self.labels = {word.upper(): label for word, label in words}
        # Letters of other alphabets have no part in the words' upper and lower case, though some fold to
        # ASCII ones.
        word = rf"(?a:{_any(self.labels)})"
        self.reasoning_keys = {key.upper() for key in reasoning}
        self.score_keys = {key.upper() for key in score}
        self.score = re.compile(
            rf'(?P<open>["“]?)(?<![A-Za-z0-9_])(?:{_any(self.score_keys)})(?P<close>["”]?)\s*[:\uff1a]'
            rf'\s*(?P<quote>["“])?(?P<word>{word})(?![A-Za-z\u4e00-\u9fff])(?(quote)["”]|["”]?)'
            rf"(?=\s*(?:[}},]|```|\Z)|[ \t]*[\r\n])",
            re.IGNORECASE,
        )
        # A reasoning that is opened like this may hold anything, scores as well.
        self.reasoning = re.compile(rf'"(?:{_any(self.reasoning_keys)})"\s*[:\uff1a]', re.IGNORECASE)
        # One in plain text, without braces and quotes.
        self.plain_reasoning = re.compile(
            rf"(?:\A|[\r\n])[ \t]*(?:{_any(self.reasoning_keys)})\s*[:\uff1a]", re.IGNORECASE
        )
        # A bare label word may come with quotes, asterisks or a full stop.
        self.exact = re.compile(word, re.IGNORECASE)
        self.bare = re.compile(rf"[\s\"'“”*`]*(?P<word>{word})[\s\"'“”*`\u3002.!\uff01]*", re.IGNORECASE)
        # A reply that begins with the word, bare or in a tag; a model may think before it.
        self.first = re.compile(
            rf"\s*(?:<think>(?P<thought>.*?)</think>\s*)?(?:<(?!think>)(?P<tag>\w+)>\s*)?[\"'“”*`]*"
            rf"(?P<word>{word})(?![A-Za-z0-9_\u4e00-\u9fff])(?P<line>[^\r\n]*)",
            re.IGNORECASE | re.DOTALL,
        )
        self.word = re.compile(rf"(?<![A-Za-z0-9_])(?:{word})(?![A-Za-z0-9_])", re.IGNORECASE)


def _any(words: Iterable[str]) -> str:
    """A pattern for any of some words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


@lru_cache(maxsize=32)
def _grammar(words: tuple[tuple[str, Label], ...], keys: tuple[tuple[str, str], ...]) -> _Grammar:
    return _Grammar(words, [reasoning for reasoning, _ in keys], [score for _, score in keys])


def _grammar_of(form: ReplyForm) -> _Grammar:
    words = dict.fromkeys((word, label) for pair in form.words.values() for label, word in pair.items())
    return _grammar(tuple(words), tuple(form.keys.values()))


_LINE_BREAK = re.compile(r"[\r\n]")
_BEFORE_WORDS = " \t\r\n.,:;*-\"'`"
_POINTS = re.compile(r"""['"]\s*,\s*['"]""")


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


def parse(completion: str, sample: Sample | None = None, form: ReplyForm = DEFAULT) -> Parsed:
    """Read the verdict of one completion.

    Never raises. ``label`` is ``None``, with ``error`` saying why, for text that holds no verdict or more
    than one.

    Args:
        completion: the reply alone.
        sample: what was judged. An object that occurs in its texts, or a line with a score that is one of
            their lines, is an echo and not read.
        form: how the judge replies.
    """
    grammar = _grammar_of(form)
    if bare := grammar.bare.fullmatch(completion):
        return Parsed(grammar.labels[bare["word"].upper()], label_start=bare.start("word"))
    if form.kind == "word":
        return _first_word(completion, grammar)

    echo = _Echo(sample)
    objects = list(_objects(completion))
    spans = [span for span, _ in objects]
    echoed = [span for span in spans if echo.holds(completion, span)]
    verdicts = [
        (_text(_field(value, grammar.reasoning_keys)), grammar.labels[str(score).strip().upper()])
        for span, value in objects
        if span not in echoed
        and grammar.exact.fullmatch(str(score := _field(value, grammar.score_keys)).strip())
    ]
    # The label's place in the text; also the way to read an object whose reasoning holds stray quotes.
    # Within an object only a quoted key counts, not what the reasoning says about scores; one that was cut
    # off within its reasoning has no end.
    opened = min(_outside(grammar.reasoning.finditer(completion), spans), default=len(completion))
    outside = set(_outside(grammar.score.finditer(completion), spans))
    places = [
        place
        for place in grammar.score.finditer(completion)
        if (place["open"] == place["close"] == '"' or (place.start() in outside and place.start() < opened))
        and not any(place.start() in span for span in echoed)
        and not (place.start() in outside and echo.holds_lines(completion, place))
    ]
    if not verdicts:
        verdicts = [(None, grammar.labels[place["word"].upper()]) for place in places]
    labels = {label for _, label in verdicts} | {grammar.labels[place["word"].upper()] for place in places}
    if not labels:
        if echoed:
            return Parsed(None, error="the output repeats a verdict that the sample holds, and gives none")
        return Parsed(None, error="no verdict in the output" if completion.strip() else "empty output")
    if len(labels) > 1:
        return Parsed(None, error="the output holds verdicts that disagree")
    reasoning, label = verdicts[-1]
    if reasoning is None and places and opened < places[-1].start():
        key = grammar.reasoning.match(completion, opened)
        reasoning = _bullets(completion[key.end() if key else opened : places[-1].start()])
    elif reasoning is None and places:
        end = places[-1].start()
        if plain := grammar.plain_reasoning.search(completion, 0, end):
            reasoning = completion[plain.end() : end].strip() or None
    return Parsed(label, reasoning, label_start=places[-1].start("word") if places else None)


def _first_word(completion: str, grammar: _Grammar) -> Parsed:
    """The verdict of a reply that begins with its word; what follows, or was thought before, explains it."""
    found = grammar.first.match(completion)
    if found is None:
        empty = not completion.strip()
        return Parsed(None, error="empty output" if empty else "the output does not begin with a verdict")
    label = grammar.labels[found["word"].upper()]
    if any(grammar.labels[word.upper()] is not label for word in grammar.word.findall(found["line"])):
        return Parsed(None, error="the output holds verdicts that disagree")
    after = completion[found.end("word") :].strip(_BEFORE_WORDS).removeprefix(f"</{found['tag']}>")
    reasoning = (found["thought"] or "").strip() or after.strip(_BEFORE_WORDS)
    return Parsed(label, reasoning or None, label_start=found.start("word"))


def _bullets(text: str) -> str | None:
    """The bullet points of a list that is not JSON, such as one in single quotes, or a text with quotes."""
    points = _POINTS.split(text.strip(" \t\r\n,[]'\""))
    return "\n".join(points).strip() or None
