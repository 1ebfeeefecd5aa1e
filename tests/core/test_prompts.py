"""The prompts are frozen: their exact text lies in ``golden/``, one file for each task, language and mode.

A wanted change of a prompt takes three steps: raise ``PROMPT_VERSION``, run
``PYTHONPATH=. python tests/core/test_prompts.py`` to write the files anew, and pin the new hash below.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.errors import InputError
from judge.injections import attack_texts
from judge.prompting.prompts import (
    PROMPT_VERSION,
    TAGS,
    BuiltinPrompt,
    guard,
    prompt_hash,
    split_document,
)
from judge.prompting.templates import TemplatePrompt
from judge.types import LANGUAGES, MODES, Label, Language, Mode, Sample, Task

GOLDEN = Path(__file__).parent / "golden"
PINNED = ("1", "5681ed4444d04610")
CASES = [(task, language, mode) for task in Task for language in LANGUAGES for mode in MODES]
TEXTS = {
    "en": ("The bridge was opened in 1932.\n\nIt is 503 m long.", "How long is it?", "It is 503 m long."),
    "zh": ("大桥于1932年通车。\n\n全长503米。", "大桥有多长？", "全长503米。"),
}
# Pieces that, put together, come close to tags, control tokens and template syntax.
PIECES = [
    "<", ">", "/", " ", "\n", "document", "ANSWER", "question", "<document>", "</document>", "</answer>",
]  # fmt: skip
PIECES += ["< / Question >", "<|im_end|>", "<|", "|>", "‹", "{{", "}}", "文档", "x"]
tricky = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30)


def render(task: Task, language: Language, mode: Mode) -> str:
    document, question, answer = TEXTS[language]
    if task in (Task.SUMMARIZATION, Task.DATA2TEXT, Task.TRANSLATION):
        question = ""
    sample = Sample("1", document, answer, question, task=task, language=language)
    [message] = BuiltinPrompt().messages(sample, mode)
    assert message["role"] == "user"
    return message["content"]


def golden_file(task: Task, language: Language, mode: Mode) -> Path:
    return GOLDEN / f"{task.value}-{language}-{mode}.txt"


@pytest.mark.parametrize(("task", "language", "mode"), CASES)
def test_prompts_are_what_they_were(task: Task, language: Language, mode: Mode) -> None:
    expected = golden_file(task, language, mode).read_text(encoding="utf-8")
    assert render(task, language, mode) + "\n" == expected, f"a prompt changed; see the head of {__file__}"


def test_no_golden_file_is_left_over() -> None:
    assert sorted(GOLDEN.iterdir()) == sorted(golden_file(*case) for case in CASES)


def test_a_change_of_a_text_is_a_new_version() -> None:
    assert (PROMPT_VERSION, prompt_hash()) == PINNED, f"see the head of {__file__}"
    assert BuiltinPrompt().describe() == {"prompt_version": PINNED[0], "prompt_hash": PINNED[1]}


@given(document=tricky, question=tricky, answer=tricky, mode=st.sampled_from(MODES))
def test_a_sample_can_neither_open_nor_close_a_tag(
    document: str, question: str, answer: str, mode: Mode
) -> None:
    sample = Sample("1", f"d{document}", f"a{answer}", f"q{question}")
    content = BuiltinPrompt().messages(sample, mode)[0]["content"]
    for tag in TAGS:
        assert content.lower().count(f"<{tag}>") == content.lower().count(f"</{tag}>") == 1
    assert "<|im_end|>" not in content


@given(document=tricky, answer=tricky, question=tricky)
def test_split_document_recovers_the_document(document: str, answer: str, question: str) -> None:
    sample = Sample("1", f"d{document}", f"a{answer}", question)
    content = BuiltinPrompt().messages(sample, "verdict")[0]["content"]
    parts = split_document(content)
    assert parts is not None
    assert parts[1] == guard(sample.document_text).strip()
    assert "".join(parts) == content
    assert parts[0].endswith("<document>\n") and parts[2].startswith("\n</document>")
    assert split_document("Is this right? A document.") is None


@given(text=tricky)
def test_guard_changes_brackets_alone(text: str) -> None:
    assert guard(text).replace("‹", "<").replace("›", ">") == text.replace("‹", "<").replace("›", ">")
    assert guard(guard(text)) == guard(text)


@pytest.mark.parametrize("text", ["<|im_end|>", "<|im_start|>", "<|eot_id|>", "<|start_header_id|>"])
def test_control_tokens_are_defused(text: str) -> None:
    assert guard(f"a{text}b") == f"a‹{text[1:-1]}›b"


def test_no_question_no_question_block() -> None:
    content = BuiltinPrompt().messages(Sample("1", "d", "a", question=" \n"), "verdict")[0]["content"]
    assert "<question>" not in content and "\n\n\n" not in content


def test_passages_are_parted_by_a_blank_line() -> None:
    content = BuiltinPrompt().messages(Sample("1", ("one", "two"), "a"), "verdict")[0]["content"]
    assert "<document>\none\n\ntwo\n</document>" in content


def template(folder: Path, source: str) -> TemplatePrompt:
    path = folder / "prompt.jinja"
    path.write_text(source, encoding="utf-8")
    return TemplatePrompt(path)


def test_a_template_reads_document_question_and_answer(tmp_path: Path) -> None:
    prompt = template(
        tmp_path, "D: {{ document }} Q: {{ question }} A: {{ answer }} {{ task }} {{ language }}\n"
    )
    sample = Sample("1", "doc", "ans", "que", language="zh")
    assert prompt.messages(sample, "verdict") == [{"role": "user", "content": "D: doc Q: que A: ans qa zh"}]
    assert prompt.messages(sample, "reason", "cut")[0]["content"].startswith("D: cut Q")
    identity = prompt.describe()
    assert identity["prompt_version"] == "template:prompt.jinja"
    assert identity["prompt_hash"] != template(tmp_path, "{{ document }}").describe()["prompt_hash"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ 7*7 }}", "{% raw %}x{% endraw %}", "{# x #}", "{{ document }}", "&<>'\"", "{% include 'x' %}",
        *attack_texts("template", "en", Label.PASS),
    ],
)  # fmt: skip
def test_template_syntax_in_a_sample_stays_text(text: str, tmp_path: Path) -> None:
    prompt = template(tmp_path, "{{ document }}|{{ question }}|{{ answer }}")
    [message] = prompt.messages(Sample("1", text, text, text), "verdict")
    assert message["content"] == "|".join([text] * 3)


@pytest.mark.parametrize(
    "source",
    [
        "{{ context }}",
        "{{ document.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ document.format.__globals__ }}",
        "{% include 'other.jinja' %}",
        "{{ 1 / 0 }}",
        "{% for i in range(10 ** 9) %}x{% endfor %}",
    ],
)
def test_a_template_that_fails_is_an_input_error(source: str, tmp_path: Path) -> None:
    prompt = template(tmp_path, source)
    with pytest.raises(
        InputError, match=r"prompt\.jinja: could not be rendered .*document, question, answer, task"
    ):
        prompt.messages(Sample("1", "d", "a"), "verdict")


@pytest.mark.parametrize("source", ["{{ document", "{% if %}"])
def test_broken_templates_are_refused_when_they_are_read(source: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"prompt\.jinja: is not a Jinja template"):
        template(tmp_path, source)


if __name__ == "__main__":
    for case in CASES:
        golden_file(*case).write_text(render(*case) + "\n", encoding="utf-8")
    print("pin this:", (PROMPT_VERSION, prompt_hash()))
