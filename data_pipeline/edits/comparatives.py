"""The edit type ``comparative``: a direction word becomes its opposite ("fell" becomes "rose")."""

import re
from random import Random

from data_pipeline.edits.clauses import clause, is_tied
from data_pipeline.edits.directions import direction_spots
from data_pipeline.edits.distractors import may_also_hold
from data_pipeline.edits.edit import Edit, Swap, listed_together, make_edit, occurs, same_case
from data_pipeline.edits.negation_en import ASKS_YES_OR_NO
from data_pipeline.edits.polarity import OTHER_ANSWER, YES_OR_NO
from data_pipeline.text.fact import Fact
from judge.prompting.sentences import sentence_spans

_CHANGES = re.compile(r"incr|decr|impr|wors|rose|fell|ris|fall|reduc|rais|grow|decl|gain|lost", re.I)
_DENIED = re.compile(r"\b(?:not|no|nor|never|neither|none|without|cannot|hardly)\b|n[’']t\b", re.I)
_PLURAL = re.compile(
    r" (?:than (?:\d|[a-z]+ty\b|half|one)|(?!than)(?:[a-z]+ ){0,2}[a-z]{3,}[^su]s\b"
    r"|(?:people|children|men|women|staff)\b)"
)
_ADJECTIVE = re.compile(r" [a-z]+(?:ive|al|ate|ous|ful|able|ible|ent|ant|ic|ed|ing|ly|than)\b")
_MEASURED = re.compile(
    r" than (?:\d[\d,.]* ?(?:%|percent|per cent|m\b|km|k?g\b)|\w+ (?:decades|years|months|weeks|days|hours))"
)
_FROM_TO = re.compile(r"\bfrom (?:about |around )?[$€£]?\d[^.]*? to (?:about |around )?[$€£]?\d")


def comparative(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Turn one direction word (more, before, increased) into its opposite."""
    head = YES_OR_NO.match(answer)
    said = answer[head.end() :].lstrip(" .,;") if head else answer
    if len(sentence_spans(said)) > 1:
        return None  # another sentence may say the same in other words
    spots = list(direction_spots(answer))
    rng.shuffle(spots)
    asked = question if not ASKS_YES_OR_NO.search(question) else ""
    for start, word, opposites in spots:
        if _DENIED.search(clause(answer, start)[0]):
            continue  # what is not higher need not be lower
        if re.search(rf"\b{_base(word)}", asked, re.I):
            continue  # a question for the largest is not answered with the smallest
        after = answer[start + len(word) :]
        options = [text for text in opposites if _number_agrees(word.lower(), text, after)]
        sentence = re.split(r"[.!?]\s", answer[:start])[-1] + re.split(r"[.!?]\s", after)[0]
        exposed = bool(_CHANGES.match(word) and _FROM_TO.search(sentence))  # the figures would show the error
        exposed = exposed or len(re.findall(r"(?<![\w.,])\d[\d.,]*", sentence)) > 1 or is_tied(answer, start)
        options = [text for text in options if not exposed and not occurs(text, sentence)]
        if not options:
            continue
        text = same_case(word, rng.choice(options))
        if listed_together(word.lower(), text.lower(), document) or listed_together(word, text, document):
            continue
        if occurs(text, document):
            spot = Fact("direction", word, start, start + len(word))
            if may_also_hold(spot, text, answer, question, document):
                continue
        swaps: list[Swap] = [(start, start + len(word), text)]
        if head and re.search(rf"{_base(word)}|{_base(text)}", question, re.I):
            swaps.append((head.start(), head.end(), OTHER_ANSWER[head.group()]))
        if edit := make_edit("comparative", answer, document, swaps):
            return edit
    return None


def _base(word: str) -> str:
    """A pattern for any form of a direction word: the question may ask "did it decrease" of "decreased"."""
    return re.escape(re.sub(r"(?<=\w{4})(?:ed|d|s)$", "", word))


def _number_agrees(word: str, text: str, after: str) -> bool:
    """ "more" becomes "fewer" before a plural or a number, and "less" elsewhere."""
    if word != "more" or text not in ("less", "fewer"):
        return True
    counted = _PLURAL.match(after) and not _ADJECTIVE.match(after) and not _MEASURED.match(after)
    return (text == "fewer") == bool(counted)
