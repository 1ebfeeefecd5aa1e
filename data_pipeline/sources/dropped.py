"""What was left out of a data set, and why."""

from collections import Counter
from typing import Any

SHOWN = 1000
"""The number of ids that the manifest lists per reason."""


class Dropped:
    """What was left out, by reason: the number, and the first ids."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ids: dict[str, list[str]] = {}

    def add(self, reason: str, name: str) -> None:
        """Note a sample by its id."""
        self.counts[reason] += 1
        known = self.ids.setdefault(reason, [])
        if len(known) < SHOWN:
            known.append(name)

    def table(self) -> dict[str, dict[str, Any]]:
        """The counts and ids by reason, for the manifest."""
        return {
            reason: {"count": count, "ids": self.ids[reason]} for reason, count in sorted(self.counts.items())
        }
