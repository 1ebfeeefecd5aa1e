"""Sentence by sentence: passages, and what is told."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.baselines.overlap import units
from judge.baselines.rules import TrivialBaseline
from judge.claims.checker import ClaimsJudge
from judge.claims.passages import LONGEST, nearest, passages
from judge.judge import Judge
from judge.prompting.sentences import claim_spans
from judge.types import Label, Sample, Span, Verdict, verdict_from_json, verdict_to_json
from tests.calling import Ran
from tests.made_up import verdict
from tests.scripted import Scripted

BRIDGE = (
    "The Tarn Bridge was designed by Ada Holst and opened in 1931, after nine years of quarrels about its "
    "cost and place. It replaced a ferry that had crossed the river for 200 years, and is 214 metres long "
    "between its towers. In 1987 a storm damaged the eastern pier, and the bridge was closed for five months."
)


def doubt(sample: Sample) -> Verdict:
    """Doubts an answer by the share of its words that the document lacks."""
    known = set(units(sample.document_text, sample.language))
    words = units(sample.answer, sample.language)
    return verdict(sum(word not in known for word in words) / len(words))


class Words(Scripted):
    chunk = 16

    def __init__(self, verdict_on: Callable[[Sample], Verdict] = doubt):
        super().__init__(verdict_on)

    def describe(self) -> dict[str, Any]:
        return {"model": "words", "prompt_hash": "w"}


def text_of(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[span.start : span.end] for span in spans]


# --- Sentences ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (
            "Do this:\n1. Open it.\n 2. Close it. Then go.",
            ["Do this:", "1. Open it.", "2. Close it.", "Then go."],
        ),
        ("- one\n\n* two\n***\n", ["- one", "* two\n***"]),
        ("a) One is so. B. Two is.", ["a) One is so.", "B. Two is."]),
        ("7.", ["7."]),
    ],
)
def test_the_marks_of_a_list_are_no_sentences(answer: str, wanted: list[str]) -> None:
    assert text_of(answer, claim_spans(answer)) == wanted


# --- Passages -----------------------------------------------------------------------------------------------


@given(st.text(alphabet='aB .!"\n\u3002\u6865', max_size=1200).filter(str.strip))
def test_passages_hold_the_whole_document_in_order(document: str) -> None:
    spans = passages(document)
    assert "".join("".join(text_of(document, spans)).split()) == "".join(document.split())
    assert all(one.end <= two.start for one, two in pairwise(spans))
    assert all(0 < span.end - span.start <= LONGEST for span in spans)


def test_the_passage_that_holds_a_sentences_words_is_nearest() -> None:
    spans = passages(BRIDGE)
    assert len(spans) == 3
    asked = ["A storm hit the pier.", "Ada Holst designed it.", "The bridge is 214 metres long.", "?"]
    assert nearest(BRIDGE, spans, asked, "en") == [2, 0, 1, 0]
    chinese = "大桥由霍尔斯特设计。" + "它长二百一十四米，取代了渡船。" * 12 + "一九八七年风暴损坏了东墩。"
    found = nearest(chinese, passages(chinese), ["风暴损坏了东墩", "霍尔斯特设计"], "zh")
    assert found == [len(passages(chinese)) - 1, 0]


# --- What is told -------------------------------------------------------------------------------------------

ANSWER = "Ada Holst designed the bridge. Lindmoor sued everybody loudly. A storm damaged the pier."


def test_every_sentence_has_its_probability_and_its_passage() -> None:
    judge = Words()
    some = [
        Sample(f"s{number}", BRIDGE, ANSWER if number % 2 else "It opened in 1931.", label=Label.FAIL)
        for number in range(9)
    ]
    verdicts = ClaimsJudge(judge).check(some)
    asked = [piece for chunk in judge.asked for piece in chunk]
    assert len(asked) == 5 + 4 * (1 + 3)  # an answer of one sentence is judged once
    assert all(piece.label is None for piece in asked if piece.answer not in (ANSWER, some[0].answer))
    for sample, found in zip(some, verdicts, strict=True):
        [plain] = Words().check([sample])
        assert found == replace(plain, windows=found.windows, claims=found.claims)
        assert text_of(BRIDGE, found.windows) == text_of(BRIDGE, passages(BRIDGE))
    told = verdicts[1]
    assert [claim.window for claim in told.claims] == [0, told.claims[1].window, 2]
    assert [(claim.p_fail or 0) >= 0.5 for claim in told.claims] == [False, True, False]
    assert text_of(ANSWER, [told.claims[1].span]) == ["Lindmoor sued everybody loudly."]
    assert verdicts[0].claims[0].p_fail == verdicts[0].p_fail
    assert verdict_from_json(json.loads(json.dumps(verdict_to_json(told)))) == told
    [empty] = ClaimsJudge(TrivialBaseline("baseline:always-fail")).iter_check([Sample("e", "", " ")])
    assert empty.p_fail == 1 and not empty.claims


def test_sentences_are_read_in_verdict_mode(tiny_backend: Callable[..., Any]) -> None:
    """A reasoning for every sentence would take minutes."""
    judge = Judge(tiny_backend("chatml"), mode="reason", max_new_tokens=3)
    sample = Sample("s", BRIDGE, ANSWER)
    [found] = ClaimsJudge(judge).check([sample])
    [plain] = judge.check([sample])
    assert found == replace(plain, windows=found.windows, claims=found.claims)
    parts = [replace(sample, answer=text) for text in text_of(ANSWER, claim_spans(ANSWER))]
    wanted = replace(judge, mode="verdict").check(parts)
    told = [claim.p_fail for claim in found.claims]
    # In other batches float32 rounds otherwise, by up to 1e-6 on some processors.
    assert told == pytest.approx([verdict.p_fail for verdict in wanted], abs=1e-5)


def test_sentences_that_are_not_read_have_no_probability() -> None:
    def unread(sample: Sample) -> Verdict:
        if sample.answer != ANSWER and sample.answer.startswith("A storm"):
            return Verdict(None, error="unread")
        return doubt(sample)

    sample = Sample("s", BRIDGE, ANSWER)
    [found] = ClaimsJudge(Words(unread)).check([sample])
    assert [claim.p_fail is None for claim in found.claims] == [False, False, True]
    assert found.p_fail == Words().check([sample])[0].p_fail


# --- Commands -----------------------------------------------------------------------------------------------


def test_check_names_every_sentence(tmp_path: Path, ran: Ran) -> None:
    bridge = tmp_path / "bridge.txt"
    bridge.write_text(BRIDGE)
    asked = ("check", "--model", "baseline:always-fail", "--document", f"@{bridge}", "--answer", ANSWER)
    lines = ran(*asked, "--claims").out.splitlines()
    assert lines[0] == "FAIL (hallucinated, p(FAIL) = 1.000)"
    assert "doubt about each sentence, 0 to 1 (the verdict is on the answer as a whole):" in lines
    assert lines[-2] == "1.000  A storm damaged the pier."
    assert lines[-1].startswith("       document: In 1987 a storm")
    assert sum("FAIL" in line or "PASS" in line for line in lines) == 1  # one verdict, on the answer
    claims = json.loads(ran(*asked, "--claims", "--json").out)["claims"]
    assert [sorted(claim) for claim in claims] == [["p_fail", "span", "window"]] * 3
