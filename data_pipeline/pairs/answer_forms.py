"""What an answer looks like, and what else in its document looks alike."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from data_pipeline.edits.edit import bare
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_facts
from data_pipeline.text.questions import asks_for
from judge.types import Sample

_TYPED = ("person", "place", "organisation")
# What makes a group of people of a name; they are no answer where a person is one, nor the other way round.
_GROUP_EN = re.compile(r"^the \w+|\w(?<!s)s$", re.I)
_GROUP_ZH = re.compile(r"[队隊党黨人军軍国國邦团團会會社司府朝族院部校]$")
_OPENERS = frozenset(
    ("to", "by", "because", "in", "on", "at", "from", "for", "through", "with", "that", "it")
)


def form_of(sample: Sample) -> tuple[str, ...]:
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
    return tuple(fact for fact in find_facts(text, language) if fact.kind in kinds)


def _facts_of_answer(sample: Sample) -> tuple[Fact, ...]:
    """The facts of an answer, read where it stands in the document, if it does."""
    start = sample.document_text.find(sample.answer)
    if start < 0:
        return tuple(find_facts(sample.answer, sample.language))
    end = start + len(sample.answer)
    found = find_facts(sample.document_text, sample.language)
    return tuple(fact for fact in found if start <= fact.start and fact.end <= end)


def _unit(fact: Fact, answer: str) -> str:
    return fact.unit if fact.unit and fact.unit in answer.lower() else ""


def facts_like(gold: Sample) -> Iterator[str]:
    """Spans of the document in the form of an answer that is hardly more than a number, date or name."""
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
