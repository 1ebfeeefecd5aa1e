"""Refusals to answer: right if the document does not support the answer, wrong if it does.

Both samples refuse in the same words. The faithful one's document has lost every sentence that supports the
answer, the hallucinated one's has lost about as much other text; so neither the refusal nor a shorter
document gives the label away.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random

from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import can_be_removed, elsewhere
from data_pipeline.pairs.documents.parts import texts_of, without
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
"""Refusals that name what was asked, in place of ``{}``."""
BARE: Mapping[Language, tuple[str, ...]] = {"en": words("bare_refusals_en"), "zh": words("bare_refusals_zh")}
"""Refusals that do not name it, or that quote the question."""
BARE_SHARE = 0.2
"""Share of refusals that do not name what was asked although they could."""
STILL_ASKED = 0.7
"""If the rest of a document has this share of a question's content words, it may still answer it."""
ALSO_ASKED = 2
"""A sentence with this many words of the question and a fact of the answer's kind may answer it."""


def refuse(gold: Sample, seed: int) -> Iterator[Contrast]:
    """A refusal with a document for which it is right; none if other sentences may answer the question."""
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
    """The parts of a document without which it surely does not answer the question.

    Empty if rules are not sure.
    """
    document, language = gold.document_text, gold.language
    answer, question = gold.answer.strip(" .。"), gold.question
    claims = [answer] if is_span(answer, document, language) else re.split(r"[,，;；]\s*", answer)
    if not find_facts(answer, language):
        return []  # without number, date or name, the rest of the document may say the same in other words
    if not question or not all(
        is_span(claim, document, language) and can_be_missed(claim, language) for claim in claims
    ):
        return []
    found = [supporting_parts(document, claim, question, language) for claim in claims]
    supporting = sorted({number for numbers in found for number in numbers})
    if not all(found) or not can_be_removed(document, supporting, language):
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

    It may if two consecutive sentences have most of the question's words, or if one has some of them and a
    number, date or name of the answer's kind.
    """
    language = gold.language
    wanted = words_of(gold.question, language)
    texts = texts_of(left)
    held = [wanted & words_of(text, language) for text in texts]
    if any(len(found) >= STILL_ASKED * len(wanted) for found in in_pairs(held)):
        return True
    kinds = {(fact.kind, fact.form) for fact in find_facts(gold.answer, language)}
    return any(
        len(words) >= ALSO_ASKED
        and any((fact.kind, fact.form) in kinds for fact in find_facts(text, language))
        for text, words in zip(texts, held, strict=True)
    )
