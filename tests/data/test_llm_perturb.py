"""Perturbation by a chat model: what the rules let through, what they refuse and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import MAX_EDITS, Rejected, verify
from data_pipeline.sources.starter import load_starter
from data_pipeline.teachers.llm import LLMTeacher
from data_pipeline.teachers.perturbing import in_form
from data_pipeline.teachers.reasoning import explain
from judge.types import Label, Language, Sample
from tests.data.scripted import REFUSED, scripted

BRIDGE = "The bridge was opened on 4 March 1931 by Mira Holst. Jon Abel beat Ruth Calder in 1948."
LAKE = "林嘉禾一生制琴约620把，从不使用机器。贺松涛卖出480把。"


def gold(answer: str, language: Language = "en") -> Sample:
    return Sample("g", BRIDGE if language == "en" else LAKE, answer, language=language, label=Label.PASS)


# language, gold answer, new answer, edit type, replaced, inserted
CLEAN: list[tuple[Language, str, str, str, str, str]] = [
    ("en", "It was opened on 4 March 1931.", "It was opened on 7 May 1931.", "date", "4 March", "7 May"),
    ("en", "It cost 5,870 crowns.", "It cost 5,780 crowns.", "number", "5,870", "5,780"),
    ("en", "It was by Mira Holst.", "It was by Jon Abel.", "entity", "Mira Holst", "Jon Abel"),
    ("en", "The bridge was built.", "The bridge was not built.", "negation", "was", "was not"),
    ("en", "The bridge was not built.", "The bridge was built.", "negation", "was not", "was"),
    ("en", "It didn’t open.", "It did open.", "negation", "didn’t", "did"),
    ("en", "The road is longer.", "The road is shorter.", "comparative", "longer", "shorter"),
    ("en", "The mayor opened it.", "The baker opened it.", "other", "mayor", "baker"),
    ("en", "The mayor came to the hall.", "The mayor came to the hall unseen.", "addition", "", "unseen"),
    ("en", "Abel beat Calder.", "Calder beat Abel.", "entity", "Abel", "Calder"),
    ("en", "No.", "Yes.", "negation", "No", "Yes"),
    ("zh", "他一生制琴约620把。", "他一生制琴约480把。", "number", "620", "480"),
    ("zh", "他没有使用机器。", "他使用了机器。", "negation", "他没有", "他"),
    ("zh", "价格低于620元。", "价格高于620元。", "other", "低", "高"),
]  # fmt: skip
REFUSED_ANSWERS: list[tuple[str, Language, str, str]] = [
    ("empty", "en", "It is old.", "..."),
    ("same", "en", "It is old.", "It is  old"),
    ("another language", "en", "It is old.", "它很旧。"),
    ("another language", "zh", "它很旧。", "It is old."),
    ("length", "en", "It is old.", "It is old, and it has been the longest of the whole country."),
    ("length", "en", "It is old and the longest of all in the country.", "It is new."),
    ("stands in the document", "en", "The bridge was opened by Jon Abel in 1948.",
     "The bridge was opened on 4 March 1931 by Mira Holst."),
    ("too many edits", "en", "The mayor of Tarrow opened it in May before the war.",
     "The baker of Tarrow closed it in June before the storm."),
    ("another sentence", "en", "Prague is home to about 1.4 million people.",
     'The answer is a wrong sentence about "Prague".'),
    ("another sentence", "en", "the first tracks, all recorded in August, were outtakes from the album",
     "a Danish singer wrote most songs on her second record for her mother"),
    ("another sentence", "zh", "这座桥于1931年由王明设计建成。", "昨天晚上许多孩子去看了新电影。"),
    ("left out", "en", "The old bridge is long.", "The bridge is long."),
    ("paraphrase", "en", "It was opened in 1931.", "In 1931, it opened."),
    ("paraphrase", "en", "There were three boats.", "There were 3 boats."),
    ("paraphrase", "en", "It wasn't built.", "It was not built."),
    ("paraphrase", "en", "Jon Abel and Ruth Calder came.", "Ruth Calder and Jon Abel came."),
    ("paraphrase", "en", "In 1931 it opened in Tarrow.", "In Tarrow it opened in 1931."),
    ("paraphrase", "zh", "他一生制琴三把。", "他一生制琴3把。"),
    ("paraphrase", "zh", "他于1971年进入公司。", "他在1971年进入了公司。"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "old", "new", "kind", "replaced", "inserted"), CLEAN)
def test_a_clean_wrong_answer_becomes_a_perturbation(
    language: Language, old: str, new: str, kind: str, replaced: str, inserted: str
) -> None:
    ask = scripted([{"new_answer": new, "change_made": "so"}])
    [found] = LLMTeacher("m", ask).perturb([gold(old, language)])
    assert isinstance(found, Edit), found
    assert (found.answer, found.edit_type, found.change) == (new, kind, "so")
    assert (found.replaced, found.inserted) == (replaced, inserted)
    meta = {"edit_type": kind, "replaced": replaced, "inserted": inserted}
    edited = Sample("t", old, new, language=language, label=Label.FAIL, meta=meta)
    assert inserted in (explain(edited) or inserted)  # the reasoning for a known label tells of it


@pytest.mark.parametrize(("reason", "language", "old", "new"), REFUSED_ANSWERS)
def test_what_is_no_clean_wrong_answer_is_refused_with_the_reason(
    reason: str, language: Language, old: str, new: str
) -> None:
    found = verify(gold(old, language), new)
    assert isinstance(found, Rejected) and found.reason == reason, found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1931", " 1948.", "1948"),
        ("It is old.", "It is new", "It is new."),
        ("It is old!", "It is new.", "It is new!"),
        ("桥长640米。", "桥长460米", "桥长460米。"),
        ("3.5", "4.5", "4.5"),
    ],
)
def test_a_new_answer_ends_as_the_gold_one(old: str, new: str, expected: str) -> None:
    assert in_form(old, new) == expected


def test_replies_come_in_order_and_failures_are_reasons() -> None:
    old = gold("It was opened in 1931.")
    answers = [
        {"new_answer": "It was opened in 1913.", "change_made": "the year"},
        REFUSED,
        {"new_answer": "It was opened in 1931.", "change_made": "nothing"},
        {"new_answer": "", "change_made": "?"},
        "no JSON",
        {"new_answer": "It was opened in 1948.", "change_made": "the year"},
    ]
    found = list(LLMTeacher("m", scripted(answers)).perturb([old] * 6))
    reasons = [item.reason if isinstance(item, Rejected) else item.inserted for item in found]
    assert reasons == ["1913", "refused", "same", "invalid", "invalid", "1948"]
    assert [item.from_document for item in found if isinstance(item, Edit)] == [False, True]


def test_the_rules_own_edits_are_clean_and_of_their_type() -> None:
    perturber = RulePerturber(0)
    golds = load_starter()[::6]
    edits = [(item, edit) for item in golds if (edit := perturber.perturb(item))]
    verified = [verify(item, edit.answer) for item, edit in edits]
    assert len(edits) > 100
    assert sum(isinstance(item, list) for item in verified) >= 0.99 * len(edits)


WORDS = [*BRIDGE.split(" "), "not", "wasn’t", ",", "and", *LAKE, "\n"]
texts = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join) | st.text(max_size=30)


@given(old=texts, new=texts, language=st.sampled_from(["en", "zh"]))
def test_any_two_texts_are_compared(old: str, new: str, language: Language) -> None:
    found = verify(Sample("s", BRIDGE, old, language=language), new)
    if isinstance(found, Rejected):
        assert found.reason
    else:
        assert (
            found
            and len({(edit.replaced.casefold(), edit.inserted.casefold()) for edit in found}) <= MAX_EDITS
        )
        assert all(edit.replaced in old and new[edit.start :].startswith(edit.inserted) for edit in found)
    assert isinstance(verify(Sample("s", BRIDGE, old, language=language), old), Rejected)
