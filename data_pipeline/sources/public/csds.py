"""CSDS (arXiv 2108.13139): dialogues of a Chinese customer service with summaries; Bi'an's summarization."""

import re
from collections.abc import Iterator
from pathlib import Path

from judge.errors import unknown
from judge.formats.files import find_file
from judge.formats.records import Record, read_records
from judge.formats.shared import Side, on_side
from judge.types import Sample, Task

ORIGINAL = "github.com/xiaolinAndy/CSDS"
SPLITS = ("train", "val", "test")
AGENT = "客服"  # customer service
# Utterances are segmented by spaces; only those between Latin words or numbers were there before.
_SEGMENT = re.compile(r"(?<![A-Za-z0-9])\s+|\s+(?![A-Za-z0-9])")


def read(data_dir: Path, split: str, side: Side | None = None) -> Iterator[Sample]:
    """One split of ``data_dir/csds``: file ``SPLIT.json``.

    The document is the dialogue, a turn a line with the speaker's role; the answer the overall summary.
    """
    path = find_file(data_dir, "csds", [f"{split}.json"], ORIGINAL)
    for _, row in read_records(path):
        name = f"csds-{row.name('DialogueID')}"
        user = row.text("QRole")
        document = "\n".join(_turn(turn, user) for turn in row.records("Dialogue"))
        if not on_side("csds", document, side):
            continue
        yield Sample(
            id=name,
            document=document,
            answer="".join(row.texts("FinalSumm")),
            task=Task.SUMMARIZATION,
            language="zh",
            source="csds",
            group=name,
        )


def _turn(turn: Record, user: str) -> str:
    roles = {"Q": user, "A": AGENT}
    speaker = turn.text("speaker")
    if speaker not in roles:
        raise turn.wrong("speaker", unknown("speaker", speaker, roles))
    return f"{roles[speaker]}\uff1a{_SEGMENT.sub('', turn.text('utterance', empty=True)).strip()}"
