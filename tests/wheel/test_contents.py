"""The wheel holds all that its code reads."""

import zipfile
from pathlib import Path

from tests.wheel.conftest import ROOT

PLACES = {"judge": "judge", "data_pipeline": "data_pipeline", "eval": "eval", "recipes": "judge/recipes",
          "accelerate_configs": "judge/accelerate_configs"}  # fmt: skip


def test_every_file_is_in_the_wheel(wheel: Path) -> None:
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    here = {
        f"{inside}/{path.relative_to(ROOT / folder)}"
        for folder, inside in PLACES.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"data_pipeline/audit/page.html.jinja", "judge/py.typed", "judge/recipes/demo/sft.yaml"} <= here
    assert shipped == here
