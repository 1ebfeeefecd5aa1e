"""A reasoning in bullet points for a known label: from the gold answer and the change made to it (Lynx, A.1),
or from the label alone (backward reasoning; Bi'an, appendix E)."""

from collections.abc import Mapping

from data_pipeline.teachers.prompts.base import POINTS, Prompted, prompted, reply_schema
from judge.types import Label, Language, Sample

SCHEMA = reply_schema(reasoning=POINTS)

RULES: Mapping[Language, Mapping[Label, str]] = {
    "en": {
        Label.PASS: (
            "The ANSWER below is faithful: the DOCUMENT supports everything it says. "
            "Write the comparison of the two that leads to this result."
        ),
        Label.FAIL: (
            "The ANSWER below is not faithful: the DOCUMENT contradicts something it says, or does not "
            "mention it. Write the comparison of the two that leads to this result."
        ),
    },
    "zh": {
        Label.PASS: (
            "下面的答案（answer）是忠实的：其中的每一点都能从文档（document）得到支持。"
            "请写出得出这一结果的对照过程。"
        ),
        Label.FAIL: (
            "下面的答案（answer）是不忠实的：其中有与文档（document）矛盾或文档没有提到的内容。"
            "请写出得出这一结果的对照过程。"
        ),
    },
}
CHANGE: Mapping[Language, str] = {
    "en": "The CHANGE says where the error lies.",
    "zh": "“change”指出了错误所在。",
}
GOLD: Mapping[Language, str] = {
    "en": "The GOLD_ANSWER is right; the ANSWER was made from it.",
    "zh": "“gold_answer”是正确的，待评答案由它改成。",
}
STYLE: Mapping[Language, str] = {
    "en": (
        "Quote the DOCUMENT where it decides, be short, and end with the result. Go by bullet points, one "
        "for each step of the comparison. Write as one who found this out by reading: do not mention that "
        "the result was given, that anything was changed, or that there is another answer. Use no other "
        "knowledge."
    ),
    "zh": (
        "在关键之处引用文档原文，力求简短，最后写出结果。请分要点书写，对照的每一步为一个要点。要像自己阅读后得出结论一样书写："
        "不得提及结果是事先给定的、有内容被改动过或另有答案。不要使用文档以外的知识。"
    ),
}
REPLY: Mapping[Language, str] = {
    "en": 'Reply with JSON: "reasoning", the list of the comparison\'s points.',
    "zh": "请用 JSON 回答：“reasoning”为对照要点的列表，用中文书写。",
}


def known_label_prompt(sample: Sample, label: Label, change: str = "", gold_answer: str = "") -> Prompted:
    """Ask for a reasoning that leads to ``label``.

    ``change`` describes what made the answer wrong, and ``gold_answer`` is the answer it was made from.
    """
    language = sample.language
    given = [CHANGE[language] if change else "", GOLD[language] if gold_answer else ""]
    rules = [RULES[language][label], *given, STYLE[language]]
    fields = {
        "document": sample.document_text,
        "question": sample.question,
        "answer": sample.answer,
        "change": change,
        "gold_answer": gold_answer,
    }
    return prompted(" ".join(filter(None, rules)), fields, REPLY[language], SCHEMA)
