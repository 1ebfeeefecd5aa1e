"""RAGTruth (arXiv 2401.00396): the test split, scored by response and by marked span.

See :mod:`judge.formats.ragtruth`. Spans are scored by character, as in the paper's section 5.
"""

from collections.abc import Mapping, Sequence

from eval.benchmarks.base import Benchmark, Figures
from judge.formats import ragtruth
from judge.prompting.evidence import cite
from judge.types import Sample, Verdict

Span = tuple[int, int]
"""Start and end (exclusive) in the answer, in characters."""


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By task, as in the paper's Table 5, and by the model that wrote the response."""
    return {"task": (str(sample.meta["task_type"]),), "model": (str(sample.meta["model"]),)}


def marked_spans(sample: Sample) -> list[Span]:
    """The spans that annotators marked."""
    return [(int(span["start"]), int(span["end"])) for span in sample.meta["spans"]]


def quoted_spans(sample: Sample, verdict: Verdict) -> list[Span]:
    """The parts of the answer that a FAIL verdict's reasoning quotes and the document does not contain.

    Judges are not asked for spans, but a reasoning usually quotes what is wrong
    (:mod:`judge.prompting.evidence`).
    """
    _, unsupported = cite(sample.document_text, sample.answer, verdict.label, verdict.reasoning)
    return [(span.start, span.end) for span in unsupported]


def span_scores(
    marked: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]]
) -> dict[str, float | int | None]:
    """Precision, recall and F1 over the characters of all answers together (RAGTruth, section 5).

    Args:
        marked: the true spans of each answer; they may overlap.
        predicted: a judge's spans for the same answers.
    """
    both = true = found = 0
    for true_spans, found_spans in zip(marked, predicted, strict=True):
        true_characters, found_characters = _characters(true_spans), _characters(found_spans)
        both += len(true_characters & found_characters)
        true += len(true_characters)
        found += len(found_characters)
    return {
        "precision": both / found if found else None,
        "recall": both / true if true else None,
        "f1": 2 * both / (true + found) if true + found else None,
    }


def _characters(spans: Sequence[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def figures(samples: Sequence[Sample], verdicts: Sequence[Verdict]) -> Figures:
    """Span-level figures, overall and by task; empty if no reasoning quotes an unsupported span."""
    marked = [marked_spans(sample) for sample in samples]
    predicted = [quoted_spans(*pair) for pair in zip(samples, verdicts, strict=True)]
    if not any(predicted):
        return {}
    table = {"all": span_scores(marked, predicted)}
    for task in dict.fromkeys(str(sample.meta["task_type"]) for sample in samples):
        chosen = [row for row, sample in enumerate(samples) if sample.meta["task_type"] == task]
        table[task] = span_scores([marked[row] for row in chosen], [predicted[row] for row in chosen])
    return {"spans": table}


RAGTRUTH = Benchmark(
    name="ragtruth",
    title="RAGTruth (arXiv 2401.00396)",
    read=ragtruth.load,
    rows=rows,
    figures=figures,
    notes=(
        "Published figures are over question answering, summaries and data-to-text together.",
        "Spans are what the reasoning of a FAIL verdict quotes; judges are not asked to mark them.",
    ),
)
