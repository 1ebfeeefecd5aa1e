"""Makes an encoder's tokenizer skip markup and phrases around an answer, so that form is not taken for fact.

    Based on the text given, it has **42** rooms [1]. I hope this helps!     is read as     it has 42 rooms.

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
    f"(please |just )?({_TELL}|{_ASK})",
    f"if (you|there(['’]s)?|anything)TAIL,? (please |just )?(ask|{_TELL}|{_ASK})",
    "(is|was) there anything else",
    "would you like (me to|to know more|more|any|further)",
    "(i['’](m|d be|ll be) |i (am|would be|will be) )?(always |more than )?(happy|glad|here) to"
    " (help|assist|explain|elaborate|answer|clarify)",
    "thank(s| you) for (asking|your question|reaching out)",
    "have a (nice|great|good|wonderful|lovely) (day|evening|weekend)",
)
"""How a last sentence begins that says nothing of the document."""
_SAYS_NOTHING = (
    "a about again all an and another any anything are as assist assistance at be best better by can"
    " clarification clarify concerns could detail details do else example examples explain explanation"
    " for from get has have help helped helps here how i if in information into is it know like me might"
    " my need of on or out please provide queries query question questions reach require should so some"
    " something still tell than that the there they this to unclear understand us want was we what"
    " whether which will wish with would you your"
)
"""The words that may follow, besides one after "more" and its like, so that no statement hides here."""
_MORE = r"(more|further|other|additional|specific|detailed)(\s+(more|detailed|specific))?(\s+[a-z]+)?"
# "Do not" begins the next phrase: "do not hesitate to ask".
_WORD = rf"(?!do\s+not)({_MORE}|({_SAYS_NOTHING.replace(' ', '|')})(['’](s|d|m|ll|re|ve))?)\b"
_TAIL = rf"(?>,?\s+{_WORD})*+"  # atomic: a long text takes no longer than its words
_CLOSING = "|".join(_CLOSINGS).replace(" ", r"\s+").replace("TAIL", _TAIL)
_TEXT = "(documents?|contexts?|texts?|passages?|information)"
_GIVEN = "(provided|given|above|following|retrieved|supplied)"
_OPENING = (
    f"((based|relying) on|according to|from) (the( {_GIVEN})?|{_GIVEN}) {_TEXT}"
    f"( (that (is|was|were) )?(provided|given)| above)?( (contained )?in (the )?{_TEXT})?"
).replace(" ", r"\s+")
"""Names the document as a whole and nothing in it, so "According to the second document" is read."""
STEPS = (
    rf"(?i)\A\s*{_OPENING}\s*[,:]\s*(?=\S)",
    r"(?:\s+|(?<=[.,;:!?)\"'”’]))(?:\[\d{1,3}\])+(?=\s|$|[.,;:!?])",  # citation marks, not an index: a[1]
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])",  # bold and italics, not a product: 2 * 3
    r"(?<=.)\s*" + _EMOJI + "+",  # an answer that is an emoji stays one
    r"(?:\A|(?<=\n))\s*(?:[•◦▪‣]|[-*](?= ))\s*",  # bullets
    rf"(?i)(?<=[.!?)\]\"'”’\n])(\s+({_CLOSING})\b{_TAIL}[.!?]*)+\s*\z",  # closing phrases, after a sentence
)
"""Regular expressions (Oniguruma's) of what is skipped, in the order in which it is looked for."""


def skip_markup(tokenizer: "Tokenizer") -> None:
    """Put :data:`STEPS` in front of a tokenizer's own normalization."""
    from tokenizers import Regex, normalizers

    steps = [normalizers.Replace(Regex(step), "") for step in STEPS]
    own = [tokenizer.normalizer] if tokenizer.normalizer else []
    tokenizer.normalizer = normalizers.Sequence([*steps, *own])
