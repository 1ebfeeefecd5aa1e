"""Edited documents by source: how many gold answers get a pair, by which kind of edit, and a few to read.

    python tests/bench/document_edits.py --data-dir DIR xquad webnlg covid_qa --golds 200 --show 20

For reading, each hallucinated twin is shown as what its document lost and got, each faithful one likewise.
"""

import argparse
import random
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path

from data_pipeline.documents import DOCUMENT_EDITS, edit_document
from data_pipeline.sources import SourceConfig, read_source
from judge.prompting.sentences import sentence_spans
from judge.types import Label, Sample


def draw(source: str, folder: Path, count: int) -> list[Sample]:
    """Some gold answers of a source, the same ones each time."""
    config = SourceConfig(kind=source, path=str(folder))
    golds = [sample for sample in read_source(config, 0) if sample.label is not Label.FAIL]
    random.Random(source).shuffle(golds)
    return golds[:count]


def changes(before: str, after: str) -> list[str]:
    """Sentences that an edit took out (-) and put in (+)."""
    old, new = ([text[part.start : part.end] for part in sentence_spans(text)] for text in (before, after))
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found += [f"- {part}" for part in old[a:b]] + [f"+ {part}" for part in new[c:d]]
    return found


def main() -> None:
    """Edit, count, show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--golds", type=int, default=200)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = []
    for source in options.sources:
        golds = draw(source, options.data_dir, options.golds)
        made = [(gold, found) for gold in golds for found in edit_document(gold, options.seed)]
        kinds = Counter(found.edit_type for _, found in made)
        apart = sum(found.faithful_document != gold.document_text for gold, found in made)
        counts = [kinds[kind] for kind in DOCUMENT_EDITS]
        cells = [source, len(golds), f"{100 * len(made) / len(golds):.0f} %", *counts, apart]
        rows.append(f"| {' | '.join(map(str, cells))} |")
        for gold, found in made[: options.show]:
            print(f"\n== {gold.id}: {found.edit_type}\nQ: {gold.question}\nA: {gold.answer}")
            print("FAIL", *changes(gold.document_text, found.hallucinated_document), sep="\n   ")
            print("PASS", *changes(gold.document_text, found.faithful_document), sep="\n   ")
    print(f"\n| source | golds | with a pair | {' | '.join(DOCUMENT_EDITS)} | faithful twin edited too |")
    print(f"| --- |{' ---: |' * (len(DOCUMENT_EDITS) + 3)}")
    print(*rows, sep="\n")


if __name__ == "__main__":
    main()
