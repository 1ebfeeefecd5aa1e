"""The snippets of docs/adapters.md run as they stand, on a judge that is not loaded."""

import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from scripted_judge import DOCUMENT, QUESTION, VERDICTS, WRONG, ScriptedJudge

import judge

DOCS = Path(__file__).resolve().parents[2] / "docs" / "adapters.md"


def snippets(heading: str) -> Iterator[str]:
    """The indented blocks below one heading."""
    section = DOCS.read_text(encoding="utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for is_prose, lines in groupby(section.splitlines(), lambda line: line[:1] not in ("", " ")):
        if not is_prose and (block := textwrap.dedent("\n".join(lines)).strip()):
            yield block


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ScriptedJudge:
    """What ``load_judge`` makes in a snippet; Inspect's mock model always answers the same."""
    one = ScriptedJudge()
    monkeypatch.setattr(judge, "load_judge", lambda name: one, raising=False)
    monkeypatch.setitem(VERDICTS, "Default output from mockllm/model", VERDICTS[WRONG])
    monkeypatch.setenv("DEEPEVAL_TELEMETRY_OPT_OUT", "1")
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "true")
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    monkeypatch.chdir(tmp_path)
    return one


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("heading", "package", "count"),
    [
        ("DeepEval", "deepeval", 1), ("RAGAS", "ragas", 1), ("LangChain", "langchain_core", 1),
        ("LlamaIndex", "llama_index", 1), ("Haystack", "haystack", 1), ("any-guardrail", "any_guardrail", 1),
    ],
)  # fmt: skip
def test_snippets_run(scripted: ScriptedJudge, heading: str, package: str, count: int) -> None:
    if find_spec(package) is None:
        pytest.skip(f"needs {package}")
    names: dict[str, Any] = {}
    for snippet in list(snippets(heading))[:count]:
        exec(compile(snippet, f"{DOCS}: {heading}", "exec"), names)
    assert [(sample.document_text, sample.question, sample.answer) for sample in scripted.seen] == [
        (DOCUMENT, QUESTION, WRONG)
    ] * count


def test_the_inspect_snippet_runs(scripted: ScriptedJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("inspect_ai") is None:
        pytest.skip("needs inspect_ai")
    from inspect_ai.model import ModelAPI

    async def count_text_tokens(self: ModelAPI, text: str) -> int:
        return len(text)  # the mock model would fetch a tokenizer

    monkeypatch.setattr(ModelAPI, "count_text_tokens", count_text_tokens)
    [snippet] = snippets("Inspect")
    exec(compile(snippet, f"{DOCS}: Inspect", "exec"), {})
    [sample] = scripted.seen
    assert (sample.document_text, sample.answer) == (DOCUMENT, "Default output from mockllm/model")


def test_the_task_of_lm_eval_runs(scripted: ScriptedJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("lm_eval") is None:
        pytest.skip("needs lm_eval")
    import lm_eval
    from lm_eval.tasks import TaskManager
    from test_lm_eval_task import Replies

    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", Path("cache").resolve())
    task, functions = snippets("LM Evaluation Harness")
    Path("grounded.yaml").write_text(task, encoding="utf-8")
    Path("grounded.py").write_text(functions, encoding="utf-8")
    Path("questions.jsonl").write_text(f'{{"document": "{DOCUMENT}", "question": "{QUESTION}"}}\n')
    manager = TaskManager(include_path=str(Path.cwd()), include_defaults=False)
    found = lm_eval.simple_evaluate(Replies([WRONG]), tasks=["grounded"], task_manager=manager)
    assert found["results"]["grounded"]["faithful,none"] == 0.0
    assert found["results"]["grounded"]["judged,none"] == 1.0
    assert scripted.seen[0].document_text == DOCUMENT
