"""The wording of reasonings, in English and Chinese: a line a claim, with quotes and what they show.

Wordings are drawn by the sample, never by the label or by what is right: a right and a wrong judgement of one
answer are worded alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from data_pipeline.teachers.reasoning.claims import around
from data_pipeline.teachers.reasoning.findings import Finding
from data_pipeline.text.content import CJK
from judge.types import Language, Sample

MOST_LINES = 6
"""Lines of a reasoning, but for wrong claims, which all have one."""
MAX_SAID = 80
"""Characters of a span of the answer that is named."""
_ECHO = {"en": 32, "zh": 12}
"""Characters by which a line names its sentence of the answer."""
_END = (".", "!", "?", "。", "！", "？", "…")

# Each drawn once a reasoning.
_TEXTS: Mapping[Language, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "says": ("The document says: {quotes}", "In the document: {quotes}", "The document has: {quotes}"),
        "agrees": ("The answer says the same.", "The answer agrees with it.", "This supports the answer."),
        "differs": (
            'The answer says "{said}" instead of "{there}".',
            'Where it has "{there}", the answer has "{said}".',
            'The answer puts "{said}" in the place of "{there}".',
        ),
        "against": (
            'The answer says "{said}", which does not agree with it.',
            'In the answer, "{said}" contradicts it.',
            'It does not support "{said}" in the answer.',
        ),
        "left_out": ('The answer leaves out "{there}".',),
        "absent": (
            'The document does not say "{said}".',
            'Nothing in the document supports "{said}".',
            'The document says nothing of "{said}".',
        ),
        "looked_for": ("Looked for: {question}", "To be answered: {question}"),
        "closest": ("The closest passage is {quotes}", "The nearest passage is {quotes}"),
        "unanswered": (
            "That is about something else, and nothing in the document answers it.",
            "This does not answer it, and nothing else in the document does.",
        ),
        "answered": (
            "That does answer it, although the answer says that the document does not.",
            "This answers it; the answer is wrong to say that the document does not.",
        ),
        "rest": ("The other {count} sentences stand in the document too.",),
        "rest_one": ("The other sentence stands in the document too.",),
    },
    "zh": {
        "says": ("文档中写道：{quotes}", "文档里说：{quotes}", "对照文档：{quotes}"),
        "agrees": ("答案与此一致。", "答案说的相同。", "这与答案相符。"),
        "differs": (
            "答案却把“{there}”说成了“{said}”。",
            "文档是“{there}”，答案却是“{said}”。",
            "答案用“{said}”代替了“{there}”。",
        ),
        "against": (
            "答案中的“{said}”与此不符。",
            "答案说“{said}”，与此矛盾。",
            "这并不支持答案中的“{said}”。",
        ),
        "left_out": ("答案漏掉了“{there}”。",),
        "absent": ("文档没有说“{said}”。", "文档中没有内容支持“{said}”。", "文档里找不到“{said}”。"),
        "looked_for": ("要找的是：{question}", "需要回答：{question}"),
        "closest": ("最接近的地方是{quotes}", "与此最近的是{quotes}"),
        "unanswered": ("这说的是别的事，文档中没有说到所问的。", "这没有说到它，文档别处也没有。"),
        "answered": ("这正说到了它，答案却说文档没有。", "文档在这里说到了它，答案说没有是错的。"),
        "rest": ("其余{count}句也都在文档中。",),
        "rest_one": ("其余一句也在文档中。",),
    },
}


class Wording:
    """Puts the findings about one sample into words, always in the same way for one sample."""

    def __init__(self, sample: Sample):
        self._sample = sample
        rng = Random(f"wording:{sample.id}")
        self._texts = {name: rng.choice(options) for name, options in _TEXTS[sample.language].items()}

    def reasoning(self, found: Sequence[Finding]) -> str:
        """One line a finding. Of many, those without fault are counted in the last line."""
        if len(found) == 1:
            return self._line(found[0], self._sample.question.strip())
        shown = _shown(found)
        lines = [f"- {self._echo(finding)}{self._line(finding)}" for finding in shown]
        if rest := len(found) - len(shown):
            lines.append("- " + self._say("rest" if rest > 1 else "rest_one", count=str(rest)))
        return "\n".join(lines)

    def _line(self, finding: Finding, question: str = "") -> str:
        if finding.refusal:
            parts = [self._say("looked_for", question=_closed(question, self._zh))] if question else []
            parts.append(self._say("closest", quotes=self._quotes(finding.quotes)))
            return self._join([*parts, self._say("answered" if finding.errors else "unanswered")])
        parts = [self._say("says", quotes=self._quotes(finding.quotes))]
        parts += self._faults(finding)
        if not finding.errors:
            parts.append(self._say("agrees"))
        return self._join(parts)

    def _faults(self, finding: Finding) -> Iterator[str]:
        missing = [_said(error.said) for error in finding.errors if error.kind == "absent"]
        if missing:
            yield self._say("absent", said=("”、“" if self._zh else '" or "').join(dict.fromkeys(missing)))
        for error in finding.errors:
            if error.kind == "differs" and error.said:
                yield self._say("differs", said=_said(error.said), there=_said(error.there))
            elif error.kind == "differs":
                yield self._say("left_out", there=_said(error.there))
            elif error.kind == "against":
                yield self._say("against", said=_said(next(around(finding.claim, error, error.said))))

    def _echo(self, finding: Finding) -> str:
        text = finding.claim.text.translate(_NO_QUOTES)
        return short(" ".join(text.split()), _ECHO[self._sample.language]).rstrip(" .。") + (
            "：" if self._zh else ": "
        )

    def _say(self, name: str, **values: str) -> str:
        return self._texts[name].format(**values)

    def _quotes(self, quotes: Sequence[str]) -> str:
        joint = "、" if self._zh else " and "
        return _closed(joint.join(quoted(quote, self._sample.language) for quote in quotes), self._zh)

    def _join(self, parts: Sequence[str]) -> str:
        return ("" if self._zh else " ").join(parts)

    @property
    def _zh(self) -> bool:
        return self._sample.language == "zh"


_NO_QUOTES = str.maketrans("", "", '"“”‘’「」')


def _said(text: str) -> str:
    return short(text.strip(" \n,;，；、"), MAX_SAID)


def _shown(found: Sequence[Finding]) -> list[Finding]:
    """All findings of a fault, and as many others as there is room for, in their order."""
    if len(found) <= MOST_LINES:
        return list(found)
    room = max(MOST_LINES - 1 - sum(bool(finding.errors) for finding in found), 0)
    shown = []
    for finding in found:
        if finding.errors or room > 0:
            shown.append(finding)
            room -= not finding.errors
    return shown


def quoted(text: str, language: Language) -> str:
    """A text between quotation marks that it does not hold itself, as far as there are any."""
    marks = ("“”", "「」", '""') if language == "zh" else ('""', "“”", "「」")
    chosen = next((pair for pair in marks if not set(pair) & set(text)), marks[0])
    return f"{chosen[0]}{text}{chosen[-1]}"


def _closed(text: str, zh: bool) -> str:
    """A text with a mark at its end, unless there is one, before a quotation mark or after."""
    if text.rstrip('"“”「」').endswith(_END):
        return text
    return text + ("。" if zh else ".")


def short(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, cut at a word."""
    if len(text) <= limit:
        return text
    cut = text[:limit]
    if text[limit].isascii() and text[limit].isalnum() and " " in cut:
        cut = cut.rsplit(maxsplit=1)[0]
    return cut.rstrip() + ("…" if CJK.search(cut) else " …")
