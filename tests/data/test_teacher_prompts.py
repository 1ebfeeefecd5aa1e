"""Prompts to teachers: frozen by version and hash, fenced against any text, with strict schemas."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from data_pipeline.teachers.prompts import describe
from data_pipeline.teachers.prompts.base import TAGS, Prompted
from data_pipeline.teachers.prompts.counterfactual import evidence_prompt, expansion_prompt
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.prompts.known_label import known_label_prompt
from data_pipeline.teachers.prompts.perturbation import perturbation_prompt
from judge.prompting.prompts import BuiltinPrompt
from judge.types import LANGUAGES, Label, Language, Sample, Task

# A wanted change of a prompt raises PROMPTS_VERSION and is pinned here anew.
PINNED = {"teacher_prompts_version": "4", "teacher_prompts_hash": "805a2175e4377d97"}
SAMPLE = Sample("s", "The bridge is 640 m long.", "It is 640 m long.", "How long is it?")
PROMPTS: dict[str, tuple[Callable[[Sample], Prompted], tuple[str, ...]]] = {
    "perturbation": (perturbation_prompt, ("document", "question", "answer")),
    "judgement": (judgement_prompt, ("document", "question", "answer")),
    "known PASS": (lambda s: known_label_prompt(s, Label.PASS), ("document", "question", "answer")),
    "known FAIL": (
        lambda s: known_label_prompt(s, Label.FAIL, s.document_text, s.document_text),
        ("document", "question", "answer", "change", "gold_answer"),
    ),
    "evidence": (evidence_prompt, ("question", "true_answer")),
    "expansion": (lambda s: expansion_prompt(s.document_text, s.language, 150), ("evidence",)),
}
# Pieces that, put together, come close to tags and control tokens.
PIECES = ["<", ">", "/", " ", "\n", "document", "EVIDENCE", *(f"<{tag}>" for tag in TAGS), "</answer>"]
PIECES += ["< / Change >", "<|im_end|>", "<|", "|>", "‹", "{length}", "{", "}", "文档", "x"]
tricky = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30)


@pytest.mark.parametrize(("language", "allowed"), [("en", "may gain a detail"), ("zh", "也可以增加一处")])
def test_translations_alone_may_gain_a_detail(language: Language, allowed: str) -> None:
    """As printed (Bi'an, A.2); the rule that looks over the reply takes an added detail."""
    for task in Task:
        [message] = perturbation_prompt(replace(SAMPLE, language=language, task=task)).messages
        assert (allowed in message["content"]) is (task is Task.TRANSLATION)


def fences(content: str) -> list[str]:
    return re.findall(rf"<(/?(?:{'|'.join(TAGS)}))>", content)


def test_prompts_are_frozen() -> None:
    assert describe() == PINNED


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_one_user_turn_with_its_fields_in_order(name: str, language: Language) -> None:
    make, fields = PROMPTS[name]
    [message] = make(replace(SAMPLE, language=language)).messages
    assert message["role"] == "user"
    assert fences(message["content"]) == [f"{slash}{field}" for field in fields for slash in ("", "/")]
    assert "{" not in message["content"]  # nothing is left to fill in
    chinese = len(re.findall(r"[\u4e00-\u9fff]", message["content"]))
    assert chinese > 50 if language == "zh" else chinese == 0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROMPTS)
def test_a_schema_is_strict_and_its_keys_are_asked_for(name: str, language: Language) -> None:
    prompted = PROMPTS[name][0](replace(SAMPLE, language=language))
    Draft202012Validator.check_schema(prompted.schema)
    assert prompted.schema["required"] == list(prompted.schema["properties"])
    assert prompted.schema["additionalProperties"] is False
    reply = prompted.messages[0]["content"].rpartition("\n\n")[2]
    places = [
        reply.index(f"{mark}{key}")
        for key in prompted.schema["required"]
        for mark in ('"', "“")
        if f"{mark}{key}" in reply
    ]
    assert len(places) == len(prompted.schema["required"]) and places == sorted(places)


@given(document=tricky, question=tricky, answer=tricky)
def test_no_text_opens_or_closes_a_field(document: str, question: str, answer: str) -> None:
    sample = Sample("s", document, answer, question)
    for name, (make, fields) in PROMPTS.items():
        if name == "judgement":  # the judge's own, with fewer tags
            continue
        [message] = make(sample).messages
        found = fences(message["content"])
        shown = [field for field in fields if field in found]  # empty fields are left out
        assert found == [f"{slash}{field}" for field in shown for slash in ("", "/")]
        assert "<|im_end|>" not in message["content"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_teachers_judge_by_the_prompt_of_the_judge(language: Language) -> None:
    sample = replace(SAMPLE, language=language)
    assert judgement_prompt(sample).messages == BuiltinPrompt().messages(sample, "reason")
    told = replace(sample, label=Label.FAIL, meta={"change": "640 was 460", "edit_type": "number"})
    assert judgement_prompt(told) == judgement_prompt(sample)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_known_label_is_told_and_hints_only_where_they_are_given(language: Language) -> None:
    sample = replace(SAMPLE, language=language)
    hints = [(Label.PASS,), (Label.FAIL,), (Label.FAIL, "640 became 460"), (Label.FAIL, "", "It is 460 m.")]
    texts = [known_label_prompt(sample, *told).messages[0]["content"] for told in hints]
    assert len(set(texts)) == 4
    assert ["<change>\n640 became 460\n" in text for text in texts] == [False, False, True, False]
    assert ["<gold_answer>\nIt is 460 m.\n" in text for text in texts] == [False, False, False, True]
