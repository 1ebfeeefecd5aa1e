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
from functools import lru_cache
from itertools import pairwise

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import parts_of, words_of
from data_pipeline.neighbours import Neighbours
from data_pipeline.perturb.edit import bare, digits_of, listed_together, occurs
from data_pipeline.perturb.fact import CJK, Fact
from data_pipeline.perturb.facts import find_facts
from data_pipeline.perturb.names_en import GENERIC
from data_pipeline.perturb.questions import OPEN, asks_for, several_answers
from data_pipeline.teachers.rules_judge import judge_by_rules
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
RATIO = 6
"""Two numbers are of a size if one is at most so many times the other ..."""
YEARS = 120
"""... and two years of one age if so many lie between them."""
CLOSE = 40
"""Characters between two things in one sentence within which the one may be another name of the other."""
_LONG = {"en": 5, "zh": 10}
_TYPED = ("person", "place", "organisation")
# What makes a group of people of a name; they are no answer where a person is one, nor the other way round.
_GROUP_EN = re.compile(r"^the \w+|\w(?<!s)s$", re.I)
_GROUP_ZH = re.compile(r"[队隊党黨人军軍国國邦团團会會社司府朝族院部校]$")
_PLACE_ZH = re.compile(r"[市县縣镇鎮省区區村州国國岛島山路街道号號邨湾灣港]$")
_OPENERS = frozenset(
    ("to", "by", "because", "in", "on", "at", "from", "for", "through", "with", "that", "it")
)
_OF_SO_MANY = re.compile(r"\bof (?:the )?(\d+)\b|(\d+)[^，。\d]{0,16}中")
_YES_NO = re.compile(r"(?:yes|no|none|neither|both|true|false)\b|^(?:是|否|不|没|沒|有)", re.I)
_SAME_THING = re.compile(
    r"\b(?:is|are|was|were|called|named|known|means?|or|i\.e\.|namely|become|became|as)\b|[(（:：]|即|又称|又稱|称|稱|也就是|名|是|为|為"
)


def near_miss(gold: Sample, neighbours: Neighbours, seed: int) -> Iterator[Contrast]:
    """An answer to another question of the document, or a fact of it of the same form.

    Where there is none, a near document becomes a second passage for both twins, and the answer to a question
    about that one is the wrong answer.
    """
    if not gold.question or several_answers(gold.question) or _YES_NO.match(gold.answer):
        return
    rng = random.Random(f"near miss:{seed}:{gold.id}")
    siblings = neighbours.siblings(gold)
    wrong = [other.answer for other in siblings if _may_stand_for(gold, other)]
    if found := _others(gold, wrong):
        yield _contrast(gold, _hardest(found, rng).answer)
        return
    right = [bare(other.answer) for other in siblings if _ask_alike(gold, other)]
    if found := _others(gold, [text for text in _facts_like(gold) if bare(text) not in right]):
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
    form = _form(gold)
    if form != _form(other) or _ask_alike(gold, other):
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


def _form(sample: Sample) -> tuple[str, ...]:
    """What an answer looks like: the forms of its dates and numbers, the kind of its name, or its grammar."""
    answer, language = sample.answer.strip(), sample.language
    facts = [fact for fact in _facts_of_answer(sample) if fact.kind != "entity"]
    if facts and 2 * sum(len(fact.text) for fact in facts) >= len(bare(answer)):
        literal = answer
        for fact in facts:
            literal = literal.replace(fact.text, "", 1)
        return (
            facts[0].kind,
            literal,
            *(part for fact in facts for part in (fact.form, _unit(fact, answer))),
        )
    group = bool((_GROUP_ZH if language == "zh" else _GROUP_EN).search(answer))
    names = [fact.form.split("-")[0] for fact in _facts(sample, "entity") if fact.text == answer]
    if names and names[0].startswith(_TYPED):
        return ("name", names[0], str(group))
    marks = (str(bool(re.search(r"[，。；;(（]|[.,] ", answer))), str(bool(re.search(r"\d", answer))))
    more = (
        str(bool(re.search(r"[、和與与及]| and | or ", answer))),
        str(bool(re.search(r"[A-Za-z]{2}", answer))),
    )
    if language == "zh":
        return ("text", *marks, *more, str(group), *(str(mark in answer) for mark in "《「“·的"))
    return ("text", *marks, *more, str(group), _opening(answer), str(answer[:1].isupper()))


def _opening(answer: str) -> str:
    """How an English phrase begins, as far as that tells what it is."""
    word = answer.split()[0].lower() if answer.split() else ""
    if word in ("a", "an", "the", "their", "its", "his", "her"):
        return "article"
    return word if word in _OPENERS else "ing" if word.endswith("ing") else ""


def _facts(sample: Sample, *kinds: str) -> tuple[Fact, ...]:
    """The facts of a document, of some kinds, in order of place; a name that is part of a date is none."""
    text, language = sample.document_text, sample.language
    return tuple(fact for fact in _all_facts(text, language) if fact.kind in kinds)


@lru_cache(maxsize=64)
def _all_facts(text: str, language: Language) -> tuple[Fact, ...]:
    return tuple(find_facts(text, language))


def _facts_of_answer(sample: Sample) -> tuple[Fact, ...]:
    """The facts of an answer, read where it stands in the document, if it does."""
    start = sample.document_text.find(sample.answer)
    if start < 0:
        return _all_facts(sample.answer, sample.language)
    end = start + len(sample.answer)
    found = _all_facts(sample.document_text, sample.language)
    return tuple(fact for fact in found if start <= fact.start and fact.end <= end)


def _unit(fact: Fact, answer: str) -> str:
    return fact.unit if fact.unit and fact.unit in answer.lower() else ""


def _facts_like(gold: Sample) -> Iterator[str]:
    """Stretches of the document in the form of an answer that is hardly more than a number, date or name."""
    document, answer = gold.document_text, gold.answer
    start = document.find(answer)
    own = _facts_of_answer(gold)
    if start < 0 or not own or 2 * sum(len(fact.text) for fact in own) < len(bare(answer)):
        return
    kind = own[0].kind
    if any(fact.kind != kind for fact in own) or (kind == "entity" and not _names_fit(gold, own)):
        return
    head, tail = document[start : own[0].start], document[own[-1].end : start + len(answer)]
    facts = _facts(gold, kind)
    for place in range(len(facts) - len(own) + 1):
        run = facts[place : place + len(own)]
        if [(fact.form, fact.unit) for fact in run] != [(fact.form, fact.unit) for fact in own]:
            continue
        if _joints(run, document) == _joints(own, document) and document.startswith(tail, run[-1].end):
            yield head + document[run[0].start : run[-1].end] + tail


def _joints(run: Sequence[Fact], document: str) -> list[str]:
    """What stands between facts that follow each other."""
    return [document[one.end : two.start] for one, two in pairwise(run)]


def _names_fit(gold: Sample, own: Sequence[Fact]) -> bool:
    """Is the answer one name, of the very kind that the question word asks for?"""
    form = own[0].form.split("-")[0]
    wanted = {"who": "person", "where": "place"}.get(asks_for(gold.question, gold.language))
    return len(own) == 1 and own[0].text == gold.answer and wanted is not None and form.startswith(wanted)


# --- Not right as well --------------------------------------------------------------------------------------


def is_other(gold: Sample, wrong: str) -> bool:
    """Is an answer surely not right as well: no other form of the right one, no part of it, not its like?"""
    right, question, document = gold.answer, gold.question, gold.document_text
    if not occurs(wrong, document) or _YES_NO.match(wrong) or occurs(wrong, question):
        return False
    one, two = bare(right), bare(wrong)
    if one in two or two in one or listed_together(right, wrong, document):
        return False
    if _shared_words(right, wrong, gold.language) or (
        digits_of(right) and digits_of(right) == digits_of(wrong)
    ):
        return False
    if not _of_a_size(right, wrong) or _more_than_all(wrong, question):
        return False
    if not re.search(r"\d", right) and words_of(wrong, gold.language) <= words_of(question, gold.language):
        return False
    return not any(_one_thing(right, wrong, document[part.start : part.end]) for part in parts_of(document))


def _of_a_size(right: str, wrong: str) -> bool:
    """Are two numbers of a size, two years of one age? Of anything else this says nothing."""
    years = [re.findall(r"(?<!\d)(1\d{3}|20\d\d)(?![\d,.])", text) for text in (right, wrong)]
    if all(years) and abs(int(years[0][-1]) - int(years[1][-1])) > YEARS:
        return False
    one, two = (re.fullmatch(r"\D*(\d[\d,]*(?:\.\d+)?)\D*", text) for text in (right, wrong))
    if not one or not two:
        return True
    low, high = sorted(float(match[1].replace(",", "")) for match in (one, two))
    if 1000 <= low <= high <= 2100 and "," not in right + wrong:
        return high - low <= YEARS
    return high <= RATIO * max(low, 0.01)


def _more_than_all(wrong: str, question: str) -> bool:
    """Does a question ask how many of so many, and the answer says more?"""
    whole, part = _OF_SO_MANY.search(question), re.search(r"\d+", wrong)
    return bool(whole and part and int(part[0]) > int(whole[1] or whole[2]))


def _shared_words(right: str, wrong: str, language: Language) -> bool:
    """Do two answers share a word that counts? Units and words such as "university" do not."""
    shared = words_of(right, language) & words_of(wrong, language)
    if re.search(r"\d", right) and re.search(r"\d", wrong):
        shared = frozenset(word for word in shared if re.search(r"\d", word) and not CJK.search(word))
    return bool(shared - GENERIC)


def _one_thing(right: str, wrong: str, sentence: str) -> bool:
    """Does a sentence join the two so closely that they may name one thing, or that one lies in the other?"""
    places = sentence.find(right), sentence.find(wrong)
    if min(places) < 0:
        return False
    first = right if places[0] < places[1] else wrong
    between = sentence[min(places) + len(first) : max(places)]
    return len(between) <= CLOSE and (len(between.split()) <= 3 or bool(_SAME_THING.search(between)))
