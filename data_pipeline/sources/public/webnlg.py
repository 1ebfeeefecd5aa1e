"""WebNLG (Gardent et al. 2017): sets of RDF triples with sentences that people wrote from them."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from judge.errors import InputError
from judge.files import open_text
from judge.formats.files import find_files, group_of
from judge.formats.shared import Side, on_side
from judge.types import Sample, Task

ORIGINAL = "gitlab.com/shimorina/webnlg-dataset"
FILES = {
    "train": ("webnlg/train", "*.xml"),
    "dev": ("webnlg/dev", "*.xml"),
    "test": ("webnlg", "testdata_with_lex.xml"),
}
SPLITS = tuple(FILES)


def read(data_dir: Path, split: str, side: Side | None = None) -> Iterator[Sample]:
    """One split of ``data_dir/webnlg``: the XML files of its folder, for ``test`` the one with references.

    The document is the triples, one a line; each good English text about them is a gold answer.
    """
    folder, pattern = FILES[split]
    for path in find_files(data_dir, folder, pattern, ORIGINAL):
        file = path.name.split(".xml")[0].removesuffix("_train_release")
        for entry in _entries(path):
            triples = entry.findall("modifiedtripleset/mtriple")
            document = "\n".join((triple.text or "").strip().replace("_", " ") for triple in triples)
            category, name = entry.get("category"), entry.get("eid")
            if not document or not category or not name:
                raise InputError(
                    f"entry {name or '(without eid)'} has no category or no modifiedtripleset/mtriple; "
                    "expected the XML of the WebNLG challenge",
                    file=path,
                )
            if not on_side("webnlg", document, side):
                continue
            for text in entry.findall("lex"):
                answer = (text.text or "").strip()
                if text.get("comment") == "good" and text.get("lang", "en") == "en" and answer:
                    yield Sample(
                        id=f"webnlg-{split}-{file}-{name}-{text.get('lid')}",
                        document=document,
                        answer=answer,
                        task=Task.DATA2TEXT,
                        source="webnlg",
                        group=group_of(document),
                        meta={"domain": category},
                    )


def _entries(path: Path) -> list[ElementTree.Element]:
    with open_text(path) as stream:
        xml = stream.read()
    if "<!DOCTYPE" in xml or "<!ENTITY" in xml:  # these can blow up in the parser, and no original has them
        raise InputError("declares a document type or entities; fetch the original file", file=path)
    try:
        return ElementTree.fromstring(xml).findall("entries/entry")  # noqa: S314 (see above)
    except ElementTree.ParseError as error:
        raise InputError(f"is not valid XML ({error})", file=path, line=error.position[0]) from None
