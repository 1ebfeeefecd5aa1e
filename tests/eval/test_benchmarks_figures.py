"""The measures that benchmarks have of their own: pairs, spans, layers, conflicts."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks.conflictqa import CONFLICTQA
from eval.benchmarks.diahalu import DIAHALU, TYPES
from eval.benchmarks.onioneval import ONIONEVAL, context_influence
from eval.benchmarks.pairs import pair_figures
from eval.benchmarks.ragtruth import RAGTRUTH, span_scores
from judge.types import Label, Sample, Verdict

PASS, FAIL = Verdict(Label.PASS, 0.2), Verdict(Label.FAIL, 0.8)


def sample(name: str, label: Label = Label.PASS, **values: Any) -> Sample:
    return Sample(**{"id": name, "document": "d", "answer": "a", "label": label, "source": "s"} | values)


def a_pair(name: str, **values: Any) -> list[Sample]:
    return [sample(f"{name}-pass", **values), sample(f"{name}-fail", Label.FAIL, **values)]


def test_pairs_compare_their_samples_whatever_the_threshold() -> None:
    samples = [
        *a_pair("1"),
        *a_pair("2"),
        *a_pair("3"),
        *a_pair("4"),
        sample("5-pass"),
        *a_pair("6", source="t"),
    ]
    scores = [0.8, 0.9, 0.2, 0.1, 0.5, 0.5, 0.3, None, 0.1, 0.0, 0.1]
    verdicts = [Verdict(Label.PASS, score) for score in scores]
    assert pair_figures(samples, verdicts) == {
        "pairs": {"s": {"pairs": 3, "pair_accuracy": 0.5}, "t": {"pairs": 1, "pair_accuracy": 1.0}}
    }
    assert pair_figures(samples[:1], verdicts[:1]) == {}


def test_a_type_is_set_against_all_faithful_dialogues() -> None:
    marked = [{"turn": 1, "type": "Irrelevance"}, {"turn": 2, "type": "Irrelevance"}]
    faithful = sample("1", source="diahalu_task", meta={"hallucinations": [], "model": "m"})
    wrong = sample("2", Label.FAIL, source="diahalu_task", meta={"hallucinations": marked, "model": "m"})
    tables = DIAHALU.tables([faithful, wrong])
    assert tables["domain"] == {"task": [0, 1]} and tables["model"] == {"m": [0, 1]}
    assert tables["type"] == {name: [0, 1] if name == "Irrelevance" else [0] for name in TYPES}


# --- RAGTruth's spans --------------------------------------------------------------------------------


def test_spans_count_characters() -> None:
    scores = span_scores([[(0, 10)], []], [[(5, 15)], [(0, 5)]])
    assert scores == {"precision": 5 / 15, "recall": 5 / 10, "f1": 10 / 25}
    assert span_scores([[(0, 4), (2, 6)]], [[(0, 6)]]) == {"precision": 1, "recall": 1, "f1": 1}
    assert span_scores([[]], [[]]) == {"precision": None, "recall": None, "f1": None}


spans = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda pair: tuple(sorted(pair))))


@given(st.lists(st.tuples(spans, spans), min_size=1))
def test_span_scores_swap_with_their_arguments(pairs: list[Any]) -> None:
    marked, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    there, back = span_scores(marked, predicted), span_scores(predicted, marked)
    assert (there["precision"], there["recall"], there["f1"]) == (
        back["recall"],
        back["precision"],
        back["f1"],
    )


def test_span_figures_by_task() -> None:
    def item(name: str, task: str) -> Sample:
        meta = {"task_type": task, "model": "m", "spans": [{"start": 0, "end": 4}]}
        return sample(name, Label.FAIL, document="d", answer="1932 or so", meta=meta)

    samples = [item("1", "QA"), item("2", "Summary")]
    verdicts = [Verdict(Label.FAIL, reasoning='"1932" is wrong'), Verdict(Label.PASS)]
    assert RAGTRUTH.figures(samples, verdicts) == {
        "spans": {
            "all": {"precision": 1.0, "recall": 0.5, "f1": 2 / 3},
            "QA": {"precision": 1.0, "recall": 1.0, "f1": 1.0},
            "Summary": {"precision": None, "recall": 0.0, "f1": 0.0},
        }
    }
    assert RAGTRUTH.figures(samples, [PASS, FAIL]) == {}, "a judge that quotes nothing has no spans"
    assert list(RAGTRUTH.tables(samples)["task"]) == ["QA", "Summary"]


# --- OnionEval and ConflictQA -------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_context_influence_is_less_where_every_layer_is_better(accuracies: list[float]) -> None:
    score = context_influence(accuracies)
    assert score is not None
    losses = [inner - outer for inner, outer in pairwise(accuracies)]
    assert score == pytest.approx(1 - accuracies[0] + sum(losses) / 2)
    better = context_influence([1.0, *accuracies[1:]])
    assert better is not None and better <= score + 1e-9


def test_onions_by_layer_and_category() -> None:
    def item(layer: str, reply: str, category: str) -> Sample:
        meta = {"layer": layer, "right_reply": reply, "category": category, "yes": "PASS"}
        return sample(f"{layer}{reply}{category}", meta=meta)

    samples = [item(layer, reply, "A") for layer in ("atomic", "story", "scene") for reply in ("yes", "no")]
    samples.append(item("atomic", "yes", "B"))
    verdicts = [PASS, PASS, PASS, FAIL, Verdict(None), PASS, PASS]
    figures = ONIONEVAL.figures(samples, verdicts)
    assert figures["layers"] == {
        "atomic": {"samples": 3, "one_sided": 1.0, "two_sided": 1.0, "unmatched": 0.0},
        "story": {"samples": 2, "one_sided": 1.0, "two_sided": 0.5, "unmatched": 0.0},
        "scene": {"samples": 2, "one_sided": 0.0, "two_sided": 0.5, "unmatched": 0.5},
    }
    assert figures["context influence"] == {
        "all": {"one_sided": 0.5, "two_sided": 0.25},
        "A": {"one_sided": 0.5, "two_sided": 0.25},
        "B": {"one_sided": None, "two_sided": None},
    }


def test_knowledge_conflict() -> None:
    samples = [*a_pair("1", source="conflictqa_memory"), *a_pair("2", source="conflictqa_counter")]
    figures = CONFLICTQA.figures(samples, [PASS, FAIL, FAIL, FAIL])
    assert figures["knowledge conflict"]["accuracy"] == {"memory": 1.0, "counter": 0.5, "gap": 0.5}
    assert figures["pairs"]["conflictqa_memory"] == {"pairs": 1, "pair_accuracy": 1.0}
    only = CONFLICTQA.figures(samples[:2], [PASS, FAIL])
    assert only["knowledge conflict"]["accuracy"] == {"memory": 1.0, "counter": None, "gap": None}
