"""The edit type ``omission`` in Chinese: an exception or a condition is left out, and the rest says too much."""

import re
from random import Random

from data_pipeline.perturb.edit import Edit
from data_pipeline.perturb.edit_zh import chinese_edit
from data_pipeline.perturb.segment_zh import plain, words_in
from judge.types import Language

_LIMIT = re.compile(
    r"(?:(?<=[。；，：\n])|^)"
    r"(?:(?:如果|如|若|倘若|假如|只要|除非)(?!没|不是)[^，。；]{2,30}|(?:在|当)[^，。；]{2,24}(?:情况下|条件下|前提下|情形下)"
    r"|除(?!了|此)[^，。；]{1,20}(?:外|以外|之外)|(?:经|取得)[^，。；]{2,16}(?:同意|批准|许可|授权)(?:后|的)?)，"
    r"(?P<link>则|就|那么|便|才|也|均|都)?(?P<rest>[^，。；]{4,})"
)
_ADDS = re.compile(r"还|也|又|另|更|包括|^(?:是|为)")


def omission(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Leave out one exception (除…外) or condition (如果…) that opens a statement."""
    text = plain(answer)
    spots = [
        match for match in _LIMIT.finditer(text) if not _ADDS.search(match["rest"]) and not match["link"]
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
