"""Making a faithful answer wrong: asks for the new answer and the change made (Lynx, A.1; Bi'an, A.2)."""

from collections.abc import Mapping

from data_pipeline.teachers.prompts.base import TEXT, Prompted, prompted, reply_schema
from judge.types import Language, Sample, Task

SCHEMA = reply_schema(new_answer=TEXT, change_made=TEXT)

TASKS: Mapping[Language, Mapping[Task, str]] = {
    "en": {
        Task.QA: "The DOCUMENT supports the ANSWER to the QUESTION.",
        Task.SUMMARIZATION: "The ANSWER is a correct summary of the DOCUMENT.",
        Task.DATA2TEXT: "The ANSWER correctly describes the data in the DOCUMENT.",
        Task.TRANSLATION: "The ANSWER is a correct translation of the text in the DOCUMENT.",
        Task.DIALOGUE: "The ANSWER continues the dialogue in the QUESTION, and the DOCUMENT supports it.",
    },
    "zh": {
        Task.QA: "“答案”（answer）正确回答了“问题”（question），并有“文档”（document）为依据。",
        Task.SUMMARIZATION: "“答案”（answer）是“文档”（document）的正确摘要。",
        Task.DATA2TEXT: "“答案”（answer）正确描述了“文档”（document）中的数据。",
        Task.TRANSLATION: "“答案”（answer）是“文档”（document）中原文的正确译文。",
        Task.DIALOGUE: (
            "“答案”（answer）是“问题”（question）中对话的下一句回复，并有“文档”（document）为依据。"
        ),
    },
}
RULES: Mapping[Language, str] = {
    "en": (
        "Write a second version of the ANSWER that is wrong. A hurried reader should believe it; whoever "
        "compares it with the DOCUMENT should find the error.\n"
        "- Alter one detail, or two at most, and leave every other word as it stands. A detail is a name, a "
        "number, a date, a place, a cause, a comparison, who did what to whom, what is affirmed and what is "
        "denied, or a particular that gives way to one the DOCUMENT does not have.\n"
        "- The DOCUMENT must contradict the altered detail or say nothing of it. The same thing in other "
        "words is no error, and neither is something left out.\n"
        "- Keep the language, the style, the form and about the length. Nothing may hint at an alteration."
    ),
    "zh": (
        "请写出该答案的另一个版本，使它成为错误答案：匆匆一读会信以为真，与文档对照则能发现错误。\n"
        "- 只改动一处细节，最多两处，其余文字一律保持原样。细节可以是人名、数字、日期、地点、原因、"
        "比较关系、谁对谁做了什么、肯定或否定，也可以用文档中没有的细节替换原有的细节。\n"
        "- 改动后的细节必须与文档矛盾，或者在文档中找不到依据。换一种说法不算错误，仅仅省略内容也不算。\n"
        "- 保持语言、文风、格式不变，长度相近，不得流露出任何改动的迹象。"
    ),
}
MORE: Mapping[Language, Mapping[Task, str]] = {
    "en": {
        Task.TRANSLATION: (
            "\n- Instead, a translation may gain a detail that seems to belong there and that the DOCUMENT "
            "does not have. It counts as one of the two."
        )
    },
    "zh": {Task.TRANSLATION: "\n- 译文也可以增加一处看似相关、但原文中并不存在的细节，算作两处改动之一。"},
}
"""Additional rules for some tasks (Bi'an, A.2, has one for translations only)."""
REPLY: Mapping[Language, str] = {
    "en": (
        'Reply with JSON: "new_answer", the whole wrong version; '
        '"change_made", one sentence that says what became what.'
    ),
    "zh": "请用 JSON 回答：“new_answer”为完整的错误版本；“change_made”用一句中文说明把什么改成了什么。",
}


def perturbation_prompt(gold: Sample) -> Prompted:
    """Ask for a wrong version of a gold answer, with one or two details altered."""
    language = gold.language
    fields = {"document": gold.document_text, "question": gold.question, "answer": gold.answer}
    rules = f"{TASKS[language][gold.task]} {RULES[language]}{MORE[language].get(gold.task, '')}"
    return prompted(rules, fields, REPLY[language], SCHEMA)
