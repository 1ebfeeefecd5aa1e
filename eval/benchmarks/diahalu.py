"""DiaHalu (arXiv 2403.00896): is there a hallucination anywhere in a dialogue of two language models?

The whole dialogue is judged, without a document; FAIL is the paper's "Halu". Labels, turns and types are
those of its annotators. Reason mode is the paper's chain of thought, with steps for each domain. For
retrieval, ``--set corpus=FILE`` searches a corpus for dialogues about knowledge and reasoning. Alternatively
a file of the user gives evidence for some dialogues (``diahalu_evidence``), and only those are judged.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from eval.benchmarks.base import Benchmark
from eval.benchmarks.prompts import with_prompt
from eval.benchmarks.prompts_diahalu import DiaHaluPrompt
from judge.baselines.rules import RANDOM, TrivialBaseline
from judge.errors import InputError, unknown
from judge.formats.files import find_file, group_of, need_folder
from judge.formats.records import Record, nonempty, read_lines
from judge.rows import read_rows
from judge.types import Label, Sample, Task

ORIGINAL = "github.com/ECNU-ICALK/DiaHalu"
V1 = ("DiaHalu_V1.xlsx",)
V2 = ("DiaHalu_Bench.jsonl", "DiaHalu_V2.xlsx")
EVIDENCE = "evidence.jsonl"
# The releases differ in the names of columns and domains.
COLUMNS = {"text": "Dialogue", "label": "Label", "index": "Hallucination Type", "domain": "Domain"}
DOMAINS = {
    "World Knowledge": "knowledge",
    "Knowledge-grounded": "knowledge",
    "Task-oriented Style": "task",
    "Task-oriented": "task",
    "Chit-Chat": "chit-chat",
    "Reasoning": "reasoning",
}
TYPES = ("non-factual", "Incoherence", "Irrelevance", "Overreliance", "Reasoning Error")
SEARCHED = ("knowledge", "reasoning")
LABELS = {"0": Label.PASS, "1": Label.FAIL}

PROMPT = DiaHaluPrompt()


def read(names: Sequence[str], data_dir: Path | None) -> Iterator[Sample]:
    """The dialogues of the first of these files that is found in ``data_dir/diahalu``."""
    return read_dialogues(
        find_file(need_folder(data_dir, "DiaHalu", "diahalu", ORIGINAL), "diahalu", names, ORIGINAL)
    )


def read_dialogues(path: Path) -> Iterator[Sample]:
    """The dialogues of a file in the format of one of the releases."""
    sheet = ".xlsx" in path.suffixes
    for line, values in nonempty(read_rows(path), path):
        columns = COLUMNS if sheet else dict.fromkeys(COLUMNS)
        yield _sample(Record(values, path, line), {name: column or name for name, column in columns.items()})


def _sample(row: Record, columns: Mapping[str, str]) -> Sample:
    dialogue, domain = row.text(columns["text"]), row.text(columns["domain"])
    if domain not in DOMAINS:
        raise row.wrong(columns["domain"], unknown("domain", domain, DOMAINS))
    value = row.name(columns["label"])
    if value not in LABELS:
        raise row.wrong(columns["label"], unknown("label", value, LABELS))
    label, marked = LABELS[value], _marked(row, columns["index"])
    if bool(marked) is not (label is Label.FAIL):
        raise row.wrong(columns["label"], f"is {value}, and {len(marked)} hallucinations are marked")
    return Sample(
        id=f"diahalu-{row.name('ID')}",
        document="",
        answer=dialogue,
        task=Task.DIALOGUE,
        label=label,
        source=f"diahalu_{DOMAINS[domain]}",
        group=group_of(dialogue),
        meta={"hallucinations": marked, "model": row.values.get("Which LLM") or "ChatGPT3.5"},
    )


def _marked(row: Record, column: str) -> list[dict[str, int | str]]:
    """The turns with a hallucination, and its type; in the file a string like ``[[7, "Incoherence"]]``."""
    try:
        pairs = [(turn, kind) for turn, kind in json.loads(row.text(column))]
    except (ValueError, TypeError):
        raise row.wrong(column, f"holds {row.get(column)!r:.60}, expected a list of [turn, type]") from None
    for _, kind in pairs:
        if kind not in TYPES:
            raise row.wrong(column, unknown("type", kind, TYPES))
    return [{"turn": turn, "type": kind} for turn, kind in pairs]


def read_with_evidence(data_dir: Path | None) -> Iterator[Sample]:
    """The dialogues of V1 that ``data_dir/diahalu/evidence.jsonl`` has evidence for, with it as the document.

    One object per line: ``{"ID": 7, "evidence": "..."}``, where the evidence is a text or a list of texts.
    """
    folder = need_folder(data_dir, "DiaHalu", "diahalu", ORIGINAL)
    path = find_file(folder, "diahalu", [EVIDENCE], "no public place: this one is your own")
    found: dict[str, str | tuple[str, ...]] = {}
    for row in nonempty(read_lines(path), path):
        listed = isinstance(row.get("evidence"), list)
        found[f"diahalu-{row.name('ID')}"] = tuple(row.texts("evidence")) if listed else row.text("evidence")
    for sample in read(V1, data_dir):
        if sample.id in found:
            yield replace(sample, document=found.pop(sample.id))
    if found:
        raise InputError(f"names a dialogue that does not exist: {min(found)}", file=path, field="ID")


def rows(sample: Sample) -> Mapping[str, Sequence[str]]:
    """By domain (Table 3), by type and by the model that wrote the dialogue.

    The row of a type holds the dialogues with that type and all faithful ones.
    """
    marked = dict.fromkeys(str(found["type"]) for found in sample.meta["hallucinations"])
    return {
        "domain": (sample.source.removeprefix("diahalu_"),),
        "type": tuple(marked) if sample.label is Label.FAIL else TYPES,
        "model": (str(sample.meta["model"]),),
    }


def query(sample: Sample) -> str:
    """What to search for: the dialogue, in the domains in which the paper searches (appendix A.7)."""
    return sample.answer if sample.source.removeprefix("diahalu_") in SEARCHED else ""


DIAHALU = Benchmark(
    name="diahalu",
    title="DiaHalu V1 (arXiv 2403.00896)",
    read=partial(read, V1),
    rows=rows,
    ask=with_prompt(PROMPT),
    baselines=(TrivialBaseline(RANDOM),),
    query=query,
    notes=("Published figures are precision, recall and F1 of FAIL with the authors' own prompt.",),
)
DIAHALU_V2 = replace(
    DIAHALU,
    name="diahalu_v2",
    title="DiaHalu V2 (arXiv 2403.00896)",
    read=partial(read, V2),
    notes=("Holds V1, and 355 dialogues of GPT-4; published figures are about V1.",),
)
DIAHALU_ONE_SHOT = replace(
    DIAHALU,
    name="diahalu_one_shot",
    title="DiaHalu V1, one solved example (arXiv 2403.00896)",
    ask=with_prompt(DiaHaluPrompt(example=True)),
    of="diahalu",
)
DIAHALU_EVIDENCE = replace(
    DIAHALU,
    name="diahalu_evidence",
    title="DiaHalu V1 with retrieval (arXiv 2403.00896)",
    read=read_with_evidence,
    query=None,
    of="diahalu",
    notes=(
        "The paper searched Google, for the domains knowledge and reasoning; the user gives the evidence.",
    ),
)
