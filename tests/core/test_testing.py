"""assert_faithful and its pytest option."""

import asyncio

import pytest

from judge.errors import InputError, JudgeError
from judge.testing import assert_faithful
from judge.types import Label, Sample, Unsupported, Verdict
from tests.scripted import Scripted

pytest_plugins = ["pytester"]
DOCUMENT = "The tower is 30 m high. " * 40


def test_a_faithful_answer_passes() -> None:
    verdict = assert_faithful("It is 30 m high.", DOCUMENT, judge="baseline:always-pass")
    assert verdict.label == "PASS"


def test_a_failure_shows_what_a_person_needs() -> None:
    verdict = Verdict(Label.FAIL, 0.9, unsupported=(Unsupported("31 m", 6, 10),))
    with pytest.raises(AssertionError) as failure:
        assert_faithful("It is 31 m high.", DOCUMENT, "How high?", judge=Scripted(lambda _: verdict))
    told = str(failure.value)
    for part in ("p(FAIL) = 0.90", "answer: It is 31 m high.", "not supported: 31 m", "question: How high?"):
        assert part in told
    assert len(told) < 700 and told.endswith("...")


def test_no_verdict_is_no_failure_of_the_answer() -> None:
    judge = Scripted(lambda _: Verdict(None, error="cut off"))
    with pytest.raises(JudgeError, match="no verdict"):
        assert_faithful("It is.", DOCUMENT, judge=judge)


@pytest.mark.parametrize("nothing", ["", " \n", "\u200b\u2060", "\ufeff"])
def test_what_shows_nothing_is_refused_alike(nothing: str) -> None:
    judge = Scripted(lambda _: Verdict(Label.PASS))
    for document, answer in ((nothing, "It is."), ((nothing, nothing), "It is."), ("It is.", nothing)):
        field = "answer" if document == "It is." else "document"
        wanted = f"field '{field}': is empty or shows nothing; "
        with pytest.raises(InputError, match=f"^{wanted}"):
            assert_faithful(answer, list(document) if isinstance(document, tuple) else document, judge=judge)
        for check in (judge.check, lambda samples: asyncio.run(judge.acheck(samples))):
            with pytest.raises(InputError, match=f"^sample 'a': {wanted}"):
                check([Sample("a", document, answer)])


def test_the_option_chooses_the_judge(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from judge.testing import assert_faithful

        def test_it():
            assert_faithful("It is 30 m high.", "The tower is 30 m high.")
        """
    )
    plugin = ("-p", "no:hallucination-judge", "-p", "judge.testing")  # installed or not
    pytester.runpytest_subprocess(*plugin, "--judge", "baseline:always-pass").assert_outcomes(passed=1)
    failed = pytester.runpytest_subprocess(*plugin, "--judge", "baseline:always-fail")
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["*the answer is not faithful to its document (judge baseline:always-fail*"])
