"""Perturbation by a chat model, verified by rule."""

import re

from data_pipeline.edits.directions import DIRECTIONS
from data_pipeline.edits.edit import Edit, occurs
from data_pipeline.edits.verify import NEGATIONS, Change, Rejected, content, verify
from data_pipeline.teachers.base import reply_texts
from data_pipeline.text.facts import find_facts
from judge.remote.chat import Reply
from judge.types import Sample

_END = re.compile(r"[.!?\u3002\uff01\uff1f]+$")


def read_edit(gold: Sample, reply: Reply) -> Edit | Rejected:
    """The wrong answer that a reply gives, or why it gives none."""
    found = reply_texts(reply, "new_answer", "change_made")
    if isinstance(found, Rejected):
        return found
    answer = in_form(gold.answer, found[0])
    edits = verify(gold, answer)
    if isinstance(edits, Rejected):
        return edits
    return to_edit(gold, answer, found[1], edits)


def in_form(gold: str, answer: str) -> str:
    """The answer with the gold one's end mark: models like to close a bare name with a full stop."""
    answer = answer.strip()
    end = _END.search(gold.strip())
    return _END.sub("", answer) + (end.group() if end else "")


def to_edit(gold: Sample, answer: str, change: str, edits: list[Change]) -> Edit:
    """A verified answer as an :class:`Edit`; of two changes, the first gives type and texts."""
    first = edits[0]
    kind = _edit_type(gold, answer, first)
    replaced, inserted = first.replaced, first.inserted
    if not inserted or (not replaced and kind != "addition"):
        # A reasoning quotes both texts; with the word before the change, neither is empty.
        before = re.search(r"[^\W_]+\W*$" if gold.language == "en" else r".$", answer[: first.start])
        lead = before.group() if before else ""
        replaced, inserted = (lead + replaced).strip(), (lead + inserted).strip()
    return Edit(
        answer=answer,
        edit_type=kind,
        change=change,
        from_document=all(occurs(edit.inserted, gold.document_text) for edit in edits if edit.inserted),
        replaced=replaced,
        inserted=inserted,
    )


def _edit_type(gold: Sample, answer: str, edit: Change) -> str:
    """The type of a change: one of the rule perturber's, ``addition`` or ``other``."""
    if (content(edit.replaced).keys() ^ content(edit.inserted).keys()) & NEGATIONS:
        return "negation"
    # Read after the gold answer: names that start a sentence in one may stand inside one in the other.
    start = len(gold.answer) + 1 + edit.start
    facts = find_facts(f"{gold.answer}\n{answer}", gold.language) if edit.replaced else ()
    for kind in ("date", "number", "entity"):
        if any(f.kind == kind and f.start < start + len(edit.inserted) and f.end > start for f in facts):
            return kind
    if edit.inserted.lower() in DIRECTIONS.get(edit.replaced.lower(), ()):
        return "comparative"
    return "other" if edit.replaced else "addition"
