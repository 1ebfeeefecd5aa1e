"""English verb forms: the past and the third person of known verbs, and the way back."""

import re

from data_pipeline.text.words import pairs, words

_IRREGULAR = dict(pairs("irregular_verbs_en"))
_DOUBLED = frozenset(words("doubled_verbs_en"))
_SAME_IN_THE_PAST = ("read", "cut", "set", "put", "let", "hit", "shut")


def past(base: str) -> str:
    """The past form of a verb."""
    if base in _IRREGULAR:
        return _IRREGULAR[base]
    if base.endswith("e"):
        return base + "d"
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ied"
    return base + (base[-1] if base in _DOUBLED else "") + "ed"


def third(base: str) -> str:
    """The third person of a verb."""
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies"
    return base + ("es" if re.search(r"(?:s|x|ch|sh|z)$", base) else "s")


_BASES = sorted({*_IRREGULAR, *words("regular_verbs_en")})
PAST = {past(base): base for base in _BASES if past(base) not in _SAME_IN_THE_PAST}
"""Past form: base form. Verbs whose past could be a present are left out."""
