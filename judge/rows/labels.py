"""Gold labels in the words of data sets."""

import re
from collections.abc import Mapping

from judge.errors import InputError, unknown
from judge.types import Label

Meanings = Mapping[str, Label | None]
"""What a data set's own label words mean, as :func:`plain_label` gives them; ``None`` for no label."""

LABEL_WORDS: Mapping[str, Label] = {
    **dict.fromkeys(
        ("pass", "faithful", "supported", "grounded", "consistent", "entailed", "not hallucinated", "通过"),
        Label.PASS,
    ),
    **dict.fromkeys(
        ("fail", "hallucinated", "hallucination", "unfaithful", "not faithful", "unsupported",
         "not supported", "ungrounded", "inconsistent", "not consistent", "not entailed", "失败"),
        Label.FAIL,
    ),
}  # fmt: skip
TRUE, FALSE = ("1", "true", "yes", "y"), ("0", "false", "no", "n")


def plain_label(value: object) -> str:
    """A label word in lower case, its parts joined by one space: NOT_ENOUGH_INFO is "not enough info".

    ``None`` gives an empty text, and 1.0 gives 1, since tables with gaps turn whole numbers into floats.
    """
    word = "" if value is None else str(value).strip().casefold()
    return re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", " ", re.sub(r"^(-?\d+)\.0+$", r"\1", word))


def meanings_of(column: str) -> dict[str, Label | None]:
    """What yes and no mean in a column named after a label, such as ``is_hallucinated``; else nothing."""
    label = LABEL_WORDS.get(re.sub(r"^(?:is|has) ", "", plain_label(column)))
    if label is None:
        return {}
    return {**dict.fromkeys(TRUE, label), **dict.fromkeys(FALSE, label.opposite)}


def parse_label(value: object, means: Meanings | None = None) -> Label | None:
    """The label that a data set's word stands for; ``None`` if there is none.

    Args:
        value: a word, a number or a boolean.
        means: meanings of words, which add to or override :data:`LABEL_WORDS`.

    Raises:
        InputError: if the word is unknown; 1 and true are "hallucinated" in some sets, "supported" in others.
    """
    word = plain_label(value)
    if means and word in means:
        return means[word]
    if word == "":
        return None
    if word in TRUE or word in FALSE:
        at = (TRUE if word in TRUE else FALSE).index(word)
        how = _how_to_say(f"{FALSE[at]}=PASS", f"{TRUE[at]}=FAIL")
        raise InputError(f"{value!r} may mean hallucinated or supported; say which: {how}")
    if word not in LABEL_WORDS:
        how = _how_to_say(f"{word}=FAIL")
        raise InputError(f"{unknown('label', value, Label)}; say what other words mean: {how}")
    return LABEL_WORDS[word]


def _how_to_say(*meanings: str) -> str:
    recipe = ", ".join(meanings).replace("=", ": ")
    return f"--gold-labels {','.join(meanings)}; in a data recipe, labels: {{{recipe}}}"
