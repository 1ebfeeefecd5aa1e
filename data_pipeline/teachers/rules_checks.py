"""Judging without a model and without a label: is what the answer says found in the document?

Five checks, the surest first. The first one that finds something makes the label ``FAIL``, else ``PASS``:

1. a number, date or name of the answer is nowhere in the document;
2. clauses that match the rest of the sentence hold another number, date or name of its kind;
3. such clauses hold the opposite direction word (before for after; English only);
4. the best-matching clause denies what the answer affirms, or affirms what it denies;
5. hardly any word of a clause is in the document.

This compares words and understands nothing: it finds most swapped facts, and mistakes paraphrased answers for
wrong ones. Of translations only numbers are compared.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from data_pipeline.edits.directions import direction_spots
from data_pipeline.edits.edit import digits_of, occurs
from data_pipeline.edits.polarity import YES_OR_NO
from data_pipeline.teachers.lookup import Lookup, clauses, look_into, sentences, stands
from data_pipeline.text.content import terms
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_facts, is_translation
from data_pipeline.text.words import either
from judge.types import Label, Language, Sample

# Chosen by hand on pairs made by rule from the starter corpus, XQuAD, CMRC 2018 and PubMedQA.
RATIO = 1.5
"""A clause that contradicts the answer must score over this many times as high as any that agrees with it."""
POLARITY_COVER = 0.4
"""Share of a clause's terms that the document's clause must hold before polarity is compared."""
KNOWN_SHARE = 0.2
"""A clause fails if a smaller share of its terms is in the document ..."""
MIN_TERMS = 5
"""... and it has at least this many terms."""

NEGATION: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(rf"\b(?:{either('negations_en')})\b|n[’']t\b", re.I),
    "zh": re.compile(r"[没未无非否]|不(?![但仅同断过少久错足])"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An error of an answer: its kind, the sentence to quote, the answer's words and the document's."""

    kind: str
    quote: str
    said: str
    there: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, with the facts in it that the question does not name."""

    text: str
    facts: Sequence[Fact]
    question: str

    def terms_without(self, start: int, end: int) -> set[str]:
        """The terms of the sentence and its question, without a span of the sentence."""
        return terms(f"{self.question} {self.text[:start]} {self.text[end:]}")


def label_by_rules(sample: Sample) -> Label:
    """The label by rule, at half the cost of a full judgement."""
    lookup = look_into(sample.document_text, sample.language)
    return Label.FAIL if find_fault(sample, statements_of(sample), lookup) else Label.PASS


def find_fault(sample: Sample, statements: Sequence[Statement], lookup: Lookup) -> Finding | None:
    """The first error found in an answer, or ``None``."""
    if is_translation(sample.answer, sample.document_text):
        return next(_untranslated(statements, lookup), None)
    checks = (_missing, _another_value, _opposite, _polarity, _unknown)
    return next((found for check in checks for found in check(statements, lookup)), None)


def statements_of(sample: Sample) -> list[Statement]:
    """The sentences of an answer, each with its facts."""
    found = []
    for sentence in sentences(sample.answer) or [sample.answer]:
        # A plain yes or no answers the question; what follows it is looked up.
        opening = YES_OR_NO.match(sentence)
        text = sentence[opening.end() :].lstrip(" ,.;，。；") if opening else sentence
        facts = [f for f in find_facts(text, sample.language) if not occurs(f.text, sample.question)]
        found.append(Statement(text, facts, sample.question))
    return found


def _missing(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    for statement in statements:
        for fact in statement.facts:
            counted = fact.text.lower() in ("two", "两")  # "the two" counts what the document names
            if not counted and not stands(fact, lookup.document, lookup.language):
                best = lookup.best(statement.terms_without(fact.start, fact.end))
                yield Finding("missing", lookup.sentence(best), fact.text)


def _another_value(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    """The other value's clause must score much higher than any clause with the answer's own value."""
    answer = " ".join(statement.text for statement in statements)
    for statement in statements:
        for fact in statement.facts:
            own = set(lookup.holding(fact))
            if not own:
                continue
            scores = lookup.scores(statement.terms_without(fact.start, fact.end))
            bar = RATIO * max(scores[at] for at in own)
            for at in sorted(range(len(scores)), key=lambda at: -scores[at]):
                if scores[at] <= bar:
                    break
                others = [
                    other.text
                    for other in lookup.facts(at)
                    if at not in own
                    and _same_kind(fact, other)
                    and not occurs(other.text, f"{answer} {statement.question}")
                ]
                if others:
                    yield Finding("other", lookup.sentence(at), fact.text, others[0])


def _same_kind(one: Fact, two: Fact) -> bool:
    """May one fact replace the other: of the same form, whatever a name's length, and of the same unit?"""
    if one.kind == "number" and one.unit and two.unit and one.unit != two.unit:
        return False
    return one.kind == two.kind and _sort(one) == _sort(two)


def _sort(fact: Fact) -> str:
    """What a fact names, only as finely as wrong answers distinguish: they give a city for a country."""
    form = fact.form.split("-")[0]
    return {"country": "place", "city": "place", "state": "place", "thing": "other"}.get(form, form)


def _opposite(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    for statement in statements if lookup.language == "en" else ():
        for start, word, opposites in direction_spots(statement.text):
            if not any(occurs(other, lookup.document) for other in opposites):
                continue
            scores = lookup.scores(statement.terms_without(start, start + len(word)))
            own = {at for at, clause in enumerate(lookup.clauses) if occurs(word, clause)}
            bar = RATIO * max((scores[at] for at in own), default=0.0)
            found = [
                (scores[at], -at, other)
                for at, clause in enumerate(lookup.clauses)
                for other in opposites
                if at not in own and scores[at] > bar and occurs(other, clause)
            ]
            if found:
                _, at, other = max(found)
                yield Finding("other", lookup.sentence(-at), word, other)


def _polarity(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    pattern = NEGATION[lookup.language]
    denied = {at for at, clause in enumerate(lookup.clauses) if pattern.search(clause)}
    for statement in statements:
        for clause in clauses(statement.text):
            wanted = terms(pattern.sub(" ", clause))
            if len(wanted) < 6:  # too few to find its place by
                wanted |= terms(pattern.sub(" ", statement.question))
            scores = lookup.scores(wanted)
            denies = bool(pattern.search(clause))
            alike = max((s for at, s in enumerate(scores) if (at in denied) == denies), default=0.0)
            at = scores.index(max(scores))
            if scores[at] > RATIO * alike and lookup.cover(wanted, at) > POLARITY_COVER:
                yield Finding("denies" if denies else "affirms", lookup.sentence(at), clause)


def _unknown(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    for statement in statements:
        for clause in clauses(statement.text):
            found = terms(clause)
            new = found - terms(statement.question)
            if len(found) >= MIN_TERMS and lookup.known(new) < KNOWN_SHARE:
                yield Finding("unknown", lookup.sentence(lookup.best(found)), clause)


def _untranslated(statements: Sequence[Statement], lookup: Lookup) -> Iterator[Finding]:
    """Plain numbers of two or more digits that the original does not have."""
    held = {number.replace(",", "") for number in re.findall(r"\d+(?:,\d{3})*", lookup.document)}
    for statement in statements:
        for fact in statement.facts:
            digits = digits_of(fact.text)
            if len(digits) > 1 and fact.form in ("int", "int%", "year") and digits not in held:
                at = lookup.best(terms(statement.text))
                yield Finding("missing", lookup.sentence(at), fact.text)
