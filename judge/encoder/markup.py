"""Makes an encoder's tokenizer skip markup and phrases around an answer, so that form is not taken for fact.

    Based on the text given, it has **42** rooms [1]. I hope this helps!     is read as     it has 42 rooms.

The steps become part of ``tokenizer.json``, and with it of every copy and export of a judge. A token's place
in the text stays that of the original, so marked words are found where they are.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_EMOJI = r"[\x{1F1E6}-\x{1F1FF}\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B00}-\x{2BFF}\x{200D}\x{FE0F}]"
_TELL = "(let|tell) (me|us)( know)?"
_ASK = "(feel free|do(n['’]t| not) hesitate) to (ask|reach out|follow up)"
_TEXT = "(documents?|contexts?|texts?|passages?|information)"
_GIVEN = "(provided|given|above|following|retrieved|supplied)"
_WHOLE = f"(the( {_GIVEN})?|{_GIVEN}) {_TEXT}( (that (is|was|were) )?(provided|given)| above)?"
_WHOLE += f"( (contained )?in (the )?{_TEXT})?"
"""The document as a whole and nothing in it, so "According to the second document" is read."""
_STATED = "(stated|mentioned|described|explained|noted|said|written)"
_SAYS_NOTHING = (
    "a about again all an and another answer any anything are as assist assistance at based be brief by can"
    " clarification clarify concerns could detail details do else enough example examples explain explanation"
    " for found from get has have help helped helpful helps here how i if in into is it know like me might"
    " my need of on or out please provide queries query question questions reach require should short so some"
    " something still summary tell than that the there they this to unclear understand us want was we what"
    f" whether which will wish with would you your {_TEXT} {_GIVEN}"
)
"""The words that may follow a phrase, besides one after "more" and its like: no statement hides here."""
_MORE = r"(more|further|other|additional|specific|detailed)(\s+(more|detailed|specific))?(\s+[a-z]+)?"
# "Do not" begins the next phrase: "do not hesitate to ask".
_WORD = rf"(?!do\s+not)({_MORE}|({_SAYS_NOTHING.replace(' ', '|')})(['’](s|d|m|ll|re|ve))?)\b"
_TAIL = rf"(?>,?\s+{_WORD})*+"  # atomic: a long text takes no longer than its words
_OPENINGS = (
    r"(sure( thing)?|certainly|of course|absolutely|(great|good|excellent) question|hello|hi( there)?)[!.]+",
    f"(sure, |certainly, |of course, )?here('s|’s| is| are){_TAIL}:",
    "((final|short) )?(answer|response):",
    rf"((based|relying) on|according to|from|as {_STATED} (in|by)) {_WHOLE}\s*[,:]",
    f"{_WHOLE} (says?|states?|mentions?|notes?|explains?|indicates?|tells? us)( that|:)",
)
"""What stands before an answer and says nothing of the document."""
_CLOSINGS = (
    "((i|we) )?hope (this|that|it) (help|clarifie|answer|explain)s",
    f"(please |just )?({_TELL}|{_ASK})",
    f"if (you|there(['’]s)?|anything){_TAIL},? (please |just )?(ask|{_TELL}|{_ASK})",
    "(is|was) there anything else",
    "would you like (me to|to know more|more|any|further)",
    "(i['’](m|d be|ll be) |i (am|would be|will be) )?(always |more than )?(happy|glad|here) to"
    " (help|assist|explain|elaborate|answer|clarify)",
    "i (can|could) (help|explain|elaborate|clarify)",
    "(would|does|did|is|will) (this|that) (be|answer|help)",
    "that(['’]s| is) (all|everything) i (found|find|could find|have|know)",
    "thank(s| you) for (asking|your question|reaching out)",
    "have a (nice|great|good|wonderful|lovely) (day|evening|weekend)",
    "(best|kind|warm) (wishes|regards)",
    "(you['’]re|you are) welcome",
    "(good luck|enjoy|cheers)",
    f"sources?: {_WHOLE}",
)
"""How a last sentence begins that says nothing of the document."""


def _one_of(phrases: tuple[str, ...]) -> str:
    return "|".join(phrases).replace(" ", r"\s+")


STEPS = (
    rf"(?i)\A\s*(({_one_of(_OPENINGS)})\s*(?=\S))+",
    rf"(?i)\s*\((see|source:|from) {_WHOLE}\)".replace(" ", r"\s+"),
    r"(?:\s+|(?<=[.,;:!?)\"'”’]))(?:\[\d{1,3}\])+(?=\s|$|[.,;:!?])",  # citation marks, not an index: a[1]
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])",  # bold and italics, not a product: 2 * 3
    r"(?<=.)\s*" + _EMOJI + "+",  # an answer that is an emoji stays one
    r"(?:\A|(?<=\n))\s*(?:[•◦▪‣]|[-*](?= ))\s*",  # bullets
    # Closing phrases, after a sentence.
    rf"(?i)(?<=[.!?)\]\"'”’\n])(\s+({_one_of(_CLOSINGS)})\b{_TAIL}[.!?]*)+\s*\z",
)
"""Regular expressions (Oniguruma's) of what is skipped, in the order in which it is looked for."""


def skip_markup(tokenizer: "Tokenizer") -> None:
    """Put :data:`STEPS` in front of a tokenizer's own normalization."""
    from tokenizers import Regex, normalizers

    steps = [normalizers.Replace(Regex(step), "") for step in STEPS]
    own = [tokenizer.normalizer] if tokenizer.normalizer else []
    tokenizer.normalizer = normalizers.Sequence([*steps, *own])
