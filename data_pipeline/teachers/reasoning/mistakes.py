"""Wrong reasonings, for the rejected side of preferences: form and quotes of right ones, but a wrong finding.

They agree where a fact differs, and find errors in what the document supports. Errors invented for faithful
answers match in kind and number those rightly found in hallucinated ones, so that wording gives nothing away.
"""

from collections import Counter
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.teachers.reasoning.claims import Error, Finding, findings
from data_pipeline.teachers.reasoning.places import places_in
from data_pipeline.teachers.reasoning.wording import reasoning
from data_pipeline.text.content import keys
from data_pipeline.text.facts import document_facts, find_facts
from judge.types import Label, Language, Sample


class Mistakes:
    """Composes wrong reasonings, one by one; works best if hallucinated answers come first.

    Mistakes about faithful answers use up the kinds of errors that the right reasonings of those find.
    """

    def __init__(self) -> None:
        self._balance: Counter[tuple[Language, bool]] = Counter()  # faults with and without another fact

    def of(self, sample: Sample) -> str | None:
        """A reasoning that leads to the wrong label, or ``None`` if there is no right one to start from."""
        found = findings(sample)
        if not found:
            return None
        if sample.label is Label.FAIL:
            errors = [error for finding in found for error in finding.errors if not finding.refusal]
            self._balance.update((sample.language, bool(error.there)) for error in errors)
            return reasoning(sample, [finding._replace(errors=[]) for finding in found])
        rng = Random(f"mistake:{sample.id}")
        at = rng.randrange(len(found))
        right, balance, language = found[at], self._balance, sample.language
        wrong = None
        if not right.refusal and balance[language, True] >= balance[language, False]:
            wrong = _other_fact(sample, right, rng)
        found[at] = wrong or right._replace(errors=[Error(*right.claim[1:], right.claim.text)])
        balance[language, wrong is not None] -= not right.refusal
        return reasoning(sample, found)


def _other_fact(sample: Sample, finding: Finding, rng: Random) -> Finding | None:
    """A faithful claim contrasted with another fact of its kind, from its quotes or else the document."""
    claim, document, context = finding.claim, sample.document_text, f"{sample.question} {sample.answer}"
    facts = [fact for fact in find_facts(claim.text, sample.language) if fact.text not in sample.question]
    near = [other for quote in finding.quotes for other in find_facts(quote, sample.language)]
    for fact in rng.sample(facts, len(facts)):
        for others in (near, document_facts(fact.kind, sample.answer, document, sample.language)):
            alike = [o.text for o in others if (o.kind, o.form) == (fact.kind, fact.form)]
            if texts := [text for text in dict.fromkeys(alike) if not occurs(text, context)]:
                there, quotes = rng.choice(texts), finding.quotes
                if others is not near:
                    best = places_in(document).quotes(keys(claim.text), keys(sample.question), [there])
                    quotes = [*best[:1], *quotes][: len(quotes)]
                error = Error(claim.start + fact.start, claim.start + fact.end, fact.text, there)
                return finding._replace(quotes=quotes, errors=[error])
    return None
