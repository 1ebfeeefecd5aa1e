"""The one verdict parser: reads a judge's completion, never the prompt, and never guesses.

A verdict is read from a JSON object with the reasoning and the label (keys of either language, in any case),
or from a completion that is nothing but a label word. Everything else, including two objects that disagree,
is *not parsed*, with an error that says why. Text that only repeats the sample does not count as a verdict:
a document can contain an object that looks like one.
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

    def __init__(self, words: tuple[tuple[str, Label], ...], keys: tuple[tuple[str, str], ...]):
        self.labels = {word.upper(): label for word, label in words}
        # ASCII only: some letters of other alphabets fold to ASCII ones when case is ignored.
        word = rf"(?a:{_any(self.labels)})"
        self.reasoning_keys = {reasoning.upper() for reasoning, _ in keys}
        self.score_keys = {score.upper() for _, score in keys}
        self.score = re.compile(
            rf'(?P<open>["“]?)(?<![A-Za-z0-9_])(?:{_any(self.score_keys)})(?P<close>["”]?)\s*[:\uff1a]'
            rf'\s*(?P<quote>["“])?(?P<word>{word})(?![A-Za-z\u4e00-\u9fff])(?(quote)["”]|["”]?)'
            rf"(?=\s*(?:[}},]|```|\Z)|[ \t]*[\r\n])",
            re.IGNORECASE,
        )
        # A reasoning that starts like this may contain anything, even scores.
        self.reasoning = re.compile(rf'"(?:{_any(self.reasoning_keys)})"\s*[:\uff1a]', re.IGNORECASE)
        # A reasoning in plain text, without braces and quotes.
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


_grammar = lru_cache(maxsize=32)(_Grammar)


def _grammar_of(form: ReplyForm) -> _Grammar:
    words = dict.fromkeys((word, label) for pair in form.words.values() for label, word in pair.items())
    return _grammar(tuple(words), tuple(form.keys.values()))


_LINE_BREAK = re.compile(r"[\r\n]")
_BEFORE_WORDS = " \t\r\n.,:;*-\"'`"
_POINTS = re.compile(r"""['"]\s*,\s*['"]""")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The verdict in a completion. ``label_start`` is the offset of its label word, if there is one."""

    label: Label | None
    reasoning: str | None = None
    error: str | None = None
    label_start: int | None = None


def _no_conflict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of an object's pairs; a key that occurs twice with different values is an error."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise ValueError(f"key {key!r} occurs twice")
    return found


def _objects(text: str) -> Iterator[tuple[range, dict[str, Any]]]:
    """All top-level JSON objects in a text, in order, each with its place; unreadable parts are skipped."""
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
    """Reasoning as one text; in the papers' own format it is a list of bullet points."""
    if isinstance(reasoning, list):
        return "\n".join(str(point) for point in reasoning)
    return None if reasoning is None else str(reasoning)


def _field(value: dict[str, Any], names: set[str]) -> Any:
    return next((item for key, item in value.items() if key.strip().upper() in names), None)


def _outside(matches: Iterable[re.Match[str]], spans: Sequence[range]) -> Iterator[int]:
    """The starts of those matches that lie outside all spans."""
    starts = (match.start() for match in matches)
    return (start for start in starts if not any(start in span for span in spans))


class _Echo:
    """Recognizes text that repeats the sample word for word, ignoring white space."""

    def __init__(self, sample: Sample | None):
        self._sample = sample

    @cached_property
    def _text(self) -> str:
        """All texts of the sample, plain and as prompts show them; made only when a reply may repeat them."""
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
        """Does the sample contain this part of a text?"""
        return " ".join(text[span.start : span.stop].split()) in self._words

    def holds_lines(self, text: str, match: re.Match[str]) -> bool:
        """Does the sample contain the whole lines that a match is on?"""
        before = _LINE_BREAK.split(text[: match.start()])[-1]
        after = _LINE_BREAK.split(text[match.end() :])[0]
        return _lines(before + match.group() + after) in self._lines


def _lines(text: str) -> str:
    """A text with each line between line breaks, without empty lines and superfluous white space."""
    found = (" ".join(line.split()) for line in _LINE_BREAK.split(text))
    return "".join(f"\n{line}\n" for line in found if line)


def parse(completion: str, sample: Sample | None = None, form: ReplyForm = DEFAULT) -> Parsed:
    """Read the verdict of one completion.

    Never raises. For a text without a verdict, or with verdicts that disagree, ``label`` is ``None`` and
    ``error`` says why.

    Args:
        completion: the reply alone.
        sample: what was judged. An object that occurs in its texts, or a line with a score that is one of
            their lines, is an echo and ignored.
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
    # The label's place in the text; also a way to read an object whose reasoning has stray quotes. Within an
    # object only a quoted key counts, not what the reasoning says about scores; an object cut off within its
    # reasoning has no end.
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
    """The verdict of a reply that begins with its word; the thought before or text after is the reasoning."""
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
