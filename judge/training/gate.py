"""Refuses to train on data that was not checked for rows of benchmarks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import read_whole, sha256_file

REMEDY = "run the gate ('leaks' in the data recipe), or say without_leak_gate: true in the training recipe"


def gate_record(manifest: Mapping[str, Any], file: Path) -> dict[str, Any] | None:
    """What the leak gate wrote into a manifest; ``None`` if it was not run.

    Raises:
        InputError: if something else is there; names ``file``, the manifest's.
    """
    record = manifest.get("leaks")
    if record is None:
        return None
    if isinstance(record, dict) and all(
        isinstance(part, dict) for part in (record.get("benchmarks"), record.get("data", {}))
    ):
        return record
    found = f"holds {record!r:.60}, not the leak gate's record; build the data set again"
    raise InputError(found, file=file, field="leaks")


def check_leak_gate(file: Path, name: str, folder: Path) -> None:
    """Check that the leak gate was run on this exact file of a data set.

    Args:
        file: the file to train on.
        name: its name in the manifest, such as ``sft/train.jsonl``.
        folder: the data set.

    Raises:
        InputError: if there is no manifest, or the gate was not run, had no benchmark, or ran on other data.
    """
    manifest_file = folder / "manifest.json"
    if not manifest_file.is_file():
        raise InputError(
            f"is missing, so the leak gate was not run on this data; {REMEDY}", file=manifest_file
        )
    manifest = read_whole(manifest_file)
    if manifest is None:
        raise InputError("is not a manifest; build the data set again", file=manifest_file)
    record = gate_record(manifest, manifest_file)
    if record is None:
        raise InputError(
            f"the leak gate was not run on this data; {REMEDY}", file=manifest_file, field="leaks"
        )
    if not record["benchmarks"]:
        raise InputError(
            f"the leak gate found no benchmark to compare with; {REMEDY}", file=manifest_file, field="leaks"
        )
    if record.get("data", {}).get(name) != sha256_file(file):
        raise InputError(
            f"is not the file that the leak gate let through (see 'leaks' in {manifest_file}); build the "
            "data set again, or say without_leak_gate: true in the training recipe",
            file=file,
        )
