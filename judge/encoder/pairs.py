"""Turns samples into pairs of texts: a document window as premise, the answer or a sentence as hypothesis.

    [CLS] window of the document [SEP] question [SEP] answer [SEP]

A document that is too long for the encoder is split into windows at sentence ends. Long answers and questions
are split too, and each part of the answer is read with each part of the question and each window.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from judge.configs import StrictConfig
from judge.encoder.rows import Row, SpecialTokens
from judge.errors import InputError
from judge.prompting.fitting import TooLong
from judge.prompting.sentences import claim_spans, token_ranges
from judge.types import Sample, Span

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from judge.prompting.templates import TemplatePrompt

FORM_VERSION = 2
WINDOW_TOKENS = 512
SHORTEST = 32
"""Smallest usable length of a pair, in tokens."""
MARK = "\ufdd0"
"""Placeholder for the document while a template is rendered: a code point that Unicode keeps out of texts."""


class Form(StrictConfig):
    """How samples are presented to an encoder; stored in ``judge.json`` as ``form``.

    ``question``: it goes with the hypothesis, with the premise, or is left out. ``sentences``: the answer is
    one hypothesis (``whole``), or each sentence is one, and p(FAIL) of the answer is that of the ``worst``
    sentence or the ``mean``. ``first``: which text opens the pair; rerankers expect the query first.
    """

    question: Literal["hypothesis", "premise", "none"] = "hypothesis"
    sentences: Literal["whole", "worst", "mean"] = "whole"
    first: Literal["document", "answer"] = "document"
    window_tokens: int = Field(default=WINDOW_TOKENS, ge=SHORTEST)
    """Longest pair, special tokens included."""

    def describe(self, template_hash: str = "") -> dict[str, Any]:
        """Everything that determines how a sample is read, for ``judge.json`` and reports."""
        values = [FORM_VERSION, *self.model_dump().values(), template_hash]
        return {
            "form": self.model_dump(),
            "prompt_version": FORM_VERSION,
            "prompt_hash": sha256(repr(values).encode()).hexdigest()[:12],
        }


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of a sample: ``rows`` has the first part with each window, then the second, and so on.

    A part combines a part of the answer with a part of the question; ``owners`` has, for each, the index of
    its unit in ``units`` (the answer, or its sentences). ``cut_chars`` counts the characters not read.
    """

    rows: tuple[Row, ...]
    windows: tuple[Span, ...]
    units: tuple[Span, ...]
    owners: tuple[int, ...]
    cut_chars: int = 0


@dataclass(frozen=True, slots=True)
class _Question:
    """A part of the question as tokens: before or after the document, or in front of the answer.

    ``end`` is where the part ends in the question's text.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    with_answer: tuple[int, ...] = ()
    end: int = 0

    def __len__(self) -> int:
        return len(self.before) + len(self.after) + len(self.with_answer)


@dataclass
class Pairing:
    """Turns samples into rows of tokens.

    Args:
        tokenizer: the checkpoint's own, see :func:`judge.encoder.folder.read_tokenizer`.
        form: see :class:`Form`.
        template: renders the premise from document and question, in place of ``form.question``.
        max_document_tokens: the rest of a document is not read, but counted; no limit by default.

    Raises:
        InputError: if the tokenizer does not join pairs of texts.
    """

    tokenizer: "Tokenizer"
    form: Form
    template: "TemplatePrompt | None" = None
    max_document_tokens: int | None = None
    _special: SpecialTokens = field(init=False, repr=False)
    _last: "tuple[str, Encoding] | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self._special = SpecialTokens.of(self.tokenizer)
        except (ValueError, IndexError) as error:
            raise InputError(f"its tokenizer {error}; an encoder that judges reads pairs") from None

    def describe(self) -> dict[str, Any]:
        """How samples are read, for reports and ``judge.json``."""
        given = {} if self.template is None else self.template.describe()
        return {**given, **self.form.describe(str(given.get("prompt_hash", "")))}

    def pairs(
        self, sample: Sample, units: Sequence[Span] | None = None, whole_question: bool = False
    ) -> Pairs:
        """The pairs of a sample.

        Args:
            sample: the sample to judge.
            units: spans of its answer to judge separately; by default those of the form.
            whole_question: read a long question in parts, as in judging; training reads only its first part.

        Raises:
            TooLong: if the template's text around the document is too long.
            InputError: if the template has several turns, or does not render the document exactly once.
        """
        form, answer = self.form, sample.answer
        if units is None:
            whole = (Span(0, len(answer)),)
            units = whole if form.sentences == "whole" else claim_spans(answer) or whole
        asked = self._questions(sample)
        cut = 0
        if len(asked) > 1 and not whole_question:
            cut = len(sample.question) - asked[0].end
            del asked[1:]
        parts: list[tuple[int, list[int], list[tuple[int, int]]]] = []
        for number, unit in enumerate(units):
            text = answer[unit.start : unit.end]
            encoded = self._encode(text)
            for start, stop in token_ranges(
                text, encoded.offsets, form.window_tokens // 2 - len(self._special)
            ):
                spans = [(unit.start + a, unit.start + b) for a, b in encoded.offsets[start:stop]]
                parts.append((number, encoded.ids[start:stop], spans))
        longest = max(len(ids) for _, ids, _ in parts)
        room = form.window_tokens - len(self._special) - max(map(len, asked)) - longest
        windows, texts, lost = self._windows(sample.document_text, room)
        rows = tuple(
            self._row((*part.before, *text, *part.after), part.with_answer, ids, spans)
            for _, ids, spans in parts
            for part in asked
            for text in texts
        )
        owners = tuple(number for number, _, _ in parts for _ in asked)
        return Pairs(rows, windows, tuple(units), owners, cut + lost)

    def _questions(self, sample: Sample) -> list[_Question]:
        """The parts of a question; a single one without tokens if no question is read.

        Each takes at most a quarter of a pair; half of the pair is for the answer.
        """
        most = self.form.window_tokens // 4
        if self.template is not None:
            turns = self.template.messages(sample, "verdict", MARK)
            if len(turns) != 1:
                raise InputError(
                    f"expected one turn, the premise that an encoder reads; found {len(turns)}",
                    file=self.template.path,
                )
            texts = turns[0]["content"].split(MARK)
            if len(texts) != 2:
                raise InputError("expected a premise that holds the document once", file=self.template.path)
            before, after = (tuple(self._encode(text).ids) for text in texts)
            found = _Question(before, after)
            if len(found) > most:
                raise TooLong(
                    f"the premise has {len(found)} tokens next to the document, and {most} fit; shorten the "
                    "question or the template",
                    file=self.template.path,
                )
            return [found]
        if self.form.question == "none" or not sample.question.strip():
            return [_Question()]
        encoded = self._encode(sample.question)
        with_answer = self.form.question == "hypothesis"
        behind = self._special.between if with_answer else self._encode("\n\n").ids
        parts = []
        for start, stop in token_ranges(sample.question, encoded.offsets, most - len(behind)):
            ids = (*encoded.ids[start:stop], *behind)
            end = encoded.offsets[stop - 1][1] if stop else 0
            parts.append(_Question(with_answer=ids, end=end) if with_answer else _Question(ids, end=end))
        return parts

    def _windows(self, document: str, room: int) -> tuple[tuple[Span, ...], list[list[int]], int]:
        """Windows of a document, their tokens, and how many characters are not read."""
        kept = self._last  # other threads may replace it
        if kept is None or kept[0] != document:
            self._last = kept = (document, self._encode(document))
        encoded, limit = kept[1], self.max_document_tokens
        count = len(encoded.ids) if limit is None else min(limit, len(encoded.ids))
        cut = len(document) - encoded.offsets[count][0] if count < len(encoded.ids) else 0
        pieces = list(token_ranges(document, encoded.offsets[:count], room))
        spans = tuple(
            Span(encoded.offsets[start][0], encoded.offsets[stop - 1][1]) if stop > start else Span(0, 0)
            for start, stop in pieces
        )
        return spans, [encoded.ids[start:stop] for start, stop in pieces], cut

    def _row(
        self, premise: Sequence[int], question: Sequence[int], ids: Sequence[int], spans: Sequence[Any]
    ) -> Row:
        special, kinds = self._special, self._special.types
        texts = (premise, (*question, *ids))
        first, second = texts if self.form.first == "document" else texts[::-1]
        tokens = (*special.before, *first, *special.between, *second, *special.behind)
        sizes = map(len, (special.before, first, special.between, second, special.behind))
        types = tuple(kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size))
        start = len(special.before) + len(question)
        if self.form.first == "document":
            start += len(first) + len(special.between)
        return Row(tokens, types, start, tuple(spans))

    def _encode(self, text: str) -> "Encoding":
        return self.tokenizer.encode(text, add_special_tokens=False)
