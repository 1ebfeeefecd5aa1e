"""The edit type ``comparative`` in Chinese: a direction word becomes its opposite, as a whole word."""

import re
from random import Random

from data_pipeline.edits.directions import direction_spots
from data_pipeline.edits.edit import Edit, Swap, listed_together
from data_pipeline.edits.edit_zh import ASKS_WHY, chinese_edit
from data_pipeline.edits.polarity import OTHER_ANSWER, YES_OR_NO
from data_pipeline.text.segment_zh import plain, sentence_of, word_after

_NUMBER = r"(?:约|近|大约|超过|了)*\s?(?:\d|[一二三四五六七八九十百两半]|百分之)"
_CHANGES = frozenset(
    [
        "增加", "减少", "上升", "下降", "提高", "降低", "上涨", "下跌", "增长", "下滑", "增至", "减至",
        "升至", "降至", "升高", "扩大", "缩小", "延长", "缩短", "加快", "放慢",
    ]
)  # fmt: skip
# A change is turned only where its amount is said, and nothing around it explains it or depends on it.
_AMOUNT = re.compile(rf"(?:了|到|至|为|约|近|超过)*{_NUMBER}|(?:了|[，。；]|$)")
_REASON = re.compile(
    r"因|由于|受|导致|使|令|从而|以便|为了|虽然|尽管|但|却|仍|避免|防止|随着|如果|若|只有|有助|促进|有利|减轻|目标|目的|能|可|证明|[从由][\d一二三四五六七八九十两]|原来"
)
_BEFORE_NUMBER = frozenset(("超过", "不足"))
_EXTREMES = frozenset(["最大", "最小", "最高", "最低", "最多", "最少", "最长", "最短"])
_AIMS = re.compile(r"为了|确保|面临|问题|挑战|危机|威胁|希望|目标|力度|努力|可能|限度|程度|其次")
_PARTS_OF_DAY = frozenset(("上午", "下午", "早上", "晚上"))
_STATED = frozenset(
    ("高于 低于 多于 少于 大于 小于 优于 劣于 ").split()  # noqa: SIM905 (a list of words)
)


def chinese_comparative(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Turn one direction word (高于, 南部, 增加) into its opposite, where the question does not name it."""
    if ASKS_WHY.search(plain(question)):
        return None
    spots = list(direction_spots(answer, "zh"))
    rng.shuffle(spots)
    head = YES_OR_NO.match(plain(answer))
    for start, word, opposites in spots:
        simple = plain(word)
        if not _safe(answer, start, start + len(word)) or (simple[:1] in plain(question) and not head):
            continue
        text = rng.choice(opposites)
        if (text in plain(question) and not head) or listed_together(simple, text, plain(document)):
            continue
        if text in sentence_of(plain(answer), start):  # "北往南"
            continue
        swaps: list[Swap] = [(start, start + len(word), text)]
        if head and (simple in plain(question) or text in plain(question)):
            swaps.append((head.start(), head.end(), OTHER_ANSWER[head.group()]))
        if edit := chinese_edit("comparative", answer, document, swaps):
            return edit
    return None


def _safe(answer: str, start: int, end: int) -> bool:
    text = plain(answer)
    word, after = text[start:end], text[end:]
    following = word_after(answer, end)
    if following and following.start == end and word[0] in "东西南北" and word[-1] in "东西南北":
        return following.tag not in ("ns", "nr", "nrt", "nz", "j", "ng", "nt")
    if word in _BEFORE_NUMBER:
        return re.match(_NUMBER, after) is not None
    if word in _EXTREMES:
        return not _AIMS.search(sentence_of(text, start))
    if word in _CHANGES:
        return _AMOUNT.match(after) is not None and not _REASON.search(sentence_of(text, start))
    if word in _STATED:  # two numbers would show which is larger
        around = sentence_of(text, start)
        return not _REASON.search(around) and len(re.findall(r"\d[\d.,]*", around)) < 2
    if word in _PARTS_OF_DAY:
        return not re.search(r"\d[:：点时]", sentence_of(text, start))
    return not text[:start].endswith(("不", "没", "未", "没有"))
