"""Other number formats: what their products are, and when one may stand for float32."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.calibration.curve import Calibration, Curve
from judge.errors import InputError
from judge.load import load_judge
from judge.models import hardware
from judge.models.parity import FormatParity, Parity, read_parity
from judge.prompting.prompts import prompt_hash
from judge.types import Sample

BOTH = "flags : avx512_bf16 avx512_vnni"
SAMPLES = [
    Sample(str(at), "The tower is 330 m high. " * (at % 3 + 1), f"It is {at} m high.") for at in range(5)
]


def row(precision: str, speed: float = 2.0, **more: Any) -> FormatParity:
    known: dict[str, Any] = {
        "rows": 300, "labels_changed": 1, "p_fail_largest": 0.01, "p_fail_mean": 0.001,
        "auroc_before": 0.8, "auroc": 0.802, "batch_before": 0, "batch": 0,
    }  # fmt: skip
    return FormatParity(precision=precision, speed=speed, **known | more)  # type: ignore[arg-type]


@pytest.fixture
def cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A CPU with the instructions of a text."""
    import torch

    def make(flags: str) -> None:
        (tmp_path / "cpuinfo").write_text(flags)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(hardware, "CPU_FLAGS", tmp_path / "cpuinfo")
    make(BOTH)
    return make


@pytest.fixture
def measured(model_folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """A judge with a parity, and a calibration that was fitted in float32."""
    folder = tmp_path / "judge"
    shutil.copytree(model_folder("chatml"), folder)
    fitted = Calibration(
        curve=Curve(method="platt", temperature=2.0, bias=1.0), prompt_hash=prompt_hash(),
        precision="float32", data_sha256="0" * 64, samples=9, fail=4, groups=9, ece_before=0, ece_after=0,
    )  # fmt: skip

    def make(*rows: FormatParity, prompt: str = prompt_hash()) -> Path:
        parity = Parity(prompt_hash=prompt, data="9 of mine", formats=rows)
        identity = {
            "calibration": {"verdict": fitted.model_dump()},
            "parity": {"verdict": parity.model_dump()},
        }
        (folder / "judge.json").write_text(json.dumps(identity))
        return folder

    return make


@given(
    st.lists(st.lists(st.floats(-50, 50, width=32), min_size=8, max_size=8), min_size=1, max_size=5),
    st.integers(0, 99),
)
@settings(max_examples=6, deadline=None)
def test_a_row_in_bytes_is_its_own(rows: list[list[float]], seed: int) -> None:
    """To the last bit the same alone and among others, and as far off as the rounding."""
    import torch

    from judge.models.int8 import Int8Linear

    torch.manual_seed(seed)
    plain = torch.nn.Linear(8, 24, bias=seed % 2 == 0)
    layer, given_rows = Int8Linear(plain), torch.tensor(rows)
    together = layer(given_rows)
    for one, found in zip(given_rows, together, strict=True):
        assert layer(one[None]).equal(found[None])
    step = given_rows.abs().amax(1, keepdim=True) / 254 * plain.weight.abs().sum(1)
    step = step + given_rows.abs().sum(1, keepdim=True) * plain.weight.abs().amax(1) / 200
    assert ((together - plain(given_rows)).abs() <= step + 1e-4).all()
    assert layer(given_rows.bfloat16()).dtype is torch.bfloat16


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({}, True),
        ({"labels_changed": 2}, False),
        ({"rows": 400, "labels_changed": 2}, True),
        ({"auroc": 0.7969}, False),
        ({"auroc": 0.804}, False),
        ({"auroc": None}, False),
    ],
)
def test_what_holds(changes: dict[str, Any], holds: bool) -> None:
    assert row("int8", **changes).holds is holds


def test_the_fastest_of_those_that_hold() -> None:
    found = Parity(prompt_hash="x", data="", formats=(row("bfloat16", 1.5), row("int8", 3.0)))
    assert found.fastest(("bfloat16", "int8")) == "int8"
    assert found.fastest(("bfloat16",)) == "bfloat16" and found.fastest(()) == "float32"
    slow = Parity(
        prompt_hash="x", data="", formats=(row("bfloat16", 0.9), row("int8", 3.0, labels_changed=9))
    )
    assert slow.fastest(("bfloat16", "int8")) == "float32"
    assert slow.of("int8") is None and slow.of("bfloat16") is not None


def test_auto_takes_it(measured: Callable[..., Path], cpu: Callable[[str], None]) -> None:
    """... with the calibration, and says so; where the CPU cannot, or for claims, float32 stays."""
    folder = str(measured(row("bfloat16", 1.5), row("int8", 3.0)))
    judge = load_judge(folder)
    told = judge.describe()
    assert told["dtype"] == "int8" and told["parity"]["speed"] == 3.0 and "calibration" in told
    plain = load_judge(folder, precision="float32")
    assert "parity" not in plain.describe() and "calibration" in plain.describe()
    assert told["parameters"] == plain.describe()["parameters"]
    for one, other in zip(judge.check(SAMPLES), plain.check(SAMPLES), strict=True):
        assert one.p_fail == pytest.approx(other.p_fail, abs=0.05) and one.p_fail != other.p_fail
    assert load_judge(folder, claims=True).describe()["dtype"] == "float32"
    for flags, chosen in (("flags : avx512_bf16", "bfloat16"), ("flags : avx2", "float32")):
        cpu(flags)
        assert load_judge(folder).describe()["dtype"] == chosen
    with pytest.raises(InputError, match="int8 takes a CPU with VNNI"):
        load_judge(folder, precision="int8")


def test_what_did_not_pass_is_not_taken(measured: Callable[..., Path], cpu: Callable[[str], None]) -> None:
    folder = str(measured(row("bfloat16", labels_changed=9)))
    assert load_judge(folder).describe()["dtype"] == "float32"
    with pytest.warns(match="set aside, because it was fitted to float32"):
        asked = load_judge(folder, precision="bfloat16").describe()
    assert asked["dtype"] == "bfloat16" and not {"parity", "calibration"} & set(asked)
    assert read_parity({"parity": {}}, folder, "verdict", "x") is None
    other = measured(row("bfloat16"), prompt="another")
    assert load_judge(str(other)).describe()["dtype"] == "float32"
    (other / "judge.json").write_text('{"parity": {"verdict": {"formats": []}}}')
    with pytest.raises(InputError, match=r"judge\.json.*parity.*judge eval --parity"):
        load_judge(str(other))


def test_bytes_do_not_depend_on_the_batch(model_folder: Callable[[str], Path]) -> None:
    """A verdict in int8 is that of the sample alone, but for roundings; the head stays as it is."""
    from judge.models.weights import load_model

    if not hardware.this_device().int8:
        pytest.skip("this CPU does not multiply bytes")
    folder = str(model_folder("chatml"))
    loaded = load_model(folder, precision="int8")
    assert loaded.describe()["dtype"] == "int8" and loaded.model.lm_head.weight.is_floating_point()
    alone = load_judge(folder, precision="int8", batch_tokens=1)
    together = load_judge(folder, precision="int8")
    for one, other in zip(alone.check(SAMPLES), together.check(SAMPLES), strict=True):
        assert one.p_fail == pytest.approx(other.p_fail, abs=2e-3)
