"""Near misses: the answer to another question about the same document, given to this one.

Every word of such an answer stands in the document, and it is of the kind that was asked for; only what the
document says of it tells that it is wrong. Where no other question fits, a fact of the same form is taken
from the document. What might also be right is left alone: parts of a list, other forms of one thing, answers
to questions that ask alike.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from data_pipeline.edits.edit import bare
from data_pipeline.pairs.answer_forms import facts_like, form_of
from data_pipeline.pairs.contrast import Contrast, other_answer
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.pairs.wrong_answers import YES_NO, is_other
from data_pipeline.teachers.rules_checks import label_by_rules
from data_pipeline.text.content import words_of
from data_pipeline.text.questions import OPEN, asks_for, several_answers
from judge.baselines.overlap import units
from judge.types import Label, Language, Sample

ALIKE = 0.6
"""Share of content words from which on two questions may ask for the same."""
WHERE_ALIKE = 0.25
"""The same for questions after a place: one thing is in a town, in a country and on a hill at once."""
TRIES = 6
"""So many wrong answers are looked up, in search of one that this does not give away."""
_LONG = {"en": 5, "zh": 10}


def near_miss(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """An answer to another question of the document, or a fact of it of the same form."""
    if not gold.question or several_answers(gold.question) or YES_NO.match(gold.answer):
        return
    rng = random.Random(f"near miss:{seed}:{gold.id}")
    siblings = neighbours.siblings(gold)
    right = {bare(other.answer) for other in siblings if _ask_alike(gold, other)}
    answers = [other.answer for other in siblings if _may_stand_for(gold, other)]
    facts = [text for text in facts_like(gold) if bare(text) not in right]
    found = _others(gold, answers) or _others(gold, facts)
    if found:
        yield _contrast(gold, _hardest(found, rng).answer)


def _hardest(samples: Sequence[Sample], rng: random.Random) -> Sample:
    """A sample whose answer is not found wrong by looking it up, if there is one."""
    shuffled = rng.sample(samples, len(samples))
    hard = (one for one in shuffled[:TRIES] if label_by_rules(one) is Label.PASS)
    return next(hard, shuffled[0])


def _others(gold: Sample, answers: Iterable[str]) -> list[Sample]:
    """The sample with each of those answers that are surely wrong."""
    return [replace(gold, answer=text) for text in dict.fromkeys(answers) if is_other(gold, text)]


def _contrast(gold: Sample, inserted: str) -> Contrast:
    return Contrast(
        edit_type="other_answer",
        change=other_answer(gold.answer, inserted, gold.language),
        replaced=gold.answer,
        inserted=inserted,
        from_document=True,
        hallucinated=inserted,
    )


# --- Of one kind --------------------------------------------------------------------------------------------


def _may_stand_for(gold: Sample, other: Sample) -> bool:
    """Do two answers look alike, so that either could be the answer to either question?"""
    language = gold.language
    form = form_of(gold)
    if form != form_of(other) or _ask_alike(gold, other):
        return False
    if not _of_a_length(gold.answer, other.answer, language):
        return False
    asked = asks_for(gold.question, language)
    if asked == "where" and _ask_alike(gold, other, WHERE_ALIKE):
        return False
    if asked != asks_for(other.question, language) or not asked:
        return form[0] == "date"
    if form[0] != "text":
        return not (asked == "who" and form[:2] == ("name", "place"))
    if asked.startswith("how "):  # for a number that none was found in
        return False
    if asked in (OPEN, "how"):  # of phrases, nothing says that they are of one kind
        return False
    if asked == "why":
        return len(units(gold.answer, language)) >= _LONG[language]
    return True


def _ask_alike(gold: Sample, other: Sample, share: float = ALIKE) -> bool:
    one, two = words_of(gold.question, gold.language), words_of(other.question, gold.language)
    return len(one & two) >= share * min(len(one), len(two))


def _of_a_length(one: str, two: str, language: Language) -> bool:
    short, long = sorted((len(units(one, language)), len(units(two, language))))
    return long - short <= (4 if language == "zh" else 2) or long <= 1.6 * short
