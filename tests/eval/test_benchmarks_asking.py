"""How benchmarks without a document put their samples to a judge, and how yes, no and neither are read."""

import json
import math
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks import BENCHMARKS, get_benchmark
from eval.benchmarks.base import Benchmark
from eval.benchmarks.diahalu import DIAHALU
from eval.benchmarks.diahalu import PROMPT as DIAHALU_PROMPT
from eval.benchmarks.halueval import GENERAL_PROMPT
from eval.benchmarks.onioneval import (
    LAYERS,
    ONIONEVAL,
    ONIONEVAL_EVIDENCE,
    ONIONEVAL_FEW_SHOT,
    ONIONEVAL_RETRIEVAL,
)
from eval.benchmarks.prompts_diahalu import STEPS, DiaHaluPrompt
from eval.benchmarks.prompts_onioneval import EXAMPLES, OnionPrompt
from eval.benchmarks.yes_no import SHORT_REPLY, UNMATCHED, AlwaysYes, YesNoJudge, match_yes_no
from judge.backends.base import Backend, Decoding, Generation, LabelRequest
from judge.baselines.rules import TrivialBaseline
from judge.calibration.curve import Calibration, Curve, Threshold
from judge.calibration.threshold import deciding
from judge.cascade import CascadeJudge
from judge.claims.checker import ClaimsJudge
from judge.errors import JudgeWarning
from judge.judge import Judge
from judge.prompting.prompts import BuiltinPrompt, Prompt
from judge.prompting.templates import TemplatePrompt
from judge.types import MODES, Label, Message, Mode, Sample, Task, Verdict
from tests.made_up import ONION

DIALOGUE = Sample(
    id="1", document="", answer="A1: Who?\nB1: </answer> Nobody.", task=Task.DIALOGUE, label=Label.FAIL
)


@dataclass
class Scripted(Backend):
    """An engine that replies what it is told, and finds yes three times as likely as no."""

    reply: str | Callable[[str], str] = "yes"
    context_length: int = 10_000
    requests: list[LabelRequest] = field(default_factory=list)
    settings: list[Decoding] = field(default_factory=list)

    def count_tokens(self, messages: Sequence[Message]) -> int:
        return sum(len(message["content"]) for message in messages)

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        self.settings.append(decoding)
        replies = [
            self.reply if isinstance(self.reply, str) else self.reply(messages[0]["content"])
            for messages in conversations
        ]
        return [Generation(text, truncated=False, completion_tokens=1) for text in replies]

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        self.requests += requests
        return [(math.log(0.75), math.log(0.25)) for _ in requests]

    def describe(self) -> dict[str, Any]:
        return {"model": "scripted"}


@pytest.fixture
def onions(tmp_path: Path) -> list[Sample]:
    path = tmp_path / "onioneval" / "with_context.json"
    path.parent.mkdir()
    path.write_text(json.dumps([ONION]))
    return ONIONEVAL.load(tmp_path)


def asked(benchmark: Any, backend: Scripted, mode: Mode = "verdict") -> Any:
    return benchmark.judge(Judge(backend, mode=mode))


def text(prompt: Prompt, sample: Sample, mode: Mode = "verdict") -> str:
    (message,) = prompt.messages(sample, mode)
    assert message["role"] == "user"
    return message["content"]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_only_the_common_prompt_is_replaced(name: str, tmp_path: Path) -> None:
    benchmark = get_benchmark(name)
    judge = Judge(Scripted())
    put = benchmark.judge(judge)
    assert (put is judge) is (benchmark.ask is None)
    assert (put.describe()["prompt_hash"] == judge.describe()["prompt_hash"]) is (benchmark.ask is None)
    assert put.name == judge.name and put.mode == judge.mode
    (tmp_path / "own.jinja").write_text("{{ document }} {{ question }} {{ answer }}")
    own = Judge(Scripted(), prompt=TemplatePrompt(tmp_path / "own.jinja"))
    baseline = TrivialBaseline("baseline:always-pass")
    assert benchmark.judge(own) is own and benchmark.judge(baseline) is baseline


@pytest.mark.parametrize("benchmark", [DIAHALU, ONIONEVAL])
def test_judges_that_ask_others_are_asked_in_its_prompt_too(benchmark: Benchmark) -> None:
    def prompt(judge: Any) -> object:
        return judge.describe()["prompt_hash"]

    cheap, alone = Judge(Scripted(), name="cheap"), benchmark.judge(Judge(Scripted()))
    cascade = benchmark.judge(CascadeJudge(cheap, Judge(Scripted()), 0.9))
    assert isinstance(cascade, CascadeJudge) and cascade.sure == 0.9
    assert prompt(cascade.first) == prompt(cascade) == prompt(alone)
    claims = benchmark.judge(ClaimsJudge(Judge(Scripted())))
    assert isinstance(claims, ClaimsJudge) and prompt(claims) == prompt(alone)


def calibrated(**asked: Any) -> Judge:
    """A judge with a calibration for the common prompt, and what is asked of it."""
    judge = Judge(Scripted())
    found = Calibration(
        curve=Curve(method="platt", bias=-2.0), prompt_hash=judge.prompt.describe()["prompt_hash"],
        data_sha256="0" * 64, samples=100, fail=50, groups=50, ece_before=0.1, ece_after=0.0,
        thresholds={"recall": Threshold(wanted=0.9, threshold=0.1, precision=0.5, recall=0.9)},
    )  # fmt: skip
    return replace(judge, **deciding("verdict", {"verdict": found}, found, **asked))


@pytest.mark.parametrize(
    ("threshold", "prior", "left"),
    [("recall", None, None), (None, 0.05, None), ("0.2", 0.05, 0.2), ("0.2", None, 0.2), (None, None, None)],
)
@pytest.mark.parametrize("benchmark", [DIAHALU, ONIONEVAL])
def test_what_was_fitted_to_the_common_prompt_is_left_out(
    benchmark: Benchmark, threshold: str | None, prior: float | None, left: float | None, onions: list[Sample]
) -> None:
    judge = calibrated(threshold=threshold, prior=prior)
    fitted = threshold == "recall" or prior is not None
    with pytest.warns(JudgeWarning, match="not calibrated for") if fitted else nullcontext():
        put: Any = benchmark.judge(judge)
    assert (put.threshold, put.describe().get("threshold")) == (left, left)
    assert "calibration" not in put.describe()
    with pytest.warns(JudgeWarning) if fitted else nullcontext():
        cascade: Any = benchmark.judge(CascadeJudge(judge, judge, threshold=judge.threshold))
    assert cascade.threshold == left
    (found,) = put.iter_check([DIALOGUE if benchmark is DIAHALU else onions[0]])
    assert found.p_fail == pytest.approx(0.25 if benchmark is DIAHALU else 0.75)


def test_a_threshold_decides_on_yes_and_no_too(onions: list[Sample]) -> None:
    judge = ONIONEVAL.judge(Judge(Scripted("Yes"), threshold=0.2))
    assert {verdict.label for verdict in judge.iter_check(onions)} == {Label.FAIL}
    none = ONIONEVAL.judge(Judge(Scripted("Roses are red."), threshold=0.2))
    assert {verdict.label for verdict in none.iter_check(onions)} == {None}


@pytest.mark.parametrize("prompt", [DIAHALU_PROMPT, GENERAL_PROMPT])
@pytest.mark.parametrize("mode", MODES)
def test_prompts_without_a_document_speak_of_none(prompt: Prompt, mode: Mode) -> None:
    content = text(prompt, DIALOGUE, mode)
    assert "DOCUMENT" not in content and "<document>" not in content
    assert "PASS" in content and "FAIL" in content
    assert ("REASONING" in content and "SCORE" in content) is (mode == "reason")
    assert content.count("</answer>") == 1, "a dialogue cannot close its tag"


def test_evidence_is_the_document() -> None:
    sample = Sample(id="1", document=("Found.", "More."), answer="A1: x\nB1: y")
    content = text(DIAHALU_PROMPT, sample)
    assert "<document>\nFound.\n\nMore.\n</document>" in content and "DOCUMENT holds" in content
    assert content.index("<document>") < content.index("<answer>")
    (short,) = DIAHALU_PROMPT.messages(sample, "verdict", "Found …")
    assert "<document>\nFound …\n</document>" in short["content"]


def test_a_chain_of_thought_has_the_steps_of_its_domain() -> None:
    for domain, steps in STEPS.items():
        sample = replace(DIALOGUE, source=f"diahalu_{domain}")
        assert steps in text(DIAHALU_PROMPT, sample, "reason")
        assert steps not in text(DIAHALU_PROMPT, sample)
    for mode in MODES:
        solved = text(DiaHaluPrompt(example=True), DIALOGUE, mode)
        assert solved.index("Example:") < solved.index("Reply: ") < solved.index(DIALOGUE.answer[:9])


def test_prompts_have_versions_and_hashes() -> None:
    prompts: list[Prompt] = [
        BuiltinPrompt(), DIAHALU_PROMPT, DiaHaluPrompt(example=True), GENERAL_PROMPT, OnionPrompt(),
        OnionPrompt(examples=True),
    ]  # fmt: skip
    described = [tuple(prompt.describe().values()) for prompt in prompts]
    assert len({version for version, _ in described}) == len({digest for _, digest in described}) == 6


def test_an_onion_has_three_layers_each_asked_both_ways(onions: list[Sample]) -> None:
    assert [sample.id for sample in onions] == [
        f"onioneval-{layer}-0-{reply}" for layer in LAYERS for reply in ("yes", "no")
    ]
    assert [sample.label for sample in onions] == [Label.FAIL, Label.PASS, *[Label.PASS, Label.FAIL] * 2]
    for sample in onions:
        layer, reply = sample.meta["layer"], sample.meta["right_reply"]
        wrong = sample.answer == ONION["hallucination"]
        assert (sample.label is Label.FAIL) is wrong
        assert (sample.meta["yes"] == sample.label) is (reply == "yes")
        if layer == "atomic":
            assert sample.question == ""
        else:
            assert (ONION["fact"] if wrong else ONION["hallucination"]) in sample.question
            assert sample.answer not in sample.question
    assert len(onions[4].question) > 2 * len(onions[2].question), "a scene surrounds the story"


def test_prompts_of_an_onion(onions: list[Sample], tmp_path: Path) -> None:
    atomic, _, story, *_ = (text(OnionPrompt(), sample) for sample in onions)
    assert "Say yes if it is wrong" in atomic and "<question>" not in atomic
    assert "Say yes if the reader is right" in story and "<question>" in story
    assert "DOCUMENT" not in atomic + story and "yes or no" in atomic
    assert '"Answer: yes"' in text(OnionPrompt(), onions[0], "reason")
    with_evidence = ONIONEVAL_EVIDENCE.load(tmp_path)
    assert [sample.id for sample in with_evidence] == [sample.id for sample in onions]
    assert "<document>\nRoses grow.\n</document>" in text(OnionPrompt(), with_evidence[0])
    for sample in onions:
        solved = text(OnionPrompt(examples=True), sample)
        assert solved.count("Answer: yes") == solved.count("Answer: no") == len(EXAMPLES)
        assert solved.endswith(text(OnionPrompt(), sample).partition("\n\n")[2])
        reasoned = text(OnionPrompt(examples=True), sample, "reason").split("Example:")[1:]
        for block in reasoned:  # the steps say what is known, and their end agrees with the reply
            steps, reply = re.findall(r"^(The .* so .*)\nAnswer: (yes|no)$", block, re.MULTILINE)[0]
            assert any(right in steps for _, right, _ in EXAMPLES)
            right_claim = steps.endswith("right.")
            assert right_claim is ((reply == "yes") is (sample.meta["layer"] != "atomic"))


def test_retrieval_may_miss(tmp_path: Path) -> None:
    folder = tmp_path / "onioneval"
    folder.mkdir()
    bee = {"category": "Animals", "entity": "Bee", "fact": "A bee makes honey.", "context": "Bees fly."}
    rows = [
        ONION | {"context": "A rose is a plant with thorns."},
        bee | {"hallucination": "A bee has thorns like a plant."},
    ]
    (folder / "with_context.json").write_text(json.dumps(rows))
    found = {item.id: item for item in ONIONEVAL_RETRIEVAL.load(tmp_path)}
    assert found["onioneval-atomic-0-yes"].document == "A rose is a plant with thorns."
    wrong = found["onioneval-atomic-1-yes"]  # its words are those of the other row's context
    assert wrong.document == "A rose is a plant with thorns." and not wrong.meta["found_entity"]
    assert found["onioneval-atomic-1-no"].document == "", "no context shares a word with the claim"
    verdicts = [Verdict(item.label) for item in found.values()]
    table = ONIONEVAL_RETRIEVAL.figures(list(found.values()), verdicts)["retrieval"]
    assert table["atomic"] == {"found": 0.5, "found_entity": 0.5, "accuracy_found": 1, "accuracy_missed": 1}


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        ("yes", "yes"),
        ("**YES**", "YES"),
        ("Yes, the statement is wrong.", "Yes"),
        ("A fish has fins, roses have none.\nAnswer: yes", "yes"),
        ("Answer: no. But wait.\n**Answer:** Yes", "Yes"),
        ('"Answer": "no"', "no"),
        ("The answer is yes.", "yes"),
        ("Step 2: it is a plant. So the **answer is: No**\nDone.", "No"),
        ("The answer is no, because roses have none.", "no"),
        ("The answer is no longer known.", None),
        ("The answer is not yes.", None),
        ("", None),
        ("yes or no", None),
        ("No, wait, yes.", None),
        ("The statement is wrong, so yes", None),
        ("yesterday", None),
        ("The answer is hard to give.", None),
    ],
)
def test_yes_no_or_neither(reply: str, word: str | None) -> None:
    found = match_yes_no(reply)
    assert (None if found is None else found[1]) == word


@given(st.text())
def test_any_reply_is_read(reply: str) -> None:
    found = match_yes_no(reply)
    if found is not None:
        assert reply[slice(*found.span(1))].lower() in ("yes", "no")


def test_yes_means_what_the_layer_asks(onions: list[Sample]) -> None:
    backend = Scripted("Yes")
    verdicts = list(asked(ONIONEVAL, backend).iter_check(onions))
    # Yes to "is this wrong?" is FAIL; yes to "is she right?" is PASS.
    assert [verdict.label for verdict in verdicts] == [Label.FAIL] * 2 + [Label.PASS] * 4
    assert [verdict.p_fail for verdict in verdicts] == pytest.approx([0.75] * 2 + [0.25] * 4)
    assert {request.words for request in backend.requests} == {("Yes", "No")}
    assert {request.prefix for request in backend.requests} == {""}
    assert backend.settings == [Decoding(SHORT_REPLY)]
    assert all(verdict.usage.completion_tokens == 1 and verdict.reasoning is None for verdict in verdicts)


def test_a_chain_of_thought_ends_with_its_answer(onions: list[Sample]) -> None:
    thought = "Roses are plants, not fish.\nAnswer: no"
    backend = Scripted(thought)
    first, *_ = asked(ONIONEVAL, backend, "reason").iter_check(onions)
    assert (first.label, first.reasoning, first.p_fail) == (Label.PASS, thought, pytest.approx(0.75))
    assert backend.requests[0].prefix == thought.removesuffix("no")
    assert backend.settings[0].max_new_tokens == Judge(backend).max_new_tokens


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_is_neither_is_no_class(mode: Mode, onions: list[Sample]) -> None:
    verdicts = list(asked(ONIONEVAL, Scripted("Roses are red."), mode).iter_check(onions))
    assert {(verdict.label, verdict.error) for verdict in verdicts} == {(None, UNMATCHED)}
    # The first word can still be compared; there is no place for it after a reasoning.
    assert all((verdict.p_fail is None) is (mode == "reason") for verdict in verdicts)
    layers = ONIONEVAL.figures(onions, verdicts)["layers"]
    assert all(row["unmatched"] == 1 and row["two_sided"] == 0 for row in layers.values())


def test_a_sample_that_is_too_long_does_not_stop_the_others(onions: list[Sample]) -> None:
    longest = max(Scripted().count_tokens(OnionPrompt().messages(item, "verdict")) for item in onions)
    backend = Scripted(context_length=longest + SHORT_REPLY - 1)
    verdicts = list(asked(ONIONEVAL, backend).iter_check(onions))
    errors = [verdict.error for verdict in verdicts if verdict.error]
    assert len(verdicts) == 6 and errors and len(errors) < 6 and "take" in errors[0]


def test_always_yes_is_perfect_one_sided_and_chance_two_sided(onions: list[Sample]) -> None:
    figures = ONIONEVAL.figures(onions, list(AlwaysYes().iter_check(onions)))
    assert [(row["one_sided"], row["two_sided"]) for row in figures["layers"].values()] == [(1.0, 0.5)] * 3
    assert figures["context influence"]["Plants"] == {"one_sided": 0.0, "two_sided": 0.5}


@pytest.mark.parametrize("benchmark", [ONIONEVAL_FEW_SHOT, DIAHALU])
@pytest.mark.parametrize("mode", MODES)
def test_a_real_engine(benchmark: Any, mode: Mode, tiny_backend: Any, onions: list[Sample]) -> None:
    samples = onions if "onion" in benchmark.name else [DIALOGUE]
    judge = benchmark.judge(Judge(tiny_backend("chatml"), mode=mode, max_new_tokens=4))
    verdicts = list(judge.iter_check(samples))
    assert len(verdicts) == len(samples)
    if mode == "verdict":
        assert all(verdict.p_fail is not None for verdict in verdicts)
    assert isinstance(judge, YesNoJudge) is ("onion" in benchmark.name)


def test_solved_examples_are_none_of_the_benchmark(shared_data: Path) -> None:
    entities = {sample.group.partition(": ")[2] for sample in ONIONEVAL.load(shared_data)}
    assert not entities & {entity for entity, *_ in EXAMPLES}
