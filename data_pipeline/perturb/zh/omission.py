"""The edit type ``omission`` in Chinese: an exception or a condition goes, and the rest says too much."""

import re
from random import Random

from data_pipeline.perturb.edit import Edit
from data_pipeline.perturb.zh.edit import chinese_edit
from data_pipeline.perturb.zh.segment import plain, words_in
from judge.types import Language

# An exception, or a condition of what may, must or will be.
_LIMIT = re.compile(
    r"(?:(?<=[。；，：\n])|^)"
    r"(?:(?P<condition>(?:如果|若(?!非|干)|倘若|假如|只要)(?!没|不是|可以)[^，。；]{2,30}|如[^，。；]{2,12}属实"
    r"|(?:在|当)[^，。；]{2,24}(?:情况下|条件下|前提下|情形下))"
    r"|除(?!了|此|非)[^，。；]{1,20}(?:外|以外|之外))，"
    r"(?!例如|否则|那|这|则|就|便|才|并|而|也|均|都)(?P<rest>[^，。；]{4,})"
)
_ADDS = re.compile(r"还|也|又|另|更|包括|^(?:是|为)")
_MODAL = re.compile(r"可|会|将|应|能|须|必|不得|要|得")
_ASKS_CONDITION = re.compile(r"时|情况|如果|若|条件|前提")


def omission(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Leave out one exception (除…外) or condition (如果…) that opens a statement."""
    text = plain(answer)
    asked = _ASKS_CONDITION.search(plain(question))
    spots = [
        match
        for match in _LIMIT.finditer(text)
        if not _ADDS.search(match["rest"])
        and (not match["condition"] or (_MODAL.search(match["rest"]) and not asked))
    ]
    rng.shuffle(spots)
    for match in spots:
        rest = words_in(answer, match.start("rest"), match.end("rest"))
        if not rest or any(
            plain(word.text) in plain(question) for word in words_in(answer, *match.span())[:1]
        ):
            continue
        # The first words of what stays are named too, so that something is put in.
        end = rest[min(1, len(rest) - 1)].end
        if edit := chinese_edit(
            "omission", answer, document, [(match.start(), end, answer[rest[0].start : end])]
        ):
            return edit
    return None
