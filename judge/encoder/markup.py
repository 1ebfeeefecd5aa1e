"""Makes an encoder's tokenizer skip markup and closing phrases, so that form is not mistaken for fact.

    It has **42** rooms [1][2]. I hope this helps!     is read as     It has 42 rooms.

The steps become part of ``tokenizer.json``, and with it of every copy and export of a judge. A token's place
in the text stays that of the original, so marked words are found where they are.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_EMOJI = r"[\x{1F1E6}-\x{1F1FF}\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{200D}\x{FE0F}]"
_TELL, _ASK = "let (me|us) know", "(feel free|do(n['’]t| not) hesitate) to (ask|reach out|follow up)"
_CLOSINGS = (
    "((i|we) )?hope (this|that|it) (help|clarifie|answer|explain)s",
    f"(please |just )?({_TELL} (if|whether|how|what)|{_ASK})",
    rf"if (you|there|anything)\b[^.!?\n\d@]*, (please |just )?(ask|{_TELL}|{_ASK})",
    "(is|was) there anything else",
    "would you like (me to|to know more|more|any|further)",
    "(i['’](m|d be|ll be) |i (am|would be|will be) )?(always |more than )?(happy|glad|here) to"
    " (help|assist|explain|elaborate|answer|clarify)",
    "thank(s| you) for (asking|your question|reaching out)",
    "have a (nice|great|good|wonderful|lovely) (day|evening|weekend)",
)
"""How a last sentence begins that says nothing of the document."""
_CLOSING = "|".join(_CLOSINGS).replace(" ", r"\s+")
STEPS = (
    r"(?:\s+|(?<=[.,;:!?)\"'”’]))(?:\[\d{1,3}\])+(?=\s|$|[.,;:!?])",  # citation marks, not an index: a[1]
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])",  # bold and italics, not a product: 2 * 3
    r"(?<=.)\s*" + _EMOJI + "+",  # an answer that is an emoji stays one
    r"(?:\A|(?<=\n))\s*(?:[•◦▪‣]|[-*](?= ))\s*",  # bullets
    # Closing phrases, after another sentence and without a figure or an address.
    rf"(?i)(?<=[.!?)\]\"'”’\n])(\s+({_CLOSING})\b[^.!?\n\d@]*[.!?]*)+\s*\z",
)
"""Regular expressions (Oniguruma's) of what is skipped, in the order in which it is looked for."""


def skip_markup(tokenizer: "Tokenizer") -> None:
    """Put :data:`STEPS` in front of a tokenizer's own normalization."""
    from tokenizers import Regex, normalizers

    steps = [normalizers.Replace(Regex(step), "") for step in STEPS]
    own = [tokenizer.normalizer] if tokenizer.normalizer else []
    tokenizer.normalizer = normalizers.Sequence([*steps, *own])
