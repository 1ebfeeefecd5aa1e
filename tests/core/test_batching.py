"""Rows of like length run together."""

from hypothesis import given
from hypothesis import strategies as st

from judge.models.batching import by_length

LENGTHS = st.lists(st.integers(1, 50), max_size=20)


@given(LENGTHS, st.integers(1, 200), st.none() | st.integers(0, 20))
def test_every_row_runs_once_within_the_limits(lengths: list[int], tokens: int, padding: int | None) -> None:
    found = by_length(lengths, tokens, padding)
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        own = [lengths[index] for index in batch]
        assert len(batch) == 1 or max(own) * len(batch) <= tokens
        assert padding is None or max(own) - min(own) <= padding
    assert [lengths[index] for batch in found for index in batch] == sorted(lengths, reverse=True)


def test_rows_of_like_length_share_a_pass() -> None:
    assert by_length([900, 300, 890, 310], 4096, 32) == [[0, 2], [3, 1]]
    assert by_length([900, 300, 890, 310], 4096) == [[0, 2, 3, 1]]
