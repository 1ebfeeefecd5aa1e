"""The public sets by name.

Each has a module here with ``read``, which streams the set out of a folder that holds one folder a set, and
with ``SPLITS`` where the set has several.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from data_pipeline.sources import (
    asqa,
    cmrc2018,
    conflictqa,
    covid_qa,
    crud,
    csds,
    drcd,
    drop,
    fib,
    financebench,
    halueval,
    ifqa,
    lawbench,
    pdc,
    pubmedqa,
    ragtruth,
    tablebench,
    webcpm,
    webnlg,
    webqa,
    wmt21,
    xquad,
)
from judge.types import Sample


@dataclass(frozen=True, slots=True)
class Reader:
    """How a public set is read: from the data folder and, where there are several, one of its splits."""

    read: Callable[..., Iterator[Sample]]
    splits: tuple[str, ...] = ()
    """The first one is read unless another is named."""


READERS: Mapping[str, Reader] = {
    "asqa": Reader(asqa.read, asqa.SPLITS),
    "cmrc2018": Reader(cmrc2018.read, cmrc2018.SPLITS),
    "conflictqa": Reader(conflictqa.read),
    "covid_qa": Reader(covid_qa.read),
    "crud": Reader(crud.read),
    "csds": Reader(csds.read, csds.SPLITS),
    "drcd": Reader(drcd.read, drcd.SPLITS),
    "drop": Reader(drop.read, drop.SPLITS),
    "fib": Reader(fib.read),
    "financebench": Reader(financebench.read),
    "halueval": Reader(halueval.read, halueval.SPLITS),
    "ifqa": Reader(ifqa.read, ifqa.SPLITS),
    "lawbench": Reader(lawbench.read),
    "pdc": Reader(pdc.read),
    "pubmedqa": Reader(pubmedqa.read, pubmedqa.SPLITS),
    "ragtruth": Reader(ragtruth.read),
    "tablebench": Reader(tablebench.read),
    "webcpm": Reader(webcpm.read),
    "webnlg": Reader(webnlg.read, webnlg.SPLITS),
    "webqa": Reader(webqa.read, webqa.SPLITS),
    "wmt21": Reader(wmt21.read),
    "xquad": Reader(xquad.read),
}
"""Name of a public set (the ``kind`` of a source) to its reader."""

KINDS = ("starter", "file", "squad", "hub", *READERS)
