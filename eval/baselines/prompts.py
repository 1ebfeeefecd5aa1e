"""What the baselines ask a model: to answer, rephrase or list claims, or whether a text supports a claim.

In the project's own words, with the tags, guarding and label words of :mod:`judge.prompting.prompts`.
"""

import re
from collections.abc import Mapping

from judge.files import sha256_text
from judge.prompting.prompts import tagged, user_turn
from judge.types import Language, Message, Mode, Sample, Task

VERSION = "baselines-4"

ANSWER: Mapping[Language, Mapping[Task, str]] = {
    "en": {
        Task.QA: "Answer the QUESTION in one to three sentences.",
        Task.SUMMARIZATION: "Summarize the DOCUMENT in a few sentences.",
        Task.DATA2TEXT: "Describe the data in the DOCUMENT in a few sentences.",
        Task.TRANSLATION: "Translate the DOCUMENT: an English one into Chinese, any other into English.",
        Task.DIALOGUE: "Write the next turn of the dialogue in the QUESTION.",
    },
    "zh": {
        Task.QA: "请用一到三句话回答“问题”。",
        Task.SUMMARIZATION: "请用几句话概括“文档”。",
        Task.DATA2TEXT: "请用几句话描述“文档”中的数据。",
        Task.TRANSLATION: "请翻译“文档”：英文译成中文，中文译成英文。",
        Task.DIALOGUE: "请写出“问题”中对话的下一句。",
    },
}
GROUNDED: Mapping[Language, str] = {
    "en": "Use nothing but the DOCUMENT. Write the text alone, without an introduction.",
    "zh": "只使用“文档”中的内容。只写正文，不要开场白。",
}
UNGROUNDED: Mapping[Language, str] = {
    "en": "Write the text alone, without an introduction.",
    "zh": "只写正文，不要开场白。",
}
REPHRASE: Mapping[Language, str] = {
    "en": (
        "Write the whole ANSWER again in other words. Keep the meaning, the form and the order: everything "
        "that it says, right or wrong. Write the text alone, without an introduction."
    ),
    "zh": "请换一种说法把“答案”全部重写一遍，意思、形式、顺序不变，无论内容对错。只写正文，不要开场白。",
}
CLAIMS: Mapping[Language, str] = {
    "en": (
        "Take the ANSWER apart into the single facts that it states. Write one short, complete sentence a "
        "line for each, with names instead of pronouns, and nothing else. Add nothing and judge nothing."
    ),
    "zh": (
        "请把“答案”拆成其中的各个单独事实。每个事实写成一行简短完整的句子，用名称代替代词，"
        "此外什么都不写。不要补充，也不要评判。"
    ),
}
SUPPORT: Mapping[Language, str] = {
    "en": (
        "Is the statement in the ANSWER supported by the DOCUMENT? Reply with one word: PASS if it is, FAIL "
        "if the DOCUMENT contradicts it or does not mention it."
    ),
    "zh": "“文档”是否支持“答案”中的陈述？只回答一个词：支持则回答“通过”，矛盾或没有提到则回答“失败”。",
}
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):、])\s*")


def ask_answer(sample: Sample, document: str) -> list[Message]:
    """Asks for the model's own answer, from the document if there is one."""
    source = GROUNDED if document.strip() else UNGROUNDED
    rules = f"{ANSWER[sample.language][sample.task]} {source[sample.language]}"
    return user_turn(*tagged({"document": document, "question": sample.question}), rules)


def ask_rephrasing(sample: Sample) -> list[Message]:
    """Asks for the answer in other words, for samples with neither a document nor a question."""
    return user_turn(*tagged({"answer": sample.answer}), REPHRASE[sample.language])


def ask_claims(sample: Sample) -> list[Message]:
    """Asks for the facts that an answer states; the document is not shown."""
    parts = {"question": sample.question, "answer": sample.answer}
    return user_turn(*tagged(parts), CLAIMS[sample.language])


class SupportPrompt:
    """Asks whether the document of a sample supports the statement that is its answer."""

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """One user turn, see :class:`judge.prompting.prompts.Prompt`."""
        text = sample.document_text if document is None else document
        return user_turn(*tagged({"document": text, "answer": sample.answer}), SUPPORT[sample.language])

    def describe(self) -> dict[str, str]:
        """The version, and the hash of all texts of this module."""
        texts = [ANSWER, GROUNDED, UNGROUNDED, REPHRASE, CLAIMS, SUPPORT]
        return {"prompt_version": VERSION, "prompt_hash": sha256_text(repr(texts))[:16]}


def lines(text: str) -> list[str]:
    """The lines of a list, without bullets, numbers and duplicates."""
    found = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in found if line))
