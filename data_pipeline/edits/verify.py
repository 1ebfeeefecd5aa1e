"""Is a proposed answer a clean wrong version of the gold one? Checked by rule, whoever proposed it.

Clean means: one or two edits that change a number, a date, a name, a negation or another content word; about
the length of the gold answer, in the same language; at least half the words of a sentence kept; and not a
statement of the document. No rule can say whether the document supports the new words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from data_pipeline.edits.edit import STATEMENT, bare, listed_together
from data_pipeline.text.content import CJK, stem
from data_pipeline.text.facts import find_facts
from data_pipeline.text.numbers import SMALL_VALUES
from data_pipeline.text.words import characters, words
from judge.types import Language, Sample

MAX_EDITS = 2
"""Bi'an, A.2."""
LENGTH_RATIOS = (2 / 3, 3 / 2)
"""Limits of the new answer's length over the gold one's, in words (characters in Chinese) ..."""
LENGTH_SLACK = 2
"""... unless they differ by at most this many."""
KEPT = 1 / 2
"""Share of a sentence's words (characters) that must stay, or it is another sentence, not an edit. A long
name may change entirely: a text without a full stop counts as a sentence only from twice ``STATEMENT``."""

NEGATIONS = frozenset({*words("negations_en"), *characters("negations_zh")})
_FUNCTION_WORDS = frozenset({*words("function_words_en"), *characters("function_words_zh")})
_ENDS = tuple(".!?。！？")
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+(?:[’'-][^\W_\u4e00-\u9fff]+)*")


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why there is no wrong answer: a short reason to count by, and details."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: ``replaced`` became ``inserted``, which starts at ``start`` of the new answer."""

    replaced: str
    inserted: str
    start: int


def verify(gold: Sample, answer: str) -> list[Change] | Rejected:
    """Check a proposed wrong answer against the gold one.

    Returns:
        The edits, one or two; or why the answer is rejected: ``empty``, ``same``, ``another language``,
        ``length``, ``stands in the document``, ``another sentence``, ``too many edits``, ``left out`` (it
        only says less) or ``paraphrase`` (no content word changed).
    """
    old, new = gold.answer, answer
    if not bare(new):
        return Rejected("empty")
    if bare(new) == bare(old):
        return Rejected("same")
    if bool(CJK.search(new)) != bool(CJK.search(old)):
        return Rejected("another language", new)
    length, wanted = len(_TOKEN.findall(new)), len(_TOKEN.findall(old))
    low, high = LENGTH_RATIOS
    if abs(length - wanted) > LENGTH_SLACK and not low * wanted <= length <= high * wanted:
        return Rejected("length", f"{length} words or characters instead of {wanted}")
    if length >= STATEMENT[gold.language] and bare(new) in bare(gold.document_text):
        return Rejected("stands in the document", new)
    added, removed = content(new) - content(old), content(old) - content(new)
    if not added and not removed:
        return exchange(old, new, gold.language) or Rejected("paraphrase", new)
    if not added and not NEGATIONS & removed.keys():
        return Rejected("left out", ", ".join(removed))
    before, after = (Counter(_TOKEN.findall(text.casefold())) for text in (old, new))
    sentence = wanted >= STATEMENT[gold.language] * (1 if old.rstrip().endswith(_ENDS) else 2)
    if sentence and (before & after).total() < KEPT * wanted:
        return Rejected("another sentence", new)
    edits = changes(old, new)
    count = len({(edit.replaced.casefold(), edit.inserted.casefold()) for edit in edits})
    return edits if count <= MAX_EDITS else Rejected("too many edits", f"{count} edits")


def changes(old: str, new: str) -> list[Change]:
    """The edits from one text to another, in order, without those that change only function words."""
    before, after = list(_TOKEN.finditer(old)), list(_TOKEN.finditer(new))
    matcher = SequenceMatcher(
        None, [match[0].casefold() for match in before], [match[0].casefold() for match in after], False
    )
    spans: list[tuple[int, int, int, int]] = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        between = before[spans[-1][1] : i1] if spans else []
        if len(between) == 1 and (between[0][0] in _FUNCTION_WORDS or CJK.match(between[0][0])):
            spans[-1] = (spans[-1][0], i2, spans[-1][2], j2)  # "mayor of Tarrow" is one span
        else:
            spans.append((i1, i2, j1, j2))
    found = []
    for i1, i2, j1, j2 in spans:
        replaced, inserted = _covered(old, before[i1:i2]), _covered(new, after[j1:j2])
        if content(replaced) != content(inserted):
            start = after[j1].start() if j1 < len(after) else len(new)
            found.append(Change(replaced, inserted, start))
    return found


def _covered(text: str, tokens: Sequence[re.Match[str]]) -> str:
    return text[tokens[0].start() : tokens[-1].end()] if tokens else ""


def content(text: str) -> Counter[str]:
    """The content words of a text, normalised so that spelling and inflection make no difference."""
    found: Counter[str] = Counter()
    for match in _TOKEN.finditer(text.replace("’", "'").casefold()):
        word = match[0]
        if word.endswith("n't"):
            word = "not"
        word = SMALL_VALUES.get(word, word.replace(",", ""))
        if word not in _FUNCTION_WORDS:
            found[word if word in NEGATIONS else stem(word)] += 1
    return found


def exchange(old: str, new: str, language: Language) -> list[Change]:
    """The edits of a text in which only facts of one kind change places (who beat whom).

    Empty if the texts differ in anything else, or if the two facts are listed ("A and B").
    """
    # Read together: a name at the start of a sentence is recognised by its place in the other text.
    facts = find_facts(f"{old}\n{new}", language)
    offset = len(old) + 1
    one = [fact for fact in facts if fact.end < offset]
    two = [fact for fact in facts if fact.start >= offset]
    frames = []
    for text, found, start in ((old, one, 0), (new, two, offset)):
        for fact in reversed(found):
            text = f"{text[: fact.start - start]} {fact.kind} {text[fact.end - start :]}"
        frames.append(bare(text))
    if frames[0] != frames[1]:
        return []
    moved = [
        Change(first.text, second.text, second.start - offset)
        for first, second in zip(one, two, strict=True)
        if first.text != second.text
    ]
    same = Counter(edit.replaced for edit in moved) == Counter(edit.inserted for edit in moved)
    listed = moved and listed_together(moved[0].replaced, moved[0].inserted, old)
    return moved if same and not listed else []
