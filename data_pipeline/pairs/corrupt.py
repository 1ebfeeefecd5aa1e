"""Errors in a long answer: a sentence whose support was deleted, or a changed fact."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.pairs.compose import Composed
from data_pipeline.pairs.contrast import Error
from data_pipeline.pairs.documents.deletion import can_be_removed
from data_pipeline.pairs.documents.parts import without
from data_pipeline.pairs.documents.supporting import in_pairs, supporting_parts, words_of_parts
from data_pipeline.pairs.statements import Statement
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts
from judge.types import Language, Sample

WEIGHTS: Mapping[str, float] = {"deletion": 4.0, "edit": 2.0}
"""The draw weight of each kind of error."""
EDITED = ("number",)
"""Kinds of edits. The rest of a long answer often contradicts a wrong date, name, direction or denial."""
NEW_WORDS: Mapping[Language, int] = {"en": 4, "zh": 10}
"""At least this many content words (pairs of characters in Chinese) of an unsupported sentence are missing
from the document."""
ALIKE = 0.5
"""At most this share of its content words is in any two consecutive sentences of the document."""
_WORD = re.compile(r"[A-Za-z0-9]+(?:[.,'’-][A-Za-z0-9]+)*|.", re.S)


@dataclass(slots=True)
class Draft:
    """A hallucinated answer in the making.

    ``sentences`` are those of ``composed``, right or wrong; ``wrong`` maps sentence numbers to their errors,
    located within the sentence; ``taken`` are the parts removed from ``document``.
    """

    gold: Sample
    composed: Composed
    sentences: list[str]
    document: str
    wrong: dict[int, Error] = field(default_factory=dict)
    taken: list[int] = field(default_factory=list)

    def free(self, rng: Random) -> list[int]:
        """Sentences that can get an error, in random order: correct ones that no other depends on."""
        numbers = [
            number
            for number in range(len(self.sentences))
            if number not in self.wrong and not self.composed.followed(number)
        ]
        rng.shuffle(numbers)
        return numbers

    def said_elsewhere(self, number: int) -> str:
        """The text of the other sentences."""
        return " ".join(text for place, text in enumerate(self.sentences) if place != number)


def go_wrong(draft: Draft, used: set[str], seed: int, rng: Random) -> str | None:
    """Put one error of an unused kind into a draft; returns its kind, or ``None`` if none is possible."""
    kinds = sorted(WEIGHTS, key=lambda kind: rng.random() ** (1 / WEIGHTS[kind]), reverse=True)
    for kind in kinds:
        if kind in used:
            continue
        if _unsupported(draft, rng) if kind == "deletion" else _edited(draft, seed, rng):
            return kind
    return None


def _edited(draft: Draft, seed: int, rng: Random) -> bool:
    """Change one fact of a sentence with the rule perturber; returns whether one was changed."""
    gold = draft.gold
    perturber = RulePerturber(seed, EDITED)
    for number in draft.free(rng):
        right = draft.sentences[number]
        found = perturber.perturb(Sample(f"{gold.id}-{number}", gold.document, right, language=gold.language))
        # The old fact elsewhere in the answer would contradict the change.
        if found is None or occurs(found.replaced, draft.said_elsewhere(number)):
            continue
        start, end, replaced = changed_span(right, found.answer, found.inserted)
        draft.sentences[number] = found.answer
        draft.wrong[number] = Error(found.edit_type, replaced, found.answer[start:end], start, end)
        return True
    return False


def changed_span(old: str, new: str, inserted: str) -> tuple[int, int, str]:
    """Where a text differs from its old version, in whole words: start, end, and the old text there."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = sum(map(len, after[:head]))
    end = len(new) - sum(map(len, after[len(after) - tail :]))
    if start == end:  # a word was removed: its neighbours are marked as wrong
        start -= len("".join(after[max(0, head - 2) : head]))
        end += len("".join(after[len(after) - tail : len(after) - tail + 2]))
    place = new.find(inserted, max(0, start - len(inserted)))
    if 0 <= place <= start and end <= place + len(inserted):  # "Paul Weber" for "Karl Weber"
        start, end = place, place + len(inserted)
    return start, end, old[start : len(old) - (len(new) - end)]


def _unsupported(draft: Draft, rng: Random) -> bool:
    """Delete the support of one sentence from the document, keeping that of the others; returns success."""
    gold, language = draft.gold, draft.gold.language
    document = gold.document_text
    if draft.taken:
        return False
    said_by = draft.composed.sentences
    found: list[tuple[int, int, list[int], str]] = []
    for number in draft.free(rng):
        said = said_by[number]
        supporting = supporting_parts(document, said.text, "", language)
        if said.part >= 0 and said.part not in supporting:
            continue
        if not can_be_removed(document, supporting, language):
            continue
        others = [one for place, one in enumerate(said_by) if place != number]
        if any(_rests_on(one, supporting, document, language) for one in others):
            continue
        left = without(document, supporting)
        if is_unsaid(said.text, left, language):
            found.append((_news(said.text, left, language), number, supporting, left))
    if not found:
        return False
    # Look-up finds names and numbers that are gone: take the sentence with the fewest of them.
    _, number, draft.taken, draft.document = min(found, key=lambda item: item[0])
    draft.wrong[number] = Error("deletion", "", said_by[number].text, 0, len(said_by[number].text))
    return True


def _rests_on(said: Statement, parts: Sequence[int], document: str, language: Language) -> bool:
    """Does a sentence come from one of the parts, or, if it is from the gold answer, may it need one?"""
    if said.part >= 0:
        return said.part in parts
    return bool(set(supporting_parts(document, said.text, "", language)) & set(parts))


def _news(text: str, document: str, language: Language) -> int:
    """How many facts of a sentence a document lacks."""
    return sum(not occurs(fact.text, document) for fact in find_facts(text, language))


def is_unsaid(text: str, document: str, language: Language) -> bool:
    """Does a document surely not say what a sentence says?

    Enough of its content words are missing, and no two consecutive sentences hold many of them.
    """
    wanted = words_of(text, language)
    if len(wanted - words_of(document, language)) < NEW_WORDS[language]:
        return False
    pairs = in_pairs(words_of_parts(document, language))
    most = max((len(wanted & found) for found in pairs), default=0)
    return most <= ALIKE * len(wanted)
