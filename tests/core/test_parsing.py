"""The verdict parser: what counts as a verdict, what does not, and that it never guesses or raises."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.prompting.parsing import parse
from judge.prompting.prompts import KEYS, LABEL_WORDS, REPLY, format_judgement
from judge.types import LANGUAGES, MODES, Label, Language, Mode

P, F = Label.PASS, Label.FAIL

READABLE = [
    # bare words
    ("PASS", P),
    ("FAIL", F),
    (" Fail.\n", F),
    ("**PASS**", P),
    ('"FAIL"', F),
    ("通过", P),
    ("“通过”", P),
    # JSON
    ('{"REASONING": "all there", "SCORE": "PASS"}', P),
    ('{"reasoning": "x", "score": "fail"}', F),
    ('{"SCORE": " pass "}', P),
    ('{"SCORE": "PASS", "REASONING": "label first"}', P),
    ('```json\n{"REASONING": "x", "SCORE": "FAIL"}\n```', F),
    ('Here it is:\n{"REASONING": "x", "SCORE": "PASS"}\nDone.', P),
    ('{"REASONING": ["one", "two"], "SCORE": "FAIL"}', F),
    ('{"REASONING": "a\nraw line break", "SCORE": "PASS"}', P),
    ('{"REASONING": "braces {in} text", "SCORE": "PASS"}', P),
    ('{"推理过程": "一致", "判断": "通过"}', P),
    ('{"REASONING": "x", "SCORE": "通过"}', P),
    ('{"判断"："失败"}', F),
    ("{“推理过程”：“一致”，“判断”：“通过”}", P),
    ("判断：失败", F),
    ("最终判断：通过", P),
    # broken JSON with a readable score
    ('{"REASONING": "he said "no" to it", "SCORE": "FAIL"}', F),
    ('{"REASONING": "it is", "SCORE": PASS}', P),
    ('{"REASONING": "it is", "SCORE": "FAIL"', F),
    ("{REASONING: it is, SCORE: FAIL}", F),
    ("The answer is made up.\nSCORE: FAIL", F),
    # several verdicts that agree
    ('{"SCORE": "PASS"} {"SCORE": "PASS"}', P),
    ("SCORE: FAIL\nSCORE: FAIL\n", F),
    # nested objects
    ('{"result": {"REASONING": "x", "SCORE": "PASS"}}', P),
    ('{"REASONING": {"a": "b"}, "SCORE": "FAIL"}', F),
    # what the reasoning says about scores is not a verdict
    ('{"REASONING": "one would say SCORE: FAIL, but no", "SCORE": "PASS"}', P),
    ('{"REASONING": "\\"SCORE\\": \\"FAIL\\"", "SCORE": "PASS"}', P),
    ('{"推理过程": "判断：失败", "判断": "通过"}', P),
]

UNREADABLE = [
    "", "   \n", "I cannot tell.", "PASSED", "FAILURE", "bypass", "PASS FAIL", "PASS or FAIL",
    "PASS, since the document says so", "通过还是失败", "未通过", "不通过", '{"SCORE": "PASSED"}',
    '{"SCORE": "FAILURE"}', '{"SCORE": "bypass"}', '{"SCORE": null}', '{"SCORE": true}', '{"SCORE": 1}',
    '{"SCORE": ["PASS"]}', '{"SCORE": ["PASS", "FAIL"]}', '{"REASONING": "the answer would PASS"}',
    '{"REASONING": "it is all the', '{"REASONING": "it is", "SCORE": "PA',
    '{"REASONING": "it is", "SCORE": "PASS" or "FAIL"}', '["PASS"]', "F1_SCORE: PASS", "underscore: FAIL",
    "判断：不通过", "SCORE is PASS", "SCORE: PASS or FAIL", REPLY["en"]["verdict"], REPLY["en"]["reason"],
    REPLY["zh"]["verdict"], REPLY["zh"]["reason"], '{"SCORE": ' + "9" * 5000 + "}", "{" * 10_000,
    '{"REASONING": "x", "SCORE": "PASS, but FAIL in part"}', '{"SCORE": "FAIL, PASS"}',
    '{"REASONING": "it is", "SCORE": "PASS', '{"a":' * 2_000, '{"REASONING": ' + "[" * 10_000,
]  # fmt: skip

DISAGREEING = [
    '{"SCORE": "PASS"} {"SCORE": "FAIL"}',
    '{"SCORE": "PASS", "SCORE": "FAIL"}',
    '{"SCORE": "PASS", "score": "FAIL"}',
    '{"SCORE": "PASS", "判断": "失败"}',
    '{"draft": {"SCORE": "FAIL"}, "SCORE": "PASS"}',
    '{"SCORE": "PASS"}\nSCORE: FAIL',
    "判断：通过\n判断：失败",
    '{"REASONING": "a "b" c", "SCORE": "PASS"} {"SCORE": "FAIL"}',
]


@pytest.mark.parametrize(("completion", "label"), READABLE)
def test_readable(completion: str, label: Label) -> None:
    parsed = parse(completion)
    assert (parsed.label, parsed.error) == (label, None)
    if parsed.label_start is not None:
        words = tuple(words[label] for words in LABEL_WORDS.values())
        assert completion[parsed.label_start :].upper().startswith(words)


@pytest.mark.parametrize("completion", UNREADABLE, ids=lambda text: repr(text[:40]))
def test_unreadable(completion: str) -> None:
    parsed = parse(completion)
    assert parsed.label is None and parsed.label_start is None
    assert parsed.error == ("no verdict in the output" if completion.strip() else "empty output")


@pytest.mark.parametrize("completion", DISAGREEING)
def test_verdicts_that_disagree_are_none(completion: str) -> None:
    assert (parse(completion).label, parse(completion).error) == (
        None,
        "the output holds verdicts that disagree",
    )


def test_reasoning_is_read() -> None:
    assert parse("REASONING: it says\n30 days.\nSCORE: PASS").reasoning == "it says\n30 days."
    assert parse("推理过程：与文档一致。\n判断：通过").reasoning == "与文档一致。"
    assert parse("My reasoning: none.\nSCORE: PASS").reasoning is None
    assert parse('{"REASONING": "because", "SCORE": "PASS"}').reasoning == "because"
    assert parse('{"REASONING": ["one", "two", 3], "SCORE": "PASS"}').reasoning == "one\ntwo\n3"
    assert parse('{"SCORE": "PASS"}').reasoning is None
    assert parse("PASS").reasoning is None


pieces = st.sampled_from([*'{}[]":,\\：x\n', "SCORE", "REASONING", "判断", "PASS", "FAIL", "通过"])


@settings(max_examples=200)
@given(
    reasoning=st.text() | st.lists(pieces, max_size=25).map("".join),
    label=st.sampled_from(list(Label)),
    language=st.sampled_from(LANGUAGES),
    mode=st.sampled_from(MODES),
)
def test_what_training_teaches_can_be_read(
    reasoning: str, label: Label, language: Language, mode: Mode
) -> None:
    reply = format_judgement(mode, language, label, reasoning)
    parsed = parse(reply)
    assert parsed.label is label and parsed.error is None
    assert parsed.reasoning == (reasoning if mode == "reason" else None)
    assert parsed.label_start is not None
    word = LABEL_WORDS[language][label]
    assert parsed.label_start == reply.rindex(word)
    assert reply[parsed.label_start :] == (word if mode == "verdict" else f'{word}"}}')


def test_the_reasoning_comes_first() -> None:
    for language in LANGUAGES:
        assert tuple(json.loads(format_judgement("reason", language, P, "x"))) == KEYS[language]
