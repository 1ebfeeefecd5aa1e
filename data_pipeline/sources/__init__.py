"""Where samples come from: the bundled corpus, files of one's own, the Hub, and public sets in original form.

``readers`` names the public sets, ``own`` reads what a recipe names itself, in one of the ``forms``,
``config`` holds a recipe's keys, ``reading`` streams the samples."""

from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.readers import KINDS, READERS, Reader
from data_pipeline.sources.reading import lines_with_id, read_source

__all__ = ["KINDS", "READERS", "Reader", "SourceConfig", "lines_with_id", "read_source"]
