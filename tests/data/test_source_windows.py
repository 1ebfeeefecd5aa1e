"""Articles become windows that hold their answers whole; sides of sets that are measured with too."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.windows import count_tokens, window
from judge.formats.files import group_of
from judge.formats.shared import HALUBENCH, halubench_side, side_of


def article(sentences: int, name: str = "") -> str:
    return " ".join(
        f"Fact {name}{number} is that box {number} holds coin {number}." for number in range(sentences)
    )


@given(st.integers(1, 120), st.integers(10, 400), st.data())
def test_a_window_holds_its_span_and_is_no_longer_than_asked(
    sentences: int, tokens: int, data: st.DataObject
) -> None:
    text = article(sentences)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(start + 80, len(text))))
    found = window(text, start, end, tokens)
    assert text[start:end] in found and found in text
    longest = max(count_tokens(f"{part}.") for part in text.split("."))
    # Three sentences where the span lies in three and the window is too small for them.
    assert count_tokens(found) <= max(tokens, 3 * longest + 2)
    if count_tokens(text) <= tokens:
        assert found == text


def test_spans_stand_in_the_middle_half_and_share_windows() -> None:
    text = article(200)
    tokens, found = 300, []
    for number in range(20, 180):
        span = f"box {number} holds"
        start = text.index(span)
        part = window(text, start, start + len(span), tokens)
        place = part.index(span) / len(part)
        assert 0.15 < place < 0.85 and part.startswith("Fact") and part.endswith(".")
        found.append(part)
    assert len(set(found)) < 40


def test_chinese_is_counted_by_characters() -> None:
    assert count_tokens("奥斯陆有两条河。") == 8
    assert count_tokens("coronavirus in 2020") == 3 + 1 + 4


def squad_file(folder: Path, text: str, numbers: range, shift: int = 0) -> Path:
    asked = [
        {
            "id": f"q{number}",
            "question": f"What does box {number} hold?",
            "answers": [{"text": f"coin {number}", "answer_start": text.index(f"coin {number}.") + shift}],
        }
        for number in numbers
    ]
    content = {"data": [{"title": "t", "paragraphs": [{"context": text, "qas": asked}]}]}
    path = folder / "articles.json"
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("shift", [0, 3, -4])
def test_sources_in_squads_form_are_windowed(tmp_path: Path, shift: int) -> None:
    """Also where the file's offsets are off by some characters; the group stays the article's."""
    text = article(100)
    source = SourceConfig(
        kind="squad", path=str(squad_file(tmp_path, text, range(5, 100, 9), shift)), window_tokens=120
    )
    samples = list(read_source(source, 0))
    for sample in samples:
        assert f"holds {sample.answer}." in sample.document_text and count_tokens(sample.document_text) <= 120
        assert sample.group == group_of(text)
    form = source.model_copy(update={"form": "unanswerable"})
    assert [sample.document for sample in read_source(form, 0)] == [sample.document for sample in samples]
    whole = list(read_source(source.model_copy(update={"window_tokens": 10**6}), 0))
    assert {sample.document for sample in whole} == {text}


def test_sides_part_a_set_alike_on_both_sides() -> None:
    """Whatever the case, the marks and the end of a document; HaluBench's rows are where their source's
    are."""
    rng = random.Random(0)
    texts = [" ".join(f"w{rng.randrange(10**6)}" for _ in range(40)) for _ in range(1000)]
    sides = [side_of("covid_qa", text) for text in texts]
    assert 430 < sides.count("source") < 570
    assert sides == [
        side_of("covid_qa", f"  {text.upper().replace(' ', ' - ', 3)} and more") for text in texts
    ]
    assert sides != [side_of("pubmedqa", text) for text in texts]
    assert sides == [halubench_side("covidQA", text) for text in texts] and set(HALUBENCH.values()) <= {
        "covid_qa",
        "pubmedqa",
    }
    assert {halubench_side("DROP", text) for text in texts} == {"benchmark"}
