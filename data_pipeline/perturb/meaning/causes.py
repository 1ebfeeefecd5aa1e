"""The edit type ``cause``: a cause where the document has no more than an association."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.edit import Edit
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.meaning.support import Candidate, bearing, first_made, sentence_at
from judge.types import Language

_CAUSAL = re.compile(
    r"\b(?:caus\w+|led to|leads? to|leading to|results? in|resulted in|due to|because|owing to"
    r"|responsible for|induc\w+|trigger\w*"
    r"|thanks to|as a result|produc\w+|brought about|therefore|effects? of)\b",
    re.I,
)
_LINK = re.compile(
    r"\b(?:associat\w+|correlat\w+|linked|related|relationship|predict\w*|risk factors?|odds"
    r"|hazard|relative risk|OR|HR|RR)\b"
)
_TRIAL = re.compile(r"\brandomi[sz]|\bplacebo\b", re.I)
"""What gives a cause."""
_HOW = r"(?:(?:significantly|strongly|independently|positively|also|closely) )*"
# An association, and the cause that is made of it.
_TO_CAUSE: tuple[tuple[str, str], ...] = (
    (rf"was {_HOW}associated with", "was responsible for"),
    (rf"were {_HOW}associated with", "were responsible for"),
    (rf"is {_HOW}associated with", "is responsible for"),
    (rf"are {_HOW}associated with", "are responsible for"),
    (r"(?:was|were) (?:linked|related) to", "caused"),
    (r"is (?:linked|related) to", "causes"),
)


def cause(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Claim a cause of what the document only sees together ("associated with": "responsible for").

    The document must have the association, and say nothing causal where it bears the sentence. One way only:
    who says "associated" for a cause says too little, not a wrong thing. So the wording tells the twins
    apart, and the type is off by default.
    """
    if language != "en" or is_translation(answer, document):
        return None
    return first_made("cause", answer, document, rng, _claimed(answer, document))


def _claimed(answer: str, document: str) -> Iterator[Candidate]:
    if _TRIAL.search(document):
        return
    for old, new in _TO_CAUSE:
        for match in re.finditer(rf"\b{old}(?= [a-z])", answer):
            part = sentence_at(answer, match.start())
            text = answer[part.start : part.end]
            texts = bearing(text, document, 0.3)
            if re.search(r"\b(?:no|not|nor|neither|whether|if|factors?)\b|n[’']t\b", text):
                continue
            if any(_LINK.search(said) for said in texts) and not any(_CAUSAL.search(said) for said in texts):
                yield match.start(), match.end(), new
