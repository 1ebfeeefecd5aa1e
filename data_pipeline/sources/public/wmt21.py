"""WMT21 (Akhbardeh et al. 2021): news sentences in English and Chinese with translations by people."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from judge.errors import InputError
from judge.files import open_text
from judge.formats.files import find_file, find_files, group_of
from judge.types import Language, Sample, Task

ORIGINAL = "github.com/wmt-conference/wmt21-news-systems, folder txt"
DIRECTIONS: tuple[tuple[Language, Language], ...] = (("en", "zh"), ("zh", "en"))


def read(data_dir: Path) -> Iterator[Sample]:
    """Both directions of ``data_dir/wmt21``: ``newstest2021.A-B.src.A`` and its references, ``*.ref.*.B``.

    A line is a document and its translation the answer; a sample's language is that of its translation.
    """
    for source, target in DIRECTIONS:
        stem = f"newstest2021.{source}-{target}"
        documents = find_file(data_dir, "wmt21", [f"{stem}.src.{source}"], ORIGINAL)
        for references in find_files(data_dir, "wmt21", f"{stem}.ref.*.{target}", ORIGINAL):
            reference = references.name.removeprefix(f"{stem}.ref.").split(".")[0]
            for line, document, answer in _lines(documents, references):
                yield Sample(
                    id=f"wmt21-{source}-{target}-{line}-{reference}",
                    document=document,
                    answer=answer,
                    task=Task.TRANSLATION,
                    language=target,
                    source="wmt21",
                    group=group_of(document),
                )


def _lines(one: Path, other: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, from 1, and text of two files with the same lines; blank ones are passed over."""
    with open_text(one) as left, open_text(other) as right:
        for number, (a, b) in enumerate(zip_longest(left, right), start=1):
            if a is None or b is None:
                short, long = (one, other) if a is None else (other, one)
                raise InputError(
                    f"has no such line, but {long} has; they do not belong together", file=short, line=number
                )
            if a.strip() and b.strip():
                yield number, a.strip(), b.strip()
