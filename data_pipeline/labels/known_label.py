"""Reasonings for known labels: Lynx's way, with gold answer and change, and Bi'an's backward reasoning.

Both give judgements with the gold label, which become rows like those of an ensemble. Neither is label-free
teaching: a model that is told the label argues for it, right or wrong.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.rows import gold_label
from data_pipeline.teachers.base import Ask, Judgement, ask_each, reply_points
from data_pipeline.teachers.prompts.base import Prompted
from data_pipeline.teachers.prompts.known_label import known_label_prompt
from judge.types import Label, Sample

_TOLD = re.compile(
    r"</?(?:change|gold_answer)>|\bCHANGE\b|\b(?i:gold(?:en)?[ _]answer)\b|\boriginal answer\b|\bpertur\w+"
    r"|\banswer (?:was|has been|is) (?:altered|changed|modified|edited)\b"
    r"|\b(?:given|stated|known|provided) (?:result|label|verdict|judge?ment)\b|\b(?:was|were|am|are) told\b"
    r"|改动|篡改|扰动|被(?:改|替换|修改)"
    r"|(?:标准|原)答案|(?:已知|给定|事先)的?(?:结果|结论|标签|判断)"
)


def reason_for_label(
    teacher: str, ask: Ask, samples: Iterable[Sample], gold_answer: Callable[[Sample], str] | None
) -> Iterator[Judgement]:
    """A judgement with the gold label for every sample, in order; the reasoning has a line per bullet point.

    Args:
        teacher: name of the model.
        ask: sends prompts to the model.
        samples: samples with gold labels.
        gold_answer: gives the answer that a hallucinated one was made from, or an empty text. The model sees
            it and the change made to it (``meta["change"]``), as in Lynx (A.1); with ``None`` the label is
            the only hint (Bi'an, appendix E).

    Yields:
        ``label`` is ``None`` if the reply has no reasoning, or one that reveals what the model was told.
    """

    def prompt(sample: Sample) -> Prompted:
        label = gold_label(sample)
        if gold_answer is None or label is Label.PASS:
            return known_label_prompt(sample, label)
        return known_label_prompt(sample, label, str(sample.meta.get("change", "")), gold_answer(sample))

    for sample, reply in ask_each(samples, prompt, ask):
        found = reply_points(reply, "reasoning")
        if isinstance(found, Rejected):
            yield Judgement(teacher, None, problem=found.reason, raw=reply.text)
        elif _TOLD.search(found):
            yield Judgement(teacher, None, problem="names what it was told", raw=reply.text)
        else:
            yield Judgement(teacher, gold_label(sample), found, raw=reply.text)
