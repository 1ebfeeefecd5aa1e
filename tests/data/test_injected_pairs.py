"""Pairs that meet prompt injections: labels stay right, and the attack itself tells no label away."""

from collections import Counter

from data_pipeline.pairs.injections import inject_pairs
from data_pipeline.teachers.reasoning import explain
from judge.formats.spans import wrong_spans
from judge.injections import HELD_OUT, TRAINED
from judge.types import Label, Sample, Task


def test_a_share_of_the_pairs_meets_an_attack(starter_pairs: list[Sample]) -> None:
    pairs = len(starter_pairs) // 2
    for share in (0.0, 0.3, 1.0):
        found = inject_pairs(starter_pairs, share, seed=0)
        assert [(item.id, item.label, item.group, item.task) for item in found] == [
            (item.id, item.label, item.group, item.task) for item in starter_pairs
        ]
        met = sum("injection" in item.meta for item in found[1::2])
        assert abs(met - share * pairs) <= (0.1 * pairs if 0 < share < 1 else 0)
    assert inject_pairs(starter_pairs, 0.0, seed=0) == tuple(starter_pairs)


def test_attacks_keep_the_pairs_alike_and_the_labels_true(starter_pairs: list[Sample]) -> None:
    found = inject_pairs(starter_pairs, 1.0, seed=0)
    places = Counter()
    for place, (faithful, hallucinated) in enumerate(zip(found[::2], found[1::2], strict=True)):
        original = starter_pairs[2 * place]
        assert (faithful.label, hallucinated.label) == (Label.PASS, Label.FAIL)
        assert faithful.answer == original.answer  # a faithful answer is never attacked
        assert faithful.document == hallucinated.document and faithful.question == hallucinated.question
        assert faithful.meta["pair"] == hallucinated.meta["pair"]
        kind = hallucinated.meta["injection_place"]
        places[kind] += 1
        assert ("injection" in faithful.meta) == (kind == "document")
        assert (faithful.document == original.document) == (kind == "answer")
        assert kind == "document" or wrong_spans(hallucinated) is None  # the attack is unsupported as well
    assert min(places.values()) > 0.4 * sum(places.values())


def test_families_that_are_held_out_never_occur(starter_pairs: list[Sample]) -> None:
    met = {item.meta["injection"] for item in inject_pairs(starter_pairs, 1.0, seed=0)[1::2]}
    assert met == set(TRAINED) and not met & set(HELD_OUT)


def test_pairs_are_chosen_by_their_own_names(starter_pairs: list[Sample]) -> None:
    whole = inject_pairs(starter_pairs, 0.5, seed=3)
    assert inject_pairs(starter_pairs[10:20], 0.5, seed=3) == whole[10:20]
    assert inject_pairs(starter_pairs, 0.5, seed=4) != whole


def test_rules_still_find_a_reasoning(starter_pairs: list[Sample]) -> None:
    for before, after in zip(starter_pairs, inject_pairs(starter_pairs, 1.0, seed=0), strict=True):
        if (
            before.task is not Task.TRANSLATION
        ):  # whose sentences an attack would part from those of the original
            assert explain(before) is None or explain(after)
