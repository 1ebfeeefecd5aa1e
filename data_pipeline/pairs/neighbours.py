"""Gold samples similar to a gold sample: about the same document, or about other documents of its kind."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import Any

from data_pipeline.sources.store import SampleStore
from data_pipeline.text.content import CJK
from judge.baselines.overlap import content_tokens, units
from judge.types import Language, Sample

POOL = 2000
"""Size of the pool of samples of one kind; from a larger set, a seeded sample of this many is drawn."""
NEAR = 40
"""How many documents count as near another one."""

_KIND = "source = ? AND task = ? AND language = ? AND domain = ? AND COALESCE(split, '') = ?"
# Weights are whole numbers, so that sums of products are exact in any order of addition.
_SCALE = 4096


@dataclass(frozen=True, eq=False)
class About:
    """The gold samples about one document. Compared by identity, so it can be a cache key."""

    golds: tuple[Sample, ...]


class Neighbours:
    """Finds gold samples about the same or similar documents.

    Args:
        golds: all gold samples of a build.
        seed: decides which samples of a large set form the pool.
    """

    def __init__(self, golds: SampleStore, seed: int):
        self._golds = golds
        self._seed = seed
        self._pools: dict[tuple[str, ...], list[Sample]] = {}
        self._maps: dict[tuple[str, ...], _Map] = {}
        self._about = lru_cache(maxsize=16)(self._read)  # golds of one document follow each other
        golds.index("document")

    def siblings(self, gold: Sample) -> list[Sample]:
        """The other gold samples of its kind about exactly the same document text, in order."""
        text = gold.document_text
        return [
            other
            for other in self._about(gold.group)
            if other.id != gold.id and kind_of(other) == kind_of(gold) and other.document_text == text
        ]

    def passages(self, gold: Sample) -> list[str]:
        """Other documents of its kind: those of its own group (windows of one article, pages of one report),
        then the nearest."""
        own = (
            other.document_text
            for other in self._about(gold.group)
            if kind_of(other) == kind_of(gold) and other.document_text != gold.document_text
        )
        near = (about.golds[0].document_text for about in self.nearest(gold))
        return list(dict.fromkeys((*own, *near)))

    def _read(self, group: str) -> tuple[Sample, ...]:
        return tuple(self._golds.samples("document = ?", (group,)))

    def pool(self, gold: Sample) -> list[Sample]:
        """Up to ``POOL`` gold samples of its kind, in order."""
        kind = kind_of(gold)
        if kind not in self._pools:
            self._pools[kind] = list(self._golds.draw(_KIND, kind, f"pool:{self._seed}", POOL))
        return self._pools[kind]

    def nearest(self, gold: Sample) -> list[About]:
        """The gold samples of up to ``NEAR`` other documents in the pool, the nearest document first.

        Nearness is the cosine of TF-IDF vectors of content words (pairs of characters in Chinese).
        """
        kind = kind_of(gold)
        if kind not in self._maps:
            self._maps[kind] = _Map(self.pool(gold))
        return self._maps[kind].nearest(gold)


class _Map:
    """The documents of a pool as sparse vectors."""

    def __init__(self, pool: list[Sample]):
        from sklearn.feature_extraction.text import TfidfVectorizer

        golds: dict[str, list[Sample]] = {}
        for sample in pool:
            golds.setdefault(sample.document_text, []).append(sample)
        self._golds = [About(tuple(some)) for some in golds.values()]
        self._texts = list(golds)
        self._vectorizer = TfidfVectorizer(analyzer=_content, sublinear_tf=True)
        self._vectors = _whole(self._vectorizer.fit_transform(self._texts))
        self._near = lru_cache(maxsize=64)(self._find)  # samples of one document follow each other

    def nearest(self, gold: Sample) -> list[About]:
        return [self._golds[place] for place in self._near(gold.document_text, gold.group)]

    def _find(self, text: str, group: str) -> list[int]:
        import numpy as np

        scores = (self._vectors @ _whole(self._vectorizer.transform([text])).T).toarray().ravel()
        order = np.argsort(-scores, kind="stable")  # of equals, the first of the pool
        others = (
            int(place)
            for place in order
            if self._texts[place] != text and self._golds[place].golds[0].group != group
        )
        return list(islice(others, NEAR))


def _whole(vectors: Any) -> Any:
    """Sparse vectors with their weights in whole numbers."""
    import numpy as np

    vectors.data = np.rint(vectors.data * _SCALE)
    return vectors.astype(np.int64)


def _content(text: str) -> list[str]:
    """The content words of a document, in order and with repetitions."""
    language: Language = "zh" if CJK.search(text) else "en"
    running = units(text, language)
    if language == "zh":
        return [one + two for one, two in pairwise(running)]
    kept = content_tokens(running, language)
    return [word for word in running if word in kept]


def kind_of(sample: Sample) -> tuple[str, ...]:
    """What interchangeable samples must share: source, task, language, domain and split.

    So no text of a held-out document gets into a training sample.
    """
    domain, split = (str(sample.meta.get(name, "")) for name in ("domain", "split"))
    return (sample.source, sample.task.value, sample.language, domain, split)
