"""Might another fact of the document be true as well? Then inserting it would make no error."""

import re
from functools import lru_cache

from data_pipeline.edits.edit import occurs
from data_pipeline.text.content import stems
from data_pipeline.text.fact import Fact
from judge.prompting.sentences import sentence_spans

_TELLS_APART = re.compile(r"\b(?:is|are|was|were|has|have|had|who|which|but|while|won|to|by|\w{2,}ed)\b|;")
_ENOUGH = 0.5
"""If no sentence supports the claim: share of its words from which a sentence says much the same."""


def may_also_hold(fact: Fact, text: str, answer: str, question: str, document: str) -> bool:
    """Does an English document say of ``text`` much the same as the answer says of ``fact``?

    The claim is the rest of the fact's sentence in the answer, plus the question if that is short. If some
    sentence with ``text`` shares as many words with the claim as the best sentence with the fact, both may be
    right. A sentence with both counts for the fact alone, since it tells the two apart itself.
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
    """Are two names in one list, perhaps with a description of each ("the poet A, the general B")?"""
    start, end = sorted((sentence.find(one), sentence.find(two)))
    between = sentence[start:end]
    return "," in between and not _TELLS_APART.search(between)


def _claim(fact: Fact, answer: str, question: str) -> frozenset[str]:
    """The words that say what a fact is about."""
    sentence = next(
        (answer[span.start : span.end] for span in sentence_spans(answer) if span.end >= fact.end), answer
    )
    words = stems(sentence) - stems(fact.text)
    return words if len(words) >= 4 else words | (stems(question) - stems(fact.text))


@lru_cache(maxsize=32)
def _sentences(document: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The sentences of a document in lower case, with their words. Cached, since every edit asks for them."""
    texts = (document[span.start : span.end].lower() for span in sentence_spans(document))
    return tuple((text, stems(text)) for text in texts)
