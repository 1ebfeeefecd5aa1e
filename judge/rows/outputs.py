"""Names of files that rows are written to."""

from collections.abc import Sequence
from pathlib import Path

from judge.errors import InputError
from judge.rows.kinds import FILE_TYPES, file_type

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip", ".tgz", ".tar", ".7z", ".rar")


def check_jsonl_outputs(outs: Sequence[Path], inputs: Sequence[Path], what: str) -> None:
    """Refuse files of JSON Lines that are named like another kind, or that :func:`check_outputs` refuses.

    Raises:
        InputError: with what to do instead.
    """
    for out in outs:
        kind = file_type(out)
        if out.suffix.lower() in PACKED or (kind in FILE_TYPES and not kind.endswith(("jsonl", "ndjson"))):
            name = f"{out.name.partition('.')[0]}.jsonl"
            raise InputError(f"{what} are JSON Lines; give a name such as {name}, not {out.suffix}", file=out)
    check_outputs(outs, inputs, what)


def check_outputs(outs: Sequence[Path], inputs: Sequence[Path], what: str) -> None:
    """Refuse a packed name, a file that the command reads, and one file for two outputs.

    Raises:
        InputError: with what to do instead.
    """
    for number, out in enumerate(outs):
        if out.suffix.lower() in PACKED:
            name = f"{out.stem}, not {out.suffix}"
            raise InputError(f"the {what} is not packed; give a name such as {name}", file=out)
        if any(out.exists() and path.exists() and out.samefile(path) for path in inputs):
            raise InputError(f"is a file that is read; give another one for the {what}", file=out)
        if out.resolve() in [other.resolve() for other in outs[:number]]:
            raise InputError("is named for two outputs; give each its own file", file=out)
