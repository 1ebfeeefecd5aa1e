"""Where the quotes in a judge's reasonings come from: the document, the answer, or nowhere.

A reasoning with a quote from nowhere is itself hallucinated, whatever its label.
"""

from collections import Counter
from collections.abc import Sequence

from eval.benchmarks.base import Figures
from judge.prompting.evidence import exact, quotes
from judge.types import Sample, Verdict

TITLE = "quotes of the reasonings"
DOCUMENT, ANSWER, NOWHERE = "in the document", "in the answer", "nowhere"


def quote_figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """Shares of quotes by where they occur word for word, and of reasonings that quote the document.

    Empty if no verdict has a reasoning. A quote that is in both document and answer counts as in the
    document; ``quotes`` counts each quote of a reasoning once.
    """
    reasonings = grounded = 0
    places: Counter[str] = Counter()
    for sample, verdict in zip(samples, verdicts, strict=True):
        if verdict.reasoning is not None:
            found = [_place(quote, sample) for quote in quotes(verdict.reasoning)]
            reasonings += 1
            grounded += DOCUMENT in found
            places.update(found)
    if not reasonings:
        return {}
    every = places.total()
    shares = {place: places[place] / every if every else None for place in (DOCUMENT, ANSWER, NOWHERE)}
    counts = {"reasonings": reasonings, "quote the document": grounded / reasonings, "quotes": every}
    return {TITLE: {"all": {**counts, **shares}}}


def _place(quote: str, sample: Sample) -> str:
    if exact(quote, sample.document_text):
        return DOCUMENT
    return ANSWER if exact(quote, sample.answer) else NOWHERE
