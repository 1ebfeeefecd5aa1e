"""Shared code of number and date edits: a fact of the answer becomes another one of its form."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from data_pipeline.edits.edit import Edit, Option, occurs
from data_pipeline.text.fact import Fact


def asked(fact: Fact, question: str) -> float:
    """The rank penalty of a fact that the question names: such facts are swapped last."""
    return 1.5 if occurs(fact.text, question) else 0.0


@dataclass(frozen=True, slots=True)
class FactSwap:
    """How facts of one kind are changed in one language.

    Args:
        kind: the edit type.
        facts: the facts that may change, from answer, document and question.
        held: facts of the document that may replace one of them.
        near: values near to it that are not in the document.
        first: turns options into the first clean edit.
    """

    kind: str
    facts: Callable[[str, str, str], Iterable[Fact]]
    held: Callable[[Fact, str, str, str], Iterable[Option]]
    near: Callable[[Fact, str, str, str, Random], Iterable[Option]]
    first: Callable[[str, str, str, Random, Iterable[Option]], Edit | None]

    def edit(
        self, answer: str, document: str, question: str, rng: Random, foreign: bool = False
    ) -> Edit | None:
        """Swap in another fact of the document, or else a near value; if ``foreign``, only a near value."""
        options: list[Option] = []
        for fact in self.facts(answer, document, question):
            if not foreign:
                options += self.held(fact, answer, document, question)
            options += self.near(fact, answer, document, question, rng)
        return self.first(self.kind, answer, document, rng, options)
