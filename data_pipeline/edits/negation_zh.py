"""Where the polarity of a Chinese statement can be turned, and it still reads as a person would write it."""

import re
from collections.abc import Iterator

from data_pipeline.edits.edit import Turn
from data_pipeline.text.segment_zh import is_whole, plain, sentence_of, word_after, word_before
from data_pipeline.text.words import either

_VERBS = either("verbs_zh")
# Negations that can go: what stands there, and what then stands there instead.
_REMOVE = (
    (r"从未|从没", "曾"),
    (r"从不", "总是"),
    (r"(?<![经之])不再", "仍"),
    (r"并不是", "是"),
    (r"不是", "是"),
    (r"不会", "会"),
    (r"不能够?", "能够"),
    (r"不可以", "可以"),
    (r"不需要|无需|不必", "需要"),
    (r"不允许", "允许"),
    (r"不得", "可以"),
    (r"无法|未能", "能够"),
    (r"尚未|仍未|还未|并未|未曾", "已"),
    (r"还没有|并没有", "已经"),
    (r"未", "已"),
    (r"不包括", "包括"),
    (r"不属于", "属于"),
    (r"不同意", "同意"),
    (r"不支持", "支持"),
    (r"不影响", "影响"),
    (r"不提供", "提供"),
    (rf"没有({_VERBS})", r"\1了"),
    (r"没有(?=明显|显著|直达|足够|效果)", "有"),
)
# Where a negation can come in; only where a statement of the kind is common in both forms.
_INSERT = (
    (r"允许", "不允许"),
    (
        r"已经?(?=收到|公布|宣布|完成|获得|批准|通过|决定|找到|恢复|确认|支付|归还|建成|签署|公开|开始|送达)",
        "尚未",
    ),
    (r"(?<![不并])同意", "不同意"),
)  # fmt: skip
_TURNS = tuple(
    (re.compile(pattern), text, removes)
    for removes, table in ((True, _REMOVE), (False, _INSERT))
    for pattern, text in table
)
# Words that a clause has only with its negation, or that change their sense when it goes.
_NEEDS_NEGATION = re.compile(
    r"任何|丝毫|根本|从来|再也|一点|半点|绝|毫|除非|否则|不仅|不但|而是|只能|仅仅|以来|之前|甚至|连|谁|哪|什么|多少|如何|怎|为何|必要|未必|暂|^[但却]|然而|可能$|[是能可]否"
)
_NEEDS_AFFIRMATION = re.compile(
    r"[才就都也却只]|仅|已|如果|若|除|全部|所有|每|任何|多少|主要|最|以便|因为|由于|[是能可]否"
)
# A sentence that explains, or sets one thing against another, would not hang together with a clause turned.
_HANGS_TOGETHER = re.compile(
    r"因|由于|所以|意味着|导致|造成|使得|虽然|尽管|仍|却|困|难|不得不|只好|否则|而是|于是|从而|确保|呼吁|避免|希望|要求|必须|禁止|防止|警告|异议"
)
_POLAR = re.compile(r"[不没未无非莫勿]")


def chinese_negations(answer: str) -> Iterator[Turn]:
    """Places where the polarity can be turned: first negations that can go, then where one can come in."""
    text = plain(answer)
    taken: list[range] = []
    for pattern, new, removes in _TURNS:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(start < spot.stop and end > spot.start for spot in taken):
                continue
            before = re.split(r"[，。；！？：,;\n“”]", text[:start])[-1]
            rest = re.split(r"[，。；！？：,;\n“”]", text[end:])[0]
            around = before + rest
            if not is_whole(answer, start, end) or _POLAR.search(around) or re.search(r"[？?吗呢]", around):
                continue
            if removes and _HANGS_TOGETHER.search(sentence_of(text, start)):
                continue
            if (_NEEDS_NEGATION if removes else _NEEDS_AFFIRMATION).search(around):
                continue
            if not _reads(answer, start, end, removes, before, rest):
                continue
            taken.append(range(start, end))
            yield Turn(start, end, match.expand(new), removes)


def _reads(answer: str, start: int, end: int, removes: bool, before: str, rest: str) -> bool:
    """Would the turned clause be a sentence? It needs a verb behind, and no adverb of the other form."""
    ahead, behind = word_before(answer, start), word_after(answer, end)
    if not rest or behind is None or behind.start > end + 1:
        return False
    if (
        ahead
        and ahead.end == start
        and ahead.text in ("还", "仍", "尚", "就", "也", "都", "而", "但", "却", "并", "的", "是")
    ):
        return False
    if rest.startswith(("过", "的", "了", "者", "与", "和", "而")) or (not removes and not before):
        return False
    if re.match(r"[^，]{1,6}的", rest) and plain(answer)[start:end].endswith("未"):
        return False
    if removes and plain(answer)[start:end] in ("未", "尚未", "并未") and behind.tag[0] not in "vd":
        return False
    if plain(answer)[start:end].endswith("不是") and "是" in sentence_of(plain(answer), start).replace(
        "不是", ""
    ):
        return False
    return not (removes and ("了" in rest or re.search(r"一直|始终|已经|从|至今|向来", before)))
