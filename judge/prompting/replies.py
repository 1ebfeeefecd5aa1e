"""How a judge replies: the words for its two labels, and where they are in a reply.

The project's own judges reply with one word, or with JSON with the keys of
:data:`judge.prompting.prompts.KEYS`. Judges released by others reply in other forms, which their prompt
file defines (:mod:`judge.prompting.templates`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from judge.prompting.prompts import KEYS, LABEL_WORDS
from judge.types import Label, Language

Kind = Literal["json", "word"]
"""``json``: a JSON object with the reasoning and the label, or the bare label word. ``word``: the reply
begins with the label word, bare or in a tag (``<score> no </score>``), after a ``<think>`` block if there is
one."""


@dataclass(frozen=True)
class ReplyForm:
    """How a judge replies.

    Args:
        kind: where the label word is.
        words: the label words, by the language of the sample.
        keys: keys of the reasoning and of the label in JSON, by language.
        before: the reply's text before its label word; verdict mode asks for the word after it.
    """

    kind: Kind = "json"
    words: Mapping[Language, Mapping[Label, str]] = field(default_factory=lambda: LABEL_WORDS)
    keys: Mapping[Language, tuple[str, str]] = field(default_factory=lambda: KEYS)
    before: str = ""

    def pair(self, language: Language, written: str = "") -> tuple[str, str]:
        """The words for PASS and FAIL in a language. If ``written`` begins with a label word of any language,
        in any letter case, that language's pair in that case."""
        folded = written.upper()
        for words in (self.words[language], *self.words.values()):
            for word in words.values():
                if written and folded.startswith(word.upper()):
                    as_written = _case(written[: len(word)], word)
                    return as_written(words[Label.PASS]), as_written(words[Label.FAIL])
        return self.words[language][Label.PASS], self.words[language][Label.FAIL]


def _case(written: str, word: str) -> Callable[[str], str]:
    """A function that gives words the letter case in which a reply has ``word`` (``written``)."""
    if written == word:
        return str
    if written.isupper():
        return str.upper
    return str.lower if written.islower() else str.capitalize


DEFAULT = ReplyForm()
"""The reply form of the project's own prompts, which Lynx and Bi'an share."""
