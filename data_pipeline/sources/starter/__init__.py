"""The bundled starter corpus: small fictional documents with gold answers, written for this project."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.files import read_jsonl
from judge.types import Label, Sample, Task

HERE = Path(__file__).parent
LICENCE = "Apache-2.0"
Row = Mapping[str, Any]


def _gold(
    row: Row, source: str, name: str, document: str, answer: str, question: str = "", language: str = "en"
) -> Sample:
    """A gold sample of a row; ``source`` is also its task."""
    return Sample(
        id=name,
        document=document,
        question=question,
        answer=answer,
        task=Task(source),
        language="zh" if language == "zh" else "en",
        label=Label.PASS,
        source=f"starter_{source}",
        group=row["id"],
        meta={"domain": row["domain"], "licence": LICENCE},
    )


def _documents(language: str) -> Iterator[Sample]:
    """Questions with gold answers, and gold summaries, about the documents of one language."""
    for _, row in read_jsonl(HERE / f"{language}.jsonl"):
        name, document = row["id"], row["document"]
        for number, pair in enumerate(row["questions"], start=1):
            yield _gold(row, "qa", f"{name}-q{number}", document, pair["answer"], pair["question"], language)
        if row["summary"] is not None:
            yield _gold(row, "summarization", f"{name}-summary", document, row["summary"], "", language)


def _records() -> Iterator[Sample]:
    """Data records with gold descriptions; the document is the record as indented JSON."""
    for _, row in read_jsonl(HERE / "records.jsonl"):
        document = json.dumps(row["record"], ensure_ascii=False, indent=1)
        yield _gold(row, "data2text", row["id"], document, row["description"])


def _translations() -> Iterator[Sample]:
    """Translation pairs in both directions; the language of a sample is that of its translation."""
    for _, row in read_jsonl(HERE / "translation.jsonl"):
        for document, answer, language in ((row["zh"], row["en"], "en"), (row["en"], row["zh"], "zh")):
            yield _gold(row, "translation", f"{row['id']}-{language}", document, answer, "", language)


def load_starter() -> list[Sample]:
    """All gold samples of the starter corpus, each ``PASS``, grouped by document."""
    return [*_documents("en"), *_documents("zh"), *_records(), *_translations()]
