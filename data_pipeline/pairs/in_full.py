"""Pairs about short answers, said in full: "Ada Holst" and "Jan Pohl" become "Ada Holst designed the bridge."
and "Jan Pohl designed the bridge."

People and models answer in sentences, which are unfamiliar to a judge trained on spans of two words.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from data_pipeline.pairs.verbalise import is_sentence, statement_of
from data_pipeline.text.refusals import refuses
from judge.types import Sample


def say_in_full(samples: Sequence[Sample], share: float, seed: int) -> Iterator[Sample]:
    """Repeat a share of the pairs about short answers, with the answers as sentences.

    Args:
        samples: pairs, hallucinated after faithful.
        share: of the pairs whose answers can be made sentences by rule, from 0 to 1.
        seed: decides which pairs.

    Yields:
        The samples in order, each pair followed by its version in sentences, marked by ``meta["in_full"]``.
    """
    for pair in zip(samples[::2], samples[1::2], strict=True):
        yield from pair
        if random.Random(f"in-full:{seed}:{pair[0].id}").random() < share:
            yield from _in_full(*pair)


def _in_full(faithful: Sample, hallucinated: Sample) -> tuple[Sample, ...]:
    """The pair as sentences; empty if the answer is a sentence or refusal, or no rule is sure of both."""
    if is_sentence(faithful.answer, faithful.language) or refuses(faithful.answer, faithful.language):
        return ()
    right = statement_of(faithful)
    # If only the documents differ, the sentence is made from the document that supports the answer.
    wrong = right if faithful.answer == hallucinated.answer else statement_of(hallucinated)
    if right is None or wrong is None or (right == wrong) != (faithful.answer == hallucinated.answer):
        return ()
    name = f"{faithful.meta['pair']}-full"
    return tuple(
        replace(
            sample, id=f"{sample.id}-full", answer=said, meta={**sample.meta, "pair": name, "in_full": True}
        )
        for sample, said in ((faithful, right), (hallucinated, wrong))
    )
