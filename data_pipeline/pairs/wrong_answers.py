"""Is another answer surely wrong? Not where it may be a form of the right one, a part of it, or its like."""

import re

from data_pipeline.edits.edit import bare, digits_of, listed_together, occurs
from data_pipeline.pairs.documents.supporting import parts_of
from data_pipeline.text.content import CJK, words_of
from data_pipeline.text.names_en import GENERIC
from judge.types import Language, Sample

RATIO = 6
"""Two numbers are of a size if one is at most this many times the other ..."""
YEARS = 120
"""... and two years of one age if this many lie between them."""
CLOSE = 40
"""Characters between two things in one sentence within which the one may be another name of the other."""
_OF_SO_MANY = re.compile(r"\bof (?:the )?(\d+)\b|(\d+)[^，。\d]{0,16}中")
YES_NO = re.compile(r"(?:yes|no|none|neither|both|true|false)\b|^(?:是|否|不|没|沒|有)", re.I)
_SAME_THING = re.compile(
    r"\b(?:is|are|was|were|called|named|known|means?|or|i\.e\.|namely|become|became|as)\b|[(（:：]|即|又称|又稱|称|稱|也就是|名|是|为|為"
)


def is_other(gold: Sample, wrong: str) -> bool:
    """Is an answer surely not right as well: no other form of the right one, no part of it, not its like?"""
    right, question, document = gold.answer, gold.question, gold.document_text
    if not occurs(wrong, document) or YES_NO.match(wrong) or occurs(wrong, question):
        return False
    one, two = bare(right), bare(wrong)
    if one in two or two in one or listed_together(right, wrong, document):
        return False
    if _shared_words(right, wrong, gold.language) or (
        digits_of(right) and digits_of(right) == digits_of(wrong)
    ):
        return False
    if not _of_a_size(right, wrong) or _more_than_all(wrong, question):
        return False
    if not re.search(r"\d", right) and words_of(wrong, gold.language) <= words_of(question, gold.language):
        return False
    return not any(_one_thing(right, wrong, document[part.start : part.end]) for part in parts_of(document))


def _of_a_size(right: str, wrong: str) -> bool:
    """Are two numbers of a size, two years of one age? Of anything else this says nothing."""
    years = [re.findall(r"(?<!\d)(1\d{3}|20\d\d)(?![\d,.])", text) for text in (right, wrong)]
    if all(years) and abs(int(years[0][-1]) - int(years[1][-1])) > YEARS:
        return False
    one, two = (re.fullmatch(r"\D*(\d[\d,]*(?:\.\d+)?)\D*", text) for text in (right, wrong))
    if not one or not two:
        return True
    low, high = sorted(float(match[1].replace(",", "")) for match in (one, two))
    if 1000 <= low <= high <= 2100 and "," not in right + wrong:
        return high - low <= YEARS
    return high <= RATIO * max(low, 0.01)


def _more_than_all(wrong: str, question: str) -> bool:
    """Does a question ask how many of so many, and the answer says more?"""
    whole, part = _OF_SO_MANY.search(question), re.search(r"\d+", wrong)
    return bool(whole and part and int(part[0]) > int(whole[1] or whole[2]))


def _shared_words(right: str, wrong: str, language: Language) -> bool:
    """Do two answers share a word that counts? Units and words such as "university" do not."""
    shared = words_of(right, language) & words_of(wrong, language)
    if re.search(r"\d", right) and re.search(r"\d", wrong):
        shared = frozenset(word for word in shared if re.search(r"\d", word) and not CJK.search(word))
    return bool(shared - GENERIC)


def _one_thing(right: str, wrong: str, sentence: str) -> bool:
    """Does a sentence join the two so closely that they may name one thing, or that one lies in the other?"""
    places = sentence.find(right), sentence.find(wrong)
    if min(places) < 0:
        return False
    first = right if places[0] < places[1] else wrong
    between = sentence[min(places) + len(first) : max(places)]
    return len(between) <= CLOSE and (len(between.split()) <= 3 or bool(_SAME_THING.search(between)))
