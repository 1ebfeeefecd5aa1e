"""What a judge is measured on by default."""

from pathlib import Path

from eval.benchmarks import WHOLE, get_benchmark
from judge.formats.files import MissingFiles, resolve_data_dir
from judge.models.identity import read_identity
from judge.progress import say

BUNDLED = "probes"


def default_sets(model: str, data_dir: Path | None) -> tuple[list[str], list[Path]]:
    """Every whole benchmark whose files are found, otherwise the bundled probes and the judge's test split.

    Prints the choice in one line.

    Args:
        model: the value of ``--model``.
        data_dir: folder of the benchmarks; ``JUDGE_DATA_DIR`` by default.

    Returns:
        Names of benchmarks, and files of samples.
    """
    folder = resolve_data_dir(data_dir)
    found = [name for name in WHOLE if folder is not None and _found(name, folder)]
    if found:
        say(f"no benchmark is named: measuring on all in {folder}: {', '.join(found)}")
        return found, []
    identity = read_identity(model) if Path(model).is_dir() else {}
    own = Path(identity.get("data", ""), "test.jsonl")
    files = [own] if identity.get("data") and own.is_file() else []
    on = f"the bundled {BUNDLED}" + (f" and the judge's own test split, {own}" if files else "")
    say(f"no benchmark is named, and no files of one were found: measuring on {on} (more: judge data fetch)")
    return [BUNDLED], files


def _found(name: str, folder: Path) -> bool:
    try:
        next(iter(get_benchmark(name).read(folder)), None)
    except MissingFiles:
        return False
    return True
