"""Where the polarity of a Chinese statement can be turned."""

import re
from collections.abc import Iterator

from data_pipeline.perturb.edit import Turn
from data_pipeline.perturb.words import either

_VERBS = either("verbs_zh")
_REMOVE = (
    (r"从未|从来没有|从没", "曾经"),
    (r"从不", "总是"),
    (r"(?<![经之])不再", "仍然"),
    (r"(?:并没有|没有|并未|未|没)再", "又"),
    (r"(?<!是)不是", "是"),
    (r"不会", "会"),
    (r"(?<![就都也])不能", "能"),
    (r"不可以", "可以"),
    (r"不需要|无需|不必", "需要"),
    (r"不允许", "允许"),
    (r"(?<![也])不得", "可以"),
    (r"无法|未能", "能够"),
    (r"尚未|仍未", "已经"),
    (r"并未|未曾", "已经"),
    (r"(?<![前后来并尚仍])未(?![来必知免能曾])(?=[\u4e00-\u9fff])", "已"),
    (r"不包括", "包括"),
    (r"不提供", "提供"),
    (r"不含", "含"),
    (r"不属于", "属于"),
    (r"不参加", "参加"),
    (r"不同意", "同意"),
    (r"不影响", "影响"),
    (r"不支持", "支持"),
    (r"不收取", "收取"),
    (rf"(?<![直都还也])(?:并没有|没有|没)(?=(?:{_VERBS}|[\u4e00-\u9fff])过)", ""),
    (rf"(?<![直都还也])(?:并没有|没有|没)({_VERBS})", r"\1了"),
    (r"没有任何", "有一些"),
    (r"(?<![直都还也])没有(?=明显|显著|直达|专门|固定|足够|居民|铁路|关系|差别|区别|效果)", "有"),
)
_INSERT = (
    (r"(?<![不但可还就也都于总或凡要若只正便即而算尤更才像])是(?=[\u4e00-\u9fff\d《“])(?![否的])", "不是"),
    (r"(?<![不机社委议协学都博教大开工只才])会(?=[\u4e00-\u9fff]{2})(?![议员长场见计同上后面展])", "不会"),
    (r"(?<![不才就都])可以(?!用)", "不可以"),
    (r"(?<![不才就都])需要", "不需要"),
    (r"(?<![不才所功性只可职])能够", "不能"),
    (r"(?<!不)允许", "不允许"),
    (r"(?<!不)包括", "不包括"),
    (rf"(?<![未没有不起都])({_VERBS})了", r"没有\1"),
    (r"(?<!不)已经(?![^，。；]*了)", "尚未"),
    (r"(?<![不而早久])已(?=[\u4e00-\u9fff])(?!经|故|有)(?![^，。；]*了)", "未"),
    (r"仍然", "不再"),
    (r"(?<!不)属于", "不属于"),
    (r"(?<!不)适合", "不适合"),
    (r"(?<!不)同意", "不同意"),
    (r"必须", "无需"),
    (r"曾经|曾(?=[\u4e00-\u9fff])(?![祖孙经])", "从未"),
    (r"(?<!不)支持(?!者)", "不支持"),
    (r"(?<!不)提供", "不提供"),
)
_TURNS = tuple(
    (re.compile(pattern), text, removes)
    for removes, table in ((True, _REMOVE), (False, _INSERT))
    for pattern, text in table
)
_POLAR = re.compile(r"[不没未无非]")


def chinese_negations(answer: str) -> Iterator[Turn]:
    """Places where the polarity can be turned: first negations that can go, then where one can come in."""
    taken: list[range] = []
    for pattern, text, removes in _TURNS:
        for m in pattern.finditer(answer):
            if any(m.start() < spot.stop and m.end() > spot.start for spot in taken):
                continue
            clause = re.split(r"[，。；！？]", answer[: m.start()])[-1]
            rest = re.split(r"[，。；！？]", answer[m.end() :])[0]
            if _POLAR.search(clause if removes else clause + rest) or (
                not clause and not removes and m.start()
            ):
                continue
            taken.append(range(*m.span()))
            yield Turn(m.start(), m.end(), m.expand(text), removes)
