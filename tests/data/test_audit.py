"""The audit counts what is there, finds what a trivial rule could learn, and shows data as mere text."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_pipeline.audit import audit_folder, audit_samples, write_audit
from data_pipeline.audit.draw import Draw
from data_pipeline.audit.page import html_page, markdown
from data_pipeline.cli import app
from data_pipeline.rows import judgement, sft_row
from judge.errors import InputError
from judge.files import open_text, write_json, write_jsonl
from judge.samples import write_samples
from judge.types import Label, Sample

EVIL = '<script>alert(1)</script> & "quoted" {{ 7 * 7 }} | `code` [link](javascript:x) *bold*\n# heading'


def pairs(number: int, hallucinated: str = "{0} saw {1} ships", source: str = "ports") -> Iterator[Sample]:
    """Twins that only their documents tell apart; ``hallucinated`` words the wrong one."""
    rng = random.Random(source)
    names = ["Ada", "Bela", "Cleo", "Dora", "Emil", "Finn", "Gus", "Hana"]
    for count in range(number):
        name, other, ships = rng.choice(names), rng.choice(names), rng.randint(100, 999)
        document = f"Port {source} {count}: {name} saw {ships} ships."
        shared = {"pair": f"{source}-{count}", "split": "validation" if count % 10 == 0 else "train"}
        gold = Sample(
            f"{source}-{count}", document, f"{name} saw {ships} ships", "Who saw how many?",
            label=Label.PASS, source=source, group=f"{source} {count}", meta=shared,
        )  # fmt: skip
        yield gold
        wrong = hallucinated.format(other, rng.randint(100, 999))
        edit = {"edit_type": "number", "change": "the number", "from_document": count % 4 == 0}
        yield replace(gold, id=f"{gold.id}-twin", answer=wrong, label=Label.FAIL, meta={**shared, **edit})


@pytest.fixture(scope="module")
def found() -> dict:
    telling = "It is commonly believed that {0} saw {1} ships"
    return audit_samples([*pairs(150), *pairs(150, telling, "tales")])


def test_counts(found: dict) -> None:
    assert (found["samples"], found["documents"]) == (600, 300)
    assert found["classes"][0] == {
        "source": "ports", "task": "qa", "language": "en", "split": "train",
        "PASS": 135, "FAIL": 135, "none": 0, "samples": 270,
    }  # fmt: skip
    assert [(row["source"], row["split"]) for row in found["classes"]] == [
        (source, split) for source in ("ports", "tales") for split in ("train", "validation")
    ]
    edit = found["edits"][0]
    assert (edit["edit_type"], edit["samples"], edit["share"]) == ("number", 150, 1.0)
    assert edit["from_document"] == pytest.approx(38 / 150)
    lengths = found["lengths"][0]
    assert list(lengths["answer"]) == ["PASS", "FAIL"]
    assert lengths["answer"]["PASS"]["p5"] <= lengths["answer"]["PASS"]["median"] <= 18
    for shares in lengths["histogram"]["shares"].values():
        assert sum(shares) == pytest.approx(1, abs=1e-3)


def test_shortcuts(found: dict) -> None:
    ports, tales = found["shortcuts"]
    assert ports["answer-only"] <= 0.60 and ports["length"] <= 0.55 and ports["overlap"] > 0.9
    assert tales["answer-only"] > 0.95 and tales["length"] > 0.95
    assert "it is" in tales["ngrams"]["FAIL"] and tales["ngrams"]["PASS"] == []
    told = {row["source"]: row["told_from_twin"] for row in found["edits"]}
    assert told["tales"] > 0.95 and told["ports"] < 0.7
    (warning,) = [text for text in found["warnings"] if text.startswith("tales")]
    assert "answer-only 1.00 (limit 0.60), length 1.00 (limit 0.55)" in warning
    assert not [text for text in found["warnings"] if text.startswith("ports") and "length" in text]


def test_twins_never_part_in_the_folds() -> None:
    """A rule that memorises would meet the twin of what it has learnt, and score far below chance."""
    rows = []
    for count in range(200):
        words = "".join(random.Random(count).choices("abcdefghijklmnop", k=40))
        for label in Label:
            rows.append(Sample(f"{count}{label}", words, words, label=label, source="s", group=str(count)))
    (row,) = audit_samples(rows)["shortcuts"]
    assert row["answer-only"] == pytest.approx(0.5, abs=0.02)


def test_repeats_conflicts_and_leaking_splits() -> None:
    rows = list(pairs(20))
    again = replace(rows[0], id="again", answer=f"  {rows[0].answer}\n")
    other = replace(rows[0], id="other", label=Label.FAIL)
    moved = replace(rows[2], id="moved", answer="Nobody saw it", meta={"split": "test"})
    found = audit_samples([*rows, again, other, moved])
    assert found["repeats"] == {"count": 1, "first": [("ports-0", "again")]}
    assert found["conflicts"] == {"count": 1, "first": [("ports-0", "other")]}
    assert found["in_two_splits"] == 1
    assert len([text for text in found["warnings"] if text.startswith("samples")]) == 3


def test_lopsided_and_unlabelled_sources_are_told_of() -> None:
    rows = [sample for sample in pairs(30) if sample.label is Label.PASS]
    found = audit_samples([*rows, replace(rows[0], id="u", answer="?", label=None)])
    assert found["warnings"] == ["ports: 0% of the labelled samples are FAIL"]
    assert found["shortcuts"][0]["answer-only"] is None and "too few" in found["shortcuts"][0]["reason"]
    assert "too few" in html_page(found) and markdown(found)
    assert sum(row["none"] for row in found["classes"]) == 1


def test_nothing_at_all_has_an_audit() -> None:
    found = audit_samples([])
    assert found["samples"] == 0 and markdown(found) and html_page(found)


# --- Drawing from a large set -------------------------------------------------------------------------------


def test_a_draw_takes_whole_documents_in_any_order() -> None:
    rows = [
        Sample(f"{group}-{place}", "d", "a", group=str(group)) for place in range(3) for group in range(50)
    ]
    chosen = []
    for order in (rows, rows[::-1]):
        draw = Draw(30, seed=1)
        for sample in order:
            draw.add(sample)
            assert len(draw) <= 30
        chosen.append({sample.id for sample in draw})
        assert draw.seen == 150 and len(draw) > 27
    groups = {name.split("-")[0] for name in chosen[0]}
    assert chosen[0] == chosen[1] == {f"{group}-{place}" for group in groups for place in range(3)}


def test_a_document_larger_than_the_draw_is_kept() -> None:
    draw = Draw(2, seed=0)
    for place in range(5):
        draw.add(Sample(str(place), "d", "a", group="g"))
    assert [sample.id for sample in draw] == ["0", "1", "2", "3", "4"]


def test_a_large_source_is_drawn_from() -> None:
    found = audit_samples(pairs(100), limit=60)
    assert (found["shortcuts"][0]["samples"], found["shortcuts"][0]["fitted_on"]) == (200, 60)
    assert found == audit_samples(pairs(100), limit=60) != audit_samples(pairs(100), limit=60, seed=1)


# --- Pages --------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_data_is_text_on_every_page() -> None:
    rows = [
        replace(sample, id=f"{EVIL}{place}", source=EVIL, question=EVIL, answer=f"{EVIL} {sample.answer}",
                meta={**sample.meta, "edit_type": EVIL, "change": EVIL})
        for place, sample in enumerate(pairs(30))
    ]  # fmt: skip
    found = {**audit_samples(rows), "name": EVIL}
    page = html_page(found)
    tags = Tags(page)
    assert not tags.tags & {"script", "a", "img", "iframe", "link"}
    assert not [name for name in tags.attributes if name.startswith("on") or name in ("href", "src")]
    assert EVIL in tags.text and "49" not in re.findall(r"\{\{.*?\}\}|quoted. 49", tags.text)
    assert not re.search(r"url\(|https?:|@import", page)
    lines = markdown(found).splitlines()
    assert not [line for line in lines if "<script" in line or line.startswith("# heading")]
    tables = [line for line in lines if line.startswith("| ")]
    cells = {
        len(re.findall(r"(?<!\\)\|", line)) for line in tables if "alert" in line and "number" not in line
    }
    assert cells <= {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "alert" not in line}


# --- Folders ------------------------------------------------------------------------------------------------


@pytest.fixture
def built(tmp_path: Path) -> Path:
    rows = list(pairs(40))
    write_samples(tmp_path / "samples.jsonl", rows)
    write_jsonl(
        tmp_path / "sft/train.jsonl",
        (sft_row(sample, "verdict", judgement(sample, "verdict", sample.label), "gold") for sample in rows),
    )
    record = {"benchmarks": {"halubench": {"rows": 9, "hash": "-"}}, "not_at_hand": ["fib"], "dropped": 3}
    write_json(tmp_path / "manifest.json", {"leaks": record})
    return tmp_path


def test_a_folder_and_its_files(built: Path, tmp_path: Path) -> None:
    found = audit_folder(built)
    assert found["tokens"] is None and found["leaks"]["dropped"] == 3
    files = write_audit(found, tmp_path / "deep" / "report.md")
    assert [path.name for path in files] == ["report.md", "report.html", "report.json"]
    assert json.loads(files[2].read_text())["samples"] == 80
    assert "Not at hand: fib" in files[1].read_text() and "not at hand: fib" in files[0].read_text()


def test_a_missing_gate_is_told_of(built: Path) -> None:
    write_json(built / "manifest.json", {})
    assert any("leak gate was not run" in text for text in audit_folder(built)["warnings"])


def test_tokens_against_a_context(built: Path, model_folder) -> None:
    model = model_folder("chatml")
    found = audit_folder(built, model=str(model))["tokens"]
    (file,) = found["files"]
    assert (found["context"], file["file"], file["rows"], file["over"]) == (4096, "sft/train.jsonl", 80, 0)
    assert 100 < file["p5"] <= file["median"] <= file["most"]
    config = json.loads((model / "config.json").read_text())
    short = built / "short"
    for path in model.iterdir():
        if path.suffix in (".json", ".jinja"):
            (short / path.name).parent.mkdir(exist_ok=True)
            (short / path.name).write_bytes(path.read_bytes())
    write_json(short / "config.json", {**config, "max_position_embeddings": 64})
    cut = audit_folder(built, model=str(short))
    assert cut["tokens"]["files"][0]["over"] == 80
    assert any("80 of 80 rows are longer" in text for text in cut["warnings"])


def test_the_command(built: Path) -> None:
    done = CliRunner().invoke(app, ["audit", str(built)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in built.glob("audit.*")} == {"audit.md", "audit.html", "audit.json"}
    done = CliRunner().invoke(app, ["audit", str(built), "--out", str(built / "only.md"), "--no-html"])
    assert {path.name for path in built.glob("only.*")} == {"only.md", "only.json"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json: no such file"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "manifest.json: is no JSON"),
        (
            lambda folder: (folder / "samples.jsonl").write_text('{"id": "1"}\n'),
            "samples.jsonl:1: field 'document'",
        ),
    ],
)
def test_a_wrong_folder_is_refused(built: Path, change, message: str) -> None:
    change(built)
    with pytest.raises(InputError, match=re.escape(message)):
        audit_folder(built)
    with pytest.raises(InputError, match="no such folder"):
        audit_folder(built / "nowhere")


# --- Real sets ----------------------------------------------------------------------------------------------


def test_halueval_qa_gives_itself_away(shared_data: Path) -> None:
    with open_text(shared_data / "halueval/qa_data.json.gz") as stream:
        rows = [json.loads(next(stream)) for _ in range(500)]
    found = audit_samples(
        Sample(f"{place}-{label}", row["knowledge"], row[column], row["question"], label=label, source="h",
               group=str(place))
        for place, row in enumerate(rows)
        for label, column in ((Label.PASS, "right_answer"), (Label.FAIL, "hallucinated_answer"))
    )  # fmt: skip
    assert found["shortcuts"][0]["answer-only"] > 0.90 and found["shortcuts"][0]["length"] > 0.90
