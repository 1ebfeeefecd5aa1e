"""Bundled contrast pairs: everyday documents, and to each question a faithful and a hallucinated answer.

Every document comes in two versions, ``a`` and ``b``. What is faithful to one is hallucinated by the other,
so that an answer alone does not tell its label. A large language model wrote them for this project, and
readers without the labels checked them (docs/research/written-pairs.md). The documents are fictional.
"""

from collections.abc import Iterator
from pathlib import Path

from judge.files import read_jsonl
from judge.prompting.evidence import quoted
from judge.types import Label, Language, Sample, Task

HERE = Path(__file__).parent
LICENCE = "Apache-2.0"
ANSWERS = {Label.PASS: "faithful", Label.FAIL: "hallucinated"}
"""The field of a pair that holds the answer of each label; its reasoning is in ``reason_`` and this name."""


def load_written() -> Iterator[Sample]:
    """Both answers of every pair, next to each other; the versions of a document are one group."""
    for file in sorted(HERE.glob("*.jsonl")):
        for _, row in read_jsonl(file):
            for number, pair in enumerate(row["items"], start=1):
                for label, field in ANSWERS.items():
                    yield Sample(
                        id=f"written-{row['id']}-{number}-{label.value.lower()}",
                        document=row["document"],
                        question=pair["question"],
                        answer=pair[field],
                        task=Task.QA if pair["question"] else Task.SUMMARIZATION,
                        language=row["language"],
                        label=label,
                        source="written",
                        group=f"written-{row['id'][:-1]}",
                        meta={
                            "domain": row["domain"],
                            "category": pair["category"],
                            "evidence": pair["evidence"],
                            "reasoning": reasoning(
                                pair["evidence"], pair[f"reason_{field}"], row["language"]
                            ),
                            "licence": LICENCE,
                        },
                    )


def reasoning(evidence: str, reason: str, language: Language) -> str:
    """First what the document says, word for word, then the reason, so that a judge shows its evidence."""
    quote = quoted(" ".join(evidence.split()), language)
    return f"{quote} {reason}" if language == "en" else f"{quote}{reason}"
