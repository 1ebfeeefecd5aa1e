"""The prompts: one template per task and language, in two modes, versioned and hashed.

A prompt is one user turn, so that it works with chat templates without a system role. It has the rules of
the task, then the document, the question and the answer, each in its own tags, then how to reply. Text from
a sample is data: it is guarded so that it can neither open nor close a tag, nor imitate the control tokens
of a chat template. The document comes before question and answer so that all answers to one document share
the longest possible prefix.

Frozen: any change to a text here requires a new :data:`PROMPT_VERSION`, since trained judges depend on it.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from judge.files import sha256_text
from judge.types import Label, Language, Message, Mode, Sample, Task

PROMPT_VERSION = "1"

LABEL_WORDS: Mapping[Language, Mapping[Label, str]] = {
    "en": {Label.PASS: "PASS", Label.FAIL: "FAIL"},
    "zh": {Label.PASS: "通过", Label.FAIL: "失败"},
}
# Keys of a reason-mode reply, in order: the reasoning comes first, so that the label can follow from it.
KEYS: Mapping[Language, tuple[str, str]] = {"en": ("REASONING", "SCORE"), "zh": ("推理过程", "判断")}

RULES: Mapping[Language, Mapping[Task, str]] = {
    "en": {
        Task.QA: "Check the ANSWER to the QUESTION against the DOCUMENT.",
        Task.SUMMARIZATION: "Check the ANSWER, a summary, against the DOCUMENT that it summarizes.",
        Task.DATA2TEXT: "Check the ANSWER, a description of data, against the data in the DOCUMENT.",
        Task.TRANSLATION: "Check the ANSWER, a translation, against the original text in the DOCUMENT.",
        Task.DIALOGUE: "Check the ANSWER, a reply to the dialogue in the QUESTION, against the DOCUMENT.",
    },
    "zh": {
        Task.QA: "请对照“文档”检查针对“问题”所给的“答案”。",
        Task.SUMMARIZATION: "请对照“文档”检查“答案”，即该文档的摘要。",
        Task.DATA2TEXT: "请对照“文档”中的数据检查“答案”，即对这些数据的描述。",
        Task.TRANSLATION: "请对照“文档”中的原文检查“答案”，即它的译文。",
        Task.DIALOGUE: "请对照“文档”检查“答案”，即“问题”中对话的下一句回复。",
    },
}
STANDARD: Mapping[Language, str] = {
    "en": (
        "It is faithful only if the DOCUMENT supports everything it says. One detail that the DOCUMENT "
        "contradicts or does not mention makes it unfaithful. Use no other knowledge."
    ),
    "zh": (
        "只有当其中的每一点都能从文档得到支持时，它才是忠实的；"
        "只要有一处与文档矛盾或文档没有提到，它就是不忠实的。不要使用文档以外的知识。"
    ),
}
REPLY: Mapping[Language, Mapping[Mode, str]] = {
    "en": {
        "verdict": "Reply with one word: PASS if the ANSWER is faithful, FAIL if it is not.",
        "reason": (
            'Reply with JSON: first "REASONING", a short comparison of the ANSWER with the DOCUMENT, '
            'then "SCORE", which is PASS if the ANSWER is faithful and FAIL if it is not.'
        ),
    },
    "zh": {
        "verdict": "只回答一个词：忠实则回答“通过”，不忠实则回答“失败”。",
        "reason": (
            "请用 JSON 回答：先写“推理过程”，简要对照答案与文档；"
            "再写“判断”，忠实则为“通过”，不忠实则为“失败”。"
        ),
    },
}
TAGS = ("document", "question", "answer")

_TAG = re.compile(r"<(\s*/?\s*(?:document|question|answer)\s*)>", re.IGNORECASE)
_CONTROL = re.compile(r"<(\|[^<>|]{0,64}\|)>")
_DOCUMENT = re.compile(r"(?<=<document>\n)(.*)(?=\n</document>)", re.DOTALL)


def guard(text: str) -> str:
    """Replace the angle brackets of anything that looks like a tag of the prompt or a chat control token."""
    return _CONTROL.sub(r"‹\1›", _TAG.sub(r"‹\1›", text))


def tagged(texts: Mapping[str, str]) -> list[str]:
    """Texts in their tags, guarded, in the order of :data:`TAGS`; empty ones are left out."""
    return [f"<{tag}>\n{guard(texts[tag]).strip()}\n</{tag}>" for tag in TAGS if texts.get(tag, "").strip()]


def material(sample: Sample, document: str | None = None) -> list[str]:
    """Document, question and answer in their tags; ``document`` replaces the sample's own."""
    text = sample.document_text if document is None else document
    return tagged({"document": text, "question": sample.question, "answer": sample.answer})


def user_turn(*blocks: str) -> list[Message]:
    """One user turn of text blocks, separated by blank lines."""
    return [{"role": "user", "content": "\n\n".join(blocks)}]


class Prompt(Protocol):
    """Turns a sample into the messages that a judge reads."""

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """The conversation for one sample; ``document`` replaces the sample's own, to make it fit."""
        ...

    def describe(self) -> dict[str, str]:
        """The prompt's version and hash, which identify it."""
        ...


@dataclass(frozen=True, slots=True)
class BuiltinPrompt:
    """The project's own prompt, for every task and language."""

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """One user turn: rules, document, question (if there is one), answer, how to reply."""
        rules = f"{RULES[sample.language][sample.task]} {STANDARD[sample.language]}"
        return user_turn(rules, *material(sample, document), REPLY[sample.language][mode])

    def describe(self) -> dict[str, str]:
        """Version and hash of all texts of this module."""
        return {"prompt_version": PROMPT_VERSION, "prompt_hash": prompt_hash()}


def prompt_hash() -> str:
    """A short hash over every text that the built-in prompts can hold."""
    texts = [RULES, STANDARD, REPLY, LABEL_WORDS, KEYS, TAGS]
    return sha256_text(json.dumps(texts, ensure_ascii=False, sort_keys=True))[:16]


def split_document(content: str) -> tuple[str, str, str] | None:
    """Split a built-in prompt into the text before the document, the document, and the text after it.

    ``None`` for any other text. The split is exact because guarded samples cannot contain a tag.
    """
    match = _DOCUMENT.search(content)
    if match is None:
        return None
    return content[: match.start()], match.group(), content[match.end() :]


def format_judgement(mode: Mode, language: Language, label: Label, reasoning: str = "") -> str:
    """The reply of a perfect judge, as training teaches it and the parser reads it."""
    word = LABEL_WORDS[language][label]
    if mode == "verdict":
        return word
    reasoning_key, score_key = KEYS[language]
    return json.dumps({reasoning_key: reasoning, score_key: word}, ensure_ascii=False)
