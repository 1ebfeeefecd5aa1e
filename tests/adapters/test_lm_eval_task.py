"""A task of the LM Evaluation Harness, from its YAML to its results; nothing leaves the machine."""

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import DOCUMENT, FAITHFUL, GARBLED, QUESTION, WRONG

if find_spec("lm_eval") is None:
    pytest.skip("needs lm_eval", allow_module_level=True)

import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

YAML = """
task: grounded_answers
dataset_path: json
dataset_kwargs:
  data_files: {data}
test_split: train
output_type: generate_until
doc_to_text: "{{{{document}}}}\\n\\nQuestion: {{{{question}}}}\\nAnswer:"
doc_to_target: ""
generation_kwargs: {{until: ["\\n"], max_gen_toks: 8}}
process_results: !function judged.process_results
metric_list:
  - {{metric: faithful, aggregation: mean, higher_is_better: true}}
  - {{metric: judged, aggregation: mean, higher_is_better: true}}
"""
SCRIPTED = """
from scripted_judge import ScriptedJudge

from judge.adapters.lm_eval_task import faithfulness

process_results = faithfulness(ScriptedJudge())
"""


class Replies(LM):
    """A model that gives these replies."""

    def __init__(self, replies: list[str]):
        super().__init__()
        self.replies = replies

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return self.replies[: len(requests)]

    def loglikelihood(self, requests: list[Any], **_: Any) -> list[Any]:
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def evaluate(folder: Path, model: Any, documents: int) -> dict[str, Any]:
    """What the harness reports."""
    rows = [{"document": f"{DOCUMENT} ({number})", "question": QUESTION} for number in range(documents)]
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "task.yaml").write_text(YAML.format(data=data), encoding="utf-8")
    (folder / "judged.py").write_text(SCRIPTED, encoding="utf-8")
    found: dict[str, Any] = lm_eval.simple_evaluate(
        model,
        tasks=["grounded_answers"],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False),
    )
    return found


@pytest.fixture(autouse=True)
def no_shared_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")


def test_means_are_over_the_replies_that_were_judged(tmp_path: Path) -> None:
    replies = [FAITHFUL, WRONG, GARBLED, FAITHFUL, ""]
    found = evaluate(tmp_path, Replies(replies), len(replies))
    results = found["results"]["grounded_answers"]
    assert results["faithful,none"] == pytest.approx(2 / 3)
    assert results["judged,none"] == 3 / 5
    assert results["faithful_stderr,none"] == pytest.approx(math.sqrt(2 / 3 * 1 / 3 / 2))
    samples = found["samples"]["grounded_answers"]
    assert [sample.get("faithful") for sample in samples] == [1.0, 0.0, None, 1.0, None]


def test_without_any_verdict_there_is_no_faithfulness(tmp_path: Path) -> None:
    results = evaluate(tmp_path, Replies([GARBLED] * 2), 2)["results"]["grounded_answers"]
    assert results["judged,none"] == 0
    assert "faithful,none" not in results
