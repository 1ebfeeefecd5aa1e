"""The built-in teacher: rules that perturb and rules that judge. It needs no model and costs nothing.

Its reasoning quotes what the checks of ``rules_checks`` found.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.perturber import RulePerturber
from data_pipeline.edits.verify import Rejected
from data_pipeline.teachers.base import Judgement
from data_pipeline.teachers.lookup import Lookup, look_into
from data_pipeline.teachers.reasoning.places import MAX_QUOTE, Places
from data_pipeline.teachers.reasoning.wording import short
from data_pipeline.teachers.rules_checks import Statement, find_fault, statements_of
from data_pipeline.text.content import keys, terms
from judge.types import Label, Language, Sample

MAX_CITED = 2
"""At most this many sentences are quoted in the reasoning for a ``PASS``."""

TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "found": 'The document says: "{quote}" It holds {facts}, as the answer does.',
        "alike": 'The document says: "{quote}"',
        "pass": "The answer says the same.",
        "missing": 'The document says: "{quote}" It nowhere mentions "{said}".',
        "other": 'The document says: "{quote}" The answer says "{said}" instead of "{there}".',
        "denies": 'The document says: "{quote}" The answer denies this: "{said}".',
        "affirms": 'The document says: "{quote}" The answer leaves out that this is denied: "{said}".',
        "unknown": 'The document says: "{quote}" It does not support "{said}".',
    },
    "zh": {
        "found": "文档中写道：“{quote}”其中有{facts}，与答案相同。",
        "alike": "文档中写道：“{quote}”",
        "pass": "答案与此一致。",
        "missing": "文档中写道：“{quote}”文档中没有提到“{said}”。",
        "other": "文档中写道：“{quote}”答案却把“{there}”说成了“{said}”。",
        "denies": "文档中写道：“{quote}”答案却否定了这一点：“{said}”。",
        "affirms": "文档中写道：“{quote}”这里是否定的，答案却说：“{said}”。",
        "unknown": "文档中写道：“{quote}”文档不支持“{said}”。",
    },
}


@dataclass(frozen=True)
class RulesTeacher:
    """Rules as a teacher; its perturber makes the wrong answers."""

    perturber: RulePerturber

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        """An edited answer for every gold sample, or ``no safe edit`` if no rule applies."""
        for gold in golds:
            yield self.perturber.perturb(gold) or Rejected("no safe edit")

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        """A judgement of every sample, by looking its answer up in its document."""
        return map(judge_by_rules, samples)


def judge_by_rules(sample: Sample) -> Judgement:
    """Judge one sample by looking its answer up in its document. Never reads the label or ``meta``."""
    lookup = look_into(sample.document_text, sample.language)
    statements = statements_of(sample)
    finding = find_fault(sample, statements, lookup)
    texts = TEXTS[sample.language]
    if finding is None:
        return Judgement("rules", Label.PASS, _agreement(statements, lookup, sample.language))
    reasoning = texts[finding.kind].format(
        quote=_excerpt(finding.quote, f"{sample.question} {sample.answer}", finding.there),
        said=short(finding.said, MAX_QUOTE),
        there=finding.there,
    )
    return Judgement("rules", Label.FAIL, reasoning)


def _agreement(statements: Sequence[Statement], lookup: Lookup, language: Language) -> str:
    """The reasoning for a faithful answer: which sentences hold which of its facts."""
    cited: dict[str, list[str]] = {}
    for statement in statements:
        wanted = terms(f"{statement.question} {statement.text}")
        scores = lookup.scores(wanted)
        for fact in statement.facts:
            if holding := lookup.holding(fact):
                at = max(holding, key=scores.__getitem__)
                facts = cited.setdefault(lookup.sentence(at), [])
                facts += [fact.text] if fact.text not in facts else []
    if not cited:
        wanted = terms(" ".join([statements[0].question, *(statement.text for statement in statements)]))
        cited[lookup.sentence(lookup.best(wanted))] = []
    texts = TEXTS[language]
    said = " ".join(statement.text for statement in statements)
    parts = [
        texts["found" if facts else "alike"].format(
            quote=_excerpt(quote, said, next(iter(facts), "")), facts=_listed(facts, language)
        )
        for quote, facts in list(cited.items())[:MAX_CITED]
    ]
    return ("" if language == "zh" else " ").join([*parts, texts["pass"]])


def _listed(facts: Sequence[str], language: Language) -> str:
    if language == "zh":
        return "、".join(f"“{fact}”" for fact in facts)
    *first, last = [f'"{fact}"' for fact in facts] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _excerpt(sentence: str, about: str, must: str) -> str:
    """The part of a sentence to quote: all of it, or the span of a long one that best matches ``about``."""
    if len(sentence) <= MAX_QUOTE:
        return sentence
    places = Places(sentence)
    return (places.quotes(keys(about), musts=[must]) or [places.quote_in(0)])[0]
