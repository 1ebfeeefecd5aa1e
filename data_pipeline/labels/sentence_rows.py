"""Samples about single sentences, from answers whose wrong spans are known.

``claims`` judges an answer sentence by sentence, so a judge has to be trained on sentences too. A sentence
that overlaps a wrong span is FAIL, any other PASS. A sentence that depends on the one before it ("It",
"However") is taken together with what leads up to it, and is FAIL if a wrong span is in any part of that.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from data_pipeline.sources.store import SampleStore
from data_pipeline.text.leaning import depends_on_previous
from judge.baselines.overlap import units
from judge.errors import InputError
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Language, Sample, Span

MOST = 4
"""The most samples made from one answer."""
BEFORE = 3
"""The most sentences that are put before one that depends on them."""
SHORTEST: Mapping[Language, int] = {"en": 5, "zh": 8}
"""Fewest words (characters in Chinese) of a sentence that claims something."""
TOUCHED: Mapping[Language, int] = {"en": 3, "zh": 2}
"""Letters and digits that a span must share with a sentence to make it wrong; with fewer it is skipped."""
KIND = "sentence"
"""``meta["kind"]`` of these samples."""
_WHOLE = {
    "pair", "edit_type", "change", "replaced", "inserted", "from_document", "errors", "injection",
    "reasoning",
}  # fmt: skip
"""Fields of ``meta`` about the whole answer."""


def sentence_rows(store: SampleStore, share: float, seed: int) -> Iterator[Sample]:
    """Samples about sentences of the labelled answers with known spans in a store.

    Wrong answers give wrong sentences and at most as many right ones, of about the same length; answers
    without an error then supply what is missing, by source and language. This balances labels and lengths.

    Args:
        store: the samples of a build; it may grow meanwhile.
        share: share of the answers with known spans that is split into sentences.
        seed: decides which answers, and which of their sentences.
    """
    last = store.last()
    chosen = "rank(?, id) < ? AND number <= ? AND label = ?"
    limit = f"{min(int(share * 16**8), 16**8 - 1):08x}" if share < 1 else "g"
    owed: dict[tuple[str, str], list[int]] = {}
    for label in (Label.FAIL, Label.PASS):
        order = f"rank('sentences:{seed}', id)" if label is Label.PASS else "number"
        for sample in store.samples(chosen, (f"apart:{seed}", limit, last, label.value), order):
            spans = known_spans(sample)
            debt = owed.setdefault((sample.source, sample.language), [])
            if spans is None or (label is Label.PASS and not debt):
                continue
            rng = random.Random(f"sentences:{seed}:{sample.id}")
            found = list(split(sample, spans))
            rng.shuffle(found)
            wrong = [row for row in found if row.label is Label.FAIL][: MOST // 2]
            right = [row for row in found if row.label is Label.PASS]
            debt += [len(row.answer) for row in wrong]
            kept = []
            for _ in range(min(MOST // 2, len(debt), len(right))):
                length = debt.pop()
                kept.append(min(right, key=lambda row: abs(len(row.answer) - length)))
                right.remove(kept[-1])
            yield from sorted([*wrong, *kept], key=lambda row: row.id)


def known_spans(sample: Sample) -> Sequence[Span] | None:
    """The wrong spans of an answer; ``None`` if they are not known.

    Raises:
        InputError: a span has no start or no end.
    """
    meta = sample.meta
    marked: Any = meta.get("errors", ()) if meta.get("kind") == "long" else meta.get("spans")
    if marked is None or "injection" in meta or (not marked and sample.label is Label.FAIL):
        return None
    try:
        return [Span(int(span["start"]), int(span["end"])) for span in marked]
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"sample {sample.id!r}: its spans hold {marked!r:.60}, and 'sentences' needs objects with start "
            "and end; correct them, or set sentences to 0",
            field="meta.spans",
        ) from None


def split(sample: Sample, spans: Sequence[Span]) -> Iterator[Sample]:
    """A sample for each sentence of an answer that claims something, alone or with what leads up to it."""
    answer, language = sample.answer, sample.language
    parts = sentence_spans(answer)
    if len(parts) < 2:
        return
    texts = [answer[part.start : part.end] for part in parts]
    depends = [depends_on_previous(text, language) for text in texts]
    for number, (part, text) in enumerate(zip(parts, texts, strict=True)):
        if len(units(text, language)) < SHORTEST[language] or text.endswith((":", "：", "?", "？")):
            continue
        first = number
        while first and number - first < BEFORE and depends[first]:
            first -= 1
        if depends[first]:
            continue  # what it depends on is too far back
        part = Span(parts[first].start, part.end)
        if part.start == parts[0].start and part.end == parts[-1].end:
            continue  # this would be the whole answer
        text = answer[part.start : part.end]
        inner: list[dict[str, Any]] = []  # the spans inside the part, counted from its start
        for span in spans:
            if part.overlaps(span.start, span.end):
                start, end = max(span.start - part.start, 0), min(span.end, part.end) - part.start
                inner.append({"start": start, "end": end, "text": text[start:end]})
        letters = (sum(map(str.isalnum, span["text"])) for span in inner)
        if inner and max(letters) < TOUCHED[language]:
            continue
        meta = {name: value for name, value in sample.meta.items() if name not in _WHOLE}
        yield replace(
            sample,
            id=f"{sample.id}-s{number + 1}",
            answer=text,
            label=Label.FAIL if inner else Label.PASS,
            meta={**meta, "kind": KIND, "spans": inner},
        )
