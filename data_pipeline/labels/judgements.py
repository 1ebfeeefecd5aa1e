"""The judgements of reason mode: a right reasoning for each sample that needs one, and teachers' wrong
ones."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import tee
from pathlib import Path
from typing import IO, Any

from data_pipeline.config import ReasoningConfig
from data_pipeline.labels.ensemble import Decision, Yield, judge_together
from data_pipeline.labels.known_label import reason_for_label
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.sources.dropped import Dropped
from data_pipeline.sources.store import SampleStore, pair_of
from data_pipeline.sources.workers import Workers
from data_pipeline.teachers.base import Judgement
from data_pipeline.teachers.reasoning import explain
from judge.errors import InputError
from judge.files import dump, replacing
from judge.progress import track
from judge.types import Sample


def note_judgements(
    store: SampleStore,
    config: ReasoningConfig,
    teachers: Teachers,
    dropped: Dropped,
    rejected: Path,
    workers: Workers,
    refill: Callable[[Sequence[str]], bool] = lambda _: False,
) -> dict[str, Any]:
    """Let the recipe's teachers judge the samples that get a row in reason mode, and store the reasonings.

    Args:
        store: gets the reasonings; samples that no teacher of an ensemble judged right are excluded from all
            rows, verdict rows too (Bi'an, section 2.3 and B.1).
        config: the way to reason, and the names of the teachers.
        teachers: creates the teachers.
        dropped: gets the samples without a right reasoning.
        rejected: file for the samples that no teacher judged right, with all judgements, for inspection.
        workers: processes for reasoning by rule.
        refill: called with the ids of samples without any readable judgement, to replace them. It returns
            whether it added samples, which are then judged too.

    Returns:
        The yield of every teacher and of the ensemble (Bi'an, Table 13).
    """
    counts = Yield()
    lost: list[str] = []

    def note(decision: Decision, stream: IO[str]) -> None:
        chosen = decision.chosen
        if chosen is None:
            dropped.add(f"reasoning: {decision.outcome}", decision.sample.id)
            stream.write(dump(decision.aside_row()) + "\n")
            if decision.outcome == "no verdict":
                lost.append(decision.sample.id)
            if config.way == "ensemble":
                store.exclude(decision.sample)
            return
        store.add_reasoning(decision.sample, chosen.teacher, chosen.reasoning, right=True)
        for wrong in decision.rejected:
            store.add_reasoning(decision.sample, wrong.teacher, wrong.reasoning, right=False)

    with replacing(rejected) as stream:
        after, more = 0, True
        while more:
            here = ("reason AND number > ?", (after,))
            decided = _decisions(store, here, config, teachers, workers)
            after, lost[:] = store.last(), []
            for decision in track(counts.count(decided), "reasonings", store.count(*here)):
                note(decision, stream)
            more = bool(lost) and refill(lost)
    return counts.table()


def drop_one_sided(store: SampleStore, dropped: Dropped) -> Iterator[str]:
    """Drop the reasonings of a source if all lead to one label although samples with the other label needed
    some too: they would teach that reasoning always ends in this label. Then do the same for all sources
    together. Yields a line for each."""
    of = "reason AND (? IS NULL OR source = ?)"
    with_reasoning = f"{of} AND id IN (SELECT sample FROM reasonings WHERE right)"  # noqa: S608
    for source in (*store.counts("source", "reason"), None):
        found = store.counts("label", with_reasoning, (source, source))
        missing = store.counts("label", of, (source, source)).keys() - found.keys()
        if found and missing:
            [(label, count)], [other] = found.items(), missing
            for name in store.ids(with_reasoning, (source, source)):
                dropped.add(f"reasoning: {label} alone", name)
            store.table.execute(
                f"DELETE FROM reasonings WHERE sample IN (SELECT id FROM samples WHERE {of})",  # noqa: S608
                (source, source),
            )
            yield (
                f"{source or 'all sources'}: no {other} answer got a reasoning, so the {count} of {label} "
                "answers are omitted"
            )


def _decisions(
    store: SampleStore,
    where: tuple[str, tuple[int]],
    config: ReasoningConfig,
    teachers: Teachers,
    workers: Workers,
) -> Iterator[Decision]:
    samples, first = store.samples(*where), config.teachers[0]
    if config.way == "ensemble":
        return judge_together(samples, [teachers.get(name) for name in config.teachers])
    samples, copies = tee(samples)
    if config.way == "rules":
        judged = workers.map(_own_or_by_rule, copies)
    else:
        gold_of = None
        if config.way == "known_label":
            store.index("pair")
            gold_of = partial(gold_answer, store)
        judged = reason_for_label(first, teachers.ask(first), copies, gold_of)
    return (Decision(sample, (found,)) for sample, found in zip(samples, judged, strict=True))


def gold_answer(store: SampleStore, sample: Sample) -> str:
    """The answer that a hallucinated one was made from: ``meta["gold_answer"]``, or that of the faithful
    sample of its pair, if it has the same document and question; empty without either."""
    if known := sample.meta.get("gold_answer"):
        return str(known)
    for other in store.samples("pair = ? AND label = 'PASS' AND id != ?", (pair_of(sample), sample.id)):
        same = (other.document, other.question) == (sample.document, sample.question)
        if same and other.answer != sample.answer:
            return other.answer
    return ""


def _own_or_by_rule(sample: Sample) -> Judgement:
    """The reasoning that came with a sample in ``meta["reasoning"]``, or else one by rule."""
    if (own := sample.meta.get("reasoning")) is not None:
        if not isinstance(own, str) or not own.strip():
            raise InputError(
                f"sample {sample.id!r}: its reasoning is {own!r:.60}, expected a text; correct or omit it",
                field="meta.reasoning",
            )
        return Judgement("written", sample.label, own)
    reasoning = explain(sample)
    if reasoning is None:
        return Judgement("rules", None, problem="nothing to cite")
    return Judgement("rules", sample.label, reasoning)
