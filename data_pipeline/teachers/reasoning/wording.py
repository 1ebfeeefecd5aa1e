"""The wording of reasonings, in English and Chinese: one line per claim, with quotes and what they show.

Right and wrong judgements of an answer are worded alike.
"""

from collections.abc import Mapping, Sequence

from data_pipeline.teachers.reasoning.claims import Finding
from data_pipeline.text.content import CJK
from judge.prompting.evidence import quoted
from judge.types import Language, Sample

MOST_LINES = 6
"""Most lines of a reasoning, unless more claims are wrong: each of those has a line."""
MAX_SAID = 80
"""Most characters of a span quoted from the answer."""
_ECHO = {"en": 32, "zh": 12}
"""Characters of the answer's sentence that a line repeats to name it."""
_TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "says": "The document says: {quotes}.", "agrees": "The answer agrees.",
        "differs": 'The answer says "{said}" instead of "{there}".',
        "absent": 'The document does not say "{said}".',
        "closest": "The closest passage is: {quotes}.",
        "unanswered": "It does not answer this.", "answered": "It does answer this.",
        "rest": "- The document says the rest too.", "joint": " and ", "colon": ": ", "space": " ",
    },
    "zh": {
        "says": "文档中写道：{quotes}。", "agrees": "答案与此一致。",
        "differs": "答案却把“{there}”说成了“{said}”。",
        "absent": "文档没有说“{said}”。",
        "closest": "最接近的地方是：{quotes}。",
        "unanswered": "这没有说到所问的。", "answered": "这正说到了所问的。",
        "rest": "- 其余各句文档中也有。", "joint": "、", "colon": "：", "space": "",
    },
}  # fmt: skip
_EDGE = " \n,;，；、.。"
_NO_QUOTES = str.maketrans("", "", '"“”‘’「」')


def reasoning(sample: Sample, found: Sequence[Finding]) -> str:
    """One line per finding. If there are many, only the first ones without errors are shown."""
    texts, limit = _TEXTS[sample.language], _ECHO[sample.language]
    if len(found) == 1:
        return _line(found[0], sample.language)
    faults_first = sorted(range(len(found)), key=lambda number: not found[number].errors)
    most = max(MOST_LINES, sum(bool(finding.errors) for finding in found))
    lines = []
    for finding in [found[number] for number in sorted(faults_first[:most])]:
        echo = short(" ".join(finding.claim.text.translate(_NO_QUOTES).split()), limit).rstrip(" .。")
        lines.append(f"- {echo}{texts['colon']}{_line(finding, sample.language)}")
    return "\n".join(lines + [texts["rest"]] * (len(found) > most))


def _line(finding: Finding, language: Language) -> str:
    texts = _TEXTS[language]
    quotes = texts["joint"].join(quoted(quote.rstrip(_EDGE), language) for quote in finding.quotes)
    parts = [texts["closest" if finding.refusal else "says"].format(quotes=quotes)]
    if finding.refusal:
        parts.append(texts["answered" if finding.errors else "unanswered"])
    elif not finding.errors:
        parts.append(texts["agrees"])
    else:
        for error in finding.errors:
            text = texts["differs" if error.there else "absent"]
            said, there = (short(part.strip(_EDGE), MAX_SAID) for part in (error.said, error.there))
            parts.append(text.format(said=said, there=there))
    return texts["space"].join(parts)


def short(text: str, limit: int) -> str:
    """A text of at most ``limit`` characters, cut at a word."""
    if len(text) <= limit:
        return text
    cut = text[:limit]
    if text[limit].isascii() and text[limit].isalnum() and " " in cut:
        cut = cut.rsplit(maxsplit=1)[0]
    return cut.rstrip() + ("…" if CJK.search(cut) else " …")
