"""Building a data set: reproducible, without leaks between splits, whole or marked as unfinished."""

import errno
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.build.manifest import FILES
from data_pipeline.build.pipeline import build
from data_pipeline.build.unfinished import NAME as UNFINISHED
from data_pipeline.config import DataConfig
from data_pipeline.sources import store
from data_pipeline.sources.starter import load_starter
from data_pipeline.teachers.prompts import PROMPTS_VERSION
from judge.errors import InputError, JudgeError
from judge.files import locked, read_jsonl, sha256_file
from judge.prompting.parsing import parse
from judge.samples import read_samples
from judge.types import Label, Sample
from tests.calling import Ran, Refused, call
from tests.tiny_data import labelled_recipe, tower_rows, write_lines

Row = dict[str, Any]
AUDIT = ("audit.html", "audit.json")

SMALL: Row = {
    "sources": [{"kind": "starter", "limit": 90}],
    "splits": {"validation": 0.15, "test": 0.2},
    "preferences": {"pairs": 16, "reason_share": 0.5},
}


def rows(path: Path) -> list[Row]:
    return [row for _, row in read_jsonl(path)]


def config(folder: Path, **changes: Any) -> DataConfig:
    return DataConfig.model_validate({**SMALL, "output": str(folder), **changes})


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small built set of all languages and tasks, all its rejected judgements composed."""
    folder = tmp_path_factory.mktemp("build") / "data"
    build(config(folder))
    return folder


# --- What is in the folder ----------------------------------------------------------------------------------


def test_files_and_hashes(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    assert set(manifest["files"]) == set(FILES)
    assert {name: sha256_file(built / name) for name in FILES} == manifest["files"]
    found = {str(path.relative_to(built)) for path in built.rglob("*") if path.is_file()}
    assert found == {*FILES, "rejected.jsonl", "leaks.jsonl", "manifest.json", "card.md", *AUDIT}
    assert (built / "leaks.jsonl").read_text() == ""
    assert {row["outcome"] for row in rows(built / "rejected.jsonl")} <= {
        "no verdict"
    }  # what cannot be decided by quoting


def test_the_manifest_counts_right(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    samples = list(read_samples(built / "samples.jsonl"))
    assert manifest["samples"] == len(samples)
    assert manifest["documents"] == len({sample.group for sample in samples})
    assert manifest["counts"]["split"] == Counter(sample.meta["split"] for sample in samples)
    assert manifest["counts"]["label"] == Counter(str(sample.label) for sample in samples)
    assert manifest["counts"]["language"].keys() == {"en", "zh"}
    for name in ("sft/train", "sft/validation", "dpo/train", "dpo/validation"):
        assert manifest["rows"][name]["total"] == len(rows(built / f"{name}.jsonl")) > 0
    assert DataConfig.model_validate(manifest["config"]).output == str(built)
    assert f"{len(samples)} samples" in (built / "card.md").read_text()
    taught = manifest["rows"]["sft/train"]
    assert taught["by gold"] == taught["verdict PASS"] + taught["verdict FAIL"]
    assert taught["by rules"] == taught["reason PASS"] + taught["reason FAIL"]
    edits = [
        s.meta["from_document"] for s in samples if s.meta.get("kind") == "edit" and "edit_type" in s.meta
    ]
    assert manifest["from_document"]["got"] == round(sum(edits) / len(edits), 4)
    assert manifest["from_document"]["asked"] == 0.6
    sources = manifest["from_document"]["sources"]
    assert sum(row["edits"] for row in sources.values()) == len(edits) and set(sources) <= {
        sample.source for sample in samples
    }
    assert manifest["leaks"] is None and manifest["teachers"] == {}


def test_the_same_recipe_gives_the_same_bytes(built: Path, tmp_path: Path) -> None:
    build(config(tmp_path / "again"))
    for name in (*FILES, "card.md"):
        assert (tmp_path / "again" / name).read_bytes() == (built / name).read_bytes(), name
    one, two = (json.loads((folder / "manifest.json").read_text()) for folder in (built, tmp_path / "again"))
    assert one.pop("config") == {**two.pop("config"), "output": str(built)}
    assert one == two


def test_no_document_in_two_splits(built: Path) -> None:
    splits, texts = defaultdict(set), defaultdict(set)
    for sample in read_samples(built / "samples.jsonl"):
        splits[sample.group].add(sample.meta["split"])
        texts[sample.document_text].add(sample.meta["split"])
    assert all(len(found) == 1 for found in (*splits.values(), *texts.values()))
    assert {split for found in splits.values() for split in found} == {"train", "validation", "test"}


def test_copies_of_a_document_are_in_one_split_whatever_their_groups(tmp_path: Path) -> None:
    samples = [
        Sample(f"{label}{n}", f"Pier {n % 10}{end}", f"Pier {n} {label}", label=label, group=str(n))
        for n, end in enumerate([""] * 10 + ["."] * 10)
        for label in Label
    ]
    said: list[str] = []
    shares = {"validation": 0.4, "test": 0.0}
    build(labelled_recipe(tmp_path, samples, audit="warn", splits=shares), said.append)
    splits = {one.group: one.meta["split"] for one in read_samples(tmp_path / "data" / "samples.jsonl")}
    assert len({*splits.values()}) == 2
    assert all(splits[str(n)] == splits[str(n + 10)] for n in range(10))
    assert not any("about a document of another split" in line for line in said)


def test_no_pair_borrows_from_a_held_out_document(tmp_path: Path) -> None:
    shares = {"edits": 0.0, "additions": 1.0, "document_edits": 1.0, "long_answers": 1.0}
    source = {"kind": "starter", "tasks": ["qa"], "languages": ["en"], "limit": 400}
    recipe = {"sources": [source], "output": str(tmp_path), "audit": "off", "preferences": {"pairs": 0}}
    build(DataConfig.model_validate({**recipe, **shares, "splits": {"validation": 0.3, "test": 0.2}}))
    samples = list(read_samples(tmp_path / "samples.jsonl"))
    splits = {sample.group: sample.meta["split"] for sample in samples}
    own = {gold.group: gold.document_text for gold in load_starter() if gold.group in splits}
    joined = 0
    for sample in samples:
        for group, text in own.items():
            if group != sample.group and text in sample.document_text:
                joined += 1
                assert splits[group] == sample.meta["split"]
    assert joined


def test_rows_are_of_their_split(built: Path) -> None:
    samples = {sample.id: sample for sample in read_samples(built / "samples.jsonl")}
    for split in ("validation", "test"):
        held_out = [sample.id for sample in read_samples(built / f"{split}.jsonl")]
        assert held_out == [name for name, sample in samples.items() if sample.meta["split"] == split]
    for kind in ("sft", "dpo"):
        for split in ("train", "validation"):
            for row in rows(built / kind / f"{split}.jsonl"):
                name = row["id"].rsplit("-", 2 if kind == "dpo" else 1)[0]
                assert samples[name].meta["split"] == split
                assert samples[name].group == row["group"]
                assert samples[name].answer in row["prompt"][-1]["content"]


def test_rows_in_trls_form(built: Path) -> None:
    from trl import is_conversational

    for split in ("train", "validation"):
        for row in rows(built / "sft" / f"{split}.jsonl"):
            assert [message["role"] for message in row["prompt"]] == ["user"]
            [completion] = row["completion"]
            assert is_conversational(row)
            assert completion["role"] == "assistant"
            assert parse(completion["content"]).label == row["meta"]["label"]
        for row in rows(built / "dpo" / f"{split}.jsonl"):
            assert [message["role"] for message in row["prompt"]] == ["user"]
            assert is_conversational(row)
            labels = [parse(row[side][0]["content"]).label for side in ("chosen", "rejected")]
            assert row["chosen"][0]["role"] == row["rejected"][0]["role"] == "assistant"
            assert labels[0] == row["meta"]["label"] and set(labels) == set(Label)


def test_the_card_tells_what_gold_answers_gave(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text())
    row, card = manifest["pairs"]["starter_qa"], (built / "card.md").read_text()
    assert "| source | gold answers | with a pair | edit | added |" in card
    assert (
        f"| starter_qa | {row['golds']} | {row['with a pair'] / row['golds']:.0%} | {row['edit made']} of "
    ) in card
    edits = Counter[str]()
    for counts in manifest["edits"].values():
        edits.update(counts)
    assert edits == manifest["counts"]["edit_type"]


# --- Failures -----------------------------------------------------------------------------------------------


LABELLED = tower_rows(12)


def mine(folder: Path, *files: Path, **changes: Any) -> DataConfig:
    """A recipe of labelled files that are taken as they are."""
    settings: Row = {
        "sources": [{"kind": "file", "path": str(file)} for file in files],
        "perturb": False,
        "modes": {"reason": 0.0},
        "preferences": {"pairs": 4, "reason_share": 0.0},
    }
    return config(folder, **{**settings, **changes})


def test_labelled_samples_as_they_are(tmp_path: Path) -> None:
    manifest = build(mine(tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *LABELLED)))
    assert manifest["samples"] == 24 and manifest["from_document"]["got"] is None
    assert manifest["counts"]["source"] == {"mine": 24}
    found = {sample.id: sample.answer for sample in read_samples(tmp_path / "data/samples.jsonl")}
    assert found == {row["id"]: row["answer"] for row in LABELLED}


def test_labels_that_contradict_each_other_and_samples_that_come_twice(tmp_path: Path) -> None:
    """Both are told by source, and too many of either end the build before anything is made."""
    other = [{**LABELLED[0], "id": "other", "label": "FAIL" if LABELLED[0]["label"] == "PASS" else "PASS"}]
    again = [{**LABELLED[n], "id": f"again-{n}"} for n in (1, 2)]
    rest = [{**row, "id": f"rest-{row['id']}", "question": "Where?"} for row in LABELLED]
    one = write_lines(tmp_path / "one.jsonl", *LABELLED)
    two = write_lines(tmp_path / "two.jsonl", *other, *again, *rest)
    told: list[str] = []
    build(mine(tmp_path / "data", one, two, max_repeated=0.1), told.append)
    first, second = LABELLED[0]["id"], LABELLED[1]["id"]
    assert (
        f"{one}: 1 of 24 samples (4.2%) are labelled both PASS and FAIL, such as {first!r} and 'other'"
        in told
    )
    assert f"{two}: 2 of 27 samples (7.4%) are duplicates, such as 'again-1' and {second!r}" in told
    with pytest.raises(InputError, match=r"^field 'sources\.1': .* 2 of 27 .*Correct the set, or allow more"):
        build(mine(tmp_path / "data", one, two))


def test_right_answers_of_labelled_samples_get_contrast_pairs(tmp_path: Path) -> None:
    """Samples stay as they are; contrast pairs have ids of their own and lie in their document's split."""
    file = write_lines(tmp_path / "mine.jsonl", *LABELLED)
    sources = [{"kind": "file", "path": str(file), "perturb": False, "contrast_pairs": True}]
    build(mine(tmp_path / "data", file, sources=sources, edits=1.0))
    found = list(read_samples(tmp_path / "data/samples.jsonl"))
    plain = {one.id: one.answer for one in found if "kind" not in one.meta}
    assert plain == {row["id"]: row["answer"] for row in LABELLED}
    made = [one for one in found if one.meta.get("kind") == "edit"]
    assert made and {one.label for one in made} == set(Label)
    assert all(one.id.removesuffix("-hallucinated").endswith("-PASS-gold") for one in made)
    splits = {(one.group, one.meta["split"]) for one in found}
    assert len(splits) == len({group for group, _ in splits})


def gold(row: Row) -> Row:
    return {**row, "label": None}


@pytest.mark.parametrize(
    ("items", "changes", "message"),
    [
        (
            [*LABELLED[:3], *map(gold, LABELLED[3:])],
            {},
            r"mine.jsonl:4: field 'label': .* has no label; with 'perturb: false' every sample needs one",
        ),
        (
            LABELLED,
            {"perturb": True},
            r"mine.jsonl:2: field 'label': .* FAIL, .*'perturb: true'.*'perturb: false'.*perturb=false",
        ),
        (LABELLED[:2], {}, "the train split holds 0 samples|the validation split holds 0 samples"),
        (
            [row for row in LABELLED if row["label"] == "PASS"],
            {},
            "none of the 12 samples is labelled FAIL.*take sources with both labels",
        ),
        (
            [gold(row) for row in LABELLED[::2]],
            {"perturb": True, "edits": 0, "additions": 0},
            "no pairs are asked for: set one of 'edits', .*'refusals'.* above 0",
        ),
        (LABELLED, {"splits": {"validation": 0.001, "test": 0.0}}, "validation split holds 0 samples"),
        ([*LABELLED, LABELLED[0]], {}, "occurs twice"),
        (
            [{"data": row, "label": "PASS"} for row in LABELLED],
            {},
            r"mine.jsonl:1: field 'document': is missing .*\(in a data recipe: columns\)",
        ),
        (
            [{**row, "score": 3} for row in LABELLED],
            {},
            r"mine.jsonl:1: field 'score': unknown field .*\(in a data recipe: columns\)",
        ),
    ],
)
def test_wrong_samples(items: list[Row], changes: Row, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        build(mine(tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *items), **changes))
    assert not (tmp_path / "data" / "manifest.json").exists()


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a data set, without those of a build that has not ended well."""
    names = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in names.items() if not name.startswith(UNFINISHED)}


@pytest.mark.parametrize("place", ["sources", "table", "rows", "manifest", "swap"])
def test_a_rebuild_that_fails_leaves_the_finished_set_alone(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit: test_audit.py; a teacher: test_judgements.py; the leak gate: test_leaks.py."""
    folder, file = tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *LABELLED)
    build(mine(folder, file))
    (folder / "mine.txt").write_text("somebody's own")
    changes: Row = {"preferences": {"pairs": 2, "reason_share": 0.0}}
    error, message = JudgeError, "No space left"
    if place == "sources":
        changes["splits"] = {"validation": 0.001, "test": 0.0}
        error, message = InputError, "validation split holds 0 samples"
    elif place == "table":
        small = f"PRAGMA page_size = 512; PRAGMA max_page_count = 16; {store._TABLES}"
        monkeypatch.setattr("data_pipeline.sources.store._TABLES", small)
        message = "the table of the build failed .database or disk is full"
    elif place == "swap":  # a folder is where a file is to be
        (folder / "card.md").unlink()
        (folder / "card.md").mkdir()
        (folder / "card.md" / "x").write_text("")
        message = "could not take its place .Is a directory.*unfinished-build"
    else:
        name, real = {"rows": ".train.jsonl.", "manifest": ".manifest.json."}[place], os.fsync

        def fsync(number: int) -> None:
            if name in str(Path(f"/proc/self/fd/{number}").readlink()):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(number)

        monkeypatch.setattr("judge.files.whole.os.fsync", fsync)
    before = files_of(folder)
    with pytest.raises(error, match=message):
        build(mine(folder, file, **changes))
    assert files_of(folder) == before
    monkeypatch.undo()
    if place == "swap":
        (folder / "card.md" / "x").unlink()
        (folder / "card.md").rmdir()
    manifest = build(mine(folder, file, preferences=changes["preferences"]))
    assert files_of(folder) != before and (folder / "mine.txt").exists()
    assert manifest["rows"]["dpo/train"]["total"] == 2 == len(rows(folder / "dpo/train.jsonl"))
    assert not (folder / UNFINISHED).exists()


def test_what_was_made_before_an_interrupt_can_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "data"
    monkeypatch.setattr("data_pipeline.build.pipeline.make_manifest", killed)
    with pytest.raises(KeyboardInterrupt):
        build(mine(folder, write_lines(tmp_path / "mine.jsonl", *LABELLED)))
    assert [path.name for path in folder.iterdir()] == [UNFINISHED]
    assert len(list(read_samples(folder / UNFINISHED / "samples.jsonl"))) == len(LABELLED)


def test_no_memory_of_an_earlier_build(tmp_path: Path) -> None:
    """A folder that was built into before holds the same as a new one, and no file that its recipe lacks."""
    file = write_lines(tmp_path / "mine.jsonl", *LABELLED)
    build(mine(tmp_path / "data", file, bianbench=["en"]))
    assert (tmp_path / "data/bianbench").is_dir() and (tmp_path / "data/audit.html").exists()
    source = {"kind": "file", "path": str(file), "limit": 16}
    for name in ("data", "new"):
        build(mine(tmp_path / name, sources=[source], audit="off"))
    found, new = files_of(tmp_path / "data"), files_of(tmp_path / "new")
    assert found.pop("manifest.json") != new.pop("manifest.json")  # they name their folders
    assert found == new


@pytest.mark.parametrize("known", [None, "PASS", "FAIL"])
def test_rows_without_a_label_are_right_answers_of_unlabelled_sets_alone(
    tmp_path: Path, known: str | None
) -> None:
    rows = [{**row, "label": None} for row in LABELLED if row["label"] == "PASS"]
    rows[-1]["label"] = known
    path = str(write_lines(tmp_path / "mine.jsonl", *rows))
    other = {"kind": "starter", "limit": 60, "perturb": True}
    sources = [other, {"kind": "file", "path": path, "perturb": True}]
    manifest = build(mine(tmp_path / "data", sources=sources, audit="off"))
    unlabelled = manifest["dropped"].get("no label", {"count": 0})["count"]
    assert unlabelled == (0 if known is None else len(rows) - 1)
    samples = read_samples(tmp_path / "data/samples.jsonl")
    taken = {sample.group for sample in samples if sample.source == "mine"}
    assert len(taken) == {None: len(rows), "PASS": 1, "FAIL": 0}[known]


def test_an_id_that_a_counterpart_gets(tmp_path: Path) -> None:
    rows = [{**row, "id": name} for row, name in zip(LABELLED[::2], ("a", "a-hallucinated"), strict=False)]
    with pytest.raises(InputError, match="id 'a-hallucinated' occurs twice"):
        build(mine(tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *rows), perturb=True))


def test_what_a_killed_build_left_goes(tmp_path: Path) -> None:
    left = tmp_path / "data" / UNFINISHED
    (left / "sft").mkdir(parents=True)
    for name in (".samples.sqlite", ".golds.sqlite", ".samples.jsonl.7.tmp", "sft/.train.jsonl.7.tmp"):
        (left / name).write_text("half of it")
    build(mine(tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *LABELLED)))
    assert not left.exists() and not list((tmp_path / "data").rglob(".*"))


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(JudgeError, match=r"data/unfinished-build: could not be made \(Not a directory\)"):
        build(mine(tmp_path / "data", write_lines(tmp_path / "mine.jsonl", *LABELLED)))


# --- The command --------------------------------------------------------------------------------------------


def recipe_file(folder: Path) -> Path:
    file = write_lines(folder / "mine.jsonl", *LABELLED)
    path = folder / "data.yaml"
    path.write_text(
        f"output: {folder}/unused\nsources: [{{kind: file, path: {file}}}]\nperturb: false\n"
        "modes: {reason: 0}\npreferences: {pairs: 4, reason_share: 0}\nsplits: {validation: 0.2, test: 0.2}\n"
    )
    return path


def test_files_of_somebody_else_are_not_replaced(tmp_path: Path, refused: Refused) -> None:
    out = tmp_path / "out"
    (out / "sft").mkdir(parents=True)
    (out / "sft" / "train.jsonl").write_text("mine")
    command = ("data", "build", recipe_file(tmp_path), "--out", out)
    assert "sft/train.jsonl: is a file that the build would replace" in refused(*command)
    assert (out / "sft" / "train.jsonl").read_text() == "mine"
    for number, name in enumerate(("leaks.jsonl", "rejected.jsonl", "audit.html", "bianbench/mine.jsonl")):
        folder = tmp_path / str(number)
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("mine")
        told = refused(*command[:-1], folder)
        assert f"{name}: is a file that the build would replace" in told
        assert (folder / name).read_text() == "mine"
    own = write_lines(out / "samples.jsonl", *LABELLED)
    before = own.read_bytes()
    told = refused(*command, f"sources.0.path={own}", "--overwrite")
    assert "samples.jsonl: is a file that is read; give another one for the data set" in told
    assert own.read_bytes() == before
    assert call(*command, "--overwrite") == 0


def test_the_command(tmp_path: Path, ran: Ran, refused: Refused) -> None:
    out = tmp_path / "out"
    command = ("data", "build", recipe_file(tmp_path), "--out", out, "preferences.pairs=2")
    assert f"{out}: 24 samples" in ran(*command, "seed=3").out.replace("\n", "")
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["teacher_prompts_version"] == PROMPTS_VERSION
    assert manifest["config"]["seed"] == 3 and manifest["rows"]["dpo/train"]["total"] == 2
    assert not (tmp_path / "unused").exists()
    assert f"{out}: holds a data set; give another --out, or add --overwrite" in refused(*command)
    with locked(out, folder=True):
        assert "another run is writing here" in refused(*command, "--overwrite")
    assert json.loads((out / "manifest.json").read_text()) == manifest
    assert call(*command, "--overwrite") == 0
    assert json.loads((out / "manifest.json").read_text())["config"]["seed"] == 0
