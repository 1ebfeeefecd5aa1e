"""The rule perturber: turns a faithful answer into one that the document does not support.

For example "It opened in 1931" becomes "It opened in 1945", of type ``date``.

It needs no model and costs nothing, and the same seed gives the same answer on every machine. A coin toss
decides whether the inserted text should come from the document (so a judge must read closely to see the
error) or from outside it; the edit is then drawn by weight. Edits that the answer alone gives away ("not")
weigh little.
"""

import hashlib
import re
from collections.abc import Sequence
from random import Random

from data_pipeline.edits.directions import is_rarer
from data_pipeline.edits.edit import Edit, occurs
from data_pipeline.edits.polarity import removes_negation
from data_pipeline.edits.types import EDIT_TYPES, EDITS, FOREIGN_EDITS
from judge.types import Sample, Task

_TRIES = 3
_SMALL = ("two", "three")
_LEFT_OUT = 0.6
"""Share of English samples that get no edit towards a rarer word ("less" for "more"). Texts use the commoner
word so much more often that the rarer one would give the hallucinated answer away."""


def _weight(edit: Edit) -> float:
    """The draw weight of an edit. Words that gold answers seldom use (a negation, "less") weigh little, since
    they give the edit away."""
    if edit.edit_type == "negation":
        return 1.6 if removes_negation(edit) else 0.25
    if edit.edit_type == "comparative":
        return 0.4 if is_rarer(edit.replaced, edit.inserted) else 2.0
    return 5.0 if edit.from_document else 0.6


def _to_rarer(edit: Edit) -> bool:
    """Does an edit insert a rarer word: the rarer direction, or another number for "two" or "three"?"""
    if edit.edit_type == "number":
        return edit.replaced.lower() in _SMALL and edit.inserted.lower() not in _SMALL
    return edit.edit_type == "comparative" and is_rarer(edit.replaced, edit.inserted)


def _is_asked(edit: Edit, question: str) -> bool:
    """Does the question name what an edit changes? Then the edit shows without the document."""
    if edit.edit_type not in ("number", "date", "entity"):
        return False
    return any(occurs(part, question) for part in (edit.replaced, *re.findall(r"\d{2,}", edit.replaced)))


class RulePerturber:
    """Makes perturbed answers by rule.

    Args:
        seed: the draw depends only on this, the sample's id and its answer.
        edit_types: the edits to use, from ``EDIT_TYPES``. Answers that describe data are never negated:
            nobody writes what a table does not say.
        from_document: where both sorts of edit are possible, the share of samples whose inserted text comes
            from the document. Other samples get the only sort they have, so the overall share also depends on
            the source: if documents rarely hold two facts of a kind (triples, short spans) or are in another
            language (translations), most edits insert something new.
    """

    def __init__(self, seed: int = 0, edit_types: Sequence[str] = EDIT_TYPES, from_document: float = 0.6):
        self.seed = seed
        self.from_document = from_document
        self.edit_types = tuple(edit_types)

    def perturb(self, sample: Sample) -> Edit | None:
        """The best edit of ``sample.answer``, or ``None`` if no rule applies."""
        return next(iter(self.candidates(sample)), None)

    def candidates(self, sample: Sample) -> list[Edit]:
        """All edits found, each with a different answer, best first."""
        rng = self._random(sample, "edits")
        names = [name for name in self.edit_types if (sample.task, name) != (Task.DATA2TEXT, "negation")]
        functions = [table[name] for table in (EDITS, FOREIGN_EDITS) for name in names if name in table]
        edits: dict[str, Edit] = {}
        for function in functions:
            for _ in range(_TRIES):
                edit = function(sample.answer, sample.document_text, sample.question, sample.language, rng)
                if edit is None:
                    break
                if not _is_asked(edit, sample.question):
                    edits.setdefault(edit.answer, edit)
        if sample.language == "en" and self._random(sample, "sparing").random() < _LEFT_OUT:
            edits = {answer: edit for answer, edit in edits.items() if not _to_rarer(edit)}
        wants_document = self._random(sample, "coin").random() < self.from_document
        drawn = _shuffled(list(edits.values()), rng)
        return sorted(drawn, key=lambda edit: edit.from_document != wants_document)

    def _random(self, sample: Sample, purpose: str) -> Random:
        """A random generator seeded by seed, sample and purpose; the same on every machine."""
        key = f"{self.seed}\x1f{sample.id}\x1f{sample.answer}\x1f{purpose}"
        return Random(hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest())


def _shuffled(edits: list[Edit], rng: Random) -> list[Edit]:
    """A weighted shuffle; edits of one type share its weight (Efraimidis and Spirakis, 2006)."""
    share = {name: sum(edit.edit_type == name for edit in edits) for name in {e.edit_type for e in edits}}
    keys = [(rng.random() ** (share[edit.edit_type] / _weight(edit)), edit) for edit in edits]
    return [edit for _, edit in sorted(keys, key=lambda item: -item[0])]
