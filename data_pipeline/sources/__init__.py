"""Sources of samples: the bundled corpus, the user's files, the Hub, and public sets in their original files.

``readers`` lists the public sets; ``own`` reads files and Hub sets that a recipe names, in one of the
``forms``; ``config`` has the keys of a source; ``reading`` streams the samples."""

from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.readers import KINDS, READERS, Reader
from data_pipeline.sources.reading import lines_with_id, read_source

__all__ = ["KINDS", "READERS", "Reader", "SourceConfig", "lines_with_id", "read_source"]
