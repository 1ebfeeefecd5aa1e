"""Half refusals: an answer to two questions that says of one of them that the document does not tell.

Both answers are the same. The faithful one's document lost every sentence that answers the second question,
the hallucinated one's lost others and does tell. So neither the refusal nor its place tells the label.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.pairs.compose import lead_of, say_the_same
from data_pipeline.pairs.contrast import Contrast, Error
from data_pipeline.pairs.documents.deletion import elsewhere
from data_pipeline.pairs.documents.parts import without
from data_pipeline.pairs.documents.supporting import supporting_parts
from data_pipeline.pairs.question_clause import question_clause
from data_pipeline.pairs.refusal import WORDINGS, answering_parts, does_say
from data_pipeline.pairs.statements import Statement, statements
from data_pipeline.pairs.verbalise import statement_of
from data_pipeline.text.content import words_of
from data_pipeline.text.segment_zh import written_like
from judge.types import Language, Sample

TURNED = 0.5
"""Share of refusals that begin with "However" (不过), where that can be."""
SAID = 0.5
"""Share of the second question's content words up to which a sentence of the answer says nothing about it."""
MORE = (0, 1, 1, 2, 2, 3)
"""Sentences about other things, drawn evenly."""
_TURNS = re.compile(r"(?:The|It|There|From|Based)\b")
_COURTESY = ("很抱歉，", "Unfortunately, ")
"""What begins some refusals and stands behind no "However"."""


def half_refusal(gold: Sample, siblings: Sequence[Sample], seed: int) -> Iterator[Contrast]:
    """An answer to a question that refuses another one; none where rules are not sure of both halves.

    Args:
        gold: what is answered.
        siblings: other answers about the same document, one of which is refused.
        seed: with the sample, it decides which, and where and how.
    """
    rng = Random(f"half refusal:{seed}:{gold.id}")
    language, document = gold.language, gold.document_text
    known = statements(document, language)
    lead, used = _lead(gold, known)
    if not lead or not used:
        return
    for other in rng.sample(siblings, len(siblings)):
        clause = question_clause(other.question, language)
        if clause is None or _is_told(other, [lead]):
            continue
        supporting = answering_parts(other)
        if not supporting or used & set(supporting):
            continue
        more = _more(lead, known, used | set(supporting), other, rng)
        texts = [lead, *(said.text for said in more)]
        kept = used | {said.part for said in more}
        others = elsewhere(replace(gold, answer=" ".join(texts)), supporting, (), rng)
        if not others or kept & set(others):
            continue
        refusal = written_like(_wording(clause, language, rng), document)
        at, joint = rng.randint(1, len(texts)), "" if language == "zh" else " "
        start = len(joint.join(texts[:at])) + len(joint)
        answer = joint.join((*texts[:at], refusal, *texts[at:]))
        there = other.answer.strip(" .。")
        yield Contrast(
            edit_type="half_refusal",
            change=does_say(there, language),
            replaced=there,
            inserted=refusal,
            faithful=answer,
            hallucinated=answer,
            faithful_document=without(document, supporting),
            hallucinated_document=without(document, others),
            question=joint.join((gold.question, other.question)),
            errors=(Error("half_refusal", there, refusal, start, start + len(refusal)),),
        )
        return


def _lead(gold: Sample, known: Sequence[Statement]) -> tuple[str, set[int]]:
    """The sentence that answers the first question, and the parts of the document that support it."""
    if not gold.question:
        return "", set()
    supporting = set(supporting_parts(gold.document_text, gold.answer, gold.question, gold.language))
    if made := statement_of(gold):
        return made, supporting
    found = lead_of(gold, tuple(known))
    return (found[0].text, supporting | {found[0].part}) if found and found[0].part >= 0 else ("", set())


def _is_told(other: Sample, texts: Sequence[str]) -> bool:
    """May a sentence answer the other question, too?"""
    wanted = words_of(other.question, other.language)
    said = [words_of(text, other.language) for text in texts]
    return occurs(other.answer, " ".join(texts)) or any(
        len(wanted & one) > SAID * len(wanted) for one in said
    )


def _more(
    lead: str, known: Sequence[Statement], barred: set[int], other: Sample, rng: Random
) -> list[Statement]:
    """Some more sentences of the document, in its order, of parts that are not barred."""
    wanted = rng.choice(MORE)
    chosen: list[Statement] = []
    for said in rng.sample(known, len(known)):
        told = [Statement(lead, -1, False), *chosen]
        if len(chosen) == wanted:
            break
        if said.depends or said.part in barred or _is_told(other, [said.text]):
            continue
        if not any(say_the_same(said, one, other.language) for one in told):
            chosen.append(said)
    return sorted(chosen, key=lambda said: said.part)


def _wording(clause: str, language: Language, rng: Random) -> str:
    """A refusal that names what was asked."""
    said = rng.choice(WORDINGS[language]).format(clause)
    if rng.random() >= TURNED or said.startswith(_COURTESY):
        return said
    if language == "zh":
        return f"不过，{said}"
    return f"However, {said[0].lower()}{said[1:]}" if _TURNS.match(said) else said
