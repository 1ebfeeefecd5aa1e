"""Training labels for judges that read pages: of answers, and of their tokens if wrong spans are known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from judge.encoder.examples import known_labels
from judge.pages.layout import Answer, Layout
from judge.progress import track
from judge.types import Label, Sample


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """One labelled answer.

    ``fail`` is 1 for FAIL. ``tokens`` has a 1 for each token of the answer within a wrong span and a 0 for
    the others; ``None`` if the spans are unknown.
    """

    id: str
    group: str
    answer: Answer
    fail: int
    tokens: tuple[int, ...] | None


def example(sample: Sample, layout: Layout) -> LabelledAnswer:
    """A labelled sample as tokens."""
    answer = layout.answer(sample)
    tokens = known_labels(sample, answer.spans)
    return LabelledAnswer(sample.id, sample.group, answer, int(sample.label is Label.FAIL), tokens)


@dataclass(frozen=True, slots=True)
class DocumentExamples:
    """A document's windows, the examples about it, and the source of its first sample."""

    windows: tuple[tuple[int, ...], ...]
    examples: tuple[LabelledAnswer, ...]
    source: str = ""

    @property
    def tokens(self) -> int:
        """Tokens of the windows and all examples."""
        return sum(map(len, self.windows)) + sum(len(one.answer.ids) for one in self.examples)


def by_document(samples: Iterable[Sample], layout: Layout) -> tuple[list[DocumentExamples], int, int]:
    """Labelled samples grouped by document, in the order in which documents first occur.

    Answers that are longer than a window are left out: the error may be in the part that is not read, and
    keeping only the correct ones would teach that long answers are correct.

    Returns:
        The documents, how many of them were cut, and how many answers were left out.
    """
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        found.setdefault(sample.document_text, []).append(sample)
    documents, cut, left_out = [], 0, 0
    for text, some in track(found.items(), "tokenize documents", len(found)):
        windows, lost = layout.windows(text)
        made = [(sample.answer, example(sample, layout)) for sample in some]
        examples = tuple(one for said, one in made if _whole(said, one.answer, layout))
        left_out += len(made) - len(examples)
        if examples:
            cut += lost > 0
            documents.append(DocumentExamples(windows, examples, some[0].source))
    return documents, cut, left_out


def _whole(text: str, answer: Answer, layout: Layout) -> bool:
    """Whether an answer's tokens reach the end of its text."""
    return len(answer.ids) < layout.window_tokens or not text[answer.spans[-1][1] :].strip()


def counts(documents: Sequence[DocumentExamples]) -> dict[str, Any]:
    """Counts of a training set, and its labels per thousand computed tokens."""
    examples = [one for document in documents for one in document.examples]
    tokens = sum(document.tokens for document in documents)
    known = [one.tokens for one in examples if one.tokens is not None]
    return {
        "rows": len(examples),
        "fail": sum(one.fail for one in examples),
        "documents": len(documents),
        "tokens": tokens,
        "labels_per_1000_tokens": round(1000 * len(examples) / max(tokens, 1), 1),
        "labelled_tokens": sum(map(len, known)),
        "wrong_tokens": sum(map(sum, known)),
    }
