"""Counterfactual question answering: two stages, two samples, and every way in which a seed can fail."""

import re
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import pytest

from data_pipeline.build.dry_run import CountingTeachers
from data_pipeline.build.pipeline import build
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.pairs.counterfactual import counterfactuals
from data_pipeline.pairs.entities import entities_left
from data_pipeline.teachers.base import Ask
from data_pipeline.teachers.reasoning import explain
from judge.types import Label, Language, Sample, Task
from tests.data.scripted import REFUSED, scripted
from tests.fault_server import FaultServer
from tests.tiny_data import labelled_recipe, rows_of

SEED = Sample("q1", "", "Paris", "What is the capital of France?", source="webqa", group="")
EVIDENCE = {
    "counterfactual_answer": "Lyon",
    "evidence": "The capital of France is Lyon, where the king lives.",
}
DOCUMENT = {
    "document": (
        "France lies in the west. The capital of France is Lyon, where the king lives. It is an old town."
    )
}


def run(
    *answers: Any, seeds: list[Sample] | None = None, length: int = 20
) -> list[tuple[Sample, Sample] | Rejected]:
    """Both stages, with the first stage's answers before the second's."""
    script = iter(answers)
    return list(counterfactuals(scripted(script, ahead=99), seeds or [SEED], length))


def test_a_seed_gives_a_faithful_and_a_hallucinated_sample() -> None:
    [found] = run(EVIDENCE, DOCUMENT)
    assert not isinstance(found, Rejected)
    faithful, hallucinated = found
    assert (faithful.answer, faithful.label) == ("Lyon", Label.PASS)
    assert (hallucinated.answer, hallucinated.label) == ("Paris", Label.FAIL)
    assert (faithful.id, hallucinated.id) == ("q1-counterfactual", "q1-counterfactual-hallucinated")
    for sample in (faithful, hallucinated):
        assert sample.document == DOCUMENT["document"] and sample.question == SEED.question
        assert (sample.group, sample.source, sample.task) == ("q1", "webqa", Task.QA)
        assert sample.meta["pair"] == "q1-counterfactual"
    assert hallucinated.meta["edit_type"] == "counterfactual"
    assert "capital of France is Lyon" in (explain(faithful) or "")
    reasoning = explain(hallucinated) or ""
    assert '"Paris"' in reasoning and '"Lyon"' in reasoning


# The reason, and the replies: where the first will not do, a second call would find no answer.
REJECTED = [
    ("refused", [REFUSED]), ("invalid", [{"counterfactual_answer": "Lyon"}]),
    ("invalid", [{**EVIDENCE, "evidence": " "}]),
    ("answers overlap", [{**EVIDENCE, "counterfactual_answer": "paris"}]),
    ("answers overlap", [{**EVIDENCE, "counterfactual_answer": "Paris, Texas"}]),
    ("evidence without its answer", [{**EVIDENCE, "counterfactual_answer": "Nice"}]),
    ("evidence with the true answer", [{**EVIDENCE, "evidence": "Not Paris but Lyon is the capital."}]),
    ("refused", [EVIDENCE, REFUSED]), ("invalid", [EVIDENCE, {"document": ""}]),
    (
        "document without its answer",
        [EVIDENCE, {"document": "The capital of France is a town, where the king lives."}],
    ),
    (
        "document with the true answer",
        [EVIDENCE, {"document": DOCUMENT["document"] + " Paris was it before."}],
    ),
    ("length", [EVIDENCE, {"document": DOCUMENT["document"] * 3}]),
    ("length", [EVIDENCE, {"document": "The capital is Lyon."}]),
    (
        "document without the evidence",
        [EVIDENCE, {"document": "Lyon has many old bridges and a famous opera house too."}],
    ),
]  # fmt: skip
LEFT = [
    ("zh", "唐朝的韩愈", "宋朝的苏轼", "这与韩愈无关。", "韩愈"),
    ("zh", "唐朝", "宋朝", "唐代已经过去。", "唐代"), ("zh", "上海市", "北京市", "他在上海住过。", "上海"),
    ("zh", "北京大学和清华大学", "复旦大学", "清华大学也很有名。", "清华大学"),
    ("zh", "1931年9月18日", "1937年7月7日", "1931年是早些的事。", "1931年"),
    ("zh", "三十五岁", "四十岁", "三十五岁的人。", "三十五"),
    ("zh", "馬可·波羅", "哥伦布", "马可的书。", "马可"),
    ("zh", "法国巴黎", "法国里昂", "法国的首都是里昂。", None),
    ("zh", "维生素C", "维生素D", "维生素D是答案。", None), ("zh", "3", "4", "3月有31天。", None),
    ("en", "Barack Obama", "John McCain", "Obama lost.", "Barack Obama"),
    ("en", "in Paris, France", "in Lyon, France", "Lyon lies in France.", None),
    ("en", "Marie Curie in 1911", "Lise Meitner", "It was 1911.", "1911"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "true", "other", "text", "left"), LEFT)
def test_no_entity_of_the_true_answer_is_left(
    language: Language, true: str, other: str, text: str, left: str | None
) -> None:
    found = entities_left(true, text, language, ("who or what?", other))
    assert (left in found) if left else not found


class OneTeacher(Teachers):
    """A recipe's chat model, scripted; it notes what it is asked."""

    asked: ClassVar[list[str]] = []

    def ask(self, name: str) -> Ask:
        def answer(text: str) -> object:
            self.asked.append(text)
            town = re.findall(r"第(.)座城", text)[0]
            sentence = f"第{town}座城的河是里昂河。"
            evidence = {"counterfactual_answer": "里昂河", "evidence": sentence}
            return {"document": sentence * 4} if "<evidence>" in text else evidence

        return scripted(answer, ahead=99)


def test_one_document_a_question(tmp_path: Path) -> None:
    """WebQA has a question once for each passage: five samples of it give one document, and two calls."""
    towns = "甲乙丙丁戊己"
    golds = [
        Sample(
            f"{town}-{passage}", f"{town}城第{passage}篇：塞纳河。", "塞纳河", f"第{town}座城的河是什么？",
            language="zh", group=town, source="webqa",
        )
        for town in towns
        for passage in range(5)
    ]  # fmt: skip
    config = labelled_recipe(
        tmp_path, golds, perturb=True, edits=0, additions=0, splits={"validation": 0.3, "test": 0},
        teachers=[{"name": "one", "kind": "local", "model": "none"}], bianbench=["cf"],
        counterfactuals={"teacher": "one", "seeds": 100, "length": 40},
    )  # fmt: skip
    manifest = build(config, teachers=OneTeacher(config))
    assert len(OneTeacher.asked) == 2 * len(towns) and manifest["samples"] == 2 * len(towns)
    assert manifest["counts"]["label"] == {"PASS": 6, "FAIL": 6}
    found = rows_of(tmp_path / "data/bianbench/bianbench_cf.jsonl")
    assert Counter((row["answer"], row["label"]) for row in found) == {
        ("里昂河", "通过"): 6,
        ("塞纳河", "失败"): 6,
    }
    assert {row["source_ds"] for row in found} == {"WebQA1.0"}
    assert all("塞纳河" not in row["context"] for row in found)


def lyon(request: dict[str, Any]) -> Any:
    """Of the server: the first stage's reply, or the second's."""
    wanted = request["response_format"]["json_schema"]["schema"]["properties"]
    return DOCUMENT if "document" in wanted else EVIDENCE


def test_a_dry_run_finds_the_calls_of_both_stages_in_the_cache(tmp_path: Path) -> None:
    def estimate() -> tuple[int, int, float | None]:
        teachers = CountingTeachers(config)
        list(counterfactuals(teachers.ask("one"), [SEED], 20))
        found = teachers.estimates["one"]
        return found.calls, found.cached, found.cost

    with FaultServer(tmp_path / "log.jsonl", answer="tests.data.test_counterfactual:lyon") as server:
        endpoint = {"base_url": server.base_url, "model": "m", "prices": {"prompt": 1, "completion": 1}}
        config = labelled_recipe(
            tmp_path, [], perturb=True, calls={"cache": str(tmp_path / "calls.sqlite")},
            teachers=[{"name": "one", "kind": "openai", "endpoint": endpoint}],
            counterfactuals={"teacher": "one", "seeds": 1, "length": 20},
        )  # fmt: skip
        assert estimate()[:2] == (2, 0) and not server.requests()
        [found] = counterfactuals(Teachers(config).ask("one"), [SEED], 20)
        assert not isinstance(found, Rejected) and len(server.requests()) == 2
        assert estimate() == (0, 2, 0)


@pytest.mark.parametrize(("reason", "answers"), REJECTED)
def test_what_will_not_do_is_refused_with_the_reason(reason: str, answers: list[Any]) -> None:
    [found] = run(*answers)
    assert isinstance(found, Rejected) and found.reason == reason


def test_a_document_keeps_no_entity_of_the_true_answer() -> None:
    seed = Sample("q1", "", "巴黎市和塞纳河", "法国的首都和大河是哪里？", language="zh", source="webqa")
    evidence = {"counterfactual_answer": "里昂和罗讷河", "evidence": "法国的首都和大河是里昂和罗讷河。"}
    document = "法国位于西欧。法国的首都和大河是里昂和罗讷河。"
    [found] = run(evidence, {"document": document}, seeds=[seed])
    assert not isinstance(found, Rejected)
    [found] = run(evidence, {"document": document + "它不如巴黎大。"}, seeds=[seed])
    assert found == Rejected("document with an entity of the true answer", "巴黎")


def test_the_order_is_kept_past_those_that_fail() -> None:
    seeds = [Sample(f"q{n}", "", "Paris", SEED.question) for n in range(6)]
    first = iter([REFUSED, EVIDENCE, REFUSED, REFUSED, EVIDENCE, REFUSED])
    script = scripted(lambda text: DOCUMENT if "<evidence>" in text else next(first), ahead=2)
    found = list(counterfactuals(script, seeds, 20))
    names = [item.reason if isinstance(item, Rejected) else item[0].id for item in found]
    assert names == ["refused", "q1-counterfactual", "refused", "refused", "q4-counterfactual", "refused"]
