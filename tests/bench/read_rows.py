"""Rows of a built data set for reading by eye: a seeded draw of each source and kind of pair.

    python tests/bench/read_rows.py runs/my-data --fail 20 --passed 10 --out runs/reading

With ``--types other_passage,negation`` a draw of each of these edit types, from all sources together.

Writes one text file a source and kind, ``SOURCE.KIND.txt``: FAIL rows, then PASS rows, each with its number,
id, what was changed, question, answer and document. Of a long document the sentences nearest to the answer
are shown; of an edited one also what its twin's document says instead. Read each and note a verdict in
``verdicts.tsv`` beside it: ``FILE NUMBER VERDICT REMARK``, parted by tabs. Verdicts are ok, wrong (the
label), nonsense, told (to be told as wrong without the document). ``--count`` then counts them by kind.
"""

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from document_edits import changes

from data_pipeline.documents.bearing import words_of
from judge.prompting.sentences import sentence_spans
from judge.samples import read_samples
from judge.types import Label, Sample

WHOLE = 2600
"""Characters of a document that is shown whole; of a longer one, the nearest sentences up to as many."""
VERDICTS = ("ok", "wrong", "nonsense", "told")


def kind_of(sample: Sample) -> str:
    """The kind of a sample's pair, or that it was labelled by people."""
    return str(sample.meta.get("kind", "labelled"))


def excerpt(sample: Sample) -> str:
    """A document, or of a long one the sentences that have most to do with the question and the answers."""
    text = sample.document_text
    if len(text) <= WHOLE:
        return text
    told = f"{sample.question} {sample.answer} {sample.meta.get('replaced', '')}"
    wanted = words_of(told, sample.language)
    parts = [text[span.start : span.end] for span in sentence_spans(text)]
    order = sorted(range(len(parts)), key=lambda at: -len(words_of(parts[at], sample.language) & wanted))
    kept: set[int] = set()
    for at in order:
        if sum(len(parts[one]) for one in kept) + len(parts[at]) <= WHOLE:
            kept.add(at)
    shown = [parts[at] if at in kept else "" for at in range(len(parts))]
    return " ".join(part or "[…]" for part, last in zip(shown, ["x", *shown], strict=False) if part or last)


def show(number: int, sample: Sample, twin: Sample | None) -> str:
    """One row as text."""
    meta = sample.meta
    lines = [f"#{number} {sample.label} {sample.id} {meta.get('edit_type', '')}".rstrip()]
    lines += [f"CHANGE: {meta['change']}"] if "change" in meta else []
    lines += [f"QUESTION: {sample.question}", f"ANSWER: {sample.answer}"]
    if twin is not None and twin.answer != sample.answer:
        lines.append(f"TWIN'S ANSWER: {twin.answer}")
    if twin is not None and twin.document_text != sample.document_text:
        found = changes(twin.document_text, sample.document_text)
        lines += ["TWIN'S DOCUMENT (-) AND THIS ONE (+):", *found]
    return "\n".join([*lines, f"DOCUMENT: {excerpt(sample)}", ""])


def draw(
    samples: Sequence[Sample], fail: int, passed: int, seed: int, types: Collection[str] = ()
) -> dict[str, list[Sample]]:
    """Rows of each source and kind, or of each of some edit types: so many FAIL, then so many PASS, of
    different pairs."""
    edits = {
        sample.meta["pair"]: sample.meta["edit_type"] for sample in samples if "edit_type" in sample.meta
    }
    cells: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        edit = edits.get(sample.meta.get("pair"), "")
        if not types or edit in types:
            cells[f"all.{edit}" if types else f"{sample.source}.{kind_of(sample)}"].append(sample)
    found = {}
    for name, members in sorted(cells.items()):
        random.Random(f"{seed}:{name}").shuffle(members)
        fails = [sample for sample in members if sample.label is Label.FAIL][:fail]
        seen = {sample.meta.get("pair") for sample in fails}
        rest = [sample for sample in members if sample.label is Label.PASS]
        rest.sort(key=lambda sample: sample.meta.get("pair") in seen)
        found[name] = fails + rest[:passed]
    return found


def count(folder: Path) -> None:
    """A table of the verdicts by file."""
    cells: dict[str, Counter[str]] = defaultdict(Counter)
    for line in (folder / "verdicts.tsv").read_text(encoding="utf-8").splitlines():
        name, _, verdict, *_ = line.split("\t")
        if verdict not in VERDICTS:
            raise SystemExit(f"{line!r}: the verdict is one of {', '.join(VERDICTS)}")
        cells[name][verdict] += 1
    print(f"| source and kind | rows | {' | '.join(VERDICTS[1:])} |\n| --- |{' ---: |' * len(VERDICTS)}")
    for name, counts in sorted(cells.items()):
        wrong = " | ".join(str(counts[verdict]) for verdict in VERDICTS[1:])
        print(f"| {name} | {counts.total()} | {wrong} |")
    total: Counter[str] = sum(cells.values(), Counter())
    print(f"| all | {total.total()} | {' | '.join(str(total[verdict]) for verdict in VERDICTS[1:])} |")


def write(found: dict[str, list[Sample]], twins: Sequence[Sample], out: Path) -> None:
    """One text file a source and kind."""
    by_pair = {(sample.meta.get("pair"), sample.label): sample for sample in twins}
    out.mkdir(parents=True, exist_ok=True)
    for name, members in found.items():
        rows = []
        for number, sample in enumerate(members, start=1):
            other = Label.PASS if sample.label is Label.FAIL else Label.FAIL
            twin = by_pair.get((sample.meta["pair"], other)) if "kind" in sample.meta else None
            rows.append(show(number, sample, twin))
        (out / f"{name}.txt").write_text("\n".join(rows), encoding="utf-8")
        print(f"{name}: {len(rows)} rows")


def main() -> None:
    """Draw and write, or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="a built data set")
    parser.add_argument("--fail", type=int, default=20)
    parser.add_argument("--passed", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--types", default="", help="edit types to draw by, with commas between them")
    parser.add_argument("--out", type=Path, default=Path("runs/reading"))
    parser.add_argument("--count", action="store_true", help="count the verdicts in --out")
    options = parser.parse_args()
    if options.count:
        count(options.out)
        return
    samples = list(read_samples(options.data / "samples.jsonl"))
    types = [name for name in options.types.split(",") if name]
    write(draw(samples, options.fail, options.passed, options.seed, types), samples, options.out)


if __name__ == "__main__":
    main()
