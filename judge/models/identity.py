"""``judge.json``, what lies next to a judge's weights: read for how the judge was trained.

:func:`judge.training.card.judge_identity` writes it, ``judge merge`` carries it along, and
``judge calibrate`` adds to it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from judge.errors import InputError, warn
from judge.files import JUDGE_FILE
from judge.models.hub import hub_answers, refuse_absent
from judge.models.quantization import Quantization
from judge.progress import say
from judge.shipped import model_path
from judge.types import MODES, Mode

ENCODER = "encoder"
"""``stage`` of an encoder judge, see :mod:`judge.encoder`."""


def read_identity(model: str, revision: str | None = None) -> dict[str, Any]:
    """The ``judge.json`` of a folder, a Hub repository or the reference judge; empty where there is none.

    Raises:
        InputError: the file is there and is not a JSON object, or the name is a path and no folder is there.
    """
    model = model_path(model)
    refuse_absent(model)
    file = Path(model) / JUDGE_FILE if Path(model).is_dir() else _fetch(model, revision)
    if file is None or not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise InputError("is not a JSON object", file=file)
    return found


FITTED = ("calibration", "claims")
"""Fields of ``judge.json`` that were fitted to the probabilities of these very weights."""

_fetched: dict[tuple[str, str | None], Path | None] = {}
"""What the Hub answered in this process, by repository and revision."""


def _fetch(model: str, revision: str | None) -> Path | None:
    """``judge.json`` of a Hub repository; ``None`` where it has none or the Hub is out of reach."""
    from transformers.utils import cached_file

    if (model, revision) in _fetched:
        return _fetched[model, revision]
    # A short look first: without a network the client would retry for half a minute.
    kept = not hub_answers(model)
    try:
        found = Path(cached_file(model, JUDGE_FILE, revision=revision, local_files_only=kept))
    except OSError:  # what it raises for all of these
        found = None
    if not kept:
        _fetched[model, revision] = found
    return found


def taught_mode(identity: Mapping[str, Any]) -> Mode:
    """The mode that a judge is asked in where nobody says another: verdict, unless it was not taught that."""
    modes = identity.get("modes") or ["verdict"]
    mode: Mode = "verdict" if "verdict" in modes else modes[0]
    return mode


def asked_mode(model: str, identity: Mapping[str, Any], wanted: Mode | None) -> Mode:
    """The mode that is wanted of a judge, or else the one that it was taught; tells what may surprise."""
    taught = taught_mode(identity)
    if wanted is None and taught != "verdict":
        say(f"{model}: is asked in mode {taught}, as it was trained (--mode verdict asks for a label alone)")
    elif wanted is not None and wanted not in (identity.get("modes") or MODES):
        warn(f"{model}: was taught mode {taught} alone; in mode {wanted} its verdicts mean little")
    return wanted or taught


def trained_quantization(identity: Mapping[str, Any]) -> Quantization | None:
    """The number format of the base weights that a judge learned on: what it has to be loaded on.

    A merged judge is plain weights, whatever its adapter was trained on.
    """
    return None if "merged_from" in identity else _quantization(identity)


def trained_precision(identity: Mapping[str, Any]) -> str | None:
    """The number format that a judge computed in while it was trained; ``None`` where nothing says so."""
    found = identity.get("precision")
    return found if found in ("float32", "bfloat16", "float16") else None


def rounded_base(identity: Mapping[str, Any]) -> Quantization | None:
    """The 4-bit grid that a judge's plain weights were rounded to before something was merged into them.

    Rounding such weights to the grid again takes back nearly all that was merged.
    """
    before: Quantization | None = identity.get("rounded_base")
    if "merged_from" in identity and before is None:
        return _quantization(identity)
    return before


def _quantization(identity: Mapping[str, Any]) -> Quantization | None:
    recipe = identity.get("recipe")
    found = recipe.get("quantization") if isinstance(recipe, Mapping) else None
    return found if found in get_args(Quantization) else None
