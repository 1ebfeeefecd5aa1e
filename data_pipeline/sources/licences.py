"""Licences of samples: ``meta["licence"]``, in the words of whoever made the set."""

import re

from judge.types import Sample

NO_LICENCE = "none named"


def licence_of(sample: Sample) -> str:
    """The licence that a sample names, or :data:`NO_LICENCE`."""
    return str(sample.meta.get("licence") or "").strip() or NO_LICENCE


def plain_licence(name: str) -> str:
    """Normalise a name for comparison: ``CC-BY-4.0`` becomes ``cc by 4.0``. ``MIT and per part`` still
    differs from ``MIT``."""
    return re.sub(r"[\s_-]+", " ", name.strip().casefold())
