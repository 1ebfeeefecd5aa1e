"""Counterfactual question answering (Bi'an, section 2.2): a false answer with evidence, then a document."""

from collections.abc import Mapping

from data_pipeline.teachers.prompts.base import TEXT, Prompted, prompted, reply_schema
from judge.types import Language, Sample

EVIDENCE_SCHEMA = reply_schema(counterfactual_answer=TEXT, evidence=TEXT)
DOCUMENT_SCHEMA = reply_schema(document=TEXT)

EVIDENCE: Mapping[Language, tuple[str, str]] = {
    "en": (
        "Imagine a world in which the QUESTION has another answer than the TRUE_ANSWER. Name that answer: of "
        "the same kind and form, just as specific, believable, and in conflict with the true one. Then write "
        "one to three sentences of evidence from that world that state it word for word, answer the QUESTION "
        "by it, and mention the TRUE_ANSWER nowhere.",
        'Reply with JSON: "counterfactual_answer", only the other answer; "evidence", the sentences.',
    ),
    "zh": (
        "设想在另一个世界里，“question”的答案不是“true_answer”，而是另一个。请给出那个答案："
        "种类和形式与原答案相同，同样具体，令人信服，并且与原答案相冲突。"
        "再写一至三句出自那个世界的证据，其中逐字写出那个答案，足以据此回答问题，且任何地方都不提到“true_answer”。",
        "请用 JSON 回答：“counterfactual_answer”只写另一个答案；“evidence”写证据句子。",
    ),
}
EXPANSION: Mapping[Language, tuple[str, str]] = {
    "en": (
        "Expand the EVIDENCE into an encyclopedia entry of about {length} words. Everything in the EVIDENCE "
        "stays in it, its names, numbers and dates word for word, and nothing in it may conflict with the "
        "EVIDENCE. Add background around it. Do not ask whether the EVIDENCE is true, and correct nothing.",
        'Reply with JSON: "document", the text.',
    ),
    "zh": (
        "请把“evidence”扩写成一篇约{length}字的百科条目。证据的全部内容都要保留，其中的名称、数字和日期须逐字写出，"
        "任何内容都不得与证据冲突，可以补充相关背景。不要追究证据是否属实，也不要纠正任何内容。",
        "请用 JSON 回答：“document”为全文。",
    ),
}


def evidence_prompt(seed: Sample) -> Prompted:
    """First stage: ask for another answer to the seed's question, with evidence for it."""
    rules, reply = EVIDENCE[seed.language]
    return prompted(rules, {"question": seed.question, "true_answer": seed.answer}, reply, EVIDENCE_SCHEMA)


def expansion_prompt(evidence: str, language: Language, length: int) -> Prompted:
    """Second stage: ask for a document of about ``length`` words (characters in Chinese)."""
    rules, reply = EXPANSION[language]
    return prompted(rules.format(length=length), {"evidence": evidence}, reply, DOCUMENT_SCHEMA)
