"""Names, dates and numbers of a short answer, and whether any of them is left in a text.

A counterfactual document must not mention the answer it replaces (Bi'an, section 2.2). So entities are found
more generously here than for perturbations: any word that may be a name counts as one.
"""

import re
from collections.abc import Iterator, Sequence

from data_pipeline.teachers.lookup import stands
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import find_facts
from data_pipeline.text.segment_zh import plain, segment
from judge.types import Language

_NAMES = ("nr", "ns", "nt", "nz", "t", "j", "eng")
"""Tags of persons, places, organisations, other names, times, abbreviations and Latin words (ICTCLAS)."""
_KINDS = "朝代国省市县区镇村州洲郡河江湖海山峰岛桥号人"
"""Last characters that say what kind of thing a name is for; texts may omit them."""
_DOTTED = re.compile(r"[\u4e00-\u9fff]+(?:·[\u4e00-\u9fff]+)+")
_NAMED = re.compile(r"[A-ZÀ-Ý][\w.'’-]*(?: (?:of|the|de|von|van|and|[A-ZÀ-Ý][\w.'’-]*)){0,5}")


def entities_left(answer: str, text: str, language: Language, allowed: Sequence[str] = ()) -> list[str]:
    """The entities of an answer that occur in a text, in any spelling or a short form.

    Args:
        answer: a short answer, unchanged.
        text: the text that should have none of its entities.
        language: of both; Chinese is compared in simplified characters.
        allowed: texts whose entities may occur anyway: the question, the other answer.
    """
    if language == "zh":
        answer, text, allowed = plain(answer), plain(text), [plain(one) for one in allowed]
    return [
        fact.text
        for fact in _entities(answer, language)
        if stands(fact, text, language) and not any(stands(fact, one, language) for one in allowed)
    ]


def _entities(answer: str, language: Language) -> list[Fact]:
    facts = [fact for fact in find_facts(answer, language) if len(fact.text) > 1]  # a 3 is found anywhere
    known = {fact.text for fact in facts}
    names = _chinese_names(answer) if language == "zh" else _NAMED.findall(answer)
    found = dict.fromkeys(name for name in names if name not in known)
    return [*facts, *(Fact("entity", name, 0, len(name)) for name in found)]


def _chinese_names(answer: str) -> Iterator[str]:
    """Words that may be names, with short forms: 上海 of 上海市, 唐代 of 唐朝, both parts of a dotted one."""
    for dotted in _DOTTED.findall(answer):
        yield from (part for part in dotted.split("·") if len(part) > 1)
    for word in segment(answer):
        name = word.text
        if len(name) < 2 or not word.tag.startswith(_NAMES):
            continue
        yield name
        if name[-1] in "朝代" and len(name) <= 3:
            yield from (name[:-1] + kind for kind in "朝代" if kind != name[-1])
        if name[-1] in _KINDS and len(name) > 2:
            yield name[:-1]
