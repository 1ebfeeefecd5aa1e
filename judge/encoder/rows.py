"""A pair of texts as a row of tokens with the tokenizer's special tokens, and rows as a batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class Row:
    """One pair as tokens.

    ``types`` has the segment of each token. The answer's own tokens begin at ``start``; ``spans`` has the
    place of each in the answer's text.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]
    start: int
    spans: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def own(self) -> range:
        """The places of the answer's tokens."""
        return range(self.start, self.start + len(self.spans))


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """The special tokens that a tokenizer puts before, between and behind two texts, and their segments."""

    before: tuple[int, ...]
    between: tuple[int, ...]
    behind: tuple[int, ...]
    types: tuple[int, int, int, int, int]

    @classmethod
    def of(cls, tokenizer: "Tokenizer") -> "SpecialTokens":
        """The special tokens of a tokenizer.

        Raises:
            ValueError: if it does not join two texts.
        """
        first, second = (tokenizer.encode(text, add_special_tokens=False) for text in ("a", "b"))
        size = (len(first.ids), len(second.ids))
        joined = tokenizer.post_process(first, second)
        places = [at for at, special in enumerate(joined.special_tokens_mask) if not special]
        if len(places) != sum(size):
            raise ValueError("marks its own texts as special tokens")
        start, stop = places[0], places[size[0] - 1] + 1
        again, end = places[size[0]], places[-1] + 1
        if again == stop:
            raise ValueError("puts nothing between the two texts of a pair")
        ids, types = joined.ids, joined.type_ids
        return cls(
            tuple(ids[:start]), tuple(ids[stop:again]), tuple(ids[end:]),
            (types[0], types[start], types[stop], types[again], types[-1]),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.before) + len(self.between) + len(self.behind)


def padded(rows: Sequence[Row], pad_id: int) -> "dict[str, np.ndarray[Any, Any]]":
    """A batch of rows, each table ``(rows, tokens)``: ``ids``, ``mask`` (1 for tokens) and ``types``."""
    import numpy as np

    shape = (len(rows), max(map(len, rows)))
    ids = np.full(shape, pad_id, dtype=np.int64)
    mask, types = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for at, row in enumerate(rows):
        ids[at, : len(row)], types[at, : len(row)], mask[at, : len(row)] = row.ids, row.types, 1
    return {"ids": ids, "mask": mask, "types": types}
