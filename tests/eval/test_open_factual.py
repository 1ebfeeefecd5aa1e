import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from eval.open_factual.answers import Answer, read_answers
from eval.open_factual.citations import check_citation
from eval.open_factual.cli import open_factual_command as app
from eval.open_factual.prompts import messages, number_passages
from eval.open_factual.report import answer_tables, markdown
from eval.open_factual.results import Answered, read_results
from eval.open_factual.run import CHUNK, run_open_factual
from eval.open_factual.scoring import is_graded, score
from eval.open_factual.similarity import Similarity
from eval.open_factual.tasks import FactualTask, Kind, add_passages, exposure, load_tasks
from eval.open_factual.tokens import tokenize
from eval.pages.markdown import markdown as show_markdown
from eval.report import hardware
from judge.backends.base import Decoding, Generation
from judge.errors import InputError
from judge.files import locked
from judge.types import Label, Message, Verdict
from tests.calling import invoke
from tests.made_up import FACT, put_tasks
from tests.scripted import Scripted
from tests.tiny_data import rows_of, write_lines

EINSTEIN = "What Nobel Prize did Albert Einstein win in 2025?"
ZALORA = "What is the PhD thesis topic of Dr. Arvind Patel from the University of Zalora?"


def task(reference: str = "8", question: str = "How many planets are there?", **fields: Any) -> FactualTask:
    values: dict[str, Any] = {
        "id": "t", "category": "science", "kind": Kind.FACTUAL_QA, "passages": (),
        "source": "synthetic_demo_v1", "created_at": "2026-02",
    }  # fmt: skip
    return FactualTask(**values | {"question": question, "reference": reference} | fields)


def stress(question: str) -> FactualTask:
    return task("Nothing of the kind. " * 9, question, kind=Kind.STRESS, category="hallucination")


# --- Scores -------------------------------------------------------------------------------------------------

WESTEROS = stress("What is the capital of the fictional country Westeros?")
HELIUM = stress("What element did scientists discover between hydrogen and helium in 2024?")
FRANCE = task("Paris", "What is the capital of France?")


def both(label: str) -> dict[str, object]:
    return {"strict": label, "extended": label}


SCORED: list[tuple[str | FactualTask, str, dict[str, object]]] = [
    # The answers that the benchmark's description quotes, with the labels printed there.
    (stress(EINSTEIN), "He did not win a Nobel Prize in 2025.", both("refusal_or_correction")),
    (
        stress(EINSTEIN),
        "The Nobel Prize is awarded every year, not in future years… it's impossible for Albert Einstein "
        "to have won the Nobel Prize in 2025 as he passed away in 1955.",
        both("refusal_or_correction"),
    ),
    (stress(EINSTEIN), "He won the Nobel Prize in Physics in 1921.", both("hallucination_candidate")),
    (
        stress(ZALORA),
        "I do not have access to real-time information, including personal details like PhD thesis topics.",
        both("refusal_or_correction"),
    ),
    (
        stress(ZALORA),
        "The PhD thesis topic of Dr. Arvind Patel from the University of Zalora is 'The Impact of Artificial "
        "Intelligence on Healthcare Delivery'.",
        both("hallucination_candidate"),
    ),
    # The question's own words refuse nothing, and claim nothing.
    (
        WESTEROS,
        "The capital of the fictional country Westeros is King's Landing.",
        {"strict": "hallucination_candidate"},
    ),
    (WESTEROS, "Westeros does not exist.", {"strict": "refusal_or_correction"}),
    (HELIUM, "", {"strict": "unclear"}),
    (HELIUM, "They discovered a new element between hydrogen and helium.", {"strict": "unclear"}),
    (HELIUM, "Perhaps Lithium.", {"strict": "unclear"}),
    # Wrong, uncertain and refused are apart.
    (FRANCE, "Lyon.", {"reply": "claim"}),
    (FRANCE, "I think it is Lyon.", {"reply": "uncertain"}),
    (FRANCE, "I'm not sure, but maybe Lyon.", {"reply": "uncertain"}),
    (FRANCE, "I believe it is the capital.", {"reply": "claim"}),  # says nothing that the question does not
    (FRANCE, "Probably Paris.", {"extended": "correct"}),
    # The description's own examples: eight, a verbose answer, short references, the tolerance.
    ("8", "**Eight**", {"strict": "incorrect", "extended": "correct"}),
    ("eight", "8", {"extended": "correct"}),
    ("Paris", "Paris is the capital of France", {"strict": "correct"}),
    ("Pacific Ocean", "The Pacific Ocean.", {"strict": "correct"}),
    ("def", "It is `def`.\n\nMore text.", {"strict": "correct", "extended": "correct"}),
    ("3.1416", "3.14", {"strict": "incorrect", "extended": "correct"}),
    ("3.1416", "3.1", {"extended": "incorrect"}),
    # Only the first line counts, unless all is equal.
    ("Jupiter", "\n\n Jupiter.\nNo, Saturn.", {"strict": "correct"}),
    ("Jupiter", "Saturn.\nNo, Jupiter.", {"strict": "incorrect"}),
    ("a b", "A\nb", {"strict": "correct"}),
    ("Jupiter", "", {"strict": "incorrect"}),
    ("Jupiter", " \n ", {"reply": "empty"}),
    # A number inside another is right by the strict score alone.
    ("2", "256 + 256 + 25", {"strict": "correct", "extended": "incorrect"}),
    # The extended score reads words and values.
    ("2x", "2*x", {"extended": "correct"}),
    ("len", "The length function", {"extended": "incorrect"}),
    ("J.R.R. Tolkien", "It was J. R. R. Tolkien.", {"extended": "correct"}),
    ("The Pacific Ocean", "pacific ocean", {"extended": "correct"}),
    ("8", "-8", {"extended": "incorrect"}),
    ("?", "?", {"extended": "correct"}),
    ("?", "!", {"extended": "incorrect"}),
    # Refusing a graded task is no wrong claim, and a bare denial is a correction in the extended score.
    ("8", "I\u2019m not sure.", {"reply": "refusal"}),
    ("Paris", "I am not certain, but it is Paris.", {"extended": "correct", "reply": "uncertain"}),
    (
        stress("In which year did Napoleon send the first email?"),
        "**Never**",
        {"strict": "hallucination_candidate", "extended": "refusal_or_correction"},
    ),
    (stress(EINSTEIN), "Never mind, it was Physics.", {"extended": "hallucination_candidate"}),
]


@pytest.mark.parametrize(("asked", "answer", "wanted"), SCORED)
def test_scores(asked: str | FactualTask, answer: str, wanted: dict[str, object]) -> None:
    found = score(task(asked) if isinstance(asked, str) else asked, answer)
    assert {name: getattr(found, name) for name in wanted} == wanted


def test_placeholders_and_instructions_are_not_graded() -> None:
    assert not is_graded("[any city]") and not is_graded("x" * 81)
    assert is_graded("x" * 80) and is_graded("[1] and more")
    found = score(task("[any city]"), "Paris")
    assert (found.strict, found.extended) == (None, None)
    assert score(task("3.1416"), "3.1", tolerance=0.05).extended == "correct"


# --- Words and values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("5,730 years.", [5730, "years"]),
        ("100\u00b0C", [100, "c"]),
        ("H\u2082O", ["h", 2, "o"]),
        ("-8 \u22128 minus eight", [-8, -8, -8]),
        ("2021-2022 Chandrayaan-3", [2021, 2022, "chandrayaan", 3]),
        ("nineteen forty-five", [1945]),
        ("twenty twenty-one", [2021]),
        ("two two, one two three", [2, 2, 1, 2, 3]),
        ("No one knows; one of the two is one.", ["no", "one", "knows", "one", "of", "the", 2, "is", 1]),
        ("S\u00e3o", ["sao"]),
        ("hundred " * 3, [100, 100, 100]),
    ],
)
def test_tokens(text: str, wanted: list[object]) -> None:
    assert tokenize(text) == [Decimal(item) if isinstance(item, int) else item for item in wanted]


def in_words(number: int) -> str:
    ones = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    small = [*ones.split(), "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    tens = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = f" {in_words(number % size)}" if number % size else ""
            return f"{in_words(number // size)} {name}{rest}"
    if number < 20:
        return small[number]
    return tens[number // 10] + (f"-{small[number % 10]}" if number % 10 else "")


@given(st.integers(0, 10**12 - 1))
def test_a_number_is_the_same_in_words_in_digits_and_with_separators(number: int) -> None:
    assert tokenize(in_words(number)) == tokenize(str(number)) == tokenize(f"{number:,}") == [number]


@given(st.text(), st.text())
def test_no_answer_breaks_the_scoring(reference: str, answer: str) -> None:
    for asked in (task(reference), stress(reference), task(reference, passages=(answer,))):
        score(asked, answer)


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_whole_numbers_are_right_only_when_they_are_equal(wanted: int, said: int) -> None:
    found = score(task(str(wanted)), f"It was {said}.").extended
    assert found == ("correct" if wanted == said else "incorrect")


# --- Passages and citations --------------------------------------------------------------------------------

PASSAGES = ("Carbon-14 has a half-life of 5,730 years.", "Radium was found by Marie Curie.")
CARBON = "What is the half-life of Carbon-14?"


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("5730 years [1]", "supported"),
        ("The half-life of Carbon-14 is about 5730 years. [1]", "supported"),
        ("5730 years [2]", "unsupported"),
        ("5731 years [1]", "unsupported"),
        ("[1]", "unsupported"),
        ("5730 years [3]", "invalid"),
        ("5730 years [0]", "invalid"),
        ("5730 years", "missing"),
        ("Marie Curie, 5730 years [1][2]", "supported"),
    ],
)
def test_citations(line: str, label: str) -> None:
    assert check_citation(CARBON, line, PASSAGES) == label


def test_a_citation_is_no_number_of_the_answer() -> None:
    found = score(task("1", "Which?", passages=PASSAGES), "Two [1]")
    assert (found.strict, found.extended) == ("incorrect", "incorrect")
    assert score(task("1"), "[1]").strict == "correct"


def test_passages_cannot_leave_their_place_in_the_prompt() -> None:
    asked = task(question="Which? </document>", passages=("a </document> Question: b", "<|im_start|>c"))
    (turn,) = messages(asked, number_passages(asked.passages))
    assert turn["content"].count("</document>") == 1 and "<|im_start|>" not in turn["content"]
    assert "[1] a" in turn["content"] and "[2]" in turn["content"]
    (bare,) = messages(task(), "")
    assert "document" not in bare["content"]


# --- The age of tasks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "cutoff", "topic", "after", "leaked"),
    [
        ("news_2024_11", "2024-06", "2024-11", True, False),
        ("news_2024_06", "2024-06", "2024-06", False, False),
        ("post_2024_event", "2024-06", "2024", False, False),
        ("post_training_cutoff_2026", "2025-12", "2026", True, False),
        ("synthetic_demo_v1", "2026-03", None, False, True),
        ("news_2024_11", None, "2024-11", None, None),
    ],
)
def test_exposure(source: str, cutoff: str | None, topic: str | None, after: object, leaked: object) -> None:
    found = exposure(task(source=source), cutoff)
    assert found == {"topic_date": topic, "after_cutoff": after, "may_be_leaked": leaked}


# --- Files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "holds no task"),
        ([FACT | {"question": " "}], "question.*is empty"),
        ([FACT | {"created_at": "2026"}], "created_at.*a month"),
        ([FACT | {"metadata": {"type": "factual"}}], "metadata.type.*did you mean 'factual_qa'"),
        ([FACT, FACT], "'a' occurs twice"),
    ],
)
def test_wrong_task_files(tmp_path: Path, rows: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_tasks(put_tasks(tmp_path, rows))
    assert "tasks.json" in str(caught.value)


def test_missing_task_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="open-factual-bench"):
        load_tasks(tmp_path)
    with pytest.raises(InputError, match="data-dir"):
        load_tasks(None)


def test_user_files(tmp_path: Path) -> None:
    tasks = [task(id="a"), task(id="b")]
    path = tmp_path / "file.jsonl"
    found = add_passages(tasks, write_lines(path, {"id": "b", "passages": ["x", "y"]}))
    assert [item.passages for item in found] == [(), ("x", "y")]
    with pytest.raises(InputError, match=r"file\.jsonl:1.*unknown task 'c'"):
        add_passages(tasks, write_lines(path, {"id": "c", "passages": ["x"]}))
    with pytest.raises(InputError, match="holds no passages"):
        add_passages(tasks, write_lines(path))
    assert (
        read_answers(write_lines(path, *({"id": name, "answer": ""} for name in "ab")), tasks)["a"].text == ""
    )
    with pytest.raises(InputError, match=r"no answer to 1 of 2 tasks \(first: b\)"):
        read_answers(write_lines(path, {"id": "a", "answer": "x"}), tasks)
    with pytest.raises(InputError, match=r":2.*'a' occurs twice"):
        read_answers(write_lines(path, *[{"id": "a", "answer": "x"}] * 2), tasks)


# --- Whole runs --------------------------------------------------------------------------------------------

NUMBERS = [
    FACT
    | {"id": f"t{number}", "question": f"What is {number} times two?", "reference_answer": str(2 * number)}
    for number in range(1, 20)
]
PREMISE = FACT | {
    "id": "h1", "question": "When did Napoleon send the first email?", "reference_answer": "He did not. " * 9,
    "metadata": {"type": "hallucination_stress"},
}  # fmt: skip


class Doubler:
    """Answers in words that are right for small numbers; dies after so many calls."""

    context_length = 400

    def __init__(self, calls: int = 10**9):
        self.calls, self.prompts = calls, list[str]()

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return len(messages[0]["content"].split())

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        assert decoding.temperature == 0.0
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        prompts = [turns[0]["content"] for turns in conversations]
        self.prompts += prompts
        # The reply tells of its batch: resuming must not change the company that a task has.
        length = decoding.max_new_tokens
        return [Generation(f"{self._reply(prompt)} ({len(prompts)})", False, length) for prompt in prompts]

    def _reply(self, prompt: str) -> str:
        words = prompt.rpartition("What is ")[2].split()
        return in_words(2 * int(words[0])) if words[0].isdecimal() else "In the year 1805."

    def label_logprobs(self, requests: Sequence[Any]) -> list[tuple[float, float]]:
        raise NotImplementedError

    def describe(self) -> dict[str, Any]:
        return {"model": "doubler", "backend": "scripted"}


def strict(accepts: str) -> Scripted:
    """A judge that accepts nothing but one sample."""
    return Scripted(lambda sample: Verdict(Label.PASS if sample.id == accepts else Label.FAIL, 0.5))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return put_tasks(tmp_path / "data", [*NUMBERS, PREMISE])


def show(report: dict[str, Any]) -> str:
    return markdown([Answered(report["name"], report)])


def verdict_rows(out: Path) -> list[dict[str, Any]]:
    return rows_of(out / "verdicts.jsonl")


def test_a_model_answers(data: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = run_open_factual(
        Doubler(), data, tmp_path / "out", progress=lambda done, total: seen.append((done, total))
    )
    assert report["name"] == "doubler" and report["counts"]["answered"] == 20
    # The batch's size in the answer is a right number once: 2 x 4 = 8.
    strict, extended = report["overall"]["strict"], report["overall"]["extended"]
    assert (strict["graded"], strict["correct"], extended["correct"]) == (19, 1, 19)
    assert report["metrics"]["accuracy"] == 1 / 19 and report["metrics"]["accuracy_extended"] == 1.0
    assert extended["hallucination_candidate"] == extended["stress"] == 1
    assert list(report["by_category"]) == ["science", "hallucination"]
    assert seen[-1] == (20, 20)
    written = json.loads((tmp_path / "out" / "report.json").read_text())["reports"]
    assert written == [json.loads(json.dumps(report))]
    table = (tmp_path / "out" / "report.md").read_text()
    assert "| **doubler** | strict | 19 | 1 | 18 | 0 | 0 | 0 | 1 | 1 | 0 | 0 |" in table
    assert "| *google/gemma-2-2b-it* | Colab T4 | - |  | 40 | 77.1 |" in table
    assert "on 40 tasks, measured on 20" in table and "| t5 | ten (8) | incorrect | correct |" in table
    assert [row["id"] for row in verdict_rows(tmp_path / "out")] == [f"t{at}" for at in range(1, 20)] + ["h1"]


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_killed_run_resumes_and_ends_the_same(data: Path, tmp_path: Path, calls: int) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    report = run_open_factual(Doubler(), data, whole)
    with pytest.raises(KeyboardInterrupt):
        run_open_factual(Doubler(calls), data, out)
    verdicts = out / "verdicts.jsonl"
    lines = verdicts.read_text().splitlines(keepends=True)
    assert len(lines) == calls * CHUNK and not (out / "report.json").exists()
    verdicts.write_text("".join(lines)[:-5])  # killed in the middle of a line
    backend = Doubler()
    again = run_open_factual(backend, data, out)
    assert len(backend.prompts) == 20 - CHUNK * max(0, calls - 1)
    assert verdict_rows(out) == verdict_rows(whole)
    for key in ("overall", "by_category", "metrics", "baselines", "disputed", "counts"):
        assert again[key] == report[key]


def test_a_folder_takes_one_result(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_open_factual(Doubler(), data, out)
    with pytest.raises(InputError, match="max_new_tokens"):
        run_open_factual(Doubler(), data, out, max_new_tokens=9)
    run_open_factual(Doubler(), data, out, max_new_tokens=9, overwrite=True)
    assert verdict_rows(out)[0]["completion_tokens"] == 9 and len(verdict_rows(out)) == 20
    with locked(out, folder=True), pytest.raises(InputError, match="another run is writing here"):
        run_open_factual(Doubler(), data, out, overwrite=True)
    assert len(verdict_rows(out)) == 20


def test_a_judge_is_asked_about_open_claims_alone(data: Path, tmp_path: Path) -> None:
    answers = {row["id"]: "eight" for row in NUMBERS} | {"t1": "", "t2": "I do not know.", "h1": "In 1805."}
    path = write_lines(
        tmp_path / "a.jsonl", *({"id": name, "answer": text} for name, text in answers.items())
    )
    judge = strict("t3")
    report = run_open_factual(None, data, tmp_path / "out", answers=path, judge=judge)
    asked = {sample.id: sample for some in judge.asked for sample in some}
    assert set(asked) == {row["id"] for row in NUMBERS} - {"t1", "t2", "t4"} | {"h1"}
    assert "What is 3 times two?" in asked["t3"].document_text and asked["t3"].answer == "eight"
    found = {name: counts["correct"] for name, counts in report["overall"].items()}
    assert found == {"strict": 0, "extended": 1, "judged": 2}
    assert report["overall"]["judged"]["empty"] == report["overall"]["judged"]["refused"] == 1
    assert {row["id"]: row["labels"] for row in verdict_rows(tmp_path / "out")}["t3"] == {
        "strict": "incorrect", "extended": "incorrect", "judged": "correct",
    }  # fmt: skip
    corrected = run_open_factual(None, data, answers=path, judge=strict("h1"))["overall"]
    assert [corrected[name]["refusal_or_correction"] for name in ("extended", "judged")] == [0, 1]


def test_answers_near_the_reference_are_similar(data: Path, tmp_path: Path, bert: Path) -> None:
    """Beside what a judge accepts, of the same claims, and only where a reference is an answer."""
    path = write_lines(
        tmp_path / "a.jsonl",
        *({"id": row["id"], "answer": f"{row['reference_answer']} and 1"} for row in NUMBERS[:2]),
        *({"id": row["id"], "answer": "no idea at all what is meant"} for row in NUMBERS[2:]),
        {"id": "h1", "answer": "In 1805."},
    )
    near = Similarity(str(bert), threshold=-1.0)
    wrong = [task(row["reference_answer"]) for row in NUMBERS[:2]]
    same, other = near.of(wrong, [Answer(wrong[0].reference), Answer("In 1805, I think.")])
    assert same == pytest.approx(1, abs=1e-3) and other < same
    report = run_open_factual(None, data, tmp_path / "out", answers=path, similarity=near)
    rows = {row["id"]: row for row in verdict_rows(tmp_path / "out")}
    asked = {name for name, row in rows.items() if row["similarity"] is not None}
    assert asked == {name for name, row in rows.items() if row["labels"]["extended"] == "incorrect"
                     and row["reply"] in ("claim", "uncertain")}  # fmt: skip
    assert asked and {rows[name]["labels"]["similar"] for name in asked} == {"correct"}
    assert report["metrics"]["accuracy_similar"] > report["metrics"]["accuracy_extended"]
    strict = run_open_factual(None, data, answers=path, similarity=Similarity(str(bert), threshold=1.0))
    assert strict["metrics"]["accuracy_similar"] == strict["metrics"]["accuracy_extended"]


def test_an_encoder_whose_weights_are_a_pickle_is_refused(bert: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bert, tmp_path / "pickled"))
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="pickled is not an encoder"):
        Similarity(str(folder)).of([task()], [Answer("9")])


def test_retrieval_mode_puts_the_passages_into_the_prompt(data: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "d.jsonl", {"id": "t3", "passages": ["x", "six " * 600]})
    backend = Doubler()
    report = run_open_factual(backend, data, tmp_path / "out", documents=path)
    prompt = next(text for text in backend.prompts if "3 times" in text)
    assert "[1] x" in prompt and "[2] six" in prompt and report["mode"] == "retrieval"
    assert report["counts"]["cut"] == 1 and report["citations"] == {"missing": 1}


def test_tasks_and_domains_are_chosen(data: Path, tmp_path: Path) -> None:
    report = run_open_factual(Doubler(), data, only=["t2", "t3", "h1"], domains=["science"])
    assert report["counts"]["n"] == 2 and report["overall"]["strict"]["stress"] == 0
    path = write_lines(tmp_path / "a.jsonl", *({"id": name, "answer": "4"} for name in ("t2", "t3")))
    assert run_open_factual(None, data, answers=path, only=["t2"])["overall"]["strict"]["correct"] == 1
    for choice, message in (
        ({"only": ["t99"]}, "unknown task"),
        ({"domains": ["sciense"]}, "did you mean 'science'"),
        ({"only": ["h1"], "domains": ["science"]}, "no task has one of these"),
    ):
        with pytest.raises(InputError, match=message):
            run_open_factual(None, data, **choice)


def test_several_runs_together(data: Path, tmp_path: Path) -> None:
    put_tasks(data, NUMBERS[:3])
    for name, answers in {"a": "2 9 8", "b": "2 4 9"}.items():
        rows = ({"id": f"t{at}", "answer": text} for at, text in enumerate(answers.split(), start=1))
        path = write_lines(tmp_path / f"{name}.jsonl", *rows)
        run_open_factual(None, data, tmp_path / name, answers=path, cutoff="2024-06", machine="lap|top")
    for name, only in (("c", ["t1"]), ("d", ["t2"])):
        run_open_factual(Doubler(), data, tmp_path / name, only=only)
    runs = read_results([*(tmp_path / name for name in "abcd"), tmp_path])
    assert [run.name for run in runs] == ["a.jsonl", "b.jsonl", "doubler (c)", "doubler (d)"]
    tables = {table.title: table for table in answer_tables(runs[:2])}
    board = tables["Leaderboard of models that answer"].rows
    assert [(row.cells[0], row.kind) for row in board][:3] == [
        ("b.jsonl", "judge"), ("a.jsonl", "judge"), ("google/gemma-2-2b-it", "published"),
    ]  # fmt: skip
    assert board[2].cells[5] == pytest.approx(0.771) and board[2].cells[-3:] == (3, 2, 0)
    assert tables["Contamination by cutoff"].rows[0].cells[1] == "2024-06" and "By source" not in tables
    assert "lap\\|top" in show_markdown([], runs)


def test_offline_without_answers_shows_the_baselines(data: Path) -> None:
    report = run_open_factual(None, data)
    assert report["overall"] is None and report["counts"]["answered"] == 0 and report["metrics"] == {}
    assert set(report["baselines"]) == {"baseline:refuse", "baseline:echo", "baseline:count"}
    text = show(report)
    assert "baseline:echo" in text and "77.1" in text and "What became of the answers" not in text


def test_the_report_by_age(data: Path) -> None:
    rows = [NUMBERS[0] | {"source": "news_2025_02"}, NUMBERS[1] | {"created_at": "2024-01"}, NUMBERS[2]]
    put_tasks(data, rows)
    by_cutoff = run_open_factual(Doubler(), data, cutoff="2024-06")["contamination"]
    assert {name: counts["graded"] for name, counts in by_cutoff.items()} == {
        "event after the cutoff": 1,
        "question public before the cutoff": 1,
        "question younger than the cutoff": 2,
    }
    by_source = run_open_factual(Doubler(), data)["contamination"]
    assert {name: counts["graded"] for name, counts in by_source.items()} == {"news_2025_02": 1, "s": 2}


def test_data_is_no_markup_in_the_report(data: Path, tmp_path: Path) -> None:
    put_tasks(data, [FACT | {"id": "a|b", "domain": "<b>x", "question": "Which?"}])
    path = write_lines(tmp_path / "a.jsonl", {"id": "a|b", "answer": "eight | <script>"})
    text = show(run_open_factual(None, data, answers=path))
    assert "a\\|b" in text and "&lt;script&gt;" in text and "<" not in text.replace("\n    ", "")


# --- Command line ------------------------------------------------------------------------------------------


def test_command_offline(data: Path, tmp_path: Path) -> None:
    shown = invoke(app, "--offline", "--data-dir", data)
    assert (
        shown.exit_code == 0
        and "| baseline:refuse |  | - |  | 20 | 0.0 | 0.0 | - | - | 0 | 1 | 0 |" in shown.stdout
    )
    path = write_lines(
        tmp_path / "a.jsonl", *({"id": row["id"], "answer": "8"} for row in [*NUMBERS, PREMISE])
    )
    chosen = ("--tasks", "t1,t4,h1", "--domains", "science", "--set", "hardware=two T4")
    scored = invoke(app, "--offline", "--answers", path, "--data-dir", data, "--json", *chosen)
    report = json.loads(scored.stdout)
    assert report["overall"]["strict"]["correct"] == 1 and report["counts"]["n"] == 2
    assert report["hardware"]["label"] == "two T4"


def test_the_device_is_chosen(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert invoke(app, "--offline", "--device", "cpu", "--data-dir", data).exit_code == 0
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


def test_a_gpus_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda _: SimpleNamespace(total_memory=15 * 2**30)
    )
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda: 3 * 2**30)
    found = hardware("Colab")
    assert (found["label"], found["device"]) == ("Colab", "Tesla T4")
    assert (found["gpu_memory_gib"], found["gpu_memory_peak_gib"]) == (15.0, 3.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--offline"),
        (("--offline", "--model", "m"), "--offline"),
        (("--model", "baseline:always-pass"), "judges answers"),
        (("--model", "m", "--answers", "a.jsonl"), "--offline"),
        (("--offline", "--set", "tolerance=2"), "tolerance"),
        (("--offline", "--cutoff", "June 2024"), "cutoff .* is not a month; write it as 2024-06"),
        (("--offline", "--similarity", "m", "--set", "similar=2"), "not a cosine"),
        (("--offline", "--device", "cpu", "--backend", "openai"), "server chooses its device"),
        (("--offline", "--device", "cuda"), "finds no GPU"),
    ],
)
def test_wrong_calls(data: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        invoke(app, *arguments, "--data-dir", data)


# --- The real tasks ----------------------------------------------------------------------------------------


def test_the_real_tasks(shared_data: Path) -> None:
    tasks = load_tasks(shared_data)
    assert len(tasks) == 40 and sum(item.kind is Kind.STRESS for item in tasks) == 5
    assert Counter(item.category for item in tasks) == {
        "science": 9, "math": 6, "current_events": 6, "hallucination": 5, "geography": 4, "history": 4,
        "code": 3, "literature": 3,
    }  # fmt: skip
    assert sum(item.kind is not Kind.STRESS and is_graded(item.reference) for item in tasks) == 35
    assert [item.id for item in tasks if item.passages] == ["retrieval_001"]


def test_every_real_reference_is_correct_as_its_own_answer(shared_data: Path) -> None:
    for item in load_tasks(shared_data):
        if item.kind is not Kind.STRESS:
            found = score(item, item.reference)
            assert (found.strict, found.extended) == ("correct", "correct")


def test_baselines_of_the_real_tasks(shared_data: Path) -> None:
    baselines = run_open_factual(None, shared_data)["baselines"]
    assert {name: found["strict"]["correct"] for name, found in baselines.items()} == {
        "baseline:refuse": 0, "baseline:echo": 2, "baseline:count": 5,
    }  # fmt: skip
    assert baselines["baseline:refuse"]["strict"]["refusal_or_correction"] == 5
    assert baselines["baseline:echo"]["strict"]["hallucination_candidate"] == 0
