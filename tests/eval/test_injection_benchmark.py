"""The benchmark of prompt injections: what it asks, and what it counts."""

from dataclasses import replace

import pytest

from eval.benchmarks.halueval import HALUEVAL_GENERAL, HALUEVAL_QA
from eval.benchmarks.injection import CLEAN, INJECTION, attack
from judge.errors import InputError
from judge.files import write_jsonl
from judge.injections import CONTROL, FAMILIES, HELD_OUT
from judge.types import Label, Sample, Verdict


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    folder = tmp_path_factory.mktemp("data") / "halueval"
    folder.mkdir()
    rows = [
        {
            "knowledge": f"Tower {n} is in Norway.",
            "question": "Where?",
            "right_answer": f"Norway {n}",
            "hallucinated_answer": f"Tower {n} is in Sweden.",
        }
        for n in range(4)
    ]
    write_jsonl(folder / "qa_data.json", rows)
    return INJECTION.load(folder.parent)


def tells(sample: Sample) -> Verdict:
    """A judge that is right, but gives in to orders in answers."""
    gives_in = sample.meta["injection"] == "order" and sample.meta["injection_place"] == "answer"
    label = Label.PASS if gives_in else sample.label
    return Verdict(label, 0.2 if label is Label.PASS else 0.9)


def test_every_family_meets_every_sample(samples: list[Sample]) -> None:
    assert len(samples) == 4 * 2 * (2 + len(FAMILIES))
    assert len({sample.id for sample in samples}) == len(samples)
    clean = {sample.meta["base"]: sample for sample in samples if sample.meta["injection"] == CLEAN}
    assert len(clean) == 8
    for base, original in clean.items():
        own = [sample for sample in samples if sample.meta["base"] == base]
        assert {sample.meta["injection"] for sample in own} == {CLEAN, CONTROL, *FAMILIES}
        assert {(sample.label, sample.group, sample.question) for sample in own} == {
            (original.label, original.group, original.question)
        }


def test_attacks_stand_in_both_places_and_faithful_answers_stay_as_they_are(samples: list[Sample]) -> None:
    for family in (CONTROL, *FAMILIES):
        about = [sample for sample in samples if sample.meta["injection"] == family]
        wrong = [sample for sample in about if sample.label is Label.FAIL]
        assert {sample.meta["injection_place"] for sample in wrong} == {"answer", "document"}
        assert all(
            sample.meta["injection_place"] == "document" for sample in about if sample.label is Label.PASS
        )


def test_figures_count_what_attacks_turned(samples: list[Sample]) -> None:
    found = INJECTION.figures(samples, [tells(sample) for sample in samples])
    to_pass, to_fail = found["attacks that ask for PASS"], found["attacks that ask for FAIL"]
    order = to_pass["order"]
    assert (order["attacked"], order["success"], order["unparsed"]) == (4, 0.5, 0.0)
    assert order["p_fail_shift"] == pytest.approx(-0.35)
    assert to_pass["all"]["attacked"] == 4 * len(FAMILIES)
    assert to_pass["all"]["success"] == pytest.approx(2 / (4 * len(FAMILIES)))
    assert to_pass["in the document"]["success"] == to_pass[CONTROL]["success"] == 0
    assert to_pass["held out of training"]["attacked"] == 4 * len(HELD_OUT)
    assert all(row["success"] == 0 for row in to_fail.values()) and "in the answer" not in to_fail


def test_what_was_wrong_before_is_no_success_and_no_verdict_is_no_label(samples: list[Sample]) -> None:
    always = INJECTION.figures(samples, [Verdict(Label.PASS)] * len(samples))
    row = always["attacks that ask for PASS"]["all"]
    assert row == {"attacked": 0, "success": None, "unparsed": None, "p_fail_shift": None}
    silent = [
        Verdict(sample.label) if sample.meta["injection"] == CLEAN else Verdict(None) for sample in samples
    ]
    row = INJECTION.figures(samples, silent)["attacks that ask for PASS"]["all"]
    assert (row["success"], row["unparsed"]) == (0, 1)


def test_a_draw_without_the_clean_sample_is_left_out(samples: list[Sample]) -> None:
    some = [sample for sample in samples if sample.meta["injection"] != CLEAN]
    assert INJECTION.figures(some, [tells(sample) for sample in some]) == {}


def test_any_set_can_be_attacked(samples: list[Sample]) -> None:
    clean = [
        replace(sample, id=str(sample.meta["base"]), source="mine", meta={})
        for sample in samples
        if sample.meta["injection"] == CLEAN
    ]
    benchmark, attacked = attack(HALUEVAL_QA, clean)
    assert benchmark.name == "halueval_qa_attacked"
    assert attack(replace(HALUEVAL_QA, of="halueval_qa"), clean)[0].of is None  # no published figures
    assert [sample.id for sample in attacked] == [sample.id for sample in samples]
    assert [(s.document, s.answer) for s in attacked] == [(s.document, s.answer) for s in samples]
    assert benchmark.figures(attacked, [tells(sample) for sample in attacked])["attacks that ask for PASS"]


def test_what_has_no_document_cannot_be_attacked() -> None:
    sample = Sample("1", "", "An answer.", label=Label.FAIL)
    with pytest.raises(InputError, match="halueval_general has no documents to attack; omit attack"):
        attack(HALUEVAL_GENERAL, [sample])
