"""Quotes of a reasoning, found in the document and in the answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.prompting.evidence import alike, cite, exact, quotes
from judge.types import Label, Span, Unsupported, Verdict, verdict_from_json, verdict_to_json

DOCUMENT = (
    "The Tarn Bridge was designed by Ada Holst and opened on 3 May 1931.\n"
    "It replaced a ferry and is 214 metres long."
)
ANSWER = "Ada Holst designed it in 1932, in 1932!"


def cited(
    reasoning: str, label: Label | None = Label.FAIL, document: str = DOCUMENT, answer: str = ANSWER
) -> tuple[list[str], list[str]]:
    evidence, unsupported = cite(document, answer, label, reasoning)
    return (
        [document[span.start : span.end] for span in evidence],
        [answer[span.start : span.end] for span in unsupported],
    )


@pytest.mark.parametrize(
    ("reasoning", "evidence", "unsupported"),
    [
        ('It says "opened on 3 May 1931."', ["opened on 3 May 1931"], []),
        ("\u201ctarn bridge\u201d, \u2018Ada Holst\u2019", ["Tarn Bridge", "Ada Holst"], []),
        ("the dog's 'replaced a ferry' isn't 'long'", ["replaced a ferry", "long"], []),
        ('"1931. It replaced"', ["1931.\nIt replaced"], []),  # white space of another kind
        ('"It replaced ... 214 metres long"', ["It replaced", "214 metres long"], []),
        ('"1931", not "in 1932"', ["1931"], ["in 1932", "in 1932"]),
        ('"193" is not a word and "1940" in neither', [], []),
        ('"Bridge was planned by Ada Holst"', ["Bridge was designed by Ada Holst"], []),
        ('"was designed by a man of that name"', [], []),  # too little alike
        ('"replaced the tram"', [], []),  # too short to be looked for but word for word
        ('"Ada Holst has designed it in 1932"', [], ["Ada Holst designed it in 1932"]),
        ('"" nothing "', [], []),
    ],
)
def test_what_is_quoted_is_found(reasoning: str, evidence: list[str], unsupported: list[str]) -> None:
    assert cited(reasoning) == (evidence, unsupported)


def test_chinese_has_no_edges_between_words() -> None:
    document = "\u6865\u4e8e1931\u5e74\u5f00\u653e\u3002\u5b83\u53d6\u4ee3\u4e86\u6e21\u8f6e\u3002"
    answer = "\u5b83\u4e8e1932\u5e74\u5f00\u653e"
    reasoning = (
        "\u201c1931\u5e74\u201d\uff0c\u7b54\u6848\u8bf4\u201c1932\u5e74\u201d\uff0c"
        "\u300c\u5b83\u53d6\u4ee3\u4e00\u4e86\u6e21\u8f6e\u300d"  # one character too many
    )
    found = cited(reasoning, document=document, answer=answer)
    assert found == (["1931\u5e74", "\u5b83\u53d6\u4ee3\u4e86\u6e21\u8f6e"], ["1932\u5e74"])


@pytest.mark.parametrize("label", [Label.PASS, None])
def test_only_a_fail_says_that_something_is_unsupported(label: Label | None) -> None:
    assert cited('"1931" and "in 1932"', label) == (["1931"], [])


words = st.lists(
    st.sampled_from(["alpha", "beta", "gamma", "delta", "12", "\u6865"]), min_size=1, max_size=12
)


@given(words, words, words)
def test_a_quote_of_the_document_is_always_found_there(
    before: list[str], quoted: list[str], after: list[str]
) -> None:
    quote = " ".join(quoted)
    document = " ".join([*before, quote, *after])
    [span] = cite(document, "an answer", Label.PASS, f'It says "{quote}".')[0]
    assert document[span.start : span.end] == quote


@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=200))
def test_any_text_gives_places_within_the_texts(document: str, answer: str, reasoning: str) -> None:
    for text, spans in zip((document, answer), cite(document, answer, Label.FAIL, reasoning), strict=True):
        assert all(0 <= span.start < span.end <= len(text) for span in spans)
        assert list(spans) == sorted(set(spans), key=lambda span: (span.start, span.end))


@given(words, st.integers(0, 11))
def test_what_is_alike_shares_words_with_the_quote(quoted: list[str], gone: int) -> None:
    changed = [word for number, word in enumerate(quoted) if number != gone]
    span = alike(" ".join(changed), text := " ".join(["other", *quoted, "other"]))
    if span is not None:
        shared = text[span.start : span.end].split()
        assert set(shared) & set(changed)
    elif 8 <= len(changed) < len(quoted):  # one word of nine left out is always alike enough
        pytest.fail("a quote with one word left out was not found")


def test_long_texts_take_no_time() -> None:
    document = ("word " * 5 + "other thing ") * 20_000
    start = time.process_time()
    alike("other word thing word missing words of all kinds", document)
    list(quotes("'a \"b " * 2_000))
    exact("word other word", document)
    assert time.process_time() - start < 5


def test_places_go_through_json() -> None:
    plain = Verdict(Label.PASS, 0.25, raw="PASS")
    assert "evidence" not in verdict_to_json(plain) and verdict_from_json(verdict_to_json(plain)) == plain
    full = Verdict(
        Label.FAIL,
        0.75,
        evidence=(Span(1, 2),),
        unsupported=(Unsupported("b", 3, 4), Unsupported("word", 5, 9, 0.5)),
    )
    assert verdict_from_json(verdict_to_json(full)) == full
