"""Long answers: several supported sentences about one document, and the same with one or two errors.

Most hallucinations of real models are not changed words but baseless text, plausible and on topic: 84 % of
RAGTruth's spans. So most errors here are sentences whose support was deleted from the document; the others
are changed facts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.pairs.compose import compose
from data_pipeline.pairs.contrast import Contrast, Error, not_mentioned
from data_pipeline.pairs.corrupt import Draft, go_wrong
from data_pipeline.pairs.documents.deletion import elsewhere
from data_pipeline.pairs.documents.parts import without
from data_pipeline.text.leaning import linked
from judge.types import Language, Sample, Task

COUNTS = (1, 1, 1, 1, 1, 1, 1, 2, 2, 2)
"""Numbers of errors, drawn uniformly; at least one sentence stays faithful, so there may be fewer."""
LENGTHS = 0.1
"""The lengths of the two answers differ by at most this share."""
LINKS: Mapping[Language, tuple[str, ...]] = {"en": ("In addition,", "Also,"), "zh": ("此外，", "另外，")}
LINKED = 0.25
"""Share of sentences that get a connective, where possible."""


def long_answers(gold: Sample, seed: int) -> Iterator[Contrast]:
    """A long faithful answer and its hallucinated version; none if the document has too little text.

    Both keep the question if the first sentence answers it; otherwise they are summaries without a question.
    """
    rng = Random(f"long:{seed}:{gold.id}")
    composed = compose(gold, rng)
    if composed is None:
        return
    draft = Draft(gold, composed, [said.text for said in composed.sentences], gold.document_text)
    used: set[str] = set()
    for _ in range(min(rng.choice(COUNTS), len(draft.sentences) - 1)):
        kind = go_wrong(draft, used, seed, rng)
        if kind is None:
            break
        used.add(kind)
    right = _link(draft, rng)
    if draft.wrong and abs(len(" ".join(right)) - len(" ".join(draft.sentences))) <= LENGTHS * len(
        " ".join(right)
    ):
        yield _contrast(draft, right, rng)


def _link(draft: Draft, rng: Random) -> list[str]:
    """Add connectives to some sentences of a draft; returns the faithful answer's sentences with the same."""
    language, composed = draft.gold.language, draft.composed
    right = [said.text for said in composed.sentences]
    for number in range(1, len(right)):
        link, wanted = rng.choice(LINKS[language]), rng.random() < LINKED
        true, said = (linked(text, link, language) for text in (right[number], draft.sentences[number]))
        old, error = draft.sentences[number], draft.wrong.get(number)
        if not wanted or composed.sentences[number].depends or true == right[number] or said == old:
            continue
        if error is not None:
            whole = error.end - error.start == len(old)
            if not whole and error.start == 0:
                continue
            shift = len(said) - len(old)
            draft.wrong[number] = (
                replace(error, inserted=said, replaced=true if error.replaced else "", end=len(said))
                if whole
                else replace(error, start=error.start + shift, end=error.end + shift)
            )
        right[number], draft.sentences[number] = true, said
    return right


def _contrast(draft: Draft, right: list[str], rng: Random) -> Contrast:
    gold, language, answers = draft.gold, draft.gold.language, draft.composed.answers
    joint = "" if language == "zh" else " "
    errors, start = [], 0
    for number, text in enumerate(draft.sentences):
        if error := draft.wrong.get(number):
            errors.append(replace(error, start=start + error.start, end=start + error.end))
        start += len(text) + len(joint)
    faithful = joint.join(right)
    others = elsewhere(replace(gold, answer=faithful), draft.taken, (), rng) if draft.taken else []
    first = errors[0]
    return Contrast(
        edit_type=first.edit_type,
        change=("；" if language == "zh" else "; ").join(_described(error, language) for error in errors),
        replaced=first.replaced,
        inserted=first.inserted,
        from_document=all(occurs(error.inserted, gold.document_text) for error in errors),
        faithful=faithful,
        hallucinated=joint.join(draft.sentences),
        faithful_document=without(gold.document_text, others) if others else None,
        hallucinated_document=draft.document if draft.taken else None,
        question=gold.question if answers else "",
        task=None if answers else Task.SUMMARIZATION,
        errors=tuple(errors),
    )


def _described(error: Error, language: Language) -> str:
    """What is wrong, in one line."""
    if error.edit_type == "deletion":
        return not_mentioned(error.inserted, language)
    zh = f"“{error.replaced}”被改成“{error.inserted}”"
    return zh if language == "zh" else f"'{error.replaced}' was changed to '{error.inserted}'"
