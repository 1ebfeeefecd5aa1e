"""Wrong reasonings, for the rejected side of preferences: form and quotes of right ones, and a wrong finding.

Agreement is found where a fact differs, and fault with what the document supports. The faults of faithful
answers are of the kinds that are rightly found with hallucinated ones, and as many: wording tells nothing.
"""

from collections import Counter
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.teachers.reasoning.claims import Error, ErrorKind
from data_pipeline.teachers.reasoning.findings import Finding, findings
from data_pipeline.teachers.reasoning.places import places_in
from data_pipeline.teachers.reasoning.wording import reasoning
from data_pipeline.text.content import keys
from data_pipeline.text.facts import document_facts, find_facts
from judge.types import Label, Language, Sample


class Mistakes:
    """Composes wrong reasonings, one after the other: best those of hallucinated answers first.

    The kinds of fault that their right reasonings find are counted, and used up by the mistakes about
    faithful answers.
    """

    def __init__(self) -> None:
        self._owed: Counter[tuple[ErrorKind, Language]] = Counter()

    def of(self, sample: Sample) -> str | None:
        """A reasoning that leads to the wrong label; ``None`` where there is no right one to err from."""
        found = findings(sample)
        if not found:
            return None
        if sample.label is Label.FAIL:
            self._owed.update((error.kind, sample.language) for finding in found for error in finding.errors)
            found = [replace(finding, errors=()) for finding in found]
        else:
            rng = Random(f"mistake:{sample.id}")
            at = rng.randrange(len(found))
            found[at] = self._fault(sample, found[at], rng)
        return reasoning(sample, found)

    def _fault(self, sample: Sample, finding: Finding, rng: Random) -> Finding:
        """A finding that a faithful claim is wrong, of the kind that is owed most where it can be made up."""
        claim, language, owed = finding.claim, sample.language, self._owed
        kind: ErrorKind = "answered" if finding.refusal else "absent"
        wrong = replace(finding, errors=(Error(kind, claim.start, claim.end, claim.text),))
        if kind == "absent" and owed["differs", language] >= owed["absent", language]:
            wrong = _other_fact(sample, finding, rng) or wrong
        owed[wrong.errors[0].kind, language] -= 1
        return wrong


def _other_fact(sample: Sample, finding: Finding, rng: Random) -> Finding | None:
    """A faithful claim set next to another fact of its kind: of its quotes, or of the whole document."""
    claim, document, told = finding.claim, sample.document_text, f"{sample.question} {sample.answer}"
    facts = [fact for fact in find_facts(claim.text, sample.language) if fact.text not in sample.question]
    near = [other for quote in finding.quotes for other in find_facts(quote, sample.language)]
    for fact in rng.sample(facts, len(facts)):
        for others in (near, document_facts(fact.kind, sample.answer, document, sample.language)):
            alike = [o.text for o in others if (o.kind, o.form) == (fact.kind, fact.form)]
            if texts := [text for text in dict.fromkeys(alike) if not occurs(text, told)]:
                there, quotes = rng.choice(texts), finding.quotes
                if others is not near:
                    best = places_in(document).quotes(keys(claim.text), keys(sample.question), [there])
                    quotes = (best[0].text, *quotes)[: len(quotes)]
                error = Error("differs", claim.start + fact.start, claim.start + fact.end, fact.text, there)
                return replace(finding, quotes=quotes, errors=(error,))
    return None
