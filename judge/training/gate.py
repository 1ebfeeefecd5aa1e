"""Refuses to train on data that was not checked for rows of benchmarks."""

from pathlib import Path

from judge.errors import InputError
from judge.files import read_whole, sha256_file

REMEDY = "run the gate ('leaks' in the data recipe), or say without_leak_gate: true in the training recipe"


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
    record = manifest.get("leaks")
    if record is None:
        raise InputError(
            f"the leak gate was not run on this data; {REMEDY}", file=manifest_file, field="leaks"
        )
    if not record["benchmarks"]:
        raise InputError(
            f"the leak gate found no benchmark to compare with; {REMEDY}", file=manifest_file, field="leaks"
        )
    if record["data"].get(name) != sha256_file(file):
        raise InputError(
            f"is not the file that the leak gate let through (see 'leaks' in {manifest_file}); build the "
            "data set again, or say without_leak_gate: true in the training recipe",
            file=file,
        )
