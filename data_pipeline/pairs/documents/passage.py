"""The edit ``other_passage``: the answer stays, its document is replaced by one that does not support it.

This is like a retriever that finds the wrong passage of the right article. It serves answers for which no
part of the document can be removed: the first sentence of a text, a word that is everywhere, a table cell.
"""

import re
from collections.abc import Iterator, Sequence

from data_pipeline.edits.verify import NEGATIONS
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import asks_yes_or_no, not_said
from data_pipeline.pairs.documents.supporting import in_pairs, is_gone, is_span, words_of_parts
from data_pipeline.text.content import words_of
from data_pipeline.text.numbers import numbers, values
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Sample, Task

TRIED = 12
"""At most this many passages are tried."""
ON_TOPIC, LEAST = {"en": 0.2, "zh": 0.25}, {"en": 2, "zh": 3}
"""A passage needs this share of a question's content words, and at least this many: an entirely unrelated one
would be too easy to spot."""
ANSWERS = 0.6
"""Two consecutive sentences with this share of a question's content words may answer it in other words."""
SHORTEST = {"en": 150, "zh": 75}
"""Fewest characters of a passage."""
_BARE = re.compile(r"(?:yes|no|true|false|both|neither|是|否|有|对|不).{0,2}", re.I)


def other_passage(gold: Sample, near: Sequence[str]) -> Iterator[Contrast]:
    """Pair an answer with its own document and with a similar one that does not support it.

    Args:
        gold: the answer. Answers without a question, yes/no answers and denials get no pair: a passage rarely
            says what is not the case.
        near: other documents of its kind, the nearest first. Those with more of the question's words are
            tried first.
    """
    claim = _claim(gold)
    if claim is None:
        return
    language = gold.language
    asked = words_of(gold.question, language)
    shared = {text: len(asked & words_of(text, language)) for text in near}
    about = [
        text
        for text in sorted(near, key=lambda text: -shared[text])
        if shared[text] >= max(LEAST[language], ON_TOPIC[language] * len(asked))
        and len(text) >= SHORTEST[language]
    ]
    best = next((text for text in about[:TRIED] if _says_nothing(text, claim, gold)), None)
    if best is not None:
        yield not_said("other_passage", claim, language, gold.document_text, best)


def _claim(gold: Sample) -> str | None:
    """What the other passage must not support: the answer, or its first sentence."""
    answer, language = gold.answer.strip(), gold.language
    if gold.task is not Task.QA or not gold.question or asks_yes_or_no(gold.question):
        return None
    if _BARE.fullmatch(answer) or _denies(answer, language):
        return None
    if is_span(answer, gold.document_text, language):
        return answer
    spans = sentence_spans(answer)
    return answer[spans[0].start : spans[0].end] if spans else None


def _denies(answer: str, language: Language) -> bool:
    if language == "zh":
        return bool(NEGATIONS & set(answer))
    return bool(NEGATIONS & set(re.findall(r"[a-z]+", answer.lower()))) or "n't" in answer.replace("’", "'")


def _says_nothing(text: str, claim: str, gold: Sample) -> bool:
    """Does a passage surely not support a claim?

    It must lack the claim's numbers in any form, have no two consecutive parts with most of the question's
    words, and have nothing that :func:`is_gone` looks for.
    """
    said = {value for number in numbers(claim) for value in (number.value, number.bare)}
    if said & values(text):
        return False
    asked = words_of(gold.question, gold.language)
    pairs = in_pairs(words_of_parts(text, gold.language))
    if any(len(asked & found) >= ANSWERS * len(asked) for found in pairs):
        return False
    return is_gone(text, gold.document_text, claim, gold.question, gold.language)
