"""Refusals to answer: right where the document does not support the answer, wrong where it does.

Both answers refuse in the same words. The faithful one's document is the gold sample's less every sentence
that supports the answer, the hallucinated one's less as many others; so neither a refusal nor an edit tells
the label.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random

from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import LARGEST_SHARE, MOST, elsewhere
from data_pipeline.pairs.documents.parts import is_table, leaves_hole, parts_of, without
from data_pipeline.pairs.documents.supporting import (
    can_be_missed,
    in_pairs,
    is_gone,
    is_span,
    supporting_parts,
)
from data_pipeline.pairs.question_clause import question_clause
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts
from data_pipeline.text.segment_zh import written_like
from data_pipeline.text.words import words
from judge.types import Language, Sample

WORDINGS: Mapping[Language, tuple[str, ...]] = {"en": words("refusals_en"), "zh": words("refusals_zh")}
"""Refusals that name what was asked, for ``{}``."""
BARE: Mapping[Language, tuple[str, ...]] = {
    "en": words("bare_refusals_en"),
    "zh": words("bare_refusals_zh"),
}
"""Refusals that do not, or that cite the question."""
BARE_SHARE = 0.2
"""This share of the questions that can be named is not."""
STILL_ASKED = 0.7
"""Share of a question's content words from which on what is left of a document may answer it otherwise."""
ALSO_ASKED = 2
"""Words of a question with which a sentence that holds something of the answer's kind may answer it."""


def refuse(gold: Sample, seed: int) -> Iterator[Contrast]:
    """A refusal, and a document of which it is true; none where other sentences may answer the question."""
    rng = Random(f"refusal:{seed}:{gold.id}")
    document, language, answer = gold.document_text, gold.language, gold.answer.strip(" .。")
    supporting = answering_parts(gold)
    if not supporting:
        return
    others = elsewhere(gold, supporting, (), rng)
    refusal = written_like(wording(gold.question, language, rng), document)
    yield Contrast(
        edit_type="refusal",
        change=does_say(answer, language),
        replaced=answer,
        inserted=refusal,
        faithful=refusal,
        hallucinated=refusal,
        faithful_document=without(document, supporting),
        hallucinated_document=without(document, others) if others else None,
    )


def does_say(answer: str, language: Language) -> str:
    """What is wrong with a refusal, in one line."""
    return f"文档给出了答案：“{answer}”" if language == "zh" else f"the document does say: '{answer}'"


def answering_parts(gold: Sample) -> list[int]:
    """The parts of a document without which a question surely has no answer there.

    Empty where rules are not sure.
    """
    document, language = gold.document_text, gold.language
    answer, question = gold.answer.strip(" .。"), gold.question
    claims = [answer] if is_span(answer, document, language) else re.split(r"[,，;；]\s*", answer)
    if not find_facts(answer, language):
        return []  # of what is not a number, date or name, the rest of a document may say as much
    if not question or not all(
        is_span(claim, document, language) and can_be_missed(claim, language) for claim in claims
    ):
        return []
    found = [supporting_parts(document, claim, question, language) for claim in claims]
    supporting = sorted({number for numbers in found for number in numbers})
    if not all(found) or len(supporting) > min(MOST, LARGEST_SHARE * len(parts_of(document))):
        return []
    if is_table(document) or leaves_hole(document, supporting, language):
        return []
    left = without(document, supporting)
    gone = all(is_gone(left, document, claim, question, language) for claim in claims)
    return supporting if gone and not _may_answer(left, gold) else []


def wording(question: str, language: Language, rng: Random) -> str:
    """A refusal to answer a question."""
    clause = question_clause(question, language)
    if clause is None or rng.random() < BARE_SHARE:
        return rng.choice(BARE[language]).format(question)
    return rng.choice(WORDINGS[language]).format(clause)


def _may_answer(left: str, gold: Sample) -> bool:
    """May what is left of a document still answer the question?

    Two sentences in a row speak of nearly all that it asks about; or one speaks of some of it, and holds a
    number, date or name of the answer's kind.
    """
    language = gold.language
    wanted = words_of(gold.question, language)
    texts = [left[part.start : part.end] for part in parts_of(left)]
    held = [wanted & words_of(text, language) for text in texts]
    if any(len(found) >= STILL_ASKED * len(wanted) for found in in_pairs(held)):
        return True
    kinds = {(fact.kind, fact.form) for fact in find_facts(gold.answer, language)}
    return any(
        len(words) >= ALSO_ASKED
        and any((fact.kind, fact.form) in kinds for fact in find_facts(text, language))
        for text, words in zip(texts, held, strict=True)
    )
