"""The Hub: pushing to one that is played, and doing without one that cannot be reached."""

from email.message import Message
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest

from judge.errors import InputError, JudgeError, JudgeWarning
from judge.load import load_judge
from judge.models import hub as looking
from judge.models.identity import read_identity
from judge.training.card import data_counts, model_card
from judge.training.hub import hub_token, push


class Hub:
    """Notes what is asked of it; fails where it is told to."""

    def __init__(self, private: bool = True, failing: str = "", error: Exception | None = None):
        self.private, self.failing, self.error = private, failing, error
        self.calls: list[tuple[str, Any, dict[str, Any]]] = []
        self.token = ""

    def __call__(self, token: str) -> "Hub":
        self.token = token
        return self

    def __getattr__(self, name: str) -> Any:
        def called(*arguments: Any, **keywords: Any) -> Any:
            self.calls.append((name, arguments, keywords))
            if name == self.failing and self.error is not None:
                raise self.error
            return SimpleNamespace(private=self.private)

        return called


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Any:
    def make(**settings: Any) -> Hub:
        hub = Hub(**settings)
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        monkeypatch.setattr("huggingface_hub.HfApi", hub)
        return hub

    return make


def test_a_private_repository_with_the_judge_alone(connect: Any, tmp_path: Path) -> None:
    from huggingface_hub.utils import filter_repo_objects

    hub = connect()
    push(tmp_path, "me/judge")
    assert hub.token == "hf_secret"
    names = [name for name, _, _ in hub.calls]
    assert names == ["create_repo", "model_info", "upload_folder"]
    assert hub.calls[0][2] == {"private": True, "exist_ok": True}
    upload = hub.calls[-1][2]
    assert upload["repo_id"] == "me/judge" and upload["folder_path"] == tmp_path
    beside = ["checkpoint-4/optimizer.pt", "best-2/x.safetensors", "runs/a/events", ".ready/x", ".x.tmp"]
    judge = ["judge.json", "README.md", "adapter_model.safetensors"]
    assert list(filter_repo_objects(judge + beside, ignore_patterns=upload["ignore_patterns"])) == judge


def test_a_public_repository_is_refused(connect: Any, tmp_path: Path) -> None:
    hub = connect(private=False)
    with pytest.raises(JudgeError, match=f"saved in {tmp_path}, but was not pushed: me/judge is public"):
        push(tmp_path, "me/judge")
    assert "upload_folder" not in [name for name, _, _ in hub.calls]


@pytest.mark.parametrize("failing", ["create_repo", "upload_folder"])
@pytest.mark.parametrize("error", [ConnectionError("no route\nto host"), OSError("403 Forbidden")])
def test_a_hub_that_refuses(failing: str, error: Exception, connect: Any, tmp_path: Path) -> None:
    connect(failing=failing, error=error)
    with pytest.raises(JudgeError) as refused:
        push(tmp_path, "me/judge")
    reason = str(error).splitlines()[0]
    assert str(refused.value) == (
        f"the judge is saved in {tmp_path}, but could not be pushed to me/judge ({reason})"
    )
    assert "hf_secret" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "  "])
def test_no_token(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(InputError, match="set HF_TOKEN in the environment"):
        hub_token()


# --- The card that is pushed --------------------------------------------------------------------------------


def identity(**training: Any) -> dict[str, Any]:
    return {
        "base_model": "base", "stage": "sft", "data": "data", "data_manifest_sha256": "0" * 64,
        "prompt_version": 1, "prompt_hash": "hash", "recipe": {"lora": None, "seed": 0},
        "training": {"rows": 4, "losses": [{"step": 1, "loss": 0.5}], **training},
        "versions": {"torch": "2"},
        "data_counts": {"samples": 4, "label": {"FAIL": 2, "PASS": 2}},
    }  # fmt: skip


def test_the_card_tells_of_the_best_evaluation() -> None:
    best = {"step": 20, "loss": 0.25, "samples": 8, "balanced_accuracy": 0.75, "coverage": 1.0}
    card = model_card(identity(best={**best, "kept": True}))
    for line in (
        "| step | 20 |",
        "| loss | 0.25 |",
        "| balanced accuracy | 75.0 % |",
        "| coverage | 100.0 % |",
    ):
        assert line in card
    assert "chosen by them" in card and "| label | FAIL 2, PASS 2 |" in card and "| rows | 4 |" in card
    assert "losses" not in card and "library_name: transformers" in card
    assert "last step are the ones kept" in model_card(identity(best={**best, "kept": False}))
    assert "## Validation" not in model_card(identity())


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

    monkeypatch.setattr("judge.models.identity._fetched", {})
    monkeypatch.setattr("judge.models.identity.hub_answers", lambda _: answers.pop(0))
    monkeypatch.setattr("transformers.utils.cached_file", cached_file)
    found = [read_identity("a/b") for _ in range(4)]
    assert found == [{}, *[{"stage": "sft"} if there else {}] * 3] and asked == [("a/b", "judge.json")] * 2


# --- Without a Hub ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["./ckpt", "runs/none", "/no/where", "none/", "a/b/c"])
def test_a_path_is_no_name_on_the_hub(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("judge.models.identity.hub_answers", lambda _: pytest.fail("the Hub was asked"))
    with pytest.raises(InputError, match=f"unknown model '{name}': no folder of that name here"):
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
