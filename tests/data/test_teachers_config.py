"""Recipes that name teachers: names are known, each has what its kind needs, and each use makes sense."""

from pathlib import Path
from typing import Any

import pytest

from data_pipeline.config import DataConfig
from data_pipeline.teachers.config import ORIGINS, TeacherConfig
from judge.configs import load_config
from judge.errors import InputError

TEACHERS = """
teachers:
  - {name: gpt, kind: openai, endpoint: {model: gpt-4o}}
  - {name: small, kind: local, model: some/model}
"""


def load(text: str, folder: Path, teachers: str = TEACHERS) -> DataConfig:
    path = folder / "data.yaml"
    path.write_text(f"output: out\nsources: [{{kind: starter}}]\n{teachers}\n{text}\n")
    return load_config(DataConfig, path)


def test_a_recipe_with_every_use(tmp_path: Path) -> None:
    config = load(
        "perturber: gpt\nparaphrase_check: small\nreasoning: {way: ensemble, teachers: [gpt, rules, small]}\n"
        "counterfactuals: {teacher: small}",
        tmp_path,
    )
    assert [teacher.name for teacher in config.teachers] == ["gpt", "small"]
    assert config.reasoning.teachers == ("gpt", "rules", "small")
    again = DataConfig.model_validate(config.model_dump(mode="json"))
    assert again == config


def test_rules_need_no_teachers(tmp_path: Path) -> None:
    assert load("", tmp_path, teachers="").reasoning.teachers == ("rules",)


@pytest.mark.parametrize(
    "text",
    [
        "perturber: smal",
        "perturber: gpt\nparaphrase_check: smal",
        "reasoning: {way: ensemble, teachers: [rules, smal]}",
        "counterfactuals: {teacher: smal}",
    ],
)
def test_unknown_names(text: str, tmp_path: Path) -> None:
    message = r"unknown teacher 'smal'; did you mean 'small'\? \(known: gpt, rules, small"
    with pytest.raises(InputError, match=message):
        load(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reasoning: {way: known_label, teachers: [rules]}", "way known_label needs a chat model"),
        ("reasoning: {way: backward}", "way backward needs a chat model"),
        ("reasoning: {way: ensemble, teachers: [gpt, rules, gpt]}", "a teacher is named twice"),
        ("reasoning: {way: ensemble, teachers: []}", r"'reasoning.teachers'"),
        ("reasoning: {way: together}", r"'reasoning.way'"),
        ("paraphrase_check: gpt", "paraphrase_check needs two chat models"),
        ("perturber: gpt\nparaphrase_check: rules", "paraphrase_check needs two chat models"),
        ("counterfactuals: {teacher: rules}", "counterfactuals need a chat model"),
        ("counterfactuals: {teacher: gpt, style: poem}", r"'counterfactuals.style'"),
        ("calls: {money: -1}", r"'calls.money'"),
        ("calls: {cash: 3}", "unknown key 'cash'; did you mean 'cache'"),
    ],
)
def test_wrong_uses(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        load(text, tmp_path)


@pytest.mark.parametrize(
    ("teacher", "message"),
    [
        ("{name: a, kind: openai}", "kind openai needs endpoint"),
        ("{name: a, kind: openai, model: m}", "kind openai needs endpoint"),
        ("{name: a, kind: openai, endpoint: {model: m}, model: m}", "kind openai takes no model"),
        ("{name: a, kind: local}", "kind local needs model"),
        ("{name: a, kind: local, model: m, endpoint: {model: m}}", "kind local takes no endpoint"),
        ("{name: a, kind: openai, endpoint: {}}", "endpoint.model.*is missing"),
        ("{name: a, kind: openai, endpoint: {model: m, base_url: here}}", "an address such as"),
        ("{name: a, kind: openai, endpoint: {model: m, api_key: secret}}", "unknown key 'api_key'"),
        ("{name: a, kind: local, model: m, temperature: -1}", "temperature"),
        ("{name: a, kind: local, model: m, temperature: 1, top_p: 0}", "top_p"),
        ("{name: a, kind: local, model: m, top_k: 5}", "are for sampling; give a temperature"),
        ("{name: '', kind: local, model: m}", "teachers.0.name"),
        ("{name: small, kind: local, model: m}, {name: small, kind: local, model: n}", "have the same name"),
    ],
)
def test_wrong_teachers(teacher: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load("", tmp_path, teachers=f"teachers: [{teacher}]")
    assert "secret" not in str(caught.value)


def test_the_manifest_says_how_a_teacher_is_sampled() -> None:
    def sampling(**settings: Any) -> dict[str, Any]:
        return TeacherConfig.model_validate({"name": "a", **settings}).sampling()

    local, server = {"kind": "local", "model": "m"}, {"kind": "openai", "endpoint": {"model": "m"}}
    assert sampling(**local) == sampling(**server) == {"temperature": 0.0}
    assert sampling(**local, temperature=0.8) == {"temperature": 0.8, "top_p": 1.0, "top_k": 0}
    assert sampling(**server, temperature=0.8, top_p=0.7)["top_k"] == "the server's own"
    assert sampling(**server, temperature=0.8, top_k=0)["top_k"] == 0


@pytest.mark.parametrize("name", ORIGINS)
def test_names_with_a_meaning_of_their_own(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"the name '{name}' has a meaning of its own"):
        load("", tmp_path, teachers=f"teachers: [{{name: {name}, kind: local, model: m}}]")
