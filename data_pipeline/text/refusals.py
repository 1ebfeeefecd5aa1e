"""Sentences which claim that the document does not say something, in English and Chinese."""

import re
from collections.abc import Mapping

from judge.types import Language

_SOURCE_EN = r"(?:documents?|passages?|texts?|context|article|excerpt)"
_SOURCE_ZH = "(?:文档|原文|文中|文章|材料|资料|段落|文本)"
_REFUSAL: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        rf"\b{_SOURCE_EN}\b[^.]{{0,30}}(?:\b(?:not|no|never|nothing|nowhere)|n['’]t)\b[^.]{{0,30}}"
        r"\b(?:say|state|mention|specif|provid|contain|give|tell|answer|explain|inform|includ|address|discuss"
        r"|indicat|nam|describ)"
        r"|(?:\b(?:not|no|unable|impossible|nothing|cannot)|n['’]t)\b[^.]{0,60}\b(?:in|from|by|on|within) "
        rf"(?:the |this |these |any )?(?:\w+ )?{_SOURCE_EN}\b",
        re.I,
    ),
    "zh": re.compile(
        rf"{_SOURCE_ZH}[^。；]{{0,12}}(?:没有|没|未|并未|无法|不曾|不能)[^。；]{{0,8}}"
        r"(?:说|提到|提及|提供|给出|涉及|回答|介绍|交代|写|记载|指出|确定|得知|判断)"
        rf"|(?:无法|不能)[^。；]{{0,8}}{_SOURCE_ZH}"
    ),
}


def refuses(text: str, language: Language) -> bool:
    """Does a text claim that the document does not say something?"""
    return bool(_REFUSAL[language].search(text))
