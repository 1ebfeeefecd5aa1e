"""The counter of n-grams gives what scikit-learn's gives, in its order."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from judge.floors.ngrams import count_ngrams

TEXTS = [
    "The tower is 31 m high, the bridge 12 m.",
    "塔高31米，桥长12米。塔塔塔塔塔",
    "a",
    "",
    "Two  spaces\n\nand a line; \U0001f600 and \u0130.",
    "THE TOWER is 31 m high",
]


def test_counts_order_and_type_are_those_of_scikit_learn() -> None:
    counter = CountVectorizer(analyzer="char", ngram_range=(1, 4), dtype=np.float32)
    wanted, found = counter.fit_transform(TEXTS).tocsr(), count_ngrams(TEXTS)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(found, part), getattr(wanted, part))


def test_texts_without_a_character() -> None:
    with pytest.raises(ValueError, match="hold no character"):
        count_ngrams(["", ""])
