"""Detects the language of a text by its script and common words; gives none for short texts and code."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from judge.errors import warn
from judge.types import Sample

READ = 2000
"""Only this many characters of a text are looked at."""
WORDS = 8
"""A text with fewer words may be just names or code."""
DISTINCT = 3
"""Distinct common words needed to recognize a language."""
SHARE = 0.15
"""Share of common words needed to recognize a language; running text has twice that."""

NAMES = {
    "en": "English", "zh": "Chinese", "ja": "Japanese", "ko": "Korean", "ru": "Russian", "de": "German",
    "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch", "ar": "Arabic",
    "el": "Greek", "hi": "Hindi",
}  # fmt: skip
COMMON = {
    "en": "the of and to in is was that for it with as on are by this which from be not have has at an or",
    "de": "der die das und ist nicht ein eine den dem des mit von zu auf für sich wurde im auch es er sie am",
    "fr": "le la les des et est une un dans que pour pas du sur au aux par qui avec il elle sont cette en",
    "es": "el la los las del y en un una es por con se para su que al lo como fue son más no está",
    "it": "il lo la gli le di e è un una che per con non del della sono nel da si come al dei ha",
    "pt": "o os as da do das dos e é um uma que para com não em no na por se foi são mais ao como",
    "nl": "de het een en van is dat niet op te met voor zijn was aan er ook naar door bij werd uit",
}
_COMMON = {language: frozenset(words.split()) for language, words in COMMON.items()}
_SCRIPTS = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "CJK": "zh", "CYRILLIC": "ru", "ARABIC": "ar",
    "GREEK": "el", "DEVANAGARI": "hi",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str | None:
    """The language of a text as a code, such as ``de``; ``None`` if it is not clear."""
    text = text[:READ]
    letters = [letter for letter in text if letter.isalpha()]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    found = Counter[str]()
    for script, language in _SCRIPTS.items():
        found[language] += scripts[script]
    if found.total() > max(WORDS, len(letters) / 2):
        return "ja" if found["ja"] > found.total() / 10 else found.most_common(1)[0][0]
    words = _WORD.findall(text.lower())
    hits = {language: [word for word in words if word in common] for language, common in _COMMON.items()}
    best = max(hits, key=lambda language: len(hits[language]))
    dominant = (
        len(words) >= WORDS and len({*hits[best]}) >= DISTINCT and len(hits[best]) >= SHARE * len(words)
    )
    # Names have words of other languages (Los Angeles, van der Waals), so English words around them decide.
    return best if dominant and (best == "en" or len(hits[best]) > 2 * len(hits["en"])) else None


class LanguageWatch:
    """Counts samples in languages that a judge was not trained on.

    Args:
        known: codes of the judge's languages; empty if not known.
        at_once: warn at the first such sample.
    """

    def __init__(self, known: Collection[str], at_once: bool = False):
        self.known, self.at_once = known, at_once
        self.seen = 0
        self.foreign: Counter[str] = Counter()

    def see(self, sample: Sample) -> None:
        """Look at document and answer of one sample."""
        self.seen += 1
        if not self.known:
            return
        languages = (language_of(sample.document_text), language_of(sample.answer))
        language = next((found for found in languages if found and found not in self.known), None)
        if language is None:
            return
        self.foreign[language] += 1
        if self.at_once and self.foreign.total() == 1:
            self.tell()

    def look_through(self, samples: Iterable[Sample]) -> None:
        """Look at all samples, then warn of those in foreign languages."""
        for sample in samples:
            self.see(sample)
        self.tell()

    def tell(self) -> None:
        """Warn if any sample was in a foreign language."""
        if not self.foreign:
            return
        found = ", ".join(f"{NAMES[language]} ({count})" for language, count in self.foreign.most_common())
        trained = ", ".join(NAMES.get(language, language) for language in self.known)
        which = "this text is" if self.seen == 1 else f"{self.foreign.total()} of {self.seen} samples are"
        warn(
            f"{which} in a language that the judge was not trained on: {found}; it knows {trained}, and its "
            "verdicts on others mean little"
        )
