"""Composing a long answer from a document: several of its statements in its order, none said twice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from data_pipeline.edits.edit import occurs
from data_pipeline.pairs.documents.supporting import is_span
from data_pipeline.pairs.statements import Statement, plain, statements
from data_pipeline.text.content import words_of
from data_pipeline.text.facts import find_facts
from data_pipeline.text.leaning import depends_on_previous, names_its_subject
from judge.baselines.overlap import units
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Sample

SIZES: Mapping[Language, tuple[int, int]] = {"en": (60, 200), "zh": (120, 400)}
"""Minimum and maximum words (characters in Chinese) of a long answer."""
WANTED: Mapping[Language, tuple[int, int]] = {"en": (60, 130), "zh": (120, 260)}
"""Range of the target length, drawn uniformly."""
WHOLE = 0.85
"""An answer has at most this share of its document's words, so that it stays a selection."""
SAME_FACT = 0.5
"""Two sentences with more than this share of common content words may say the same."""
SUPPORTED = 0.7
"""Share of a gold sentence's content words that its document must hold."""
ASKED = 0.5
"""Share of a question's content words that the sentence which answers it must hold."""
_ADVICE = (
    "should", "need", "needs", "needed", "recommend", "recommended", "further", "future", "warrant",
    "warranted",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Composed:
    """A long answer by its sentences; ``answers`` is true if the first one answers the gold's question."""

    sentences: tuple[Statement, ...]
    answers: bool

    def followed(self, number: int) -> bool:
        """Does the next sentence depend on this one?"""
        return number + 1 < len(self.sentences) and self.sentences[number + 1].depends


def compose(gold: Sample, rng: Random) -> Composed | None:
    """A long faithful answer about a gold sample's document, or ``None`` if there is too little to say."""
    language = gold.language
    size = len(units(gold.document_text, language))
    least, most = SIZES[language]
    most = min(most, int(WHOLE * size))
    wanted = min(rng.randint(*WANTED[language]), most)
    if wanted < least:
        return None
    known = statements(gold.document_text, language)
    found = lead_of(gold, known)
    # The answer to the question comes first; else the first sentence, which names the document's subject.
    opening = [said for said in known[:1] if said.part == 0]
    for lead, answers in ((found, bool(gold.question)), (opening, False)):
        if not lead:
            continue
        # "The network is" precedes only statements that follow it in the document.
        earliest = -1 if names_its_subject(lead[0].text, language) else lead[0].part
        covered = {said.part for said in lead}
        chains = [
            chain
            for chain in _chains(known)
            if chain[0].part >= earliest and not covered & {said.part for said in chain}
        ]
        chosen = _choose(lead, chains, language, (least, wanted, most), rng)
        if chosen:
            return Composed(tuple(said for unit in chosen for said in unit), answers)
    return None


def _choose(
    lead: list[Statement],
    chains: list[list[Statement]],
    language: Language,
    sizes: tuple[int, int, int],
    rng: Random,
) -> list[list[Statement]]:
    """The lead and what follows it, in document order; empty if the answer stays too short."""
    least, wanted, most = sizes
    rng.shuffle(chains)
    chosen: list[list[Statement]] = [lead]
    words = sum(len(units(said.text, language)) for said in lead)
    for chain in chains:
        if words >= wanted:
            break
        unit = chain[: rng.randint(1, len(chain))]
        length = sum(len(units(said.text, language)) for said in unit)
        if words + length <= most and not any(
            say_the_same(one, said, language) for one in unit for some in chosen for said in some
        ):
            chosen.append(unit)
            words += length
    chosen = [lead, *sorted(chosen[1:], key=lambda unit: unit[0].part)]
    return chosen if words >= least and len(chosen) > 1 else []


def _chains(known: tuple[Statement, ...]) -> list[list[Statement]]:
    """Each statement that stands alone, with those after it that depend on it."""
    found: list[list[Statement]] = []
    for said in known:
        if not said.depends:
            found.append([said])
        else:
            found[-1].append(said)
    return found


def lead_of(gold: Sample, known: tuple[Statement, ...]) -> list[Statement]:
    """The answer to the question: the sentence that supports a short gold answer, or those of a long one.

    Empty if neither surely answers it.
    """
    language, document = gold.language, gold.document_text
    if not gold.question:  # a summary: the document would say its sentences again
        return []
    asked = words_of(gold.question, language)
    if is_span(gold.answer, document, language):
        supporting = [
            said
            for said in known
            if not said.depends and occurs(gold.answer.strip(" .。"), said.text)
            and len(asked & words_of(said.text, language)) >= ASKED * len(asked)
        ]  # fmt: skip
        shared = [len(asked & words_of(said.text, language)) for said in supporting]
        return [supporting[shared.index(max(shared))]] if supporting else []
    return list(_gold_sentences(gold))


def _gold_sentences(gold: Sample) -> Iterator[Statement]:
    """The first sentences of a gold answer, up to one that is unfit or may be unsupported."""
    language = gold.language
    held = words_of(gold.document_text, language)
    for number, span in enumerate(sentence_spans(gold.answer)):
        said = plain(gold.answer[span.start : span.end], language)
        if said is None:
            return
        words, depends = words_of(said, language), depends_on_previous(said, language)
        if (
            (depends and number == 0)
            or len(words & held) < SUPPORTED * len(words)
            or any(word in _ADVICE for word in units(said, language))
            or not all(occurs(fact.text, gold.document_text) for fact in find_facts(said, language))
        ):
            return
        yield Statement(said, -1, depends)


def say_the_same(one: Statement, two: Statement, language: Language) -> bool:
    """May two sentences say the same thing? Then an answer uses only one of them."""
    first, second = words_of(one.text, language), words_of(two.text, language)
    return len(first & second) > SAME_FACT * min(len(first), len(second))
