"""The edit ``other_passage``: the answer stays, its document gives way to one that does not support it.

This is like a retriever that finds the wrong passage of the right article. It is for answers that no
part of a document can be taken out for: the first sentence of a text, a word that is everywhere, a cell of a
table.
"""

import re
from collections.abc import Iterator, Sequence

from data_pipeline.edits.verify import NEGATIONS
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.deletion import CHANGE, asks_yes_or_no
from data_pipeline.pairs.documents.supporting import in_pairs, is_gone, is_span, words_of_parts
from data_pipeline.text.content import words_of
from data_pipeline.text.numbers import numbers, values
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Sample, Task

TRIED = 12
"""Passages that are tried."""
ON_TOPIC, LEAST = {"en": 0.2, "zh": 0.25}, {"en": 2, "zh": 3}
"""Share of a question's content words that a passage has to speak of, and how many at least: one about
something else altogether would be seen through at a glance."""
ANSWERS = 0.6
"""Share of a question's content words with which two sentences in a row may answer it in other words."""
SHORTEST = {"en": 150, "zh": 75}
"""Characters of a passage, at least."""
_BARE = re.compile(r"(?:yes|no|true|false|both|neither|是|否|有|对|不).{0,2}", re.I)


def other_passage(gold: Sample, near: Sequence[str]) -> Iterator[Contrast]:
    """The pair of an answer with its own document and with a near one that says nothing of it.

    Args:
        gold: the answer; nothing is made of one without a question, of yes or no, or of one that denies:
            what is not so, no passage tells.
        near: other documents of its kind, the nearest first; of those that speak as much of the question, the
            first is taken.
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
        yield Contrast(
            edit_type="other_passage",
            change=CHANGE[language].format(claim),
            replaced="",
            inserted=claim,
            faithful_document=gold.document_text,
            hallucinated_document=best,
        )


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

    It lacks the claim's numbers, in whatever form; no two sentences in a row speak of most of the question;
    and what :func:`is_gone` looks for is not there.
    """
    said = {value for number in numbers(claim) for value in (number.value, number.bare)}
    if said & values(text):
        return False
    asked = words_of(gold.question, gold.language)
    pairs = in_pairs(words_of_parts(text, gold.language))
    if any(len(asked & found) >= ANSWERS * len(asked) for found in pairs):
        return False
    return is_gone(text, gold.document_text, claim, gold.question, gold.language)
