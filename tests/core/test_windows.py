"""Long documents in windows, and the rule that makes one verdict of many."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.base import Decoding, Generation, LabelRequest
from judge.judge import Judge
from judge.prompting.sentences import sentence_spans
from judge.prompting.windows import SMALLEST, Parts, part
from judge.types import Label, Message, Sample, Span, Usage, Verdict, verdict_from_json, verdict_to_json
from tests.core.test_judge import Scripted

P, F = Label.PASS, Label.FAIL


def long_document(sentences: int) -> str:
    return " ".join(
        f"Fact number {number} is that box {number} holds coin {number}." for number in range(sentences)
    )


class Reader(Scripted):
    """An engine that holds an answer faithful if every word of it stands in the document it is shown."""

    def __init__(self) -> None:
        super().__init__(context_length=1600)

    def supported(self, messages: Sequence[Message]) -> bool:
        content = messages[0]["content"]
        document = content.partition("<document>\n")[2].partition("\n</document>")[0]
        answer = content.partition("<answer>\n")[2].partition("\n</answer>")[0]
        return answer.strip(".") in document

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        found = [self.supported(request.messages) for request in requests]
        return [(-0.1, -2.0) if right else (-2.0, -0.1) for right in found]

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        replies = []
        for messages in conversations:
            score = "PASS" if self.supported(messages) else "FAIL"
            answer = messages[0]["content"].partition("<answer>\n")[2].partition("\n</answer>")[0].strip(".")
            text = json.dumps({"REASONING": f"It says '{answer}'.", "SCORE": score})
            replies.append(Generation(text, False, 5))
        return replies


def sample(answer: str, document: str = long_document(100)) -> Sample:
    return Sample("1", document, answer)


# --- sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            'Dr. Smith met J. K. Row 3.5 m away. He left! "Is it?" Yes\n\nline',
            ["Dr. Smith met J. K. Row 3.5 m away.", "He left!", '"Is it?"', "Yes", "line"],
        ),
        (
            "\u4e00\u3002\u4e8c\uff01\u201c\u4e09\uff1f\u201d\u56db",
            ["\u4e00\u3002", "\u4e8c\uff01", "\u201c\u4e09\uff1f\u201d", "\u56db"],
        ),
        ("It is so, e.g. here.  Then 3 left.", ["It is so, e.g. here.", "Then 3 left."]),
        (" \n ", []),
    ],
)
def test_sentences(text: str, wanted: list[str]) -> None:
    assert [text[span.start : span.end] for span in sentence_spans(text)] == wanted


@given(st.text(alphabet='aB .!?"\n\u3002\u6865', max_size=60))
def test_sentences_hold_the_whole_text_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join("".join(text[span.start : span.end] for span in spans).split()) == "".join(text.split())
    assert all(one.end <= two.start for one, two in pairwise(spans))


# --- windows ------------------------------------------------------------------------------------------------


@given(
    st.text(alphabet="ab .\n\u6865\u3002", min_size=1, max_size=3000).filter(str.strip),
    st.integers(SMALLEST, 1500),
)
def test_windows_cover_the_document_and_fit(document: str, room: int) -> None:
    def cut(item: Sample) -> int:
        return max(0, len(item.document_text) - room)

    found = part(sample("An answer.", document), cut)
    if len(document) <= room:
        assert not found.windows and list(found.samples()) == [found.sample]
        return
    assert found.windows[0].start == 0 and found.windows[-1].end == len(document)
    for one, two in pairwise(found.windows):
        assert one.start < two.start <= one.end < two.end
    assert all(cut(piece) == 0 for piece in found.samples())


def test_a_document_with_hardly_any_room_is_judged_as_it_is() -> None:
    found = part(sample("An answer."), lambda item: max(0, len(item.document_text) - SMALLEST + 1))
    assert len(found) == 1 and not found.windows


def test_the_marks_of_a_list_are_no_sentences() -> None:
    one = sample("The steps:\n1. Open it.\n2. Close it.")
    found = part(one, lambda item: max(0, len(item.document_text) - 1000))
    parts = [one.answer[span.start : span.end] for span in found.sentences]
    assert parts == ["The steps:", "1. Open it.", "2. Close it."]


# --- the rule -----------------------------------------------------------------------------------------------


def combined(grid: list[list[Verdict]]) -> Verdict:
    """The verdict of a grid: a row for each window, a column for each sentence."""
    text = " ".join(f"S{number}." for number in range(len(grid[0])))
    windows = tuple(Span(100 * number, 100 * number + 120) for number in range(len(grid)))
    parts = Parts(sample(text, "d" * 1000), windows, sentence_spans(text))
    assert len(parts.sentences) == len(grid[0])
    return parts.combine([verdict for row in grid for verdict in row])


def said(p_fail: float, **values: Any) -> Verdict:
    return Verdict(F if p_fail >= 0.5 else P, p_fail, usage=Usage(10, 1), **values)


def test_every_sentence_needs_one_window_that_supports_it() -> None:
    found = combined([[said(0.1), said(0.9)], [said(0.8), said(0.3)]])
    assert (found.label, found.p_fail, found.unsupported) == (P, 0.3, ())
    assert [(claim.window, claim.p_fail) for claim in found.claims] == [(0, 0.1), (1, 0.3)]
    assert found.usage == Usage(40, 4) and len(found.windows) == 2

    found = combined([[said(0.1), said(0.9)], [said(0.8), said(0.7)]])
    assert (found.label, found.p_fail) == (F, 0.7)
    [words] = found.unsupported
    assert Span(words.start, words.end) == found.claims[1].span and words.p == 0.7


def test_what_could_not_be_read_neither_supports_nor_condemns() -> None:
    unread = Verdict(None, error="no verdict in the output")
    assert combined([[said(0.1)], [unread]]).label is P
    found = combined([[said(0.9)], [unread]])
    assert (found.label, found.p_fail, found.error) == (None, None, "no verdict in the output")
    assert combined([[said(0.9), unread], [said(0.8), unread]]).label is F  # one wrong sentence is enough
    labels = combined([[Verdict(P), Verdict(F)], [Verdict(F), unread]])  # an engine that tells no probability
    assert [claim.p_fail for claim in labels.claims] == [0.0, None]


def test_quotes_are_placed_in_the_whole_document() -> None:
    found = combined([[said(0.9)], [said(0.1, evidence=(Span(5, 9),), reasoning="why")]])
    assert (found.evidence, found.reasoning) == ((Span(105, 109),), "why")
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(found)))) == found


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_probability_is_the_largest_of_the_smallest(grid: list[list[float]]) -> None:
    found = combined([[said(p) for p in row] for row in grid])
    assert found.p_fail == max(min(row[number] for row in grid) for number in range(3))
    assert found.label is (F if found.p_fail >= 0.5 else P)


# --- the judge ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["verdict", "reason"])
def test_evidence_at_the_end_of_a_long_document_is_found(mode: Any) -> None:
    judge = Judge(Reader(), mode=mode, max_new_tokens=40)
    right = sample("box 2 holds coin 2. Fact number 97 is that box 97 holds coin 97.")
    wrong = sample("box 2 holds coin 2. Fact number 97 is that box 97 holds coin 5.")
    short = sample("box 2 holds coin 3.", long_document(4))
    cut = judge.check([right])[0]
    assert cut.label is F and cut.cut_chars > 1000 and not cut.windows  # the end was never shown

    one, two, three = replace(judge, windows=True).check([right, wrong, short])
    assert (one.label, two.label, three.label) == (P, F, F)
    assert one.cut_chars == 0 and one.windows[-1].end == len(right.document_text)
    assert one.claims[0].window == 0 and one.claims[1].window == len(one.windows) - 1
    assert [words.text for words in two.unsupported] == ["Fact number 97 is that box 97 holds coin 5."]
    assert not three.windows and three == judge.check([short])[0]
    if mode == "reason":
        places = [right.document_text[span.start : span.end] for span in one.evidence]
        assert places == ["box 2 holds coin 2", "Fact number 97 is that box 97 holds coin 97"]


def test_pieces_are_judged_chunk_by_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.judge.CHUNK", {"verdict": 4, "reason": 4})
    sizes: list[int] = []

    class Counting(Reader):
        def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
            sizes.append(len(requests))
            return super().label_logprobs(requests)

    samples = [sample(long_document(3)), sample(f"{long_document(2)} It is made up.")]
    verdicts = Judge(Counting(), windows=True).check(samples)
    assert [verdict.label for verdict in verdicts] == [P, F]
    assert max(sizes) == 4 and sum(sizes) == sum(3 * len(verdict.windows) for verdict in verdicts)
