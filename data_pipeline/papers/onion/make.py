"""The stages: entities, descriptions, facts, hallucinations, contexts. Each uses the items of the one before.

An item passes a stage if the writer produced it and neither a rule nor the checker rejects it. Every reply is
in the call cache, so an interrupted run gets back to where it was without new calls.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from data_pipeline.edits.edit import bare
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import Change, Rejected
from data_pipeline.papers.onion import rules
from data_pipeline.papers.onion.config import OnionConfig
from data_pipeline.papers.onion.onion_prompts import CHECKS, Stage, check_prompt, entity_prompt, stage_prompt
from data_pipeline.sources.dropped import Dropped
from data_pipeline.teachers.base import Ask, ask_each
from data_pipeline.teachers.perturbing import to_edit
from data_pipeline.teachers.prompts.base import Prompted
from judge.progress import track
from judge.remote.chat import Reply
from judge.types import Sample

ATTEMPTS = 2
"""The writer is asked at most this often for entities of a category, until there are enough."""
DESCRIPTION_WORDS = 60
"""Most words of a description by the writer."""
_YES_OR_NO = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One entity on its way through the stages; from the fact stage on, one of its facts."""

    category: str
    entity: str = ""
    description: str = ""
    fact: str = ""
    hallucination: str = ""
    edits: tuple[Change, ...] = ()
    context: str = ""

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        return ": ".join(part for part in (self.category, self.entity, self.fact) if part)

    @property
    def gold(self) -> Sample:
        """The fact as an answer supported by its description."""
        return Sample(id=self.name, document=self.description, answer=self.fact)

    @property
    def edit_type(self) -> str:
        """The sort of value that was changed: number, date, entity, negation, comparative or other."""
        return to_edit(self.gold, self.hallucination, "", list(self.edits)).edit_type


Read = Callable[[Item, str], Iterable[Item | Rejected]]
"""Makes the items of a stage from one item of the stage before and the model's reply about it."""


@dataclass(frozen=True)
class Maker:
    """Makes the items of all stages.

    Args:
        config: the recipe.
        writer: asks the model that writes.
        perturber: asks the model that makes hallucinations; without one, rules make them.
        checker: asks the model that checks items, if there is one.
        dropped: collects rejected items by stage and reason.
    """

    config: OnionConfig
    writer: Ask
    perturber: Ask | None
    checker: Ask | None
    dropped: Dropped

    def entities(self) -> list[Item]:
        """Up to the wanted number of entities of each category, all with different names."""
        wanted = self.config.categories
        found: dict[str, Item] = {}

        def prompt(category: Item) -> Prompted:
            known = [item.entity for item in found.values() if item.category == category.category]
            return entity_prompt(category.category, known, wanted[category.category] - len(known))

        def read(category: Item, reply: str) -> Iterator[Item | Rejected]:
            for name in rules.lines_of(reply):
                fault = rules.fault_of_name(name, category.category)
                yield replace(category, entity=name) if fault is None else Rejected(fault, name)

        for _ in range(ATTEMPTS):
            counts = Counter(item.category for item in found.values())
            short = [Item(category) for category, count in wanted.items() if counts[category] < count]
            for item in list(self._written("entity", short, self.writer, read, prompt)):
                if bare(item.entity) in found:
                    self._drop("entity", Rejected("is named twice"), item.name)
                elif counts[item.category] < wanted[item.category]:
                    counts[item.category] += 1
                    found[bare(item.entity)] = item
        order = list(wanted)
        return sorted(found.values(), key=lambda item: order.index(item.category))

    def describe(self, entities: Iterable[Item]) -> list[Item]:
        """A description of each entity, by the writer."""

        def read(item: Item, reply: str) -> Iterator[Item | Rejected]:
            yield _described(item, rules.text_of(reply), DESCRIPTION_WORDS)

        return self._checked("description", self._written("description", entities, self.writer, read))

    def take(self, described: Iterable[Item]) -> list[Item]:
        """Check entities with given descriptions, of any length, like the writer's."""
        found = ((item, _described(item, item.description)) for item in described)
        return self._checked("description", self._passed("description", found))

    def split(self, described: Iterable[Item]) -> list[Item]:
        """The atomic facts of each description."""

        def read(item: Item, reply: str) -> Iterator[Item | Rejected]:
            facts = {bare(text): rules.sentence_of(text) for text in rules.statements_of(reply)}
            for fact in list(facts.values())[: self.config.facts]:
                fault = rules.fault_of_fact(fact, item.entity, item.description)
                yield replace(item, fact=fact) if fault is None else Rejected(fault, fact)

        return self._checked("fact", self._written("fact", described, self.writer, read))

    def falsify(self, facts: Iterable[Item]) -> list[Item]:
        """A hallucination for each fact: the same sentence with another value of one attribute."""

        def read(item: Item, reply: str) -> Iterator[Item | Rejected]:
            yield _falsified(item, rules.text_of(reply))

        if self.perturber is None:
            made = self._passed("hallucination", ((item, self._by_rule(item)) for item in facts))
        else:
            made = self._written("hallucination", facts, self.perturber, read)
        return self._checked("hallucination", made)

    def _by_rule(self, item: Item) -> Item | Rejected:
        edit = RulePerturber(self.config.seed).perturb(item.gold)
        return Rejected("no safe edit") if edit is None else _falsified(item, edit.answer)

    def surround(self, pairs: Iterable[Item]) -> list[Item]:
        """A context for each fact and its hallucination."""

        def read(item: Item, reply: str) -> Iterator[Item | Rejected]:
            context = rules.sentence_of(rules.text_of(reply))
            fault = rules.fault_of_context(context, item.entity, item.fact, item.edits)
            yield replace(item, context=context) if fault is None else Rejected(fault, context)

        return self._checked("context", self._written("context", pairs, self.writer, read))

    def _written(
        self,
        stage: Stage,
        items: Iterable[Item],
        ask: Ask,
        read: Read,
        prompt: Callable[[Item], Prompted] | None = None,
    ) -> Iterator[Item]:
        """The items a model makes of other items, without those that rules reject."""

        def from_item(item: Item) -> Prompted:
            # Not from the hallucination: a small writer would repeat it.
            fields = {"document": item.description, "answer": item.fact}
            limits = self.config.facts, DESCRIPTION_WORDS
            return stage_prompt(stage, item.category, item.entity, fields, *limits)

        asked = ask_each(items, prompt or from_item, ask)
        for item, reply in track(asked, f"{stage}: written", len(items) if isinstance(items, list) else None):
            yield from self._passed(stage, ((item, found) for found in self._read(stage, item, reply, read)))

    def _read(self, stage: Stage, item: Item, reply: Reply, read: Read) -> Iterable[Item | Rejected]:
        return [Rejected(reply.problem)] if reply.problem is not None else read(item, reply.text)

    def _passed(self, stage: Stage, found: Iterable[tuple[Item, Item | Rejected]]) -> Iterator[Item]:
        for before, item in found:
            if isinstance(item, Rejected):
                self._drop(stage, item, before.name)
            else:
                yield item

    def _checked(self, stage: Stage, items: Iterable[Item]) -> list[Item]:
        """The items that pass the checker; all of them if there is no checker."""
        if self.checker is None:
            return list(items)
        asked = ask_each(items, lambda item: _check(stage, item), self.checker)
        found = (
            (item, self._verdict(stage, item, reply)) for item, reply in track(asked, f"{stage}: looked over")
        )
        return list(self._passed(stage, found))

    def _verdict(self, stage: Stage, item: Item, reply: Reply) -> Item | Rejected:
        said = _YES_OR_NO.match(reply.text) if reply.problem is None else None
        if said is None:
            return Rejected(f"unchecked: {reply.problem or 'neither yes nor no'}")
        return item if (said[1].lower() == "yes") is CHECKS[stage][1] else Rejected("refused by the checker")

    def _drop(self, stage: Stage, why: Rejected, name: str) -> None:
        self.dropped.add(f"{stage}: {why.reason}", f"{name}: {why.detail}" if why.detail else name)


def _described(item: Item, text: str, words: int = 0) -> Item | Rejected:
    fault = rules.fault_of_name(item.entity, item.category)
    fault = fault or rules.fault_of_description(text, item.entity, words)
    return replace(item, description=text) if fault is None else Rejected(fault, text)


def _falsified(item: Item, text: str) -> Item | Rejected:
    found = rules.edit_of(item.fact, text, item.entity, item.description)
    if isinstance(found, Rejected):
        return found
    return replace(item, hallucination=found[0], edits=tuple(found[1]))


def _check(stage: Stage, item: Item) -> Prompted:
    """The checker's question about a new item."""
    fields = {"document": item.description, "answer": item.fact}
    if stage == "hallucination":
        fields["answer"] = item.hallucination
    elif stage == "context":
        fields |= {"document": item.context, "other_answer": item.hallucination}
    return check_prompt(stage, item.category, item.entity, fields)
