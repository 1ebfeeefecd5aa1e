"""Pairs about short answers, said in full: "Ada Holst" and "Jan Pohl" become "Ada Holst designed the bridge."
and "Jan Pohl designed the bridge."

People and models answer in sentences, and a judge that was trained on spans of two words takes a sentence for
something new.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from data_pipeline.pairs.verbalise import is_sentence, statement_of
from data_pipeline.text.refusals import refuses
from judge.types import Sample


def say_in_full(samples: Sequence[Sample], share: float, seed: int) -> Iterator[Sample]:
    """Give a share of the pairs about short answers a second time, with the answers as sentences.

    Args:
        samples: pairs, hallucinated after faithful.
        share: of the pairs for which rules know both sentences, from 0 to 1.
        seed: decides which pairs.

    Yields:
        The samples in their order, a pair's sentences behind it; ``meta["in_full"]`` marks them.
    """
    for pair in zip(samples[::2], samples[1::2], strict=True):
        yield from pair
        if random.Random(f"in-full:{seed}:{pair[0].id}").random() < share:
            yield from _in_full(*pair)


def _in_full(faithful: Sample, hallucinated: Sample) -> tuple[Sample, ...]:
    """The pair as sentences; nothing where an answer is one, a refusal, or no rule is sure of a sentence."""
    if is_sentence(faithful.answer, faithful.language) or refuses(faithful.answer, faithful.language):
        return ()
    right = statement_of(faithful)
    # Where the documents differ, not the answers, the sentence is that of the document which supports it.
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
