"""Retrieval by BM25 (library bm25s): finds the passages of a corpus that best match the words of a query.

``judge eval --set corpus=FILE`` gives samples of a benchmark without documents passages of the user's corpus.
DiaHalu searches Google (section 5.4, appendix A.7), for dialogues of the domains knowledge and reasoning.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.benchmarks.base import Benchmark
from judge.errors import InputError
from judge.formats.records import read_lines
from judge.types import Sample

PASSAGE_WORDS = 100
"""Words per passage, as Wikipedia is usually split for retrieval (DPR, arXiv 2004.04906, section 4.1)."""


def read_corpus(path: Path) -> list[str]:
    """The passages of a corpus: JSON Lines with ``text`` and optionally ``title``.

    Texts are split into passages of :data:`PASSAGE_WORDS` words, each prefixed with the title.

    Raises:
        InputError: if the file cannot be read, or holds no text.
    """
    found: list[str] = []
    for row in read_lines(path):
        words = row.text("text").split()
        title = row.text("title", empty=True).strip() if "title" in row.values else ""
        for start in range(0, len(words), PASSAGE_WORDS):
            passage = " ".join(words[start : start + PASSAGE_WORDS])
            found.append(f"{title}: {passage}" if title else passage)
    if not found:
        raise InputError("holds no passage", file=path)
    return found


def search(passages: Sequence[str], queries: Sequence[str], count: int) -> list[list[int]]:
    """The positions of the best passages for each query, the best first.

    By BM25, with the library's default tokenizer, stop words and constants. At most ``count``; passages that
    share no word with the query are left out.
    """
    if not queries:
        return []
    import bm25s

    index = bm25s.BM25()
    index.index(_tokens(passages), show_progress=False)
    found, scores = index.retrieve(_tokens(queries), k=min(count, len(passages)), show_progress=False)
    return [
        [int(place) for place, score in zip(places, row, strict=True) if score > 0]
        for places, row in zip(found, scores, strict=True)
    ]


def _tokens(texts: Sequence[str]) -> Any:
    import bm25s

    return bm25s.tokenize(list(texts), stopwords="en", show_progress=False)


def searchable(benchmark: Benchmark, samples: Sequence[Sample]) -> list[Sample]:
    """The samples for which the benchmark has a search query.

    Raises:
        InputError: if there are none.
    """
    query = benchmark.query
    found = [] if query is None else [sample for sample in samples if query(sample).strip()]
    if not found:
        raise InputError(f"{benchmark.name} has nothing to search for; omit corpus")
    return found


def retrieve(
    benchmark: Benchmark, samples: Sequence[Sample], corpus: Path, passages: int
) -> tuple[Benchmark, list[Sample]]:
    """The benchmark, renamed, and its samples with the best passages of a corpus as their documents.

    A sample for which nothing is found keeps an empty document.

    Raises:
        InputError: if the corpus is wrong, or a sample already has a document.
    """
    query = benchmark.query
    if query is None or any(sample.document_text.strip() for sample in samples):
        raise InputError(f"{benchmark.name} has documents of its own; omit corpus")
    known = read_corpus(corpus)
    found = search(known, [query(sample) for sample in samples], passages)
    documents = [tuple(known[place] for place in places) for places in found]
    about = replace(
        benchmark,
        name=f"{benchmark.name}_corpus",
        title=f"{benchmark.title}, with retrieval",
        of=benchmark.of or benchmark.name,
        notes=(
            *benchmark.notes,
            f"BM25 over {len(known):,} passages of {corpus.name}, {passages} at most for each; "
            f"found for {sum(map(bool, documents)):,} of {len(samples):,} samples.",
        ),
    )
    return about, [
        replace(sample, document=document or "") for sample, document in zip(samples, documents, strict=True)
    ]
