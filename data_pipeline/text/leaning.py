"""Whether a sentence can stand alone or depends on the sentence before it."""

import re

from data_pipeline.text.segment_zh import plain, written_like
from data_pipeline.text.words import either
from judge.types import Language

_DANGLES_EN = re.compile(
    rf"(?:{either('leaning_openers_en')})\b"
    r"|[^,]{1,80}, (?:he|she|it|they|we|this|these|those|that|his|her|its|their|however|though)\b",
    re.I,
)
_DEPENDS_EN = re.compile(
    r"\b(?:this|these|those|such|the (?:latter|former|same|others?|two|three|four)|thereby|former|latter"
    r"|earlier|previously|(?:days|weeks|months|years) later|so-called|do so|did so|one another|then)\b"
)
_SHORT_SUBJECT = re.compile(
    r"(?:The|A|An|Two|Three|Four|Five) (?:[a-z]+ ){1,2}"
    r"(?:is|are|was|were|has|have|had|can|could|will|would|did|does|do|[a-z]+ed)\b"
)
_PERSON_EN = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself)\b")
_NAME_EN = re.compile(rf"\b(?!(?:{either('months_en')}|[A-Z]\w+day)\b)[A-Z][\w’'-]+")
_THING_EN = re.compile(r"\b(?:it|its|they|them|their|theirs)\b")
_OPENING_EN = re.compile(r"(?:The|An?|In|On|At|By) ")
_LOWER_FIRST = re.compile(r"(?:The|A|An|In|On|At|By|During|After|Before|Since|Until)\b")

_DANGLES_ZH = re.compile(either("leaning_openers_zh"))
_DEPENDS_ZH = re.compile(
    r"该|此[^外后前]|这|那[^么]|前者|后者|同[年日月样时]|当[时年日天]|次[年日月]|翌|另[一外]|其[^他它余实中]|双方|二人"
    r"|两人|彼此|本[鱼种属科书片曲站线]"
)
_PERSON_ZH = re.compile(r"他|她|它")


def depends_on_previous(text: str, language: Language) -> bool:
    """Does a sentence refer to something that only the one before it names?"""
    if language == "zh":
        text = plain(text)
        person = _PERSON_ZH.search(text)
        return bool(_DANGLES_ZH.match(text) or _DEPENDS_ZH.search(text) or (person and person.start() < 6))
    if _DANGLES_EN.match(text) or _DEPENDS_EN.search(text):
        return True
    person, thing = _PERSON_EN.search(text), _THING_EN.search(text)
    if thing and len(text[: thing.start()].split()) < 4:
        return True
    opening = _OPENING_EN.match(text)
    return person is not None and not _NAME_EN.search(text, opening.end() if opening else 0, person.start())


def names_its_subject(text: str, language: Language) -> bool:
    """Can a text begin with this sentence? Not with "The network is": it does not say which one."""
    return language == "zh" or not _SHORT_SUBJECT.match(text)


def linked(text: str, connective: str, language: Language) -> str:
    """A statement after a connective ("In addition,"); unchanged if its first word may be a name."""
    if re.match(r"原因|因|由于|The reason|Because", text):
        return text
    if language == "zh":
        return written_like(connective, text) + text
    return f"{connective} {text[0].lower()}{text[1:]}" if _LOWER_FIRST.match(text) else text
