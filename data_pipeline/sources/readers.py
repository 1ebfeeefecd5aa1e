"""The public sets by name.

Each has a function that streams it from the data folder (one folder per set): ``read`` of its module, with
``SPLITS`` if it has several, or one of :mod:`~data_pipeline.sources.public.wrapped`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from data_pipeline.sources.public import (
    asqa,
    crud,
    csds,
    drop,
    financebench,
    ifqa,
    lawbench,
    pdc,
    pubmedqa,
    rgb,
    tablebench,
    uhgeval,
    webcpm,
    webnlg,
    webqa,
    wmt21,
    wrapped,
)
from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.written import load_written
from judge.formats import halueval
from judge.types import Sample


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read a public set: a function of the data folder and, if there are several, the split."""

    read: Callable[..., Iterator[Sample]]
    splits: tuple[str, ...] = ()
    """The first one is read unless another is named."""
    windows: bool = False
    """In SQuAD's format: ``read`` takes ``window_tokens``."""
    licence: str | None = None
    """The licence as the authors name it, if they do; it covers their own work."""


READERS: Mapping[str, Reader] = {
    "asqa": Reader(asqa.read, asqa.SPLITS),
    "cmrc2018": Reader(
        wrapped.read_cmrc2018, ("train", "dev", "trial"), windows=True, licence="CC BY-SA 4.0"
    ),
    "conflictqa": Reader(wrapped.read_conflictqa, licence="Apache-2.0"),
    "covid_qa": Reader(wrapped.read_covid_qa, windows=True, licence="Apache-2.0"),
    "crud": Reader(crud.read),
    "csds": Reader(csds.read, csds.SPLITS),
    "drcd": Reader(wrapped.read_drcd, ("training", "dev", "test"), windows=True, licence="CC BY-SA 3.0"),
    "drop": Reader(drop.read, drop.SPLITS),
    "fib": Reader(wrapped.read_fib),
    "financebench": Reader(financebench.read),
    "halueval": Reader(wrapped.read_halueval, tuple(halueval.PARTS), licence="MIT"),
    "ifqa": Reader(ifqa.read, ifqa.SPLITS),
    "lawbench": Reader(lawbench.read, licence="Apache-2.0"),
    "pdc": Reader(pdc.read),
    "pubmedqa": Reader(pubmedqa.read, pubmedqa.SPLITS, licence="MIT"),
    "ragtruth": Reader(wrapped.read_ragtruth, licence="MIT"),
    "rgb": Reader(rgb.read),
    "tablebench": Reader(tablebench.read),
    "uhgeval": Reader(uhgeval.read, licence="Apache-2.0"),
    "webcpm": Reader(webcpm.read),
    "webnlg": Reader(webnlg.read, webnlg.SPLITS, licence="CC BY-NC-SA 4.0"),
    "webqa": Reader(webqa.read, webqa.SPLITS),
    "wmt21": Reader(wmt21.read),
    "xquad": Reader(wrapped.read_xquad, windows=True, licence="CC BY-SA 4.0"),
}
"""Name of a public set (the ``kind`` of a source) to its reader."""

BUNDLED: Mapping[str, Callable[[], Iterable[Sample]]] = {"starter": load_starter, "written": load_written}
"""Kinds whose samples come with the toolkit."""

OWN = ("file", "squad", "hub")
"""Kinds whose data the recipe names itself."""

KINDS = (*BUNDLED, *OWN, *READERS)

WINDOWED = ("squad", *(name for name, reader in READERS.items() if reader.windows))
"""Kinds in SQuAD's format."""
