"""Finds samples with the same document, question and answer, with the same label or with both labels."""

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256

from data_pipeline.sources.store import SampleStore
from judge.errors import InputError

_SAID = """
CREATE TEMP TABLE said AS SELECT number, id, entry, label, content(row) AS content FROM samples;
CREATE INDEX temp.by_content ON said (content)
"""
_COUNTS = """
SELECT entry, COUNT(*), SUM(opposed), SUM(again) FROM (
    SELECT entry,
        EXISTS (SELECT 1 FROM said AS other
                WHERE other.content = said.content AND other.label != said.label) AS opposed,
        EXISTS (SELECT 1 FROM said AS other
                WHERE other.content = said.content AND other.label IS said.label
                AND other.number < said.number) AS again
    FROM said
) GROUP BY entry HAVING SUM(opposed) + SUM(again) > 0 ORDER BY entry
"""
_EXAMPLE = """
SELECT one.id, other.id FROM said AS one JOIN said AS other USING (content)
WHERE one.entry = ? AND one.number != other.number AND (one.label IS NOT other.label) = ?
ORDER BY one.number LIMIT 1
"""


def check_repeats(
    stores: Sequence[SampleStore], names: Sequence[str], most: float, say: Callable[[str], None]
) -> None:
    """Report how many samples of each source are duplicates or have both labels, and refuse too many.

    Args:
        stores: samples as read from their sources; each store is checked separately.
        names: the name of each source in messages.
        most: share of a source that may contradict other samples, and share that may repeat them.
        say: called with a line for each source and fault.

    Raises:
        InputError: a source has more of either; names the source and two of the samples.
    """
    for store in stores:
        for entry, message, share in list(_faults(store)):
            text = f"{names[entry]}: {message}"
            if share > most:
                raise InputError(
                    f"{text}. Correct the set, or allow more than max_repeated={most}",
                    field=f"sources.{entry}",
                )
            say(text)


def _faults(store: SampleStore) -> Iterator[tuple[int, str, float]]:
    """The faults of each source: its index, a message, and the share of samples concerned."""
    table = store.table
    table.create_function("content", 1, _content, deterministic=True)
    table.executescript(_SAID)
    try:
        for entry, count, opposed, again in table.execute(_COUNTS).fetchall():
            for number, what, differ in (
                (opposed, "are labelled both PASS and FAIL", True),
                (again, "are duplicates", False),
            ):
                if number:
                    one, other = table.execute(_EXAMPLE, (entry, differ)).fetchone()
                    share = number / count
                    like = f"such as {one!r} and {other!r}"
                    yield entry, f"{number:,} of {count:,} samples ({share:.1%}) {what}, {like}", share
    finally:
        table.execute("DROP TABLE said")


def _content(row: str) -> bytes:
    """A hash of document, question and answer; duplicates have the same one."""
    sample = json.loads(row)
    document = sample["document"]
    passages = [document] if isinstance(document, str) else document
    return sha256(json.dumps([*passages, sample["question"], sample["answer"]]).encode()).digest()
