"""Might another fact of the document hold too? Then putting it in an answer would make no error."""

import re
from functools import lru_cache

from data_pipeline.edits.edit import occurs
from data_pipeline.text.content import stems
from data_pipeline.text.fact import Fact
from judge.prompting.sentences import sentence_spans

_TELLS_APART = re.compile(r"\b(?:is|are|was|were|has|have|had|who|which|but|while|won|to|by|\w{2,}ed)\b|;")
_ENOUGH = 0.5
"""Share of a claim's words from which on a sentence says much the same; for where none supports the claim."""


def may_also_hold(fact: Fact, text: str, answer: str, question: str, document: str) -> bool:
    """Is ``text``, from an English document, said of much the same as ``fact`` of the answer?

    The claim is what the answer's sentence says besides the fact; of a short one, the question too. Where a
    sentence with ``text`` shares as many words with it as the best sentence with the fact does, both may
    be right. A sentence that holds both tells them apart itself.
    """
    claim = _claim(fact, answer, question) - stems(text)
    one, two = fact.text.lower(), text.lower()
    old = new = 0
    for sentence, held in _sentences(document):
        if one in sentence and occurs(one, sentence):
            if fact.kind == "entity" and two in sentence and _in_one_list(one, two, sentence):
                return True
            old = max(old, len(claim & held))
        elif two in sentence and occurs(two, sentence):
            new = max(new, len(claim & held))
    return new >= (old or max(1.0, _ENOUGH * len(claim)))


def _in_one_list(one: str, two: str, sentence: str) -> bool:
    """Are two names parts of a list, be it with a word on each ("the poet A, the general B")?"""
    start, end = sorted((sentence.find(one), sentence.find(two)))
    between = sentence[start:end]
    return "," in between and not _TELLS_APART.search(between)


def _claim(fact: Fact, answer: str, question: str) -> frozenset[str]:
    """The words that say what a fact is the fact of."""
    sentence = next(
        (answer[span.start : span.end] for span in sentence_spans(answer) if span.end >= fact.end), answer
    )
    words = stems(sentence) - stems(fact.text)
    return words if len(words) >= 4 else words | (stems(question) - stems(fact.text))


@lru_cache(maxsize=32)
def _sentences(document: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a document in small letters, with their words; kept, since every edit asks again."""
    texts = (document[span.start : span.end].lower() for span in sentence_spans(document))
    return tuple((text, stems(text)) for text in texts)
