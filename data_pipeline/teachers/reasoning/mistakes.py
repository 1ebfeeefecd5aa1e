"""Wrong reasonings, for the rejected side of preferences: form and quotes of right ones, and a wrong finding.

Agreement is found where a fact differs, and fault with what the document supports. The faults of faithful
answers are of the kinds that are rightly found with hallucinated ones, and as many: wording tells nothing.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.teachers.reasoning.claims import Error, ErrorKind
from data_pipeline.teachers.reasoning.findings import Finding, findings
from data_pipeline.teachers.reasoning.places import places_in
from data_pipeline.teachers.reasoning.wording import Wording
from data_pipeline.text.content import content, keys
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import document_facts, find_facts
from judge.types import Label, Sample

_ORDER: tuple[ErrorKind, ...] = ("differs", "against", "absent")
"""Kinds of fault that can be found with a faithful claim, those first that can seldom be made up."""


class Mistakes:
    """Composes wrong reasonings, one after the other.

    The kinds of fault that right reasonings of hallucinated answers find are counted, and used up by the
    mistakes about faithful ones; so those come best after the others.
    """

    def __init__(self) -> None:
        self._seen: Counter[ErrorKind] = Counter()
        self._owed: Counter[ErrorKind] = Counter()

    def of(self, sample: Sample) -> str | None:
        """A reasoning that leads to the wrong label; ``None`` where there is no right one to err from."""
        found = findings(sample)
        if not found:
            return None
        if sample.label is Label.FAIL:
            kinds = [error.kind for finding in found for error in finding.errors]
            self._seen.update(kinds)
            self._owed.update(kinds)
            found = [replace(finding, errors=()) for finding in found]
        else:
            rng = Random(f"mistake:{sample.id}")
            at = rng.randrange(len(found))
            found[at] = self._fault(sample, found[at], rng)
        return Wording(sample).reasoning(found)

    def _fault(self, sample: Sample, finding: Finding, rng: Random) -> Finding:
        """A finding that a faithful claim is wrong, of a kind that is owed where it can be made up."""
        if not any(self._owed[kind] for kind in _ORDER):
            self._owed.update(self._seen or Counter(_ORDER[:1]))
        for kind in _ORDER:
            if self._owed[kind] and (wrong := _found(kind, sample, finding, rng)):
                self._owed[kind] -= 1
                return wrong
        return _found("absent", sample, finding, rng) or finding


def _found(kind: ErrorKind, sample: Sample, finding: Finding, rng: Random) -> Finding | None:
    """A fault of a kind with a faithful claim, if there is one that might be found."""
    claim = finding.claim
    whole = Error(kind, claim.start, claim.end, claim.text)
    if finding.refusal:
        return replace(finding, errors=(replace(whole, kind="answered"),))
    if kind == "differs":
        return _other_fact(sample, finding, rng)
    if kind == "against":
        tokens = list(content(claim.text, claim.start))
        token = rng.choice(tokens) if tokens else None
        if token is None:
            return None
        said = sample.answer[token.start : token.end]
        return replace(finding, errors=(Error(kind, token.start, token.end, said),))
    return replace(finding, errors=(whole,))


def _other_fact(sample: Sample, finding: Finding, rng: Random) -> Finding | None:
    """A faithful claim set next to another fact of its kind, of the same place or of another one."""
    claim, document = finding.claim, sample.document_text
    facts = [
        fact for fact in find_facts(claim.text, sample.language) if not occurs(fact.text, sample.question)
    ]
    rng.shuffle(facts)
    near = [other for quote in finding.quotes for other in find_facts(quote, sample.language)]
    for fact in facts:
        far = document_facts(fact.kind, sample.answer, document, sample.language)
        for others in (near, far):
            if not (alternatives := _other_facts(fact, others, sample)):
                continue
            there = rng.choice(alternatives)
            error = Error("differs", claim.start + fact.start, claim.start + fact.end, fact.text, there)
            quotes = finding.quotes
            if others is far:
                found = places_in(document).quotes(keys(claim.text), keys(sample.question), [there])
                quotes = (*(quote.text for quote in found[:1]), *quotes)[: len(quotes)]
            return replace(finding, quotes=quotes, errors=(error,))
    return None


def _other_facts(fact: Fact, others: Sequence[Fact], sample: Sample) -> list[str]:
    """Facts of the same kind that the answer does not hold."""
    told = f"{sample.question} {sample.answer}"
    found = [other.text for other in others if (other.kind, other.form) == (fact.kind, fact.form)]
    return [text for text in dict.fromkeys(found) if not occurs(text, told)]
