import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from eval.benchmarks import load_benchmark
from eval.metrics import score
from eval.sampling import take
from judge.baselines import rules as baselines_module
from judge.baselines.overlap import longest_run, overlap, units
from judge.baselines.rules import TRIVIAL_BASELINES, TrivialBaseline
from judge.errors import InputError
from judge.types import Label, Sample

FITTED = TRIVIAL_BASELINES[2:]


def test_random_is_a_fair_coin_that_falls_the_same_each_time() -> None:
    first, again = (TrivialBaseline("baseline:random").check(contrast_pairs(200)) for _ in range(2))
    assert first == again and 150 < sum(verdict.label is Label.FAIL for verdict in first) < 250


def contrast_pairs(count: int, start: int = 0) -> list[Sample]:
    """Pairs in which the FAIL answer is longer, worded otherwise and not in the document."""
    draw = random.Random(start)
    made = []
    for number in range(start, start + count):
        names = [f"name{draw.randrange(1000)}" for _ in range(4)]
        document = f"{' '.join(names)} lives at number {number}."
        answers = {Label.PASS: names[0], Label.FAIL: f"It is certainly not {number + 5000}, it was Zed."}
        for label, answer in answers.items():
            made.append(
                Sample(
                    id=f"{number}-{label}", document=document, answer=answer, label=label, group=f"g{number}"
                )
            )
    return made


@pytest.mark.parametrize(
    ("name", "label", "p"), [(TRIVIAL_BASELINES[0], Label.PASS, 0.0), (TRIVIAL_BASELINES[1], Label.FAIL, 1.0)]
)
def test_constant(name: str, label: Label, p: float) -> None:
    verdicts = list(TrivialBaseline(name).iter_check(contrast_pairs(2)))
    assert [(verdict.label, verdict.p_fail) for verdict in verdicts] == [(label, p)] * 4


@pytest.mark.parametrize("name", FITTED)
def test_out_of_fold_finds_the_artefact(name: str) -> None:
    samples = contrast_pairs(40)
    verdicts = list(TrivialBaseline(name).iter_check(samples))
    assert score(samples, verdicts, bootstrap=0).accuracy > 0.95
    assert verdicts == list(TrivialBaseline(name).iter_check(samples))


@pytest.mark.parametrize("name", FITTED)
def test_fitted_on_train(name: str) -> None:
    baseline = TrivialBaseline(name, contrast_pairs(40))
    judged = contrast_pairs(5, start=100)
    unlabelled = [Sample(id=s.id, document=s.document, answer=s.answer) for s in judged]
    verdicts = list(baseline.iter_check(unlabelled))
    assert score(judged, verdicts, bootstrap=0).accuracy == 1.0
    assert baseline.describe()["fitted_on"] == {"samples": 80}


@pytest.mark.parametrize("name", FITTED)
def test_nobody_is_judged_by_his_own_document(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = contrast_pairs(12)
    seen: list[tuple[set[str], set[str]]] = []
    original = baselines_module._fit_predict

    def spy(name: str, features: object, targets: object, fitted: Sequence, judged: Sequence) -> object:
        seen.append(({samples[row].group for row in fitted}, {samples[row].group for row in judged}))
        return original(name, features, targets, fitted, judged)

    monkeypatch.setattr(baselines_module, "_fit_predict", spy)
    list(TrivialBaseline(name).iter_check(samples))
    assert len(seen) == baselines_module.FOLDS
    assert all(not fitted & judged for fitted, judged in seen)
    assert set().union(*(judged for _, judged in seen)) == {sample.group for sample in samples}


def test_train_about_judged_documents_is_left_out() -> None:
    samples = contrast_pairs(6)
    with pytest.raises(InputError, match=r"without the 12 samples about judged documents.*baseline_data="):
        list(TrivialBaseline("baseline:length", samples).iter_check(samples))
    assert len(list(TrivialBaseline("baseline:length", samples).iter_check(samples[:2]))) == 2


def test_held_out_wording_does_not_shape_the_rule() -> None:
    """The rule of a train set gives an answer the same score whatever is judged beside it."""
    train, judged = contrast_pairs(30), contrast_pairs(3, start=100)
    other = Sample(id="x", document="other", answer="æøå " * 30)
    baseline = TrivialBaseline("baseline:answer-only", train)
    assert baseline.p_fail(judged) == pytest.approx(baseline.p_fail([*judged, other])[:-1])


def test_fewer_folds_for_few_documents() -> None:
    samples = contrast_pairs(2)
    assert len(list(TrivialBaseline("baseline:length").iter_check(samples))) == 4
    with pytest.raises(InputError, match="too few documents"):
        list(TrivialBaseline("baseline:length").iter_check(contrast_pairs(1)))


def test_unlabelled_rows_are_judged_by_the_labelled() -> None:
    samples = [*contrast_pairs(10), Sample(id="x", document="d", answer="name1")]
    assert list(TrivialBaseline("baseline:length").iter_check(samples))[-1].label is Label.PASS


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("labels", [(None, None), (Label.PASS, Label.PASS)])
def test_cannot_be_fitted(name: str, labels: tuple[Label | None, ...]) -> None:
    samples = [Sample(id=str(n), document=str(n), answer="a", label=label) for n, label in enumerate(labels)]
    with pytest.raises(InputError, match=r"labelled samples of both classes.*baseline_data="):
        list(TrivialBaseline(name).iter_check(samples))
    with pytest.raises(InputError, match="have not both labels"):
        TrivialBaseline(name, samples)


@pytest.mark.parametrize(
    ("language", "document", "answer", "shares"),
    [
        ("en", "The cat sat on 3 mats.", "The cat sat", (1.0, 1.0, 1.0)),
        ("en", "The cat sat on 3 mats.", "The dog sat on 4 mats", (2 / 4, 0.0, 2 / 6)),
        ("en", "The cat sat.", "at", (0.0, 1.0, 0.0)),  # words, not letters
        ("en", "The cat sat.", "?!", (0.0, 1.0, 0.0)),
        ("zh", "北京是中国的首都。", "北京是首都", (3 / 4, 1.0, 3 / 5)),
    ],
)
def test_overlap(language: str, document: str, answer: str, shares: tuple[float, ...]) -> None:
    sample = Sample(id="1", document=document, answer=answer, language=language)  # type: ignore[arg-type]
    assert overlap(sample) == pytest.approx(shares)


def test_longest_run_agrees_with_a_plain_search() -> None:
    draw = random.Random(0)
    for _ in range(200):
        document = [draw.choice("abc") for _ in range(12)]
        answer = [draw.choice("abc") for _ in range(8)]
        runs = [answer[i:j] for i in range(8) for j in range(i + 1, 9)]
        found = [run for run in runs if any(document[k : k + len(run)] == run for k in range(12))]
        assert longest_run(answer, f" {' '.join(document)} ") == max(map(len, found), default=0)
    assert units("It's 北京", "en") == ["it's", "北京"]


def test_real_halueval_qa_is_fooled_by_length(shared_data: Path) -> None:
    samples = take(load_benchmark("halueval_qa", shared_data), 1000, 0)
    for name in FITTED:
        assert score(samples, list(TrivialBaseline(name).iter_check(samples)), bootstrap=0).accuracy > 0.9
