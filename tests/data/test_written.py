"""The bundled contrast pairs: their form, and that word overlap does not tell the right answers."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.written import HERE, load_written
from judge.baselines.overlap import overlap
from judge.files import read_jsonl
from judge.prompting.evidence import exact, quotes
from judge.types import Label, Sample, Task


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(load_written())


@pytest.mark.parametrize("file", sorted(HERE.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_pair_is_whole_and_its_evidence_is_in_the_document(file: Path) -> None:
    for line, row in read_jsonl(file):
        assert row["language"] in ("en", "zh")
        for pair in row["items"]:
            where = (line, pair["question"])
            assert all(text == text.strip() for text in pair.values()), where
            assert all(text for name, text in pair.items() if name != "question"), where
            assert pair["faithful"] != pair["hallucinated"], where
            assert pair["reason_faithful"] != pair["reason_hallucinated"], where
            assert all(part in row["document"] for part in pair["evidence"].split(" ... ")), where


def test_both_answers_of_a_pair_are_next_to_each_other(samples: list[Sample]) -> None:
    assert len({sample.id for sample in samples}) == len(samples)
    for one, other in zip(samples[::2], samples[1::2], strict=True):
        assert (one.label, other.label) == (Label.PASS, Label.FAIL)
        assert (one.group, one.question, one.document) == (other.group, other.question, other.document)
        assert one.task is (Task.QA if one.question else Task.SUMMARIZATION)


def test_an_answer_faithful_to_one_version_is_hallucinated_by_the_other(samples: list[Sample]) -> None:
    said: dict[tuple[str, str, str], set[tuple[str, str]]] = defaultdict(set)
    documents: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        assert sample.label is not None
        said[sample.group, sample.question, sample.answer].add((sample.document_text, sample.label.value))
        documents[sample.group].add(sample.document_text)
    assert all(len(texts) == 2 for texts in documents.values())
    assert len({text for texts in documents.values() for text in texts}) == sum(map(len, documents.values()))
    for found in said.values():
        assert len({document for document, _ in found}) == len({label for _, label in found}) == len(found)
    assert sum(len(found) == 2 for found in said.values()) > 0.8 * len(said)


def test_no_category_outweighs_the_others(samples: list[Sample]) -> None:
    counts = Counter(sample.meta["category"] for sample in samples)
    assert len(counts) >= 30
    assert counts.pop("arithmetic") < 0.12 * len(samples)  # what judges lack most, so it has files of its own
    assert max(counts.values()) < 0.1 * len(samples)


def test_word_overlap_does_not_favour_the_faithful_answers(samples: list[Sample]) -> None:
    pairs = list(zip(samples[::2], samples[1::2], strict=True))
    favoured = sum(overlap(faithful)[0] > overlap(hallucinated)[0] for faithful, hallucinated in pairs)
    assert favoured < 0.5 * len(pairs)


def test_a_source_gives_both_answers_and_their_reasonings() -> None:
    source = SourceConfig(kind="written", languages=["zh"], perturb=False)
    taken = list(read_source(source, 0, licences=["Apache-2.0"]))
    assert {sample.language for sample in taken} == {"zh"}
    assert 2 * sum(sample.label is Label.FAIL for sample in taken) == len(taken)
    assert all(sample.meta["reasoning"] for sample in taken)


def test_every_reasoning_begins_with_what_decides_in_the_document(samples: list[Sample]) -> None:
    for sample in samples:
        found = list(quotes(sample.meta["reasoning"]))
        evidence = " ".join(sample.meta["evidence"].split())
        assert exact(found[0], sample.document_text), sample.id
        assert found[0] in evidence, sample.id
        # All of the evidence is quoted, also if it has quotation marks of its own.
        assert _letters("".join(found)).startswith(_letters(evidence)), sample.id


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
