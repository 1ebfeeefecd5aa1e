"""The model card, and doing without a Hub that cannot be reached."""

from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from judge.errors import InputError, JudgeWarning
from judge.load import load_judge
from judge.models import hub as looking
from judge.models.identity import read_identity
from judge.training.card import data_counts

# --- The model card -----------------------------------------------------------------------------------------


def test_what_the_card_tells_of_the_data(tmp_path: Path) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(
        '{"documents": 3, "rows": {"sft/train": {"total": 9, "verdict PASS": 5}}, "leaks": {"benchmarks": '
        '{"halubench": {}}}, "counts": {"label": {"PASS": 5}, "edit_type": {"number": 2}}}'
    )
    assert data_counts(manifest) == {
        "documents": 3, "sft/train rows": 9, "label": {"PASS": 5}, "compared with": "halubench",
    }  # fmt: skip
    manifest.write_text("{}")
    assert data_counts(manifest) == {"compared with": "no benchmark (leak gate not run)"}


@pytest.mark.parametrize("there", [True, False])
def test_the_hub_is_asked_once_for_a_judges_identity(
    there: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """... and again where it was out of reach."""
    file = tmp_path / "judge.json"
    file.write_text('{"stage": "sft"}')
    answers, asked = [False, True], []

    def cached_file(*words: Any, local_files_only: bool, **_: Any) -> str:
        asked.append(words)
        if local_files_only or not there:
            raise OSError("not here")
        return str(file)

    monkeypatch.setattr("judge.models.hub._fetched", {})
    monkeypatch.setattr("judge.models.hub.hub_answers", lambda _: answers.pop(0))
    monkeypatch.setattr("transformers.utils.cached_file", cached_file)
    found = [read_identity("a/b") for _ in range(4)]
    assert found == [{}, *[{"stage": "sft"} if there else {}] * 3] and asked == [("a/b", "judge.json")] * 2


# --- Without a Hub ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *((path, ": no folder of that name here") for path in ("./ckpt", "/no/where", "a/b/c")),
        ("referense", "; did you mean 'reference'"),
    ],
)
def test_neither_a_path_nor_a_slip_is_asked_of_the_hub(
    name: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("judge.models.hub.hub_answers", lambda _: pytest.fail("the Hub was asked"))
    with pytest.raises(InputError, match=f"unknown model '{name}'{message}"):
        load_judge(name)


def test_a_hub_out_of_reach_is_told_once_and_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its client then asks nothing either, until the Hub answers again."""
    from huggingface_hub import constants

    asked: list[Any] = []
    faults: list[Exception] = [
        HTTPError("", 404, "not found", Message(), None), OSError("Connection refused")
    ]  # fmt: skip

    def urlopen(request: Any, timeout: float) -> Any:
        asked.append(request.full_url)
        raise faults.pop()

    monkeypatch.setattr(looking, "urlopen", urlopen)
    monkeypatch.setattr(looking, "_lost", None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with pytest.warns(JudgeWarning, match=r"cannot be reached \(Connection refused\)") as told:
        assert not looking.hub_answers("a/b") and not looking.hub_answers("a/b")
    assert len(told) == len(asked) == 1 and constants.is_offline_mode()
    monkeypatch.setattr(looking, "AGAIN", 0.0)
    assert not looking.hub_answers("a/b")  # there, without such a model
    assert len(asked) == 2 and not constants.is_offline_mode()
