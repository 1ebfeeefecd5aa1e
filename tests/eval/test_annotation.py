import json
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from eval.annotation.agreement import measure
from eval.annotation.cli import _draw
from eval.annotation.cli import agreement_command as agreement
from eval.annotation.cli import annotate_command as app
from eval.annotation.gold import decide, diahalu_rows
from eval.annotation.label_studio import labelling_config, make_tasks, read_exports
from eval.benchmarks import load_benchmark
from eval.benchmarks.diahalu import TYPES
from judge.errors import InputError, JudgeWarning
from judge.files import write_json, write_jsonl
from judge.samples import read_samples, write_samples
from judge.types import Label, Sample, Task
from tests.calling import invoke
from tests.made_up import NASTY, make_samples

SAMPLES = make_samples(8)
WORDS = {"P": "PASS", "F": "FAIL", "U": "UNSURE"}
Write = Callable[..., Path]


def choice(label: str) -> dict[str, Any]:
    return {"from_name": "verdict", "to_name": "answer", "type": "choices", "value": {"choices": [label]}}


def mark(text: str, words: str, kind: str = "unsupported") -> dict[str, Any]:
    start = text.index(words)
    value = {"start": start, "end": start + len(words), "text": words, "labels": [kind]}
    return {"from_name": "unsupported", "to_name": "answer", "type": "labels", "value": value}


def note(text: str) -> dict[str, Any]:
    return {"from_name": "note", "to_name": "answer", "type": "textarea", "value": {"text": [text]}}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """An export: of each annotator P, F or U of the samples in order, a dot where there is nothing."""

    def export(said: Mapping[Any, str], samples: Any = SAMPLES, more: Any = (), name: str = "export") -> Path:
        tasks = make_tasks(samples, {})
        for place, task in enumerate(tasks):
            task["annotations"] = [
                {"completed_by": who, "result": [choice(WORDS[labels[place]]), *more]}
                for who, labels in said.items()
                if labels[place] != "."
            ]
        write_json(tmp_path / f"{name}.json", tasks)
        return tmp_path / f"{name}.json"

    return export


# --- What Label Studio is given -----------------------------------------------------------------------------


def test_tasks_and_config_are_what_label_studio_takes(tmp_path: Path) -> None:
    interfaces = pytest.importorskip("label_studio_sdk.label_interface", reason="make test-adapters has it")
    write_samples(tmp_path / "towers.jsonl", SAMPLES)
    write_jsonl(tmp_path / "said.jsonl", [{"id": "tower-1", "reasoning": NASTY}])
    out = tmp_path / "out"
    done = invoke(
        app, tmp_path / "towers.jsonl", "-o", out, "--types", "diahalu", "--verdicts", tmp_path / "said.jsonl"
    )
    assert done.exit_code == 0 and "8 samples" in done.stdout
    interface = interfaces.LabelInterface((out / "config.xml").read_text())
    interface.validate()
    tasks = json.loads((out / "tasks.json").read_text())
    assert len(tasks) == 8 and all(interface.validate_task(task) for task in tasks)
    assert "FAIL" not in json.dumps(tasks) and tasks[1]["data"]["reasoning"] == NASTY
    result = [choice("FAIL"), mark(SAMPLES[0].answer, "According", TYPES[2]), note(NASTY)]
    assert interface.validate_annotation({"result": result})
    assert not interface.validate_annotation({"result": [choice("MAYBE")]})


@given(st.lists(st.text(min_size=1), max_size=3, unique=True))
def test_no_type_changes_the_config(types: list[str]) -> None:
    try:
        config = labelling_config(types, True, False)
    except InputError:
        assert not all(name.isprintable() for name in types)
        return
    root = ElementTree.fromstring(config)
    labels = [label.get("value") for label in root.findall(".//Labels[@name='unsupported']/Label")]
    assert labels == (types or ["unsupported"])
    assert Counter(part.tag for part in root.iter()) == Counter(
        View=3, Header=3, Text=3, Labels=2, Label=1 + len(labels), Choices=1, Choice=3, TextArea=1
    )


def test_draw_takes_so_many_of_each_source_and_half_of_each_label() -> None:
    samples = make_samples(400)
    drawn = _draw(samples, 50, ["drop", "pubmed"], seed=3)
    assert Counter((sample.source, sample.label) for sample in drawn) == {
        (source, label): 25 for source in ("drop", "pubmed") for label in Label
    }
    assert drawn == _draw(samples, 50, ["drop", "pubmed"], seed=3) and _draw(samples, None, [], 0) == samples
    assert len({sample.source for sample in drawn[:20]}) == 2  # mixed
    assert len(_draw(samples, 50, ["drop", "drop"], seed=3)) == 50
    with pytest.raises(InputError, match="did you mean 'pubmed'"):
        _draw(samples, 50, ["pubmd"], 0)


# --- What it gives ------------------------------------------------------------------------------------------


def test_report(write: Write) -> None:
    rows = read_exports([write({1: "PFPFPFPF", 2: "PFPFPPPF", 3: "PFPUFPPF"})])
    known = {sample.id: sample.label for sample in SAMPLES}
    report = measure(rows, known, resamples=100)
    assert list(report) == ["overall", "drop", "finance", "covid", "pubmed"]
    found = {name: figure.value for name, figure in report["overall"].items()}
    # 1 / 2: 7 of 8 the same, chance 1/2. 1 / 3, without the unsure one: 5 of 7; chance 25/49. 2 / 3: 6 of 7;
    # chance 26/49.
    assert found["Cohen's kappa: user 1 / user 2"] == pytest.approx(0.75)
    assert found["Cohen's kappa: user 1 / user 3"] == pytest.approx(10 / 24)
    assert found["Cohen's kappa: user 2 / user 3"] == pytest.approx(16 / 23)
    assert found["raw agreement"] == pytest.approx((7 + 5 + 6) / 22)
    assert found["the data set's labels"] == pytest.approx((8 + 7 + 5) / 23)
    assert found["the data set's labels: user 2"] == pytest.approx(7 / 8)
    # Of 7 samples that all labelled 5 agree, 2 by 1/3; 13 of the 21 labels are PASS.
    chance = (13**2 + 8**2) / 21**2
    assert report["overall"]["Fleiss' kappa"].n == 7
    assert found["Fleiss' kappa"] == pytest.approx((17 / 21 - chance) / (1 - chance))
    low, high = report["overall"]["raw agreement"].interval or (9, 0)
    assert low < found["raw agreement"] < high
    unsure = measure(rows, known, with_unsure=True, resamples=0)["overall"]
    assert unsure["Fleiss' kappa"].n == 8
    assert unsure["Cohen's kappa: user 1 / user 3"].value == pytest.approx(
        cohen_kappa_score(list("PFPFPFPF"), list("PFPUFPPF"))
    )
    alike = measure([row for row in rows if row.sample.id in ("tower-0", "tower-2")], {}, resamples=9)[
        "overall"
    ]
    assert alike["raw agreement"].value == 1 and alike["Krippendorff's alpha"].value is None


def test_the_last_word_of_each_annotator_holds(write: Write) -> None:
    answer = SAMPLES[0].answer
    first = write({1: "F" + 7 * "."}, more=[mark(answer, "𝔸"), note("两处")])
    second = write({1: "P" + 7 * ".", 2: ".F" + 6 * "."}, name="second")
    tasks = json.loads(second.read_text())
    tasks[0]["annotations"] *= 2
    tasks[0]["annotations"][0] = {"completed_by": {"email": "ada@x"}, "result": [choice("UNSURE")]}
    tasks[1]["annotations"][0] |= {"was_cancelled": True}
    write_json(second, tasks)
    with warnings.catch_warnings(action="error"):
        rows = {(row.annotator, row.label): row for row in read_exports([first, second])}
    assert set(rows) == {("export: 1", "FAIL"), ("ada@x", "UNSURE"), ("second: 1", "PASS")}
    said = rows["export: 1", "FAIL"]
    tasks[0]["annotations"] += [{"completed_by": 1, "result": [choice("FAIL")]}]
    write_json(second, tasks)
    with pytest.warns(JudgeWarning, match="1 earlier annotation replaced"):
        assert ("user 1", "FAIL") in {(row.annotator, row.label) for row in read_exports([second])}
    assert said.unsupported[0].text == "𝔸" and said.note == "两处"  # places count code points


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ('[{"id": 1, "answer": "x"}]', r"export.json: field '0.data': Field required; export a project"),
        ("[", "export.json: Invalid JSON"),
        (None, "export.json: cannot be read"),
    ],
)
def test_what_is_no_export(broken: str | None, message: str, tmp_path: Path) -> None:
    if broken is not None:
        (tmp_path / "export.json").write_text(broken)
    with pytest.raises(InputError, match=message):
        read_exports([tmp_path / "export.json"])


def test_marks_and_texts_have_to_fit(write: Write) -> None:
    with pytest.raises(InputError, match=r"'0.data': 'tower-0': a mark from 0 to 9999 in a text of"):
        read_exports([write({1: 8 * "P"}, more=[mark("x" * 9999, "x" * 9999)])])
    other = [Sample("tower-0", "another document", "answer")]
    with pytest.raises(InputError, match="has another text than before"):
        read_exports([write({1: 8 * "P"}), write({1: "P"}, other, name="other")])
    with pytest.raises(InputError, match="was annotated with other texts"):
        decide(other, read_exports([write({1: 8 * "P"})]))


def test_tasks_are_replaced_only_when_asked(tmp_path: Path) -> None:
    write_samples(tmp_path / "towers.jsonl", SAMPLES)
    command = (app, tmp_path / "towers.jsonl", "-o", tmp_path / "out")
    assert invoke(*command).exit_code == 0
    with pytest.raises(InputError, match="holds tasks already"):
        invoke(*command)
    assert invoke(*command, "--overwrite").exit_code == 0
    with pytest.raises(InputError, match="is a file; give a folder"):
        invoke(*command[:2], "-o", tmp_path / "towers.jsonl")


def test_a_file_with_names_and_labels_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("context,reply,label\nA red tower.,It is red.,sort of\nA tall one.,It is low.,\n")
    named = ("--columns", "document=context,answer=reply")
    assert invoke(app, file, "-o", tmp_path / "out", *named).exit_code == 0
    assert len(json.loads((tmp_path / "out" / "tasks.json").read_text())) == 2
    with pytest.raises(InputError, match="unknown source 'nope'; there are none"):
        invoke(app, file, *named, "--source", "nope")


def test_command(write: Write, tmp_path: Path) -> None:
    export = write({1: "PFPFPFPF", 2: "PFPFPPPF", 3: "PFPUFPPF"})
    done = invoke(agreement, export, "--bootstrap", "50")
    assert (
        done.exit_code == 0
        and "Krippendorff" in done.stdout
        and "look at tower-5: user 1 FAIL" in done.stdout
    )
    with pytest.raises(InputError, match="give --samples"):
        invoke(agreement, export, "--labelled", tmp_path / "gold.jsonl")
    write_samples(tmp_path / "set.jsonl", SAMPLES)
    gold, again = tmp_path / "gold.jsonl", tmp_path / "again.jsonl"
    files = ("--samples", tmp_path / "set.jsonl", "--labelled", gold, "--disagreements", again)
    report = json.loads(invoke(agreement, export, "--json", "--bootstrap", "0", *files).stdout)
    assert [item["id"] for item in report["disagreements"]] == ["tower-3", "tower-4", "tower-5"]
    labels = {sample.id: sample for sample in read_samples(gold)}
    assert labels["tower-5"].label is Label.PASS and labels["tower-3"].label is Label.FAIL  # two of three
    assert labels["tower-5"].meta["annotators"] == {"user 1": "FAIL", "user 2": "PASS", "user 3": "PASS"}
    assert [sample.id for sample in read_samples(again)] == ["tower-3", "tower-4", "tower-5"]
    export.write_bytes(BOM_UTF8 + export.read_bytes())
    link = tmp_path / "link.jsonl"
    link.symlink_to(again)
    for out, why in (
        (tmp_path / "set.jsonl", "is a file that is read"),
        (export, "samples are JSON Lines"),
        (tmp_path / "gold.jsonl.gz", "samples are JSON Lines; give a name such as gold.jsonl, not .gz"),
        (again, "is named for two outputs"),
        (link, "is named for two outputs"),
    ):
        with pytest.raises(InputError, match=why):
            invoke(agreement, export, "--samples", tmp_path / "set.jsonl", "--labelled", out, *files[-2:])
    assert len(list(read_samples(tmp_path / "set.jsonl"))) == len(SAMPLES)
    plain = invoke(agreement, export, "--bootstrap", "0")
    assert plain.exit_code == 0 and "95 %" in done.stdout and "95 %" not in plain.stdout
    for said, why in (("U" * 8, "--with-unsure"), ("." * 8, "no annotation in these files$")):
        with pytest.raises(InputError, match=why):
            invoke(agreement, write({1: said}))


def test_reasonings_of_a_result(tmp_path: Path) -> None:
    write_samples(tmp_path / "towers.jsonl", SAMPLES)
    write_jsonl(tmp_path / "v.jsonl", [{"id": "tower-1", "verdict": {"reasoning": "It is 21 m."}}])
    invoke(app, tmp_path / "towers.jsonl", "-o", tmp_path / "out", "--verdicts", tmp_path / "v.jsonl")
    assert "It is 21 m." in (tmp_path / "out" / "tasks.json").read_text()


@pytest.mark.parametrize("id", [["tower-1"], None])
def test_verdicts_without_an_id_are_refused(tmp_path: Path, id: object) -> None:
    write_samples(tmp_path / "towers.jsonl", SAMPLES)
    said = tmp_path / "said.jsonl"
    write_jsonl(said, [{"id": "tower-1", "reasoning": "y"}, {"id": id, "reasoning": "y"}])
    with pytest.raises(InputError, match=r"said\.jsonl:2: field 'id': "):
        invoke(app, tmp_path / "towers.jsonl", "-o", tmp_path / "out", "--verdicts", said)
    assert not (tmp_path / "out").exists()


def test_dialogues_become_what_the_diahalu_loader_reads(write: Write, tmp_path: Path) -> None:
    text = "A1: Hi. Who wrote it?\nB1: Mary Shelley.\nA2: When?\nB2: In 1918, I think."
    meta = {"domain": "knowledge", "topic_source": "own", "model": "tiny"}
    dialogues = [Sample(f"d{n}", "Frankenstein", text, task=Task.DIALOGUE, meta=meta) for n in range(3)]
    export = write({1: "FPP", 2: "FPF"}, dialogues, [mark(text, "1918", "non-factual")])
    written = tmp_path / "diahalu" / "DiaHalu_Bench.jsonl"
    write_samples(tmp_path / "talked.jsonl", dialogues)
    done = invoke(
        agreement, export, "--bootstrap", 0, "--samples", tmp_path / "talked.jsonl", "--diahalu", written
    )
    told = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for row in ("dialogues 2 2", "rate, % 50 50", "mean rounds 2 2", "non-factual, % 100 100"):
        assert row in told
    assert "mean response, words 2.75 2.75" in told
    first, second = load_benchmark("diahalu_v2", tmp_path)
    assert (first.label, second.label, first.answer) == (Label.FAIL, Label.PASS, text)
    assert first.meta["hallucinations"] == [{"turn": 2, "type": "non-factual"}]
    assert first.meta["model"] == "tiny" and first.source == "diahalu_knowledge"
    for samples, message in ((SAMPLES[:1], "unknown domain"), (dialogues[:1], "nothing is marked")):
        with pytest.raises(InputError, match=message):
            list(diahalu_rows(decide(samples, read_exports([write({1: "F"}, samples)]))))
