"""What edits of numbers and dates share: a fact of the answer becomes another one of its form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from data_pipeline.edits.edit import Edit, Option, occurs
from data_pipeline.text.fact import Fact


def asked(fact: Fact, question: str) -> float:
    """What the rank of a fact grows by if the question names it: such facts are exchanged last."""
    return 1.5 if occurs(fact.text, question) else 0.0


@dataclass(frozen=True, slots=True)
class FactSwap:
    """How facts of one kind are changed in one language.

    Args:
        kind: the edit type.
        facts: the facts that may change, from answer, document and question.
        held: what of the document may stand for one of them.
        near: what is near to it and not in the document.
        first: the first of such options that makes a clean edit.
    """

    kind: str
    facts: Callable[[str, str, str], Iterable[Fact]]
    held: Callable[[Fact, str, str, str], Iterable[Option]]
    near: Callable[[Fact, str, str, str, Random], Iterable[Option]]
    first: Callable[[str, str, str, Random, Iterable[Option]], Edit | None]

    def edit(self, answer: str, document: str, question: str, rng: Random) -> Edit | None:
        """Another fact of the document; else a near one."""
        options: list[Option] = []
        for fact in self.facts(answer, document, question):
            options += self.held(fact, answer, document, question)
            options += self.near(fact, answer, document, question, rng)
        return self.first(self.kind, answer, document, rng, options)

    def foreign(self, answer: str, document: str, question: str, rng: Random) -> Edit | None:
        """A near one, which the document does not hold."""
        options: list[Option] = []
        for fact in self.facts(answer, document, question):
            options += self.near(fact, answer, document, question, rng)
        return self.first(self.kind, answer, document, rng, options)
