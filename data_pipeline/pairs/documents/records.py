"""Edits of documents that are RDF triples or JSON records: a value becomes that of another document.

To a document of triples, a triple about another subject with the same predicate is added first. In one sample
each subject has its own value, in the other the values are swapped. Both documents have both values and the
same number of lines, so only the assignment of values gives the label away.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from data_pipeline.edits.edit import bare, occurs
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.swap import either_way, replace_words
from data_pipeline.text.content import words_of
from data_pipeline.text.triples import Triple, triples_of
from judge.types import Sample

MOST_DONORS = 8
"""At most this many triples of other documents are tried for each triple."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NAMES = ("alternativeName", "fullName", "birthName", "title", "alias")
"""Predicates whose values are names of their subject."""
_PLAIN = re.compile(r"[^\W_][\w .,'’&-]*[\w.]")


def values_of(document: str) -> list[tuple[str, str]]:
    """Keys and texts of a JSON record; empty if the document is not a record."""
    if document[:1] not in ("{", "["):
        return []
    try:
        record = json.loads(document)
    except ValueError:
        return []
    return list(_leaves(record, ""))


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, key)
    elif isinstance(value, str):
        yield key, value


def change_places(gold: Sample, others: Iterable[Triple], rng: Random) -> Iterator[Contrast]:
    """Edits that swap a triple's value with that of another subject.

    Args:
        gold: an answer whose document is triples.
        others: triples of other documents.
        rng: decides the order of attempts, and which sample's document is the true one.
    """
    own = triples_of(gold.document_text)
    if not own:
        return
    by_predicate: dict[str, list[Triple]] = {}
    for other in others:
        by_predicate.setdefault(other.predicate, []).append(other)
    for triple in rng.sample(own, len(own)):
        if not _is_said(triple.value, gold.answer) or _is_said_twice(triple, own):
            continue
        donors = sorted(set(by_predicate.get(triple.predicate, ())))
        for donor in rng.sample(donors, min(MOST_DONORS, len(donors))):
            if _fits(triple, donor, own, gold.answer):
                yield _exchanged(gold, own, triple, donor, rng)
                break


def _exchanged(gold: Sample, own: Sequence[Triple], triple: Triple, donor: Triple, rng: Random) -> Contrast:
    at = rng.randrange(len(own) + 1)
    true = [*own[:at], donor, *own[at:]]
    changed = {triple: triple._replace(value=donor.value), donor: donor._replace(value=triple.value)}
    documents = ["\n".join(map(str, lines)) for lines in (true, [changed.get(line, line) for line in true])]
    old, new, answer = triple.value, donor.value, None
    verbatim = occurs(old, gold.answer) and all(_PLAIN.fullmatch(value) for value in (old, new))
    verbatim = verbatim and all(line.subject != old for line in own)  # no line is about the old value
    if verbatim and not re.search(rf"\b(?:an?|the) {re.escape(old)}", gold.answer) and rng.random() < 0.5:
        said = replace_words(gold.answer, {old: new})
        if occurs(new, said) and not occurs(old, said):  # "pop music" is not written as "Pop music"
            old, new, answer, documents = new, old, said, documents[::-1]
    return Contrast(
        edit_type="document_swap",
        change=f"the document says '{new}', not '{old}'",
        replaced=new,
        inserted=old,
        faithful=answer,
        hallucinated=answer,
        faithful_document=documents[0],
        hallucinated_document=documents[1],
    )


def _is_said(value: str, answer: str) -> bool:
    """Does an answer surely state a value: verbatim, by all its words, or by the parts of a date?"""
    if _DATE.fullmatch(value.strip('"')):
        year, _, day = value.strip('"').split("-")
        return occurs(year, answer) and re.search(rf"(?<!\d){int(day)}(?!\d)", answer) is not None
    words = words_of(value, "en")
    return bool(bare(value)) and (occurs(value, answer) or words <= words_of(answer, "en"))


def _is_said_twice(triple: Triple, own: Sequence[Triple]) -> bool:
    """Is a value or one of its words in another line too, so that this line is not its only support?

    Lines with the value as their subject do not count.
    """
    words = _telling(triple.value)
    rest = [line for line in own if line is not triple]
    subjects = [line.subject for line in rest if line.subject != triple.value]
    return any(words & words_of(text, "en") for text in (*subjects, *(line.value for line in rest)))


def _telling(value: str) -> set[str]:
    """The words of a value; of an amount only its numbers."""
    words = words_of(value, "en")
    return {word for word in words if re.search(r"\d", word)} or {*words}


def _fits(triple: Triple, donor: Triple, own: Sequence[Triple], answer: str) -> bool:
    """Is the other triple about another subject, with a value of the same form but another meaning?"""
    one, two = triple.value, donor.value
    if triple.predicate in _NAMES or any(
        words_of(value, "en") & words_of(line.subject, "en")
        for value in (one, two)
        for line in (triple, donor)
    ):
        return False  # the airport of Antwerp lies in no other city
    said = frozenset().union(*(words_of(" ".join(line), "en") for line in own)) | words_of(answer, "en")
    names = words_of(donor.subject, "en") - words_of(triple.predicate, "en")
    return (
        bool(re.match(r"\W*\d", one)) == bool(re.match(r"\W*\d", two))
        and bool(_DATE.search(one)) == bool(_DATE.search(two))
        and abs(len(one.split()) - len(two.split())) <= 2
        and bool(_PLAIN.fullmatch(one)) == bool(_PLAIN.fullmatch(two))
        and not _telling(two) & said
        and len(names & said) <= len(names) / 2
        and not occurs(donor.subject, answer)
    )


def alter_record(gold: Sample, others: Iterable[tuple[str, str]], rng: Random) -> Iterator[Contrast]:
    """Edits that replace a text of a record by one that another document has under the same key."""
    document = gold.document_text
    own = values_of(document)
    found: dict[str, set[str]] = {}
    for key, value in others:
        found.setdefault(key, set()).add(value)
    for key, old in rng.sample(own, len(own)):
        values = [
            new
            for new in sorted(found.get(key, ()))
            if not occurs(new, document)
            and len(new.split()) == len(old.split())
            and not words_of(new, gold.language) & words_of(old, gold.language)
            and _PLAIN.fullmatch(new)
            and not re.search(r"\d", new)
        ]
        texts = [text for _, text in own if text != old]
        alone = not any(words_of(old, gold.language) & words_of(text, gold.language) for text in texts)
        if values and alone and _PLAIN.fullmatch(old) and occurs(old, gold.answer):
            new = rng.choice(values)
            if contrast := either_way(gold, old, new, {old: new}, rng):
                yield contrast
