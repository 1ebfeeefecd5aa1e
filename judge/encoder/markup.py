"""Makes an encoder's tokenizer skip markup, so that form is not mistaken for fact.

    It has **42** rooms [1][2].     is read as     It has 42 rooms.

The steps become part of ``tokenizer.json``, and with it of every copy and export of a judge. A token's place
in the text stays that of the original, so marked words are found where they are.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_EMOJI = r"[\x{1F1E6}-\x{1F1FF}\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{200D}\x{FE0F}]"
STEPS = (
    r"(?:\s+|(?<=[.,;:!?)\"'”’]))(?:\[\d{1,3}\])+(?=\s|$|[.,;:!?])",  # citation marks, not an index: a[1]
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])",  # bold and italics, not a product: 2 * 3
    r"(?<=.)\s*" + _EMOJI + "+",  # an answer that is an emoji stays one
    r"(?:\A|(?<=\n))\s*(?:[•◦▪‣]|[-*](?= ))\s*",  # bullets
)
"""Regular expressions (Oniguruma's) of what is skipped, in the order in which it is looked for."""


def skip_markup(tokenizer: "Tokenizer") -> None:
    """Put :data:`STEPS` in front of a tokenizer's own normalization."""
    from tokenizers import Regex, normalizers

    steps = [normalizers.Replace(Regex(step), "") for step in STEPS]
    own = [tokenizer.normalizer] if tokenizer.normalizer else []
    tokenizer.normalizer = normalizers.Sequence([*steps, *own])
