"""The makers of a build: each kind of pair by its name."""

from collections.abc import Mapping

from data_pipeline.pairs.added import add_sentences
from data_pipeline.pairs.contrast import Maker
from data_pipeline.pairs.documents.edit import DocumentEditor
from data_pipeline.pairs.foreign import foreign_sentences
from data_pipeline.pairs.long import long_answers
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.pairs.refusal import refuse
from data_pipeline.sources.store import SampleStore


def make_makers(golds: SampleStore, seed: int) -> Mapping[str, Maker]:
    """The makers of every kind but ``edit``, which is left to a teacher.

    Args:
        golds: the gold samples of a build.
        seed: each maker's output depends on this and the sample.
    """
    neighbours = Neighbours(golds, seed)
    return {
        "added": lambda gold: add_sentences(gold, neighbours, seed),
        "document": DocumentEditor(neighbours, seed),
        "long": lambda gold: long_answers(gold, seed),
        "refusal": lambda gold: refuse(gold, seed),
        "foreign": lambda gold: foreign_sentences(gold, neighbours, seed),
    }
