"""English direction words (more, before, increased): where a text uses one that can be reversed."""

import re
from collections.abc import Iterator
from functools import cache

from data_pipeline.edits.edit import at_start
from data_pipeline.text.words import pairs

# Patterns that must match right before and right after a word for a safe swap; words not listed need none.
_MEASURED = (
    r" (?:risk|rates?|levels?|prevalence|incidence|mortality|morbidity|sensitivity|specificity|accuracy"
    r"|quality|costs?|prices?|temperatures?|pressures?|concentrations?|speeds?|incomes?|doses?|proportion|percentage"
    r"|number|density|frequency|yield|energy|unemployment|inflation|demand|scores?|resolution|affinity)\b"
)
_STRENGTH = (
    r" (?:associations?|correlations?|predictors?|evidence|effects?|links?|relationships?|support|growth"
    r"|demand|performance|winds?|immune|response|interest)\b"
)
_OWNED = (
    r"(?: (?:schools?|sectors?|compan(?:y|ies)|universit(?:y|ies)|hospitals?|fund\w*|land|ownership|transport"
    r"|institutions?|investment|college|insurance|clinics?)\b|[.,;]?$)"
)
_EVENT = (
    r" (?:(?:the |his |her |its |their )?(?:\d|[A-Z][a-z]+day|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|war|elections?|match|game|meeting|treatment|surgery|operation|birth"
    r"|death|onset|discharge|admission|transplant\w*|infection|intervention|delivery|procedure|therapy|training"
    r"|end|start|beginning|lunch|dinner|midnight|noon|dawn|sunset))\b"
)
_INTRANSITIVE = r" (?:by|from|to|slightly|sharply|significantly|again|in|over|with|during|after|at)\b|[.,;]|$"
_NEEDS: dict[str, tuple[str, str]] = {
    "over": (
        r"\b(?:just|well|for|by|of|costs?|takes?|took|has|have|had|weighs?|is|are|was|were|with|after) $",
        r" (?:the age|\d)",
    ),
    **dict.fromkeys(
        ("approved", "accepted", "rejected"),
        (
            r"\b(?:was|were|is|are|been|be|not|has|have|had|it|they|he|she|who|which"
            r"|[Cc]ouncil|[Cc]ommittee|[Bb]oard|[Cc]ourt|[A-Z]\w+) $",
            "",
        ),
    ),
    "under": ("", r" (?:the age|\d[\d,.]*(?![\w’'])|[a-z]+ty )"),
    "left": (r"\b(?:the|its|his|her) $", r" (?:bank|side|hand|wing|shore|arm|leg)|-hand"),
    "right": (r"\b(?:the|its|his|her) $", r" (?:bank|side|hand|wing|shore|arm|leg)|-hand"),
    "early": ("", r" (?:in|on|\d|January|[A-Z]|spring|summer|autumn|winter|morning)"),
    "late": (r"(?<!the )$", r" (?:in|on|\d|spring|summer|autumn|winter)"),
    "later": (r"(?:\b(?:years?|days?|months?|weeks?|was|is|were|much|even|no) |^)$", ""),
    "longer": (r"(?<!no )(?<!any )$", ""),
    "more": (
        r"(?<!once )(?<!no )(?<!any )(?<!some )(?<!and )(?<!\d )(?<!what is )$",
        r" (?!or\b|and\b|expensive|could|can\b|would|will\b|is\b|are\b)\w",
    ),
    "less": (r"(?<!no )(?<!or )$", r" \w"),
    "fewer": (r"(?<!no )$", r" \w"),
    "the most": ("", r" (?!of\b|part|recent)\w"),
    **dict.fromkeys(
        ("after", "before"),
        (r"(?<!named )(?<!look )(?<!looked )(?<!looking )(?<!called )(?<!care )$", _EVENT),
    ),
    "above": ("", r"(?! all\b| sea level)"),
    "below": ("", r" (?:the|\d|average|normal|\w+ (?:levels?|limits?|thresholds?))\b(?! sea level)"),
    **dict.fromkeys(("high", "low"), (r"(?<!-)(?<!as )$", _MEASURED)),
    **dict.fromkeys(
        ("higher", "lower", "upper"),
        (
            "",
            r"(?! (?:reaches|parts?|thirds?|lobes?|half|limbs?|extremit|back|respiratory|urinary|tract"
            r"|secondary|education|house"
            r"|court|body|class|bound|lip|ureter|gastro|airway))",
        ),
    ),
    **dict.fromkeys(("strong", "weak"), (r"(?<!not a )$", _STRENGTH)),
    **dict.fromkeys(("permitted", "forbidden", "allowed"), (r"\b(?:is|are|was|were|be|been|not) $", "")),
    **dict.fromkeys(("public", "private"), (r"(?<!the )$", _OWNED)),
    **dict.fromkeys(("minority", "majority"), (r"\b(?:a|the|vast|large|small) $", r" of\b")),
    **dict.fromkeys(
        ("largest", "smallest", "oldest", "youngest", "highest", "lowest"),
        ("", r"(?!-| (?:city|town|country|state|details?|man|woman|person|living)\b)"),
    ),
    **dict.fromkeys(("improved", "worsened"), (r"(?<!an )(?<!the )$", _INTRANSITIVE)),
    "safe": ("", r"(?! and\b| or\b|[^.]*\bwithout\b)"),
    "possible": (r"\b(?:is|was|be|not|made) $", ""),
    "impossible": (r"\b(?:is|was|be|made) $", ""),
    "best": (r"(?<!at )$", r"(?!-| known| of| practice| viewed| described| understood| used)"),
    "better": ("", r"(?!-| known)"),
    **dict.fromkeys(
        ("lost", "won"), ("", r" (?:the (?:match|elections?|game|war|battle|case|race|final|vote)|\d)")
    ),
    "gained": ("", r" \d"),
    **dict.fromkeys(("start", "end"), (r"\b(?:by|at|until|since|before|after|towards?) the $", r" of\b")),
    **dict.fromkeys(
        ("closed", "opened"), (r"\b(?:was|were|is|are|be|been|being) $", r"(?!-| to\b| with\b| by\b)")
    ),
    "spring": (r"\b(?:in|the|of|early|late|this|next|each|every) $", r"(?! water)"),
    **dict.fromkeys(
        ("fell", "rose", "falls", "rises"), ("", r" (?:by|to|from|slightly|sharply|again)\b|[.,]")
    ),
    **dict.fromkeys(("growth", "decline"), ("", r" (?:in|of)\b")),
    "similar": (r"(?<!or )$", r"(?! and\b)"),
    "different": (r"\b(?:is|are|was|were|significantly|very|quite|markedly|not) $", r"(?! types?| ways?)"),
    **dict.fromkeys(("positive", "negative"), (r"(?<!false )$", "")),
    **dict.fromkeys(("earlier",), ("", r" \w|[.,]")),
    **dict.fromkeys(
        ("began", "begins", "started", "starts", "ended", "ends"),
        (r"\b[a-z]+(?<!s) $", r" (?:on|in|at|from|after|before)\b|[.,]"),
    ),
    **dict.fromkeys(
        ("north", "south", "east", "west"), (r"(?<!-)(?<![a-z] and )$", r"(?!-| and | or | [A-Z])")
    ),
    **dict.fromkeys(("advantage", "disadvantage"), (r"\b(?:an?|the|no|main|major) $", "")),
    **dict.fromkeys(("preoperative", "postoperative"), (r"(?<!/)$", "")),
}


_TO_RARER = frozenset(pairs("directions_en"))
DIRECTIONS: dict[str, tuple[str, ...]] = {}
"""Each direction word with its opposites."""
for _one, _two in pairs("directions_en"):
    DIRECTIONS[_one] = (*DIRECTIONS.get(_one, ()), _two)
    DIRECTIONS[_two] = (*DIRECTIONS.get(_two, ()), _one)


def is_rarer(word: str, opposite: str) -> bool:
    """Is ``opposite`` rarer in texts than ``word``? The table names the commoner of a pair first."""
    return (word.lower(), opposite.lower()) in _TO_RARER


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each word with its whole-word pattern, longest first."""
    words = sorted(DIRECTIONS, key=lambda item: (-len(item), item))
    return tuple((word, re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w])", re.I)) for word in words)


def direction_spots(answer: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """The direction words that can be reversed: start, the word as written, and its opposites."""
    taken: list[range] = []
    small = answer.lower()
    for word, pattern in _patterns():
        for match in pattern.finditer(answer) if word in small else ():
            start, end = match.span()
            before, after = answer[:start], answer[end:]
            if any(start < spot.stop and end > spot.start for spot in taken):
                continue
            need = _NEEDS.get(word, ("", ""))
            if not re.search(need[0], before) or not re.match(need[1], after):
                continue
            if match.group()[0].isupper() and not at_start(before):
                continue
            if match.group().isupper() or (match.group()[0].isupper() and re.match(r" [A-Z]", after)):
                continue
            taken.append(range(start, end))
            yield start, answer[start:end], DIRECTIONS[word]
