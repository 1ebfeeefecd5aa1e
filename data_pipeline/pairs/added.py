"""Unsupported additions: two answers with one more sentence each, one supported and one foreign.

In both samples a passage from a similar document joins the gold sample's own. The faithful answer adds a
sentence about that passage, the hallucinated one a sentence about another similar document. Which of the two
documents becomes the passage is drawn once the sentences are chosen. So the two are interchangeable: only the
document tells which sentence is supported, not wording, length or how well it follows the answer.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations, islice
from typing import NamedTuple

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.pairs.contrast import Contrast, added_sentence
from data_pipeline.pairs.documents.parts import is_table, parts_of
from data_pipeline.pairs.documents.supporting import BLIND, in_pairs, supporting_parts, words_of_parts
from data_pipeline.pairs.neighbours import About, Neighbours
from data_pipeline.pairs.passages import PASSAGE, names_its_subject, passage, sentences_of, stands_alone
from data_pipeline.pairs.verbalise import statement_of
from data_pipeline.teachers.rules_checks import label_by_rules
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts, is_translation
from judge.types import Label, Language, Sample, Task

AGAIN = 0.34
"""At most this share of an addition's content words is in the text before it: more would be repetition."""
ON_TOPIC = 0.2
"""At least this share of an addition's content words is in the gold sample's own document; for tasks whose
answers are added whole, one word is enough."""
TRIES = 8
"""At most this many pairs of additions are tried in search of one that rule-based look-up cannot solve."""
LENGTHS = 0.25
"""Two additions differ in length by at most this share of the longer one."""
SENTENCES = 16
"""At most this many sentences of one document are considered ..."""
CHOICE = 24
"""... and this many of all similar documents are paired."""
_WHOLE = (Task.TRANSLATION, Task.DATA2TEXT)
"""Tasks whose answers cover the whole document: only whole answers can be added to them."""


class Addition(NamedTuple):
    """A sentence, the words and facts to compare it by, and its origin.

    ``passage`` supports it; ``known`` is the text to look things up in, in the sentence's own language.
    """

    text: str
    words: frozenset[str]
    facts: tuple[str, ...]
    passage: str
    known: str


def add_sentences(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """A supported and a foreign addition to a gold answer; none if no two sentences are interchangeable."""
    rng = random.Random(f"addition:{seed}:{gold.id}")
    base = None if is_table(gold.document_text) else _base(gold)
    if base is None:
        return
    known = _known([gold, *neighbours.siblings(gold)])
    before = _addition(base, gold.document_text, known, gold.language)
    near = (_of_near(about, gold.task) for about in neighbours.nearest(gold))
    pair = _pair(gold, before, near, rng)
    if pair is None:
        return
    supported, foreign = rng.sample(pair, 2)
    passages = [gold.document_text, supported.passage]
    if gold.task not in _WHOLE:
        rng.shuffle(passages)
    document = ("\n" if gold.task in _WHOLE else "\n\n").join(passages)
    yield added_sentence(base, supported.text, foreign.text, gold.language, document)


# --- Where sentences come from ------------------------------------------------------------------------------


def _base(gold: Sample) -> str | None:
    """The gold answer as a sentence, or else the best sentence of the document that contains it."""
    if made := statement_of(gold):
        return made
    if not gold.question:
        return None
    asked = words_of(gold.question, gold.language)
    found = [one.text for one in sentences_of(gold.document_text, gold.language)]
    found = [text for text in found if occurs(gold.answer, text)]
    shared = [len(words_of(text, gold.language) & asked) for text in found]
    return found[shared.index(max(shared))] if max(shared, default=0) >= 2 else None


def _known(golds: Sequence[Sample]) -> str:
    """The text to look sentences up in: the document of samples, or its translations."""
    if is_translation(golds[0].answer, golds[0].document_text):
        return "\n".join(gold.answer for gold in golds)
    return golds[0].document_text


@lru_cache(maxsize=1024)
def _of_near(about: About, task: Task) -> tuple[Addition, ...]:
    """Cached, since a document is similar to many others."""
    return tuple(_of_document(about.golds, task))


def _of_document(golds: Sequence[Sample], task: Task) -> Iterator[Addition]:
    """Answers about a document, and its own sentences."""
    document, language, known = golds[0].document_text, golds[0].language, _known(golds)
    for gold in golds:
        text = statement_of(gold)
        alone = text is not None and stands_alone(text) and names_its_subject(text, document, language)
        own = supporting_passage(gold) if text is not None and (alone or task in _WHOLE) else None
        if text is not None and own is not None:
            yield _addition(text, own, own if known is document else known, language)
    if task not in _WHOLE:
        found = sentences_of(document, language)
        for one in found[:: max(1, -(-len(found) // SENTENCES))]:
            yield _addition(one.text, one.passage, one.passage, language)


def supporting_passage(gold: Sample) -> str | None:
    """A passage with everything that supports a gold answer, or ``None`` if no passage surely has it."""
    document, language = gold.document_text, gold.language
    if len(document) <= PASSAGE[language]:
        return document
    supporting = supporting_parts(document, gold.answer, gold.question, language)
    if not supporting:
        return None
    parts = parts_of(document)
    found = passage(document, parts[supporting[len(supporting) // 2]].start, language)
    return found if all(document[parts[at].start : parts[at].end] in found for at in supporting) else None


@lru_cache(maxsize=8192)
def _addition(text: str, own: str, known: str, language: Language) -> Addition:
    facts = tuple(dict.fromkeys(fact.text for fact in find_facts(text, language)))
    return Addition(text, words_of(text, language), facts, own, known)


# --- Which two are interchangeable --------------------------------------------------------------------------


def _pair(
    gold: Sample, before: Addition, near: Iterator[Sequence[Addition]], rng: random.Random
) -> tuple[Addition, Addition] | None:
    """Two sentences of two documents, neither of which is supported where the other one is.

    Prefers sentences with no fact that the gold sample's document lacks, then those that share most words
    with it: looking up names does not give these away. ``near`` are the sentences of every similar document.
    """
    topic = frozenset[str]().union(*words_of_parts(before.known, gold.language))
    ranked = []
    for place, additions in enumerate(near):
        for one in additions:
            shared = len(one.words & topic)
            if shared < (1 if gold.task in _WHOLE else max(2, ON_TOPIC * len(one.words))):
                continue
            if not _goes_on(before, one) or is_supported(one, [before.known], gold):
                continue
            new = sum(not occurs(fact, before.known) for fact in one.facts)
            far = max(0, 4 - round(8 * shared / len(one.words)))
            ranked.append((2 * min(2, new) + far, rng.random(), place, one))
    ranked.sort(key=lambda item: item[:2])
    pairs = []
    for first, second in combinations(ranked[:CHOICE], 2):
        one, two = first[3], second[3]
        sizes = len(one.text), len(two.text)
        if first[2] != second[2] and max(sizes) - min(sizes) <= LENGTHS * max(sizes):
            new = sum(len(_lacking(a, [before.known, b.known])) for a, b in ((one, two), (two, one)))
            pairs.append((4 * new + first[0] + second[0], one, two))
    unsupported = (
        (one, two)
        for _, one, two in sorted(pairs, key=lambda pair: pair[0])
        if not any(is_supported(a, [before.known, b.known], gold) for a, b in ((one, two), (two, one)))
    )
    best = None
    for one, two in islice(unsupported, TRIES):
        best = best or (one, two)
        if not _found_by_look_up(one, two, gold) and not _found_by_look_up(two, one, gold):
            return one, two
    return best


def _found_by_look_up(foreign: Addition, other: Addition, gold: Sample) -> bool:
    document = f"{gold.document_text}\n\n{other.passage}"
    judged = replace(gold, document=document, question="", answer=foreign.text)
    return label_by_rules(judged) is Label.FAIL


def _goes_on(before: Addition, one: Addition) -> bool:
    """Does a sentence add something to the text before it?"""
    if bare(one.text) in bare(before.text) or bare(before.text) in bare(one.text):
        return False
    return len(before.words & one.words) <= AGAIN * min(len(one.words), len(before.words))


def _lacking(claim: Addition, known: Sequence[str]) -> list[str]:
    """The facts of a sentence that texts lack."""
    return [fact for fact in claim.facts if not any(occurs(fact, text) for text in known)]


def is_supported(claim: Addition, known: Sequence[str], gold: Sample) -> bool:
    """May any of the texts support a sentence?

    None does if they lack a fact of the sentence, or if no two consecutive sentences have more than ``BLIND``
    of its words. For data, they must lack a value that the sentence names.
    """
    if any(bare(claim.text) in bare(text) for text in known):
        return True
    if gold.task is Task.DATA2TEXT:
        return not _names_a_new_value(claim, known)
    if _lacking(claim, known):
        return False
    for text in known:
        pairs = in_pairs(words_of_parts(text, gold.language))
        if any(len(claim.words & found) > BLIND[gold.language] * len(claim.words) for found in pairs):
            return True
    return False


def _names_a_new_value(claim: Addition, known: Sequence[str]) -> bool:
    """Does a text about data (triples, one per line) name a value that the other data lack?"""
    values = (value for line in claim.passage.splitlines() for value in line.split(" | ")[::2])
    said, there = bare(claim.text), bare("\n".join(known))
    return any(len(value) > 3 and value in said and value not in there for value in map(bare, values))
