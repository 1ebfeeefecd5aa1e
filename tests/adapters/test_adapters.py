"""What the adapters share; it needs none of the frameworks."""

from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, VERDICTS, WRONG, ScriptedJudge

from judge import InputError, JudgeError, Label, Task, Verdict
from judge.adapters import make_sample, reason, score, why_none
from judge.adapters.lm_eval_task import faithfulness


def test_a_sample_has_the_fields_as_they_are() -> None:
    sample = make_sample(["one", "two"], "{{ question }}", "answer", Task.DIALOGUE, "zh")
    assert (sample.document, sample.question, sample.answer) == (("one", "two"), "{{ question }}", "answer")
    assert (sample.task, sample.language) == (Task.DIALOGUE, "zh")
    assert make_sample("text", None, "answer", Task.QA, "en").question == ""


@pytest.mark.parametrize(
    ("document", "answer", "field"),
    [
        (None, "a", "document"), ([], "a", "document"), ([" "], "a", "document"), ({"a": 1}, "a", "document"),
        ("d", None, "answer"), ("d", "  ", "answer"), ("d", 3, "answer"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_refused_by_name(document: Any, answer: Any, field: str) -> None:
    with pytest.raises(InputError, match=f"field '{field}'"):
        make_sample(document, "", answer, Task.QA, "en")


def test_scores_are_probabilities_of_faithfulness_and_never_made_up() -> None:
    assert score(VERDICTS[FAITHFUL]) == 0.875
    assert score(VERDICTS[WRONG]) == 0.25
    assert score(Verdict(Label.PASS)) == 1.0
    assert score(Verdict(Label.FAIL)) == 0.0
    with pytest.raises(JudgeError, match="the reply holds no verdict"):
        score(VERDICTS[GARBLED])
    with pytest.raises(JudgeError):
        score(Verdict(None, p_fail=0.0))  # a probability does not make up for a label
    assert why_none(VERDICTS[WRONG]) is None


def test_reasons_tell_what_there_is() -> None:
    assert reason(VERDICTS[FAITHFUL]) == "The document says 330 m."
    assert reason(VERDICTS[WRONG]) == "FAIL, probability of a hallucination 0.750"
    assert reason(VERDICTS[GARBLED]) == "the reply holds no verdict"
    assert reason(Verdict(Label.PASS, cut_chars=7)) == "PASS (the document's last 7 characters were not read)"


# The function for lm-eval is plain Python; test_lm_eval_task.py runs it inside the harness.


def test_results_of_a_reply() -> None:
    judge = ScriptedJudge()
    process = faithfulness(judge, document="passages", question="ask", language="zh")
    doc = {"passages": [DOCUMENT, "More."], "ask": QUESTION, "id": 4}
    assert process(doc, [FAITHFUL]) == {"judged": 1.0, "faithful": 1.0}
    assert process(doc, [WRONG]) == {"judged": 1.0, "faithful": 0.0}
    assert process(doc, [GARBLED]) == {"judged": 0.0}
    assert process(doc, [" \n"]) == {"judged": 0.0}
    assert judge.seen[0] == make_sample((DOCUMENT, "More."), QUESTION, FAITHFUL, Task.QA, "zh")
    assert faithfulness(judge, "passages", question=None)(doc, [WRONG])["faithful"] == 0.0
    assert judge.seen[-1].question == ""


def test_data_without_the_fields_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown field of the task's data 'document'.*known: context"):
        faithfulness(ScriptedJudge())({"context": DOCUMENT}, [FAITHFUL])
    with pytest.raises(InputError, match="expected one reply"):
        faithfulness(ScriptedJudge(), question=None)({"document": DOCUMENT}, [[FAITHFUL, WRONG]])
