"""Near misses: the answer to another question about the same document, given to this one.

Every word of such an answer stands in the document, and it is of the kind that was asked for; only what the
document says of it tells that it is wrong. Where no other question fits, a fact of the same form is taken
from the document. What might also be right is left alone: parts of a list, other forms of one thing, answers
to questions that ask alike.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import words_of
from data_pipeline.neighbours import Neighbours
from data_pipeline.perturb.edit import bare, occurs
from data_pipeline.perturb.questions import OPEN, asks_for, several_answers
from data_pipeline.teachers.rules_judge import judge_by_rules
from data_pipeline.twins.answer_forms import facts_like, form_of
from data_pipeline.twins.rivalry import YES_NO, is_other
from judge.floors.overlap import units
from judge.types import Label, Language, Sample

ALIKE = 0.6
"""Share of content words from which on two questions may ask for the same."""
MISSING = 0.4
"""Share of a question's words that only its own document may have, if another one is to be put beside it."""
TRIES = 6
"""So many wrong answers are looked up, in search of one that this does not give away."""
PASSAGES = 12
"""Of so many nearest documents one is put beside the gold sample's own."""
LONGEST = {"en": 6000, "zh": 2400}
"""Characters that two documents side by side may have."""
WHERE_ALIKE = 0.25
"""The same for questions after a place: one thing is in a town, in a country and on a hill at once."""
_LONG = {"en": 5, "zh": 10}
_PLACE_ZH = re.compile(r"[市县縣镇鎮省区區村州国國岛島山路街道号號邨湾灣港]$")


def near_miss(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """An answer to another question of the document, or a fact of it of the same form.

    Where there is none, a near document becomes a second passage for both twins, and the answer to a question
    about that one is the wrong answer.
    """
    if not gold.question or several_answers(gold.question) or YES_NO.match(gold.answer):
        return
    rng = random.Random(f"near miss:{seed}:{gold.id}")
    siblings = neighbours.siblings(gold)
    wrong = [other.answer for other in siblings if _may_stand_for(gold, other)]
    if found := _others(gold, wrong):
        yield _contrast(gold, _hardest(found, rng).answer)
        return
    right = [bare(other.answer) for other in siblings if _ask_alike(gold, other)]
    if found := _others(gold, [text for text in facts_like(gold) if bare(text) not in right]):
        yield _contrast(gold, _hardest(found, rng).answer)
        return
    if not occurs(gold.answer, gold.document_text):
        return
    passages = []
    for others in neighbours.nearest(gold)[:PASSAGES]:
        joined = rng.sample([gold.document_text, others[0].document_text], 2)
        if len(joined[0]) + len(joined[1]) > LONGEST[gold.language] or not _only_here(gold, others[0]):
            continue
        answers = [other.answer for other in others if _may_stand_for(gold, other, elsewhere=True)]
        answers = [text for text in answers if not occurs(text, gold.document_text)]
        passages += _others(replace(gold, document="\n\n".join(joined)), answers)
    if passages:
        hardest = _hardest(passages, rng)
        yield replace(
            _contrast(gold, hardest.answer),
            faithful_document=hardest.document_text,
            hallucinated_document=hardest.document_text,
        )


def _hardest(samples: Sequence[Sample], rng: random.Random) -> Sample:
    """A sample whose answer is not found wrong by looking it up, if there is one."""
    shuffled = rng.sample(samples, len(samples))
    hard = (one for one in shuffled[:TRIES] if judge_by_rules(one).label is Label.PASS)
    return next(hard, shuffled[0])


def _others(gold: Sample, answers: Iterable[str]) -> list[Sample]:
    """The sample with each of those answers that are surely wrong."""
    return [replace(gold, answer=text) for text in dict.fromkeys(answers) if is_other(gold, text)]


def _contrast(gold: Sample, inserted: str) -> Contrast:
    if gold.language == "zh":
        change = f"文档给出的答案是“{gold.answer}”，而不是“{inserted}”"
    else:
        change = f"the document's answer is '{gold.answer}', not '{inserted}'"
    return Contrast(
        edit_type="other_answer",
        change=change,
        replaced=gold.answer,
        inserted=inserted,
        from_document=True,
        hallucinated=inserted,
    )


def _only_here(gold: Sample, other: Sample) -> bool:
    """Is the question about its own document alone: do words of it that stand there lack in the other one?"""
    asked = words_of(gold.question, gold.language)
    here = asked & words_of(gold.document_text, gold.language)
    missing = here - words_of(other.document_text, gold.language)
    return len(missing) >= 2 and len(missing) >= MISSING * len(here)


# --- Of one kind --------------------------------------------------------------------------------------------


def _may_stand_for(gold: Sample, other: Sample, *, elsewhere: bool = False) -> bool:
    """Do two answers look alike, so that either could be the answer to either question?

    Of answers from elsewhere, only those count that are surely of one kind.
    """
    language = gold.language
    form = form_of(gold)
    if form != form_of(other) or _ask_alike(gold, other):
        return False
    if not _of_a_length(gold.answer, other.answer, language):
        return False
    asked = asks_for(gold.question, language)
    if asked == "where" and not elsewhere and _ask_alike(gold, other, WHERE_ALIKE):
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
        return not elsewhere and len(units(gold.answer, language)) >= _LONG[language]
    if asked == "where" and elsewhere and language == "zh":
        return bool(_PLACE_ZH.search(gold.answer) and _PLACE_ZH.search(other.answer))
    return True


def _ask_alike(gold: Sample, other: Sample, share: float = ALIKE) -> bool:
    one, two = words_of(gold.question, gold.language), words_of(other.question, gold.language)
    return len(one & two) >= share * min(len(one), len(two))


def _of_a_length(one: str, two: str, language: Language) -> bool:
    short, long = sorted((len(units(one, language)), len(units(two, language))))
    return long - short <= (4 if language == "zh" else 2) or long <= 1.6 * short
