"""Where the sentences of a text stand, in scripts with and without white space between them."""

import re
from functools import lru_cache

from judge.types import Span

# An end mark, with the quotes and brackets that close behind it, before white space and a new beginning; a
# Chinese or Japanese end mark wherever it stands; a line break. Titles and initials end no sentence.
_END = re.compile(
    r"(?<!(?<![A-Za-z])[A-Z])(?<!\b(?:Mr|Ms|Dr|St|No|vs))(?<!\b(?:Mrs|Gen|Inc|Ltd))(?<!\bProf)"
    r"[.!?]+[\"'\u201d\u2019)\]]*(?=\s+[^\sa-z.])"
    r"|[\u3002\uff01\uff1f]+[\u201d\u2019\u300d\u300f\uff09]*"
    r"|\n+"
)


@lru_cache(maxsize=512)
def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences and lines of a text, without the white space around them, in order."""
    ends = [match.end() for match in _END.finditer(text)]
    spans = []
    for start, end in zip([0, *ends], [*ends, len(text)], strict=True):
        part = text[start:end]
        if part.strip():
            spans.append(Span(start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
    return tuple(spans)
