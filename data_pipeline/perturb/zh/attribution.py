"""The edit type ``attribution`` in Chinese: what one said is put into the mouth of another speaker."""

import re
from random import Random

from data_pipeline.perturb.edit import Edit, Swap
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.zh.edit import also_holds, chinese_edit, names, told_of
from data_pipeline.perturb.zh.facts import chinese_facts, is_translated
from data_pipeline.perturb.zh.segment import places_of, plain
from data_pipeline.perturb.zh.swap_name import may_stand, mentions
from judge.types import Language

_SAYS = re.compile(
    r"[^，。；：、（(\n]{0,6}?(?:表示|指出|认为|称|说|透露|介绍|宣布|强调|声称|主张|辩称|建议|承认|否认|估计|预计|预测|警告|批评|解释|回应|证实|提出)"
)


def attribution(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Exchange a speaker of the answer for another speaker of the document of the same kind."""
    if is_translated(document):
        return None
    kinds = {fact.text: fact.form for fact in chinese_facts("entity", document)}
    speakers = [name for name in kinds if _speaks(name, document)]
    options = []
    for old, form in kinds.items():
        spots = mentions(old, answer, form)
        if len(spots) != 1 or names(old, question) or not _speaks(old, answer):
            continue
        told = told_of(Fact("entity", old, spots[0], spots[0] + len(old)), answer, question)
        options += [
            (old, new, spots[0])
            for new in speakers
            if kinds[new] == form and may_stand(old, new, form, answer, question, document)
            and not also_holds(old, new, told, document)
        ]  # fmt: skip
    rng.shuffle(options)
    for old, new, start in options:
        swaps: list[Swap] = [(start, start + len(old), new)]
        if edit := chinese_edit("attribution", answer, document, swaps):
            return edit
    return None


def _speaks(name: str, text: str) -> bool:
    """Does a text let one of this name say something?"""
    simple, wanted = plain(text), plain(name)
    return any(_SAYS.match(simple, at + len(wanted)) for at in places_of(wanted, simple))
