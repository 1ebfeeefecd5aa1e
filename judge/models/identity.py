"""Reads ``judge.json``, the file next to a judge's weights that says how the judge was trained.

:func:`judge.training.card.judge_identity` writes it, ``judge merge`` copies it, and ``judge calibrate`` adds
to it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from judge.errors import warn
from judge.files import JUDGE_FILE, read_json
from judge.models.hub import fetch, refuse_absent
from judge.models.quantization import Quantization
from judge.progress import say
from judge.shipped import model_path
from judge.types import MODES, Mode

ENCODER = "encoder"
"""``stage`` of an encoder judge, see :mod:`judge.encoder`."""
SECOND = "second"
"""Folder of a second encoder inside the first's, and the field that says so (:mod:`judge.encoder.second`)."""


def read_identity(model: str, revision: str | None = None) -> dict[str, Any]:
    """The ``judge.json`` of a folder, a Hub repository or a bundled judge; empty if there is none.

    Raises:
        InputError: if the file is not a JSON object, or the name is a path without a folder.
    """
    model = model_path(model)
    refuse_absent(model)
    file = Path(model) / JUDGE_FILE if Path(model).is_dir() else fetch(model, JUDGE_FILE, revision)
    return {} if file is None or not file.is_file() else read_json(file)


def taught_mode(identity: Mapping[str, Any]) -> Mode:
    """The default mode of a judge: verdict, unless it was not trained for that."""
    modes = identity.get("modes") or ["verdict"]
    mode: Mode = "verdict" if "verdict" in modes else modes[0]
    return mode


def asked_mode(model: str, identity: Mapping[str, Any], wanted: Mode | None) -> Mode:
    """The requested mode, or else the judge's default; prints a note if the result may surprise."""
    taught = taught_mode(identity)
    if wanted is None and taught != "verdict":
        say(f"{model}: is asked in mode {taught}, as it was trained (--mode verdict asks for a label alone)")
    elif wanted is not None and wanted not in (identity.get("modes") or MODES):
        warn(f"{model}: was taught mode {taught} alone; in mode {wanted} its verdicts mean little")
    return wanted or taught


def trained_quantization(identity: Mapping[str, Any]) -> Quantization | None:
    """The quantization of the base weights that a judge was trained on and has to be loaded with.

    A merged judge has plain weights, whatever its adapter was trained on.
    """
    return None if "merged_from" in identity else _quantization(identity)


def trained_precision(identity: Mapping[str, Any]) -> str | None:
    """The number format that a judge was trained in; ``None`` if it is unknown."""
    found = identity.get("precision")
    return found if found in ("float32", "bfloat16", "float16") else None


def rounded_base(identity: Mapping[str, Any]) -> Quantization | None:
    """The 4-bit format that a judge's plain weights were rounded to before an adapter was merged into them.

    Rounding such weights to the format again would undo nearly all of the adapter.
    """
    before: Quantization | None = identity.get("rounded_base")
    if "merged_from" in identity and before is None:
        return _quantization(identity)
    return before


def _quantization(identity: Mapping[str, Any]) -> Quantization | None:
    recipe = identity.get("recipe")
    found = recipe.get("quantization") if isinstance(recipe, Mapping) else None
    return found if found in get_args(Quantization) else None
