"""Recipes of data sets: what they name is known and fits together, and what does not is one clear error."""

from pathlib import Path

import pytest

from data_pipeline.config import DataConfig
from data_pipeline.teachers.config import ORIGINS
from judge.configs import load_config
from judge.errors import InputError

TEACHERS = """
teachers:
  - {name: gpt, kind: openai, endpoint: {model: gpt-4o}}
  - {name: small, kind: local, model: some/model}
"""
UNKNOWN = r"unknown teacher 'smal'; did you mean 'small'\? \(known: gpt, rules, small"


def load(text: str, folder: Path) -> DataConfig:
    path, sources = folder / "data.yaml", "" if "sources:" in text else "sources: [{kind: starter}]"
    path.write_text(f"output: out\n{sources}\n{text}\n")
    return load_config(DataConfig, path)


def test_a_recipe_with_every_use_of_teachers(tmp_path: Path) -> None:
    config = load(
        f"{TEACHERS}perturber: gpt\n"
        "reasoning: {way: ensemble, teachers: [gpt, rules, small]}\ncounterfactuals: {teacher: small}",
        tmp_path,
    )
    assert [teacher.name for teacher in config.teachers] == ["gpt", "small"]
    assert config.reasoning.teachers == ("gpt", "rules", "small")
    assert DataConfig.model_validate(config.model_dump(mode="json")) == config
    assert load("", tmp_path).reasoning.teachers == ("rules",)


WRONG = [
    ("edit: 1", r"unknown key 'edit'; did you mean 'edits'"),
    ("edit_types: []", "'edit_types'.*at least 1 item"),
    ("edit_types: [numbr]", r"unknown edit type 'numbr'; did you mean 'number'"),
    ("preferences: {model: m}", r"'preferences.model': is gone: omit it; rejected judgements are composed"),
    ("leaks: {benchmarks: [fib]}", r"'leaks.benchmarks': is gone: omit it; the gate compares"),
    ("from_document: 1.5", "'from_document'"),
    ("splits: {test: 1.5}", r"'splits.test'"),
    ("calls: {money: -1}", r"'calls.money'"),
    ("mix: {samples: 5}", r"'mix': is gone: give sources their samples"),
]
SOURCES = [
    ("", r"'sources'"),
    ("{kind: pubmed_qa}", r"'sources.0.kind'.*unknown kind 'pubmed_qa'; did you mean 'pubmedqa'"),
    ("{kind: ifqa, split: trian}", r"'sources.0'.*unknown split 'trian'; did you mean 'train'"),
    ("{kind: fib, split: train}", "kind fib takes no split"),
    ("{kind: hub}", "kind hub needs a path"),
    ("{kind: drop, columns: {answer: a}}", "kind drop takes no columns"),
    (
        "{kind: file, path: x, columns: {documnt: a}}",
        "unknown field of a sample 'documnt'; did you mean 'document'",
    ),
    ("{kind: asqa, side: whole}", "kind asqa takes no side"),
    ("{kind: asqa, window_tokens: 100}", "kind asqa takes no window_tokens"),
    ("{kind: starter, constants: {task: qa}}", "kind starter takes no constants"),
    ("{kind: starter, contrast_pairs: true}", "contrast_pairs is for labelled samples"),
    ("{kind: hub, path: x, constants: {language: fr}}", r"'sources.0.constants.language'.*'fr'"),
    ("{kind: hub, path: x, constants: {lang: zh}}", r"unknown key 'lang'; did you mean 'language'"),
    ("{kind: file, path: x, form: multiplechoice}", r"unknown form.*did you mean 'multiple_choice'"),
    ("{kind: drop, form: nli}", "kind drop takes no form"),
    ("{kind: squad, path: x, form: nli}", "kind squad takes no form but unanswerable"),
    ("{kind: file, path: x, distractors: 2}", "is gone: omit it; one wrong option"),
    ("{kind: file, path: x, form: nli, labels: {a: MAYBE}}", r"labels\.a"),
    ("{kind: file, path: x, form: nli, columns: {premise: p}}", "unknown field of form nli 'premise'"),
    ("{kind: file, path: x, form: nli, columns: {document: p}}", "form nli needs a column for answer"),
    ("{kind: file, path: x, licences: []}", "licences"),
    ("{kind: ragtruth, perturb: false, samples: {train: 9, pairs: true}}", "pairs are made of gold answers"),
]
USES = [
    ("perturber: smal", UNKNOWN),
    ("reasoning: {way: ensemble, teachers: [rules, smal]}", UNKNOWN),
    ("counterfactuals: {teacher: smal}", UNKNOWN),
    ("reasoning: {way: known_label, teachers: [rules]}", "way known_label needs a chat model"),
    ("reasoning: {way: backward, teachers: [gpt, small]}", "way backward takes one teacher; name gpt alone"),
    ("reasoning: {teachers: [gpt]}", "way rules asks no teacher; name a way"),
    ("perturber: gpt\nedit_types: [date]", "edit_types is for perturber rules; omit it, gpt edits freely"),
    ("perturber: gpt\nfrom_document: 0.1", "from_document is for perturber rules"),
    ("reasoning: {way: ensemble, teachers: [gpt, rules, gpt]}", "a teacher is named twice"),
    ("reasoning: {way: ensemble, teachers: []}", r"'reasoning.teachers'"),
    ("counterfactuals: {teacher: rules}", "counterfactuals need a chat model"),
]
WRONG_TEACHERS = [
    ("{name: a, kind: openai}", "kind openai needs endpoint"),
    ("{name: a, kind: local, model: m, engine: vllm}", "unknown key 'engine'"),
    ("{name: a, kind: local}", "kind local needs model"),
    ("{name: a, kind: local, model: m, endpoint: {model: m}}", "kind local takes no endpoint"),
    ("{name: a, kind: openai, endpoint: {}}", "endpoint.model.*is missing"),
    ("{name: a, kind: openai, endpoint: {model: m, base_url: here}}", "an address such as"),
    ("{name: a, kind: openai, endpoint: {model: m, api_key: secret}}", "unknown key 'api_key'"),
    ("{name: a, kind: local, model: m, temperature: 1, top_p: 0.9}", "unknown key 'top_p'"),
    ("{name: small, kind: local, model: m}, {name: small, kind: local, model: n}", "have the same name"),
    *(
        (f"{{name: {name}, kind: local, model: m}}", f"the name '{name}' has a meaning of its own")
        for name in ORIGINS
    ),
]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *WRONG,
        *((f"sources: [{source}]", message) for source, message in SOURCES),
        *((TEACHERS + use, message) for use, message in USES),
        *((f"teachers: [{teacher}]", message) for teacher, message in WRONG_TEACHERS),
    ],
)
def test_wrong_recipes(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load(text, tmp_path)
    assert "secret" not in str(caught.value)
