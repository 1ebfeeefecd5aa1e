"""The layout of a page: a document in windows, computed once, and all answers about it.

    [CLS] window 1 [SEP] [CLS] window 2 [SEP]  [CLS] question [SEP] answer a [SEP]  [CLS] answer b [SEP]

A window attends to itself, an answer to all windows and to itself. So a document costs the same whether one
answer or twenty are judged, an answer's verdict does not depend on the other answers, and a document may be
longer than the encoder's position limit: positions start from 0 in each window and each answer.

Small encoders are bad at noticing repeated words. So each token of an answer also gets the length of the
longest run of tokens around it that occurs verbatim in the document (:func:`runs`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.encoder.folder import TOKENIZER, read_tokenizer
from judge.errors import InputError
from judge.prompting.sentences import token_ranges
from judge.types import Sample

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Encoding, Tokenizer

ENDS = (("[CLS]", "[SEP]"), ("<s>", "</s>"))
"""A text's first and last token, in the vocabularies of BERT and of XLM-R."""
RUNS = (1, 2, 3, 5, 8)
"""Run lengths that are distinguished, in tokens. A token's level is 0 outside of any run, else 1 to 5."""
QUESTION_TOKENS = 128
"""Tokens of a question that are read at once; longer ones are read in parts."""
INPUTS = ("ids", "positions", "kinds", "levels", "parts")
"""Tables of a batch of pages, see :func:`page_arrays`."""
PADDING = -1
"""Part number of padding."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and an answer, or parts of them, as tokens.

    The answer's own tokens begin at ``start``; ``spans`` has the start and end of each in the answer's text.
    ``levels`` has the level of every token, see :func:`runs`.
    """

    ids: tuple[int, ...]
    start: int
    spans: tuple[tuple[int, int], ...]
    levels: tuple[int, ...]

    @property
    def own(self) -> range:
        """The places of the answer's own tokens."""
        return range(self.start, self.start + len(self.spans))


@dataclass(frozen=True, slots=True)
class Page:
    """A document's windows and answers about it, computed together.

    ``names`` has a key for each answer, by which the maker of the page identifies it.
    """

    windows: tuple[tuple[int, ...], ...]
    answers: tuple[Answer, ...]
    names: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return sum(map(len, self.windows)) + sum(len(answer.ids) for answer in self.answers)


def bert_tokenizer(folder: Path) -> "Tokenizer":
    """The tokenizer of a BERT's folder, see :func:`judge.encoder.folder.read_tokenizer`.

    Raises:
        InputError: if there is none, or it lacks the special tokens of encoders.
    """
    tokenizer = read_tokenizer(folder)
    try:
        text_ends(tokenizer)
    except ValueError as error:
        raise InputError(
            f"{error}; a judge that reads pages is made of a BERT", file=folder / TOKENIZER
        ) from None
    return tokenizer


def text_ends(tokenizer: "Tokenizer") -> tuple[int, int]:
    """The tokens that every text begins and ends with. Raises ``ValueError`` if there are none."""
    for first, last in (map(tokenizer.token_to_id, ends) for ends in ENDS):
        if first is not None and last is not None:
            return first, last
    raise ValueError("knows neither [CLS] and [SEP] nor <s> and </s>")


@dataclass
class Layout:
    """Turns documents and answers into tokens.

    Args:
        tokenizer: a tokenizer with special tokens for both ends (:func:`bert_tokenizer`).
        window_tokens: longest window, its two special tokens included.
        max_windows: maximum windows of a document; the rest of it is cut off.
    """

    tokenizer: "Tokenizer"
    window_tokens: int = 512
    max_windows: int = 16
    _limit: int | None = field(default=None, repr=False)
    _last: tuple[str, Any, int, "tuple[frozenset[Any], ...]"] | None = field(default=None, repr=False)

    def limit(self, tokens: int | None) -> None:
        """Cut documents off after this many tokens, in whole windows; ``None`` changes nothing.

        Raises:
            InputError: if that is less than a window.
        """
        if tokens is None:
            return
        if tokens < self.window_tokens:
            raise InputError(
                f"is {tokens}, less than a window of this judge; give {self.window_tokens} or more",
                field="max_length",
            )
        self._limit = tokens // self.window_tokens

    @property
    def read_windows(self) -> int:
        """Maximum windows that are read: ``max_windows``, or fewer after :meth:`limit`."""
        return self.max_windows if self._limit is None else min(self.max_windows, self._limit)

    def windows(self, document: str) -> tuple[tuple[tuple[int, ...], ...], int]:
        """The windows of a document, all of similar length, and the number of characters cut off."""
        windows, cut, _ = self._document(document)
        return windows, cut

    def answer(self, sample: Sample) -> Answer:
        """For training: a sample's question and answer, cut to fit into one window.

        The ``spans`` of an answer that is too long stop before its end.
        """
        head = self._head(self._encode(sample.question).ids[: self._question_tokens])
        encoded = self._encode(sample.answer)
        return self._answer(sample, head, encoded, 0, self.window_tokens - len(head) - 1)

    def answers(self, sample: Sample) -> list[Answer]:
        """For judging: each part of a sample's answer with each part of its question."""
        asked, encoded = self._encode(sample.question), self._encode(sample.answer)
        found = []
        for start, stop in token_ranges(sample.question, asked.offsets, self._question_tokens):
            head = self._head(asked.ids[start:stop])
            room = self.window_tokens - len(head) - 1
            for first, end in token_ranges(sample.answer, encoded.offsets, room):
                found.append(self._answer(sample, head, encoded, first, end))
        return found

    @property
    def _question_tokens(self) -> int:
        return min(QUESTION_TOKENS, self.window_tokens // 2)

    def _head(self, question: Sequence[int]) -> list[int]:
        """The tokens before an answer: special tokens, and a part of the question if there is one."""
        first, last = text_ends(self.tokenizer)
        return [first, *question, *([last] if question else [])]

    def _answer(self, sample: Sample, head: list[int], encoded: "Encoding", start: int, stop: int) -> Answer:
        ids = (*head, *encoded.ids[start:stop], text_ends(self.tokenizer)[1])
        *_, grams = self._document(sample.document_text)
        return Answer(ids, len(head), tuple(encoded.offsets[start:stop]), runs(ids, grams))

    def _encode(self, text: str) -> "Encoding":
        return self.tokenizer.encode(text, add_special_tokens=False)

    def _document(self, document: str) -> tuple[Any, int, "tuple[frozenset[Any], ...]"]:
        """Windows, cut characters and token runs; cached for the next answer about the document."""
        kept = self._last  # other threads may replace it
        if kept is None or kept[0] != document:
            first, last = text_ends(self.tokenizer)
            encoded = self._encode(document)
            body = self.window_tokens - 2
            ids = encoded.ids[: body * self.read_windows]
            cut = 0
            if len(ids) < len(encoded.ids):
                cut = len(document) - encoded.offsets[len(ids)][0]
            count = max(1, -(-len(ids) // body))
            step = max(1, -(-len(ids) // count))
            parts = [ids[start : start + step] for start in range(0, len(ids), step)] or [[]]
            windows = tuple((first, *part, last) for part in parts)
            self._last = kept = (document, windows, cut, _grams(ids))
        return kept[1:]


def _grams(ids: Sequence[int]) -> tuple[frozenset[Any], ...]:
    return tuple(frozenset(zip(*(ids[at:] for at in range(length)), strict=False)) for length in RUNS)


def runs(ids: Sequence[int], grams: Sequence[frozenset[Any]]) -> tuple[int, ...]:
    """The level of each token: the longest run of tokens around it that also occurs in the document.

    Args:
        ids: tokens of an answer.
        grams: the document's runs of each length in :data:`RUNS`.

    Returns:
        0 if the token itself is not in the document, else the number of the longest length, from 1.
    """
    levels = [0] * len(ids)
    for level, (length, known) in enumerate(zip(RUNS, grams, strict=True), start=1):
        found = False
        for start, run in enumerate(zip(*(ids[at:] for at in range(length)), strict=False)):
            if run in known:
                found = True
                levels[start : start + length] = [level] * length
        if not found:  # without a shared short run there is no longer one
            break
    return tuple(levels)


def pages(
    documents: Iterable[tuple[Sequence[Sequence[int]], Sequence[tuple[Any, Answer]]]], page_tokens: int
) -> Iterator[Page]:
    """Spread the answers about each document over pages of bounded length.

    Args:
        documents: windows, and answers with their names.
        page_tokens: maximum tokens of a page, unless the windows and a single answer need more.
    """
    for windows, answers in documents:
        room = page_tokens - sum(map(len, windows))
        some: list[tuple[Any, Answer]] = []
        used = 0
        for name, answer in answers:
            if some and used + len(answer.ids) > room:
                yield _page(windows, some)
                some, used = [], 0
            some.append((name, answer))
            used += len(answer.ids)
        if some:
            yield _page(windows, some)


def _page(windows: Sequence[Sequence[int]], answers: Sequence[tuple[Any, Answer]]) -> Page:
    return Page(
        tuple(tuple(window) for window in windows),
        tuple(answer for _, answer in answers),
        tuple(name for name, _ in answers),
    )


def page_arrays(pages: Sequence[Page]) -> "dict[str, np.ndarray[Any, Any]]":
    """Some pages as tables ``(pages, tokens)``, padded to the longest.

    Returns:
        ``ids``: tokens. ``positions``: their positions in the window or answer, from 0. ``kinds``: 0 for
        windows and padding, 1 for answers. ``levels``: levels of answer tokens, see
        :func:`runs`. ``parts``: the number of the window or answer, from 0 in each page,
        -1 for padding. A token attends to its own part, and an answer token to all windows as well.
    """
    import numpy as np

    shape = (len(pages), max(map(len, pages)))
    found = {name: np.zeros(shape, dtype=np.int64) for name in INPUTS}
    found["parts"][:] = PADDING
    for row, page in enumerate(pages):
        at = 0
        sequences = [*page.windows, *(answer.ids for answer in page.answers)]
        for part, ids in enumerate(sequences):
            here = (row, slice(at, at + len(ids)))
            found["ids"][here] = ids
            found["positions"][here] = range(len(ids))
            found["parts"][here] = part
            if part >= len(page.windows):
                found["kinds"][here] = 1
                found["levels"][here] = page.answers[part - len(page.windows)].levels
            at += len(ids)
    return found
