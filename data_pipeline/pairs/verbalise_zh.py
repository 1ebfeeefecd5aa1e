"""Chinese questions and answers turned into statements: the answer takes the place of the question word."""

import re
from functools import lru_cache

from data_pipeline.text.words import characters

MOST = 30
"""Most characters of an answer that is put into a sentence."""
_MEASURES = characters("measures_zh") + "个個位部家所座种種项項条條名支首本隻只次人间間场場"
_ANY = (
    r"为什么|為什麼|为何|為何|什么|什麼|谁|誰|哪|何(?=[时時年处處种種人地者])|多少|几(?!乎|何)|幾(?!乎|何)"
    r"|如何|怎么|怎麼|怎样|怎樣|多[大长長高远遠重深久快]|吗|嗎|是否"
)
_WHO = re.compile(r"什么人|什麼人|何人|哪个人|哪個人|哪一?[个個位]人物?|谁|誰")
_YEAR = re.compile(r"哪一?年|何年|幾年|几年|什么年份")
_WHEN = re.compile(r"什么时候|什麼時候|何时|何時|什么时间|什麼時間|哪一?天|何日")
_WHERE = re.compile(r"什么地方|什麼地方|哪[个個]地方|哪里|哪裡|哪裏|哪儿|何处|何處|何地")
_COUNT = re.compile(r"多少|[几幾](?!乎|何)")
_SIZE = re.compile(r"多[大长長高远遠重深久]")
_WHICH = re.compile(r"(?:哪一?[个個位部家所座种種项項条條名支首本款片场場國国]|什么|什麼|何种|何種)")
_END = r"(?=[？?]?$)"
_NAMED = re.compile(
    rf"(?:称为|稱為|称作|稱作|叫做|叫作|叫|是|为|為|成为|成為|担任|擔任|获得|獲得|属于|屬於)(?:什么|什麼)(?:名字|名称|名稱|职位|職位|职务|職務)?{_END}"
)
# Nouns that a name makes redundant: 哪个国家 becomes 法国.
_NEEDLESS = re.compile(
    r"(?:国家|國家|城市|地方|地区|地區|人物|省份|朝代|时期|時期|公司|组织|組織|机构|機構|球队|球隊|大学|大學|民族|俱乐部|俱樂部"
    r"|作品|小说|小說|电影|電影|语言|語言|县市|縣市|队伍|隊伍|运动|運動|比赛|比賽|学校|學校|奖项|獎項|职业|職業|皇帝|作家|将领|將領"
    r"|导演|導演|總統|总统|教宗|学者|學者|专辑|專輯|地点|地點|位置|颜色|顏色)"
)


@lru_cache(maxsize=16_384)
def chinese(question: str, answer: str) -> str | None:
    """The statement that answers a question, or ``None`` if no rule is sure of one."""
    question = re.sub(r"[？?。．\s]+$", "", question.strip())
    answer = answer.strip(" 。，；、．")
    if any(answer.count(one) != answer.count(two) for one, two in ("（）", "《》", "“”", "()", "「」")):
        return None
    if not answer or len(answer) > MOST or re.search(r"[。；？！\n]|[,，]{2}|\d[、.](?!\d)", answer):
        return None
    if re.search(r"[称稱名作叫视視定成变變译譯][为為][什何]|几点|幾點", question):
        return None  # these ask "as what", not "why"; and hours are not counted
    if len(re.findall(_ANY, question)) != 1 or re.search(r"分别|分別|下列|以下|哪些|请|請|列举", question):
        return None
    made = _statement(question, answer)
    return f"{made}。" if made and answer in made else None


def _statement(question: str, answer: str) -> str | None:
    if found := re.match(r"(?:什么|什麼)(是|叫)(.+)$", question):
        return f"{found[2]}{found[1]}{answer}"
    if re.search(r"为什么|為什麼|(?:为何|為何)(?!$)|为甚么|為甚麼", question):
        return _why(question, answer)
    if found := re.search(r"(?<=[为為])何$", question):
        return question[: found.start()] + answer
    if found := _WHO.search(question):
        return _put(question, found, answer) if not re.search(r"[，,]", answer) else None
    if found := _YEAR.search(question):
        year = answer + "年" * bool(re.fullmatch(r"\d{3,4}", answer))
        return _put(question, found, year) if re.search(r"\d{3,4}|年", answer) else None
    if found := _WHEN.search(question):
        dated = bool(re.search(r"[年月日时時]|世[纪紀]|\d{4}$", answer)) and len(answer) <= 16
        return _put(question, found, answer + "年" * bool(re.fullmatch(r"\d{4}", answer))) if dated else None
    if found := _WHERE.search(question):
        return _where(question, found, answer)
    if found := _SIZE.search(question):
        measured = re.match(r"[约約]?\d", answer) and not re.match(r"\d+$", answer)
        return _put(question, found, answer) if measured else None
    if found := _COUNT.search(question):
        return _count(question, found, answer)
    if re.match(r"[把被将將使让讓]|往往", answer):
        return None
    if found := _NAMED.search(question):
        verb = re.sub(r"(?:什么|什麼).*", "", found[0])
        return question[: found.start()] + verb + answer
    if found := _WHICH.search(question):
        return _which(question, found, answer)
    return None


def _put(question: str, found: re.Match[str], answer: str) -> str | None:
    """The answer in the place of the question word."""
    before, after = question[: found.start()], question[found.end() :]
    if before[-1:].isdigit() and answer[0].isdigit():
        return None
    if after[:1] == answer[-1:]:  # 越南共和国军 and 军队
        return None
    if before and re.match(r"[在于於]", answer) and before[-1] in "在于於":
        answer = answer[1:]
    return f"{before}{answer}{after}"


def _why(question: str, answer: str) -> str | None:
    said = re.sub(r"^(?:是)?(?:因为|因為|由于|由於)", "", answer)
    if len(said) < 5 or re.search(r"[，,]$", said) or re.match(r"[为為以进進避防提增减減]", said):
        return None
    question = question.rstrip("啊呢呀")
    plain = re.sub(r"(?:是)?(?:为什么|為什麼|为何|為何|为甚么|為甚麼)(?:会|會)?", "", question, count=1)
    return f"{plain.strip('，, ')}，因{'為' if '為' in question else '为'}{said}"


def _where(question: str, found: re.Match[str], answer: str) -> str | None:
    before = question[: found.start()]
    if re.search(r"[的]$", before) or re.search(r"[，。]", answer):
        return None
    if re.search(r"[在于於往到自至向]$", before):
        answer = re.sub(r"^(?:位于|位於|在|于|於)", "", answer)
    elif before and not before.endswith(("是", "去", "达", "达到", "来自", "前往", "指", "为", "為")):
        return None
    return _put(question, found, answer)


def _count(question: str, found: re.Match[str], answer: str) -> str | None:
    number = re.match(
        r"(?:[约約近]|超过|超過|大[约約]|至少)?[\d,.一二三四五六七八九十两兩百千万萬亿億几]+[多余餘]?", answer
    )
    if number is None:
        return None
    if re.match(r"[的之]", question[found.end() :]):
        return None
    unit, after = answer[number.end() :], question[found.end() :]
    if len(unit) > 5 or (unit and not re.match(r"[\u4e00-\u9fff％%A-Za-z℃°]", unit)):
        return None
    if unit and after.startswith(unit):
        after = after[len(unit) :]
    elif unit and after[:1] and after[0] in _MEASURES and unit[-1] in _MEASURES:
        after = after[1:]
    elif not unit and found[0] != "多少" and not (after and after[0] in _MEASURES):
        return None
    if unit and re.match(r"(?:的)?[\u4e00-\u9fff]?(?:分之|百分|比例)", after):
        return None
    return f"{question[: found.start()]}{answer}{after}"


def _which(question: str, found: re.Match[str], answer: str) -> str | None:
    before, after = question[: found.start()], question[found.end() :]
    if re.search(r"[，,。]", answer) or (found[0] in ("什么", "什麼") and re.match(r"样|樣|的", after)):
        return None
    if re.match(r"[把被将將使让讓]", answer) or (before and answer[:2] in before[-6:]):
        return None
    if after == "人":
        return f"{before}{answer.removesuffix('人')}人"
    if needless := _NEEDLESS.match(after):
        return f"{before}{answer}{after[needless.end() :]}"
    for size in (4, 3, 2, 1):  # 属于什么科, 玛君龙亚科
        if (
            after[:size]
            and answer.endswith(after[:size])
            and (size > 1 or re.match(r"$|[的之是为為]", after[1:]))
        ):
            return f"{before}{answer}{after[size:]}"
    if found[0][0] == "哪" and re.fullmatch(r"[\u4e00-\u9fff]{1,3}", after):
        return f"{before}{answer}" if not re.search(r"[了的过過到有流来來去走进進出关關向]", after) else None
    open_end = not after and re.search(r"[叫称稱作做为為是于於到成括用过過了]$", before)
    return f"{before}{answer}" if open_end else None
