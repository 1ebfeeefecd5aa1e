"""Released judges with prompts from files and replies in their own forms (docs/judges.md)."""

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from judge.backends.base import Decoding, Generation, LabelRequest
from judge.backends.transformers import TransformersBackend
from judge.errors import InputError
from judge.judge import Judge
from judge.load import load_judge
from judge.prompting.parsing import parse
from judge.prompting.replies import ReplyForm
from judge.prompting.templates import TemplatePrompt
from judge.types import LANGUAGES, Label, Language, Message, Sample, Task
from tests.core.test_judge import Scripted

P, F = Label.PASS, Label.FAIL

# Prompts in words of our own, in the forms of the judges that they are named after.
LYNX = """
words: {PASS: PASS, FAIL: FAIL}
prompts:
  - user: "Text: {{ document }} Asked: {{ question }} Said: {{ answer }} JSON, please."
"""
BIAN = """
prompts:
  - {tasks: [qa], languages: [en], user: "EN qa {{ question }} {{ document }} {{ answer }}"}
  - {tasks: [qa], languages: [zh], user: "ZH qa {{ question }} {{ document }} {{ answer }}"}
  - {tasks: [summarization], languages: [en], user: "EN sum {{ document }} {{ answer }}"}
  - {tasks: [translation], user: "{{ language }} translation {{ document }} {{ answer }}"}
"""
MINICHECK = """
reply: word
words: {PASS: "Yes", FAIL: "No"}
prompts:
  - system: Does the text bear the claim?
    user: "Text: {{ document }} Claim: {{ answer }}"
"""
GUARDIAN = """
reply: word
words: {PASS: "no", FAIL: "yes"}   # yes is the risk: the answer is not grounded
before: "<score> "
chat: {guardian_config: {risk_name: groundedness}}
prompts:
  - turns:
      - {role: context, text: "{{ document }}"}
      - {role: assistant, text: "{{ answer }}"}
"""


def prompt(folder: Path, text: str, name: str = "prompts.yaml") -> TemplatePrompt:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return TemplatePrompt(path)


class Released(Scripted):
    """A judge that replies in its own form: by what the answer holds."""

    def __init__(self, good: str, bad: str):
        super().__init__()
        self.good, self.bad = good, bad
        self.asked: list[Sequence[Message]] = []

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        self.asked += conversations
        return [Generation(self.bad if _wrong(talk) else self.good, False, 9) for talk in conversations]

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        self.requests += requests
        return [(-3.0, -1.0) if _wrong(request.messages) else (-1.0, -3.0) for request in requests]


def _wrong(messages: Sequence[Message]) -> bool:
    return "made up" in messages[-1]["content"]


SURE = 1 / (1 + math.exp(2))
TOLD = "It says so."
SAMPLES = [Sample("1", "The bridge is red.", "It is red.", "Which?"), Sample("2", "d", "It is made up.", "?")]

FORMS = {
    "lynx": (LYNX, '{{"REASONING": ["It says so."], "SCORE": "{}"}}', ("PASS", "FAIL"), TOLD),
    "lynx, single quotes": (
        LYNX, "{{\"REASONING\": ['It', 'says so.'], \"SCORE\": {}}}", ("PASS", "FAIL"), "It\nsays so.",
    ),
    "bian": (BIAN, '```json\n{{"REASONING": ["It says so."], "SCORE": "{}"}}\n```', ("PASS", "FAIL"), TOLD),
    "minicheck": (MINICHECK, "{}", ("Yes", "No"), None),
    "minicheck, explained": (MINICHECK, "{}. It says so.", ("Yes", "No"), "It says so"),
    "guardian": (GUARDIAN, "{}", ("No", "Yes"), None),
    "guardian, confident": (
        GUARDIAN, "{}\n<confidence> High </confidence>", ("No", "Yes"), "<confidence> High </confidence>",
    ),
    "guardian, in a tag": (
        GUARDIAN, "<think>\nIt says so.\n</think>\n\n<score> {} </score>", ("no", "yes"), TOLD,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_replies_in_their_own_form(name: str, tmp_path: Path) -> None:
    text, reply, (passes, fails), reasoning = FORMS[name]
    backend = Released(reply.format(passes), reply.format(fails))
    good, bad = Judge(backend, prompt=prompt(tmp_path, text), mode="reason").check(SAMPLES)
    assert (good.label, bad.label, good.error, bad.error) == (P, F, None, None)
    assert good.p_fail == pytest.approx(SURE) and bad.p_fail == pytest.approx(1 - SURE)
    assert good.reasoning == reasoning
    # The words are scored where the reply has its own, as it writes them.
    assert [request.words for request in backend.requests] == [(passes, fails)] * 2
    assert backend.requests[0].prefix == reply.format("|").partition("|")[0]


@pytest.mark.parametrize(
    ("text", "words", "before"),
    [(LYNX, ("PASS", "FAIL"), ""), (MINICHECK, ("Yes", "No"), ""), (GUARDIAN, ("no", "yes"), "<score> ")],
)
def test_verdict_mode_asks_for_their_words(
    text: str, words: tuple[str, str], before: str, tmp_path: Path
) -> None:
    backend = Released("", "")
    chinese = Sample("3", "d", "a", language="zh")
    verdicts = Judge(backend, prompt=prompt(tmp_path, text)).check([*SAMPLES, chinese])
    assert [verdict.label for verdict in verdicts] == [P, F, P]
    assert [verdict.raw for verdict in verdicts] == [words[0], words[1], words[0]]
    assert {(request.words, request.prefix) for request in backend.requests} == {(words, before)}


def test_one_file_has_a_prompt_for_each_task_and_language(tmp_path: Path) -> None:
    backend = Released('{"推理过程": ["一致"], "判断": "通过"}', "")
    judge = Judge(backend, prompt=prompt(tmp_path, BIAN), mode="reason")
    cases: list[tuple[Task, Language]] = [(Task.QA, "en"), (Task.QA, "zh"), (Task.TRANSLATION, "zh")]
    samples = [Sample(str(at), "d", "a", task=task, language=to) for at, (task, to) in enumerate(cases)]
    verdicts = judge.check(samples)
    assert {verdict.label for verdict in verdicts} == {P} and verdicts[0].reasoning == "一致"
    assert [talk[0]["content"].split()[:2] for talk in backend.asked] == [
        ["EN", "qa"], ["ZH", "qa"], ["zh", "translation"],
    ]  # fmt: skip
    assert {request.words for request in backend.requests} == {("通过", "失败")}
    with pytest.raises(
        InputError, match=r"prompts\.yaml: field 'prompts': has no prompt for task 'data2text'"
    ):
        judge.check([Sample("1", "d", "a", task=Task.DATA2TEXT)])


def test_turns_have_the_roles_that_the_file_says(tmp_path: Path) -> None:
    sample = SAMPLES[0]
    assert prompt(tmp_path, MINICHECK).messages(sample, "reason") == [
        {"role": "system", "content": "Does the text bear the claim?"},
        {"role": "user", "content": "Text: The bridge is red. Claim: It is red."},
    ]
    guardian = prompt(tmp_path, GUARDIAN)
    roles = [message["role"] for message in guardian.messages(sample, "reason", document="short")]
    assert roles == ["context", "assistant"] and guardian.ends_with_a_reply


WORDED = {language: {P: "Yes", F: "No"} for language in LANGUAGES}


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("Yes", P), ("no.", F), ("**No**", F), ("Yes, it does.", P), ("NO\nYes would be wrong", F),
        ("<score>yes</score>", P), ("", None), ("Nobody knows", None), ("I think yes", None),
        ("Yes and no", None), ("<think> yes", None), ("是", None),
    ],
)  # fmt: skip
def test_a_reply_that_begins_with_a_word(reply: str, label: Label | None) -> None:
    found = parse(reply, form=ReplyForm("word", WORDED))
    assert found.label is label and (found.error is None) == (label is not None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prompts: [{system: x}]", "give user, with system where there is one, or else turns"),
        (
            "prompts: [{user: x}]\nwords: {PASS: Yes, FAIL: No}",
            "YAML reads this word as a value; write it in",
        ),
        ("prompts: [{user: x}]\nwords: {PASS: a, FAIL: A}", "have the same word"),
        ("prompts: [{user: x}, {user: y, tasks: [qa]}]", "prompts.1 is never used"),
        ("prompts: [{user: x, task: qa}]", "unknown key 'task'; did you mean 'tasks'"),
        ("prompts: [{user: '{{ document'}]", "field 'prompts.0': is not a Jinja template"),
    ],
)
def test_wrong_files(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        prompt(tmp_path, text)


def test_the_files_of_the_docs_are_right(tmp_path: Path) -> None:
    docs = Path(__file__).parents[2] / "docs"
    pages = (docs / "judges.md", docs / "research" / "released-judges.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        messages = prompt(tmp_path, block).messages(SAMPLES[0], "reason")
        assert "The bridge is red." in "".join(message["content"] for message in messages)


def test_arguments_of_the_chat_template(
    tmp_path: Path, tiny_backend: Callable[..., TransformersBackend], model_folder: Callable[[str], Path]
) -> None:
    """They reach the tokenizer's template, and no server is given what it cannot take."""
    loaded = tiny_backend("chatml").loaded
    plain = TransformersBackend(loaded).renderer.prompt_text([{"role": "user", "content": "x"}])
    template, loaded.tokenizer.chat_template = (
        loaded.tokenizer.chat_template,
        "{{ guardian_config.risk_name }}",
    )
    try:
        backend = TransformersBackend(loaded, chat={"guardian_config": {"risk_name": "groundedness"}})
        assert backend.renderer.prompt_text([{"role": "user", "content": "x"}]) == "groundedness"
    finally:
        loaded.tokenizer.chat_template = template
    assert TransformersBackend(loaded).renderer.prompt_text([{"role": "user", "content": "x"}]) == plain
    path = prompt(tmp_path, GUARDIAN).path
    with pytest.raises(InputError, match="a server takes neither"):
        load_judge("m", template=path, backend="openai")
    found = load_judge(str(model_folder("chatml")), template=path)
    assert isinstance(found, Judge) and found.describe()["prompt_version"] == "template:prompts.yaml"
