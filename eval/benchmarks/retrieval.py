"""``judge eval --set corpus=FILE``: a benchmark without documents, with what is found in the user's corpus.

DiaHalu searches Google (section 5.4, appendix A.7), for dialogues of the domains knowledge and reasoning.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.retrieval import Retriever, read_corpus
from judge.errors import InputError
from judge.types import Sample


def searchable(benchmark: Benchmark, samples: Sequence[Sample]) -> list[Sample]:
    """The samples that the benchmark says what to search for.

    Raises:
        InputError: there is none.
    """
    query = benchmark.query
    found = [] if query is None else [sample for sample in samples if query(sample).strip()]
    if not found:
        raise InputError(f"{benchmark.name} has nothing to search for; omit corpus")
    return found


def retrieve(
    benchmark: Benchmark, samples: Sequence[Sample], corpus: Path, passages: int
) -> tuple[Benchmark, list[Sample]]:
    """A benchmark and searchable samples of it, with the best passages of a corpus as their documents.

    A sample for which nothing is found keeps an empty document.

    Raises:
        InputError: the corpus is wrong, or a sample has a document of its own.
    """
    query = benchmark.query
    if query is None or any(sample.document_text.strip() for sample in samples):
        raise InputError(f"{benchmark.name} has documents of its own; omit corpus")
    retriever = Retriever(read_corpus(corpus))
    found = retriever.search([query(sample) for sample in samples], passages)
    documents = [tuple(retriever.passages[place] for place in places) for places in found]
    about = replace(
        benchmark,
        name=f"{benchmark.name}_corpus",
        title=f"{benchmark.title}, with retrieval",
        of=benchmark.of or benchmark.name,
        notes=(
            *benchmark.notes,
            f"BM25 over {len(retriever.passages):,} passages of {corpus.name}, {passages} at most for each; "
            f"found for {sum(map(bool, documents)):,} of {len(samples):,} samples.",
        ),
    )
    return about, [
        replace(sample, document=document or "") for sample, document in zip(samples, documents, strict=True)
    ]
