"""Chinese edits: words, scripts, names, numbers, dates, and the typed changes; what must be left alone."""

import subprocess
import sys
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.edits.types import EDITS
from data_pipeline.text.facts_zh import chinese_facts
from data_pipeline.text.numbers import numeral_of, value_of
from data_pipeline.text.segment_zh import plain, segment, written_like

LAKE = (
    "林嘉禾1948年3月生于云泊市，1961年进入云泊乐器公司。贺松涛是林嘉禾的师兄，贺松涛的作品列第3名。"
    "林嘉禾一生制琴约620把，售出480把，从不使用机器。2009年，林嘉禾退休，云泊市在湖的北岸建了博物馆。"
)
COURT = (
    "原告戚长宁与被告岑玉衡于2020年6月12日签订租约，月租6,500元。原告要求被告支付欠租45,500元。"
    "被告岑玉衡表示屋顶漏水，原告戚长宁表示早已修好。乐川市人民法院部分支持了请求，押金8,200元未退还。"
    "如果被告上诉，判决将推迟生效。除押金外，其余款项应在30日内付清。"
)
FAR = "馬可·費拉羅於1873年抵達廈門，1881年離開。陳伯言先生認為，費拉羅寫了《閩海行記》，沒有寫《臺灣紀程》。"


def outcomes(kind: str, answer: str, document: str, question: str = "") -> set[str | None]:
    """What comes out over several seeds."""
    edits = [EDITS[kind](answer, document, question, "zh", Random(seed)) for seed in range(8)]
    return {edit and edit.answer for edit in edits}


@pytest.mark.parametrize(
    ("kind", "answer", "document", "question", "expected"),
    [
        ("number", "他一生制琴约620把。", LAKE, "林嘉禾制琴多少把?", {"他一生制琴约480把。"}),
        ("date", "他于1961年进入公司。", LAKE, "", {"他于1948年进入公司。"}),
        ("entity", "师兄是贺松涛。", LAKE, "谁是师兄?", {"师兄是林嘉禾。"}),
        ("entity", "林嘉禾", LAKE, "谁在2009年退休?", {"贺松涛"}),
    ],
)
def test_golden(kind: str, answer: str, document: str, question: str, expected: set[str]) -> None:
    assert outcomes(kind, answer, document, question) == expected


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("comparative", "价格低于620元。"), ("number", "他与贺松涛两人合作。"),
        ("number", "这十分普遍。"), ("number", "本州、四国及九州。"), ("number", "那是第二次世界大战。"),
    ],
)  # fmt: skip
def test_what_would_not_read_or_not_be_wrong_is_left_alone(kind: str, answer: str) -> None:
    assert outcomes(kind, answer, f"{LAKE}{answer}另有一句。") == {None}


def test_days_lie_within_their_months_and_years_are_plausible() -> None:
    document = "他于1995年2月28日获奖。"
    for seed in range(60):
        edit = EDITS["date"]("1995年2月28日", document, "何时获奖？", "zh", Random(seed))
        assert edit is not None
        years = [int(f.text[:4]) for f in chinese_facts("date", edit.answer) if f.form == "year"]
        assert years and abs(years[0] - 1995) <= 15
        assert any(fact.form == "month-day" for fact in chinese_facts("date", edit.answer)), edit.answer
        assert "月30日" not in edit.answer or not edit.answer.split("年")[1].startswith("2月")
    late = [EDITS["date"]("2024年", "时间为2024年。", "", "zh", Random(seed)) for seed in range(30)]
    assert all(edit is not None and int(edit.answer[:4]) <= 2026 for edit in late)


def test_a_range_stays_in_order() -> None:
    document = "水深3至25公尺，自1908年至1921年记录。"
    for seed in range(30):
        edit = EDITS["date"]("1908年至1921年", document, "", "zh", Random(seed))
        assert edit is not None
        one, two = (int(fact.text[:4]) for fact in chinese_facts("date", edit.answer))
        assert one < two
        depth = EDITS["number"]("3至25公尺", document, "", "zh", Random(seed))
        assert depth is not None
        low, high = (int(fact.text) for fact in chinese_facts("number", depth.answer))
        assert low < high


def test_every_mention_of_a_number_changes() -> None:
    edit = EDITS["number"]("被判三年，即三年徒刑。", "他被判三年徒刑。", "", "zh", Random(0))
    assert edit is not None and "三年" not in edit.answer


def test_what_the_document_does_not_hold_is_not_changed() -> None:
    assert outcomes("number", "售出77把。", LAKE) == {None}
    assert outcomes("date", "31日21时，湖滨网发布消息报道：停业。", f"31日21时。{LAKE}") == {None}


def test_what_the_question_names_is_not_changed() -> None:
    assert outcomes("date", "他于1961年进入公司。", LAKE, "1961年谁进入公司？") == {None}


def test_a_name_that_answers_too_or_is_listed_is_not_put_in() -> None:
    listed = "贺松涛先生与林嘉禾先生共同创办了琴社。林嘉禾先生后来退出。"
    assert outcomes("entity", "贺松涛", listed, "谁创办了琴社？") == {None}
    again = "贺松涛先生获得银奖。次年林嘉禾先生获得银奖。"
    assert outcomes("entity", "贺松涛", again, "谁获得银奖？") == {None}
    alias = "杨木桥又称长乐桥，位于云泊市。长乐桥今已不存。"
    assert outcomes("entity", "杨木桥", alias, "哪座桥位于云泊市？") == {None}


def test_names_have_kinds_and_are_whole() -> None:
    forms = {fact.text: fact.form for fact in chinese_facts("entity", COURT)}
    assert (
        forms["戚长宁"] == forms["岑玉衡"] == "person" and forms["乐川市人民法院"] == "organisation 人民法院"
    )
    people = {fact.text: fact.form for fact in chinese_facts("entity", "被告人李x1与张某、艾萨克·牛顿见面。")}
    assert people == {"李x1": "anonymous", "张某": "anonymous", "艾萨克·牛顿": "foreign"}


def test_traditional_characters_stay_traditional() -> None:
    assert outcomes("date", "1873年", FAR, "何時抵達廈門？") == {"1881年"}
    for new in outcomes("entity", "《閩海行記》", FAR, ""):
        assert new is None or plain(new) != new


def test_places_in_plain_form_are_places_of_the_text() -> None:
    text = "臺灣於１９８７年開放，馬可·費拉羅離開廈門大學。"
    assert len(plain(text)) == len(text) and plain(text).startswith("台湾于1987年")
    assert "".join(word.text for word in segment(text)) == plain(text)
    for kind in ("date", "number", "entity"):
        assert all(text[fact.start : fact.end] == fact.text for fact in chinese_facts(kind, text))
    assert written_like("减少", "價格減少了") == "減少" and written_like("减少", "价格减少了") == "减少"


@given(st.integers(1, 99), st.booleans())
def test_numerals_come_back(value: int, counts: bool) -> None:
    assert value_of(numeral_of(value, counts)) == value


PARTS = st.lists(st.sampled_from((*LAKE, *COURT, *FAR, "没有", "原告")), max_size=40).map("".join)


@settings(max_examples=120, deadline=None)
@given(PARTS, PARTS | st.sampled_from((LAKE, COURT, FAR)), PARTS, st.integers(0, 5))
def test_properties(answer: str, document: str, question: str, seed: int) -> None:
    """Any text: an edit differs, keeps its length, names itself, and comes out the same again."""
    for kind, function in EDITS.items():
        edit = function(answer, document, question, "zh", Random(seed))
        assert edit == function(answer, document, question, "zh", Random(seed))
        if edit is not None:
            assert edit.edit_type == kind and edit.answer != answer and edit.inserted
            assert abs(len(edit.answer) - len(answer)) <= max(12, 0.2 * len(answer))


def test_the_segmenter_warns_of_nothing_and_loads_late() -> None:
    code = (
        "import sys; from data_pipeline.text.segment_zh import segment, plain; "
        "assert 'rjieba' not in sys.modules and 'opencc' not in sys.modules; segment('臺灣'); plain('臺灣')"
    )
    made = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert made.returncode == 0 and not made.stderr and not made.stdout, made.stderr
