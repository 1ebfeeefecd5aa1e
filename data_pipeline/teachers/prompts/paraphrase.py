"""A second teacher's check of a perturbed answer: is it another statement, or the same in other words?"""

from collections.abc import Mapping

from data_pipeline.teachers.prompts.base import TEXT, Prompted, prompted, reply_schema
from judge.types import Language, Sample

SCHEMA = reply_schema(difference=TEXT, same_meaning={"type": "boolean"})

RULES: Mapping[Language, str] = {
    "en": (
        "Compare ANSWER and OTHER_ANSWER. They have the same meaning if neither states anything that the "
        "other does not, however it is worded. Whether they are true is not asked."
    ),
    "zh": (
        "请比较“answer”与“other_answer”。无论措辞如何，只要双方陈述的内容完全相同，意思就相同。"
        "不必判断它们是否属实。"
    ),
}
REPLY: Mapping[Language, str] = {
    "en": (
        'Reply with JSON: first "difference", the difference in meaning in one sentence, or "none"; '
        'then "same_meaning", true or false.'
    ),
    "zh": (
        "请用 JSON 回答：先写“difference”，用一句话说明意思上的差别，没有则写“无”；"
        "再写“same_meaning”，取值 true 或 false。"
    ),
}


def paraphrase_prompt(gold: Sample, answer: str) -> Prompted:
    """Ask whether ``answer`` means the same as the gold answer."""
    fields = {"question": gold.question, "answer": gold.answer, "other_answer": answer}
    return prompted(RULES[gold.language], fields, REPLY[gold.language], SCHEMA)
