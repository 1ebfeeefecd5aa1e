"""The edit type ``certainty``: a hedged statement of the document becomes a claim.

One way only: to hedge what a document says flatly says too little, not a wrong thing. So the wording tells
the twins apart, and the type is off by default.
"""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.perturb.edit import Edit, same_case
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.meaning.support import Candidate, bearing, first_made, plural, sentences
from data_pipeline.perturb.verbs_en import third
from data_pipeline.perturb.words import words
from judge.types import Language, Span

_HEDGES = re.compile(
    r"\b(?:may|might|could|can|suggest\w*|possib\w+|potential\w*|likely|probabl\w+|perhaps"
    r"|appear\w*|seem\w*|thought|believed|considered"
    r"|suspect\w*|hypothes\w+|presum\w+|expected|assumed?|speculat\w+|unclear|unknown|evidence"
    r"|sometimes|often|up to|risk)\b",
    re.I,
)
# Where a hedge is no hedge, or cannot go without a change of the rest.
_FORBID = re.compile(
    r"\b(?:not|no|never|nor|neither|only|if|unless|whether|as soon as|why|how|what"
    r"|[Pp]assages?)\b|n[’']t\b",
    re.I,
)
_MODAL = re.compile(
    r"(?<=[\w)] )(?P<modal>may|might|could)(?P<also> also| even| therefore| thus"
    r"| further)? (?P<verb>[a-z]+)\b(?! that\b)"
)
_NO_VERB = frozenset(words("no_verbs_en"))
"""What may stand after a modal verb and is no verb of its own, or one that a hedge belongs to."""
# Other hedges, and what they become.
_OTHERS: tuple[tuple[str, str], ...] = (
    (r"(?P<be>is|are|was|were) (?:thought|believed|suspected|presumed|assumed) to be", "{be} known to be"),
    (
        r"(?P<be>is|are|was|were) (?:thought|believed|suspected"
        r"|presumed|assumed) to (?!be\b|have\b)",
        "{be} known to ",
    ),
    (r"(?P<be>is|are) likely to ", "{be} certain to "),
    (r"(?P<be>is|are|was|were) (?:probably|possibly|likely|potentially)", "{be} clearly"),
    (r"suggests that", "proves that"),
    (r"suggest that", "prove that"),
    (r"suggested that", "proved that"),
    (r"(?:some|limited|preliminary) evidence", "clear evidence"),
    (r"appears to be", "is clearly"),
    (r"appear to be", "are clearly"),
    (r"seems to be", "is clearly"),
    (r"seem to be", "are clearly"),
)
_SUBJECT = re.compile(
    r"(?:^|: |, (?:and|but) |\bthat |\d\.\s|\*\s"
    r"|^[A-Z]\w+, )(?P<subject>(?:[\w%’'()/-]+ ){1,10})$"
)


def certainty(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Say flatly what the document hedges, where every sentence that bears it is hedged there."""
    if language != "en" or is_translation(answer, document):
        return None
    parts = sentences(answer)
    found = (candidate for part in parts for candidate in _claims(answer, part, document))
    return first_made("certainty", answer, document, rng, found)


def _claims(answer: str, part: Span, document: str) -> Iterator[Candidate]:
    """The hedges of a sentence, and the claims that they become."""
    text = answer[part.start : part.end]
    if _FORBID.search(text) or text.endswith("?") or len(_HEDGES.findall(text)) != 1:
        return
    said = bearing(text, document)
    if not said or not all(_HEDGES.search(other) for other in said):
        return
    for match in _MODAL.finditer(text):
        if new := _flat(text, match):
            yield part.start + match.start(), part.start + match.end(), new
    for old, pattern in _OTHERS:
        for match in re.finditer(rf"\b{old}", text, re.I):
            new = pattern.format(**match.groupdict())
            yield part.start + match.start(), part.start + match.end(), same_case(match[0], new)


def _flat(text: str, match: re.Match[str]) -> str | None:
    """ "may cause" becomes "causes" or "cause"; "will cause" where the subject's number cannot be told."""
    verb, also = match["verb"], match["also"] or ""
    if verb in _NO_VERB or verb.endswith("ly"):
        return None
    subject = _SUBJECT.search(text[: match.start()])
    number = _number(subject["subject"]) if subject else None
    if number is None:
        return None if verb == "be" else f"will{also} {verb}"
    if verb == "be":
        return f"{('is', 'are')[number]}{also}"
    return f"{also} {(third(verb), verb)[number]}".strip()


_UNCLEAR = re.compile(
    r"\b(?:with|to|for|as|than|by|from|who|which|that|at|when|and|or|you|it|this|they|we)\b|\w+(?:ing|ed)\b"
    r"|\b(?:number|majority|lot|half|most|some|all)$",
    re.I,
)


def _number(subject: str) -> int | None:
    """0 for a singular subject, 1 for a plural one, ``None`` where it cannot be told."""
    words = subject.split()
    head = words[0].lower()
    if len(words) == 1 and head in ("it", "this", "he", "she", "they", "these", "those"):
        return int(head in ("they", "these", "those"))
    if head in ("is", "are", "was", "were", "has", "have", "had"):
        return None
    core = re.split(r" (?:of|in|on) ", subject.strip())[0]
    if _UNCLEAR.search(subject if core == subject.strip() else core):
        return None
    if head in ("a", "an", "this", "that", "each", "every", "one"):
        return 0 if not plural(core) else None
    return int(plural(core)) if core[-1].isalpha() else None
