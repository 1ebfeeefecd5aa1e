"""The audit within a build: it fails if labels can be guessed without reading, unless ``audit: warn``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_pipeline.audit.limits import FIGURES, MEANING, given_away, place, without_verdict
from data_pipeline.audit.page import write_audit
from data_pipeline.audit.run import audit_store
from data_pipeline.config import KEYS, DataConfig
from data_pipeline.edits.types import EDIT_TYPES
from data_pipeline.sources.store import SampleStore
from data_pipeline.sources.workers import Workers
from judge.errors import InputError, counted


def audit_build(
    store: SampleStore, folder: Path, config: DataConfig, say: Callable[[str], None], workers: Workers
) -> dict[str, Any] | None:
    """Audit the samples of a build and write ``audit.html`` and ``audit.json`` into its folder.

    Args:
        store: the samples, with their splits.
        folder: the folder of the build.
        config: the recipe; its seed decides which samples of a large set are checked, its ``audit`` what
            happens if a figure is over its limit.
        say: called with lines on labels that give themselves away, and on sources too small for a verdict.
        workers: see :func:`~data_pipeline.audit.run.audit_store`.

    Returns:
        For the manifest: the figures ``over`` their limits, and cells with too few pairs (``no_verdict``).
        ``None`` if the audit is off.

    Raises:
        InputError: a figure is over its limit and the recipe says ``audit: fail``.
    """
    if config.audit == "off":
        return None
    found = audit_store(store, workers, seed=config.seed)
    page, _ = write_audit({**found, "name": config.output}, folder / "audit.html")
    failing = [one for one in found["over"] if one["fails"]]
    if failing and config.audit == "fail":
        raise InputError(message(failing), file=page)
    few = without_verdict(found)
    for line in given_away(found):
        say(f"audit: {line}")
    if found["in_two_splits"]:
        say(
            f"audit: {counted(found['in_two_splits'], 'sample')} about a document of another split; "
            "give rows about one document the same 'group', or none"
        )
    if few:
        say(f"audit: too few pairs for a verdict on {'; '.join(few)}")
    return {"over": found["over"], "no_verdict": few}


def message(failing: list[dict[str, Any]]) -> str:
    """The figure furthest over its limit, the number of others, and what to do about it."""
    worst = max(failing, key=lambda one: one["value"] - one["limit"])
    kind, edit_type = worst["kind"], worst["edit_type"]
    remedies = [f"omit source {worst['source']!r}"]
    if kind in KEYS:
        remedies.insert(0, f"omit the kind ('{KEYS[kind]}: 0')")
    if kind == "edit" and edit_type in EDIT_TYPES:
        remedies.insert(0, f"omit {edit_type!r} from 'edit_types'")
    more = f" ({len(failing) - 1} more such figures are in the file)" if len(failing) > 1 else ""
    return (
        f"{place(worst)}: {FIGURES[worst['figure']]} {worst['value']:.2f} is over the limit of "
        f"{worst['limit']:.2f}: {MEANING[worst['figure']]}{more}. A judge would learn that instead of "
        f"reading; {', '.join(remedies)}, or accept it with 'audit: warn'"
    )
