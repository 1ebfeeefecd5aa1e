"""FIB (arXiv 2211.08412): pairs of a factually consistent and an inconsistent summary of a news article.

The benchmark is the 3,579 pairs of ``{xsum,cnn_dm}/fib/binary_choice-using_MODEL_distractors.jsonl`` in its
repository; the folders may also be part of the file names, joined by hyphens. Other files of the release,
such as edited references, are not part of the benchmark and not read.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from judge.formats.files import find_files, group_of
from judge.formats.records import nonempty, read_lines
from judge.types import Label, Sample, Task

ORIGINAL = "github.com/r-three/fib, folder multiple_choice-dataset"
_NAME = re.compile(r"(xsum|cnn_dm)[-/]fib[-/]binary_choice-using_(.+)_distractors\.jsonl(\.gz)?$")
_MARKUP = re.compile(r"</?t>")  # around the sentences of CNN/Daily Mail


def read(data_dir: Path) -> Iterator[Sample]:
    """Two samples per pair from ``data_dir/fib``, PASS first; pairs of one document share its right summary.

    Ids are ``fib-CORPUS-ARTICLE-MODEL-label``; ``meta["model"]`` names the model of the inconsistent summary.
    """
    for path in find_files(data_dir, "fib", "*binary_choice-using_*_distractors.jsonl", ORIGINAL):
        named = _NAME.search(path.as_posix())
        if named is None:
            continue
        corpus, model = named[1], named[2]
        for row in nonempty(read_lines(path), path):
            document, right = row.text("input"), row.text("correct_choice")
            choices = row.texts("list_choices")
            if len(choices) != 2 or right not in choices:
                raise row.wrong(
                    "list_choices", f"expected the right summary and one wrong, found {choices!r:.80}"
                )
            wrong = choices[1 - choices.index(right)]
            for label, choice in ((Label.PASS, right), (Label.FAIL, wrong)):
                summary = " ".join(_MARKUP.sub(" ", choice).split())
                if not summary:
                    raise row.wrong("list_choices", f"has a summary without words: {choices!r:.80}")
                yield Sample(
                    id=f"fib-{corpus}-{row.name('id')}-{model}-{label.value.lower()}",
                    document=document,
                    answer=summary,
                    task=Task.SUMMARIZATION,
                    label=label,
                    source=f"fib_{corpus}",
                    group=group_of(document),
                    meta={"model": model},
                )
