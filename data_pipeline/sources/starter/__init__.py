"""The bundled starter corpus: small fictional documents with gold answers, written for this project."""

import json
from collections.abc import Iterator
from pathlib import Path

from judge.files import read_jsonl
from judge.types import Label, Sample, Task

HERE = Path(__file__).parent
LICENCE = "Apache-2.0"


def _documents(language: str) -> Iterator[Sample]:
    """Questions with gold answers, and gold summaries, about the documents of one language."""
    for _, row in read_jsonl(HERE / f"{language}.jsonl"):
        meta = {"domain": row["domain"], "licence": LICENCE}
        for number, pair in enumerate(row["questions"], start=1):
            yield Sample(
                id=f"{row['id']}-q{number}",
                document=row["document"],
                question=pair["question"],
                answer=pair["answer"],
                task=Task.QA,
                language=row["language"],
                label=Label.PASS,
                source="starter_qa",
                group=row["id"],
                meta=meta,
            )
        if row["summary"] is not None:
            yield Sample(
                id=f"{row['id']}-summary",
                document=row["document"],
                answer=row["summary"],
                task=Task.SUMMARIZATION,
                language=row["language"],
                label=Label.PASS,
                source="starter_summarization",
                group=row["id"],
                meta=meta,
            )


def _records() -> Iterator[Sample]:
    """Data records with gold descriptions; the document is the record as indented JSON."""
    for _, row in read_jsonl(HERE / "records.jsonl"):
        yield Sample(
            id=row["id"],
            document=json.dumps(row["record"], ensure_ascii=False, indent=1),
            answer=row["description"],
            task=Task.DATA2TEXT,
            language="en",
            label=Label.PASS,
            source="starter_data2text",
            group=row["id"],
            meta={"domain": row["domain"], "licence": LICENCE},
        )


def _translations() -> Iterator[Sample]:
    """Translation pairs in both directions; the language of a sample is that of its translation."""
    for _, row in read_jsonl(HERE / "translation.jsonl"):
        for document, answer, language in ((row["zh"], row["en"], "en"), (row["en"], row["zh"], "zh")):
            yield Sample(
                id=f"{row['id']}-{language}",
                document=document,
                answer=answer,
                task=Task.TRANSLATION,
                language="zh" if language == "zh" else "en",
                label=Label.PASS,
                source="starter_translation",
                group=row["id"],
                meta={"domain": row["domain"], "licence": LICENCE},
            )


def load_starter() -> list[Sample]:
    """All gold samples of the starter corpus, each ``PASS``, grouped by document."""
    return [*_documents("en"), *_documents("zh"), *_records(), *_translations()]
