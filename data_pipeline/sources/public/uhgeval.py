"""UHGEval (arXiv 2311.15296): Chinese news that models went on with, each keyword judged by people.

The annotators compared each keyword with the rest of the real article, so the document here is the whole
article, and the labels hold against it. Each continuation of the release has a keyword that is wrong or is
not in the article, so it is FAIL. No model's continuation is faithful as a whole; PASS is the sentence with
which the article itself goes on. That stands in the document word for word: look-up alone tells the two
apart, so mix this set with others.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.formats.files import find_file, group_of
from judge.formats.records import Record, read_lines
from judge.types import Label, Sample

ORIGINAL = "github.com/IAAR-Shanghai/UHGEval, folder data"
NAMES = ("dataset_uhgeval_concise.jsonl", "XinhuaHallucinations.jsonl")
_NO_STATEMENT = ("？", "?", "：", ":")
_RIGHT, _WRONG = "合理", "不合理"


def read(data_dir: Path) -> Iterator[Sample]:
    """Two samples a row of ``data_dir/uhgeval``: the article's own continuation, and the model's.

    Rows of which one ends in a question or a colon are left out: there is little to judge in them.
    ``meta["spans"]`` holds the wrong keywords, each at its first place in the answer, with the annotator's
    reason."""
    seen: set[tuple[str, str]] = set()
    for row in read_lines(find_file(data_dir, "uhgeval", NAMES, ORIGINAL)):
        name = row.name("id")
        document = (row.text("newsBeginning") + row.text("newsRemainder")).strip()
        real = row.text("realContinuation").strip()
        answer = row.text("hallucinatedContinuation").strip().lstrip("*").strip()
        found = list(_spans(row, answer))
        if not found or real.endswith(_NO_STATEMENT) or answer.endswith(_NO_STATEMENT):
            continue
        group = group_of("".join(document.split()))  # some articles come twice, cut at two places
        shared: dict[str, Any] = {"pair": f"uhgeval-{name}", "type": row.text("type")}
        hallucinated = {**shared, "model": row.text("generatedBy"), "spans": found}
        for label, text, meta in ((Label.PASS, real, shared), (Label.FAIL, answer, hallucinated)):
            if (group, text) in seen:
                continue
            seen.add((group, text))
            yield Sample(
                id=f"uhgeval-{name}-{label.value.lower()}",
                document=document,
                answer=text,
                language="zh",
                label=label,
                source="uhgeval",
                group=group,
                meta=meta,
            )


def _spans(row: Record, answer: str) -> Iterator[dict[str, Any]]:
    """The keywords that are not reasonable and stand in the answer."""
    for note in row.texts("annotations"):
        keyword, mark, verdict = note.partition("<sep>")
        if not mark or not verdict.startswith((_RIGHT, _WRONG)):
            raise row.wrong("annotations", f"has {note!r:.60}; expected KEYWORD<sep>{_RIGHT} or {_WRONG}")
        start = answer.find(keyword) if keyword else -1
        if verdict.startswith(_WRONG) and start >= 0:
            reason = verdict.removeprefix(_WRONG).lstrip("，,：: ")
            yield {"start": start, "end": start + len(keyword), "text": keyword, "reason": reason}
