"""Pairs differ in what the document supports and in nothing that an answer alone gives away."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import Rejected
from data_pipeline.pairs.added import _addition, add_sentences, is_supported, supporting_passage
from data_pipeline.pairs.contrast import Contrast, Error
from data_pipeline.pairs.contrast import pairs as make_pair
from data_pipeline.pairs.foreign import foreign_sentences
from data_pipeline.pairs.make import GoldPairs, Perturb, make_pairs
from data_pipeline.pairs.makers import make_makers
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.rules import RulesTeacher
from judge.formats.spans import wrong_spans
from judge.types import Label, Sample, Task

Pair = tuple[Sample, Sample]
StoreOf = Callable[..., SampleStore]


@pytest.fixture(scope="module")
def pairs(starter_pairs: list[Sample]) -> list[Pair]:
    """Faithful and hallucinated sample of every pair."""
    return list(zip(starter_pairs[::2], starter_pairs[1::2], strict=True))


# --- Any pair -----------------------------------------------------------------------------------------------


def test_pairs_share_everything_but_answer_and_label(pairs: list[Pair]) -> None:
    assert len({sample.id for pair in pairs for sample in pair}) == 2 * len(pairs)
    for faithful, hallucinated in pairs:
        assert (faithful.label, hallucinated.label) == (Label.PASS, Label.FAIL)
        assert hallucinated.id == f"{faithful.id}-hallucinated"
        for name in ("document", "question", "group", "task", "language", "source"):
            assert getattr(faithful, name) == getattr(hallucinated, name)
        assert faithful.answer != hallucinated.answer
        assert faithful.meta["pair"] == hallucinated.meta["pair"] == faithful.id
        assert "edit_type" not in faithful.meta
        assert {"edit_type", "change", "replaced", "inserted", "from_document"} <= set(hallucinated.meta)
        assert hallucinated.meta["inserted"] in hallucinated.answer


def test_pairs_of_marked_answers_do_not_take_their_marks() -> None:
    right, wrong = "A fair is held in June.", "A fair is held in July."
    gold = Sample("a", right, right, label=Label.PASS, meta={"spans": [], "errors": [], "domain": "d"})
    contrast = Contrast(edit_type="date", change="", replaced="June", inserted="July", hallucinated=wrong)
    for sample in make_pair(gold, "edit", [contrast]):
        assert sample.meta["domain"] == "d" and not sample.meta.keys() & {"spans", "errors"}
    error = Error("date", "June", "July", 18, 22)
    _, long = make_pair(gold, "long", [replace(contrast, errors=(error,))])
    assert wrong_spans(long) == [(18, 22)]


# --- Additions ----------------------------------------------------------------------------------------------


def test_added_sentences(pairs: list[Pair]) -> None:
    documents = {gold.document_text: gold.group for gold in load_starter()}
    added = [pair for pair in pairs if pair[0].meta["kind"] == "added"]
    assert len(added) >= 0.05 * len(pairs)
    for faithful, hallucinated in added:
        supported, foreign = hallucinated.meta["replaced"], hallucinated.meta["inserted"]
        assert faithful.document == hallucinated.document
        held = [text for text in documents if text in faithful.document_text]
        assert len(held) == 2 and faithful.group in {documents[text] for text in held}
        base = faithful.answer.removesuffix(supported)
        assert base and hallucinated.answer == base + foreign
        assert foreign not in faithful.document_text
        assert abs(len(supported) - len(foreign)) <= 0.25 * max(len(supported), len(foreign))


def gold(name: str, group: str, answer: str, **values: Any) -> Sample:
    return Sample(name, f"Document {group}.", answer, source="s", group=group, label=Label.PASS, **values)


LETTERS = {
    "a": "The barn of Ard stores winter rye for the village. The barn of Ard was raised by a widow in 1907.",
    "b": "The barn of Bost stores oats for bakers every year. Seven horses of the village sleep in the barn.",
    "c": "The barn of Corl stores cheese for the market days. The village pays no tax on the barn roof.",
}


def barns(**values: Any) -> list[Sample]:
    """Three documents about barns, with a question on each."""
    values = {"question": "What does the barn do?", "source": "s", "label": Label.PASS, **values}
    return [
        Sample(f"gold-{name}", text, text.split(". ")[0] + ".", group=name, **values)
        for name, text in LETTERS.items()
    ]


def add(store: SampleStore, gold: Sample, seed: int = 0) -> Contrast | None:
    return next(iter(add_sentences(gold, Neighbours(store, seed), seed)), None)


def test_supported_and_foreign_are_drawn_by_lot(store_of: StoreOf) -> None:
    """Over seeds each sentence comes as the supported and as the foreign one: it tells nothing by itself."""
    golds = barns()
    store = store_of(golds)
    roles = [(found.replaced, found.inserted) for seed in range(24) if (found := add(store, golds[0], seed))]
    assert len(roles) == 24
    counts = Counter(roles)
    both = [pair for pair in counts if pair[::-1] in counts]
    assert both and max(counts.values()) < 20


def test_an_addition_says_nothing_again(store_of: StoreOf) -> None:
    """Two translations of one line, or two wordings of one fact, are not one after the other."""
    golds = barns()
    again = replace(golds[1], id="again", answer="In Ard rye is what the mill grinds.", group="again",
                    document="In Ard rye is what the mill grinds. Nothing else is known of it.")  # fmt: skip
    found = add(store_of([*golds, again]), golds[0])
    assert found is not None and "rye" not in found.replaced + found.inserted


def test_a_foreign_sentence_is_of_the_same_kind(store_of: StoreOf) -> None:
    golds = [*barns()[:2], *barns(meta={"domain": "sport"})[2:], *barns(language="zh")[2:]]
    golds[3] = replace(golds[3], id="other")
    assert add(store_of(golds), golds[0]) is None


def test_a_foreign_sentence_that_the_document_supports_is_none() -> None:
    claim = _addition("The barn of Ard stores winter rye.", "", "", "en")
    sample = barns()[0]
    assert is_supported(claim, [sample.document_text], sample)
    assert not is_supported(claim, [barns()[1].document_text], sample)


def test_of_data_only_a_new_value_is_foreign() -> None:
    data = "Ard Barn | owner | Ada Holst\nArd Barn | built | 1907"
    sample = replace(barns()[0], document=data, task=Task.DATA2TEXT)
    same = _addition("Ada Holst owns it.", "Ard Barn | owner | Ada Holst", "", "en")
    other = _addition("Ben Tarrow owns it.", "Ard Barn | owner | Ben Tarrow", "", "en")
    assert is_supported(same, [data], sample) and not is_supported(other, [data], sample)


def test_foreign_sentences_of_a_large_set_are_a_seeded_choice(
    store_of: StoreOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("data_pipeline.pairs.neighbours.POOL", 3)
    golds = [gold(f"{name}-{part}", name, f"It is {name}{part}.") for name in "abcdefgh" for part in "xy"]
    chosen = []
    for seed in (0, 0, 1):
        neighbours = Neighbours(store_of(golds), seed)
        chosen.append({item.id for found in map(neighbours.pool, golds) for item in found})
        assert len(chosen[-1]) <= 3
    assert chosen[0] == chosen[1] != chosen[2]


def test_the_nearest_documents_come_first(store_of: StoreOf) -> None:
    golds = barns()
    far = Sample("far", "Dogs bark at night. Nobody sleeps.", "Dogs bark.", source="s", group="far")
    neighbours = Neighbours(store_of([far, *golds]), 0)
    found = neighbours.nearest(golds[0])
    assert [about.golds[0].id for about in found] == ["gold-b", "gold-c", "far"]
    assert neighbours.nearest(replace(golds[0], id="unknown", group="")) == found


def test_the_passage_of_a_long_document_supports_the_answer() -> None:
    """Also where the answer says it in other words."""
    filler = " ".join(f"The barn of Bost has a beam number {number} of oak." for number in range(90))
    long = f"{LETTERS['b']} {filler} Mira Holst of Bost paid for the barn roof out of her own purse."
    paid = Sample("b", long, "Mira Holst paid for the barn roof.", "Who paid?")
    found = supporting_passage(paid) or ""
    assert "her own purse" in found and len(found) < len(long)
    assert supporting_passage(replace(paid, answer="The ferry was sold to a widow in Kessel.")) is None


# --- Foreign sentences --------------------------------------------------------------------------------------


def foreign(store: SampleStore, item: Sample) -> Contrast | None:
    return next(iter(foreign_sentences(item, Neighbours(store, 0), 0)), None)


def test_a_second_answer_about_the_document_or_about_another_one(store_of: StoreOf) -> None:
    golds = [
        gold("a", "1", "The old barn is blue."),
        gold("b", "1", "Nine horses live there."),
        gold("c", "2", "Five lamps hang there."),
    ]
    found = foreign(store_of(golds), golds[0])
    assert found is not None
    assert found.faithful == "The old barn is blue. Nine horses live there."
    assert found.hallucinated == "The old barn is blue. Five lamps hang there."


@pytest.mark.parametrize(
    "others",
    [
        [("b", "2", "Five lamps hang there.")],  # its document has no second answer
        [("b", "1", "nine horses"), ("c", "2", "Five lamps hang there.")],  # none that is a sentence
        [("b", "1", "The barn is old and blue."), ("c", "2", "Five lamps hang there.")],  # the same again
        [("b", "1", "Nine horses live there."), ("c", "2", "Nine horses live there.")],  # no hallucination
        [("b", "1", "Nine horses live there."), ("c", "2", "Lamps hang " + "very " * 9 + "low there.")],
        [("b", "1", "Nine horses live there."), ("c", "2", "The document 1.")],  # the document says it
    ],
)
def test_where_none_is_sure_there_is_no_foreign_sentence(
    store_of: StoreOf, others: list[tuple[str, str, str]]
) -> None:
    golds = [gold("a", "1", "The old barn is blue."), *(gold(*other) for other in others)]
    assert foreign(store_of(golds), golds[0]) is None


# --- Streams and shares -------------------------------------------------------------------------------------


def by_rule(*edit_types: str) -> Perturb:
    return RulesTeacher(RulePerturber(0, edit_types)).perturb


def make_all(
    store: SampleStore, perturb: Perturb, edits: float, additions: float, seed: int = 0
) -> list[GoldPairs]:
    shares = {"edit": edits, "added": additions}
    return list(make_pairs(store.samples(), perturb, make_makers(store, seed), shares, seed))


def test_shares(store_of: StoreOf) -> None:
    store = store_of([sample for sample in load_starter() if sample.language == "en"][:240])

    def types(edits: float, additions: float) -> Counter[str]:
        found = make_all(store, by_rule("number", "date"), edits, additions)
        samples = [sample for made in found for sample in made.samples]
        labels = Counter(sample.label for sample in samples)
        assert labels[Label.PASS] == labels[Label.FAIL]
        assert all(made.samples or made.dropped is not None for made in found)
        kinds = (sample.meta["edit_type"] for sample in samples if sample.label is Label.FAIL)
        return Counter("addition" if name == "added_sentence" else "edit" for name in kinds)

    every, half = types(1.0, 1.0), types(0.5, 0.5)
    assert types(0.0, 0.0) == {}
    assert types(1.0, 0.0) == {"edit": every["edit"]}
    assert types(0.0, 1.0) == {"addition": every["addition"]}
    for name, count in every.items():
        assert half[name] == pytest.approx(count / 2, abs=1.8 * count**0.5)  # 3.6 sigma


def refuse(golds: Iterable[Sample]) -> Iterator[Rejected]:
    return (Rejected("refused", item.id) for item in golds)


@pytest.mark.parametrize(
    ("perturb", "edits", "additions", "dropped"),
    [
        (by_rule("number"), 1.0, 0.0, "no safe edit"),
        (by_rule("number"), 0.0, 1.0, "no pair of kind added"),
        (by_rule("number"), 1.0, 1.0, "no safe edit, nor a pair of another kind"),
        (refuse, 1.0, 0.0, "refused"),
    ],
)
def test_without_a_pair_both_classes_lose_the_answer_and_the_reason_is_kept(
    store_of: StoreOf, perturb: Perturb, edits: float, additions: float, dropped: str
) -> None:
    store = store_of([gold("a", "1", "It is blue.")])
    [found] = make_all(store, perturb, edits, additions)
    assert (found.gold.id, found.samples, found.dropped) == ("a", (), dropped)


@pytest.mark.parametrize(("edits", "additions"), [(1.0, 1.0), (0.5, 0.5), (0.3, 1.0), (0.0, 1.0)])
def test_how_far_a_teacher_reads_ahead_changes_nothing(
    store_of: StoreOf, edits: float, additions: float
) -> None:
    def all_at_once(golds: Iterable[Sample]) -> Iterator[Any]:
        return iter(list(by_rule("number", "date")(list(golds))))

    store = store_of([sample for sample in load_starter() if sample.language == "zh"][:40])
    one_by_one = make_all(store, by_rule("number", "date"), edits, additions)
    assert make_all(store, all_at_once, edits, additions) == one_by_one
    order = {sample.id: place for place, sample in enumerate(store.samples())}
    places = [order[made.gold.id] for made in one_by_one]
    assert places == sorted(places) and len(set(places)) == len(places) > 0


# --- Shortcuts ----------------------------------------------------------------------------------------------


def auroc(samples: list[Sample], features: Any) -> float:
    """Out of fold, folds parted by document; of a linear classifier."""
    labels = [sample.label is Label.FAIL for sample in samples]
    scores = cross_val_predict(
        make_pipeline(*features, LogisticRegression(solver="liblinear")),
        np.array([sample.answer for sample in samples], dtype=object),
        labels,
        groups=[sample.group for sample in samples],
        cv=GroupKFold(5),
        method="predict_proba",
    )[:, 1]
    return float(roc_auc_score(labels, scores))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_wording_and_length_give_nothing_away(starter_pairs: list[Sample], language: str) -> None:
    samples = [sample for sample in starter_pairs if sample.language == language]
    assert auroc(samples, [TfidfVectorizer(analyzer="char", ngram_range=(1, 3), min_df=2)]) <= 0.65
    labels = [sample.label is Label.FAIL for sample in samples]
    assert 0.45 <= roc_auc_score(labels, [len(sample.answer) for sample in samples]) <= 0.55
