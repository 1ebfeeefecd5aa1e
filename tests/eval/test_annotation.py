import json
import random
import shutil
import socket
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eval.annotation.agreement import measure
from eval.annotation.cli import agreement, app
from eval.annotation.gold import decide, diahalu_rows, majority
from eval.annotation.records import Annotation, Mark, Said, read_annotations
from eval.annotation.work import Work, draw, load
from eval.benchmarks import load_benchmark
from judge.errors import InputError
from judge.files import write_jsonl
from judge.samples import write_samples
from judge.types import Label, Sample, Task
from tests.made_up import make_samples

SAMPLES = make_samples(8)
KEYS = {"PASS": "p", "FAIL": "f", "UNSURE": "u"}


def opinions(samples: Sequence[Sample], share: float, seed: int) -> dict[str, str]:
    """What a person says of each sample: its label with a probability, or else anything."""
    draw = random.Random(seed)
    return {
        sample.id: str(sample.label) if draw.random() < share else draw.choice(list(KEYS))
        for sample in samples
    }


def begin(tab: Any, address: str, name: str) -> None:
    """Open the page as somebody."""
    tab.goto(address)
    tab.locator("#name").fill(name)
    tab.keyboard.press("Enter")
    tab.locator("#answer").wait_for()


def annotate(tab: Any, said: Mapping[str, str]) -> None:
    """Say of every sample what there is to say, with the keyboard alone."""
    marked = 0
    for _ in said:
        about = tab.locator("#about").text_content()
        label = said[about.rpartition(" · ")[2]]
        if label == "FAIL":
            marked += 1
            if marked % 3 == 1:
                for key in ("a", "ArrowRight", "Shift+ArrowRight", "m"):
                    tab.keyboard.press(key)
        tab.keyboard.press(KEYS[label])
        tab.wait_for_function(
            "about => document.getElementById('about').textContent !== about"
            " || !document.getElementById('finished').hidden",
            arg=about,
        )


def by_hand(ratings: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Fleiss' kappa and Krippendorff's alpha of complete ratings, by loops over all pairs."""
    everything = [label for item in ratings for label in item]
    n, raters = len(everything), len(ratings[0])
    pairs = [pair for item in ratings for pair in permutations(item, 2)]
    observed = sum(one == two for one, two in pairs) / len(pairs)
    shares = [everything.count(label) / n for label in set(everything)]
    chance = sum(share * share for share in shares)
    differ = sum(one != two for one, two in permutations(everything, 2)) / (n * (n - 1))
    assert len(pairs) == len(ratings) * raters * (raters - 1)
    return (observed - chance) / (1 - chance), 1 - (1 - observed) / differ


def say(work: Work, who: str, labels: str) -> None:
    """Let somebody say P, F or U of the samples in order; a dot leaves one out."""
    words = {"P": "PASS", "F": "FAIL", "U": "UNSURE"}
    for number, letter in enumerate(labels):
        if letter != ".":
            work.save(who, number, Said.model_validate({"label": words[letter]}))


# --- Drawing, writing, reading ------------------------------------------------------------------------------


def test_draw_takes_so_many_of_each_source_and_half_of_each_label() -> None:
    samples = make_samples(400)
    drawn = draw(samples, 50, ["drop", "pubmed"], seed=3)
    assert Counter((sample.source, sample.label) for sample in drawn) == {
        (source, label): 25 for source in ("drop", "pubmed") for label in Label
    }
    assert drawn == draw(samples, 50, ["drop", "pubmed"], seed=3) != draw(samples, 50, ["drop", "pubmed"])
    assert len({sample.source for sample in drawn[:20]}) == 2  # mixed
    assert draw(samples, None) == samples
    with pytest.raises(InputError, match="did you mean 'pubmed'"):
        draw(samples, 50, ["pubmd"])
    with pytest.raises(InputError, match="or give a file of samples"):
        load("halubensh", None)


def test_work_resumes_and_the_last_word_holds(tmp_path: Path) -> None:
    with Work(SAMPLES, tmp_path) as work:
        say(work, "Ada", "PF")
        say(work, "Ada", "F")
        answer = SAMPLES[2].answer
        mark = Mark(start=answer.index("𝔸"), end=answer.index("𝔸") + 1)
        work.save("李雷", 2, Said(label="FAIL", unsupported=[mark], note="两处"))
    (tmp_path / "Ada.jsonl").open("a").write('{"half')  # a kill
    with Work(SAMPLES, tmp_path) as work:
        assert work.annotators() == ["Ada", "李雷"]
        assert [row.label for row in work.said("Ada").values()] == ["FAIL", "FAIL"]
        kept = work.said("李雷")["tower-2"]
        assert kept.unsupported[0].text == "𝔸" and kept.note == "两处" and kept.reference is Label.PASS
        say(work, "Ada", "..P")
    rows = read_annotations([tmp_path / "Ada.jsonl", tmp_path / "李雷.jsonl"])
    assert [(row.annotator, row.id, row.label) for row in rows] == [
        ("Ada", "tower-0", "FAIL"), ("Ada", "tower-1", "FAIL"), ("Ada", "tower-2", "PASS"),
        ("李雷", "tower-2", "FAIL"),
    ]  # fmt: skip


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with Work(SAMPLES, tmp_path, types=("wrong name",)) as work:
        for said, message in (
            ({"label": "FAIL"}, "needs a mark"),
            ({"label": "PASS", "unsupported": [Mark(start=0, end=1, type="wrong name")]}, "has no marks"),
            ({"label": "FAIL", "unsupported": [Mark(start=0, end=1)]}, "needs a type"),
            ({"label": "FAIL", "unsupported": [Mark(start=0, end=10**6)]}, "ends at 1000000"),
        ):
            with pytest.raises(InputError, match=message):
                work.save("Ada", 0, Said(**said))
        with pytest.raises(InputError, match="no name of an annotator"):
            work.save("../Ada", 0, Said(label="UNSURE"))
        assert list(tmp_path.iterdir()) == []
        work.save("Ada", 0, Said(label="UNSURE"))
    with pytest.raises(InputError, match="annotated with other texts"):
        Work([Sample("tower-0", "another document", "answer")], tmp_path)
    shutil.copy(tmp_path / "Ada.jsonl", tmp_path / "Bo.jsonl")
    with pytest.raises(InputError, match="holds rows of 'Ada'"):
        Work(SAMPLES, tmp_path)
    (tmp_path / "Bo.jsonl").write_text('{"of": "somebody else"}')
    with pytest.raises(InputError, match="holds no whole row"):
        Work(SAMPLES, tmp_path)
    assert (tmp_path / "Bo.jsonl").read_text() == '{"of": "somebody else"}'
    row = json.loads((tmp_path / "Ada.jsonl").read_text())
    write_jsonl(tmp_path / "bad.jsonl", [row, row | {"label": "MAYBE"}])
    with pytest.raises(InputError, match=r"bad.jsonl:2: field 'label'"):
        read_annotations([tmp_path / "bad.jsonl"])
    write_jsonl(tmp_path / "bad.jsonl", [row, row | {"sample": "of another text"}])
    with pytest.raises(InputError, match=r"bad.jsonl:2: .*another text"):
        read_annotations([tmp_path / "bad.jsonl"])


# --- Agreement ----------------------------------------------------------------------------------------------


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Files of three people about samples whose labels are P F P F ..."""
    with Work(SAMPLES, tmp_path) as work:
        say(work, "Ada", "PFPFPFPF")
        say(work, "Bo", "PFPFPPPF")
        say(work, "Cy", "PFPUFPPF")
    return sorted(tmp_path.glob("*.jsonl"))


def test_report(three: list[Path]) -> None:
    report = measure(read_annotations(three))
    assert list(report.sources) == ["overall", "drop", "finance", "covid", "pubmed"]
    overall = report.sources["overall"]
    # Ada / Bo: 7 of 8 the same, chance 1/2 -> 0.75. Ada / Cy, without the unsure one: 5 of 7; chance
    # (4 * 4 + 3 * 3) / 49 -> 10/24. Bo / Cy: 6 of 7; chance (5 * 4 + 2 * 3) / 49 -> 16/23.
    assert overall.pairs["Ada / Bo"].value == pytest.approx(0.75)
    assert overall.pairs["Ada / Cy"].value == pytest.approx(10 / 24)
    assert overall.pairs["Bo / Cy"].value == pytest.approx(16 / 23)
    assert overall.cohen.value == pytest.approx((0.75 + 10 / 24 + 16 / 23) / 3)
    assert overall.raw.value == pytest.approx((7 + 5 + 6) / 22)
    complete = ["PPP", "FFF", "PPP", "PPF", "FPP", "PPP", "FFF"]
    assert overall.fleiss.n == 7 and overall.fleiss.value == pytest.approx(by_hand(complete)[0])
    assert overall.reference["Ada"].value == 1 and overall.reference["Bo"].value == pytest.approx(7 / 8)
    assert overall.reference["all"].value == pytest.approx((8 + 7 + 5) / 23)
    looked = {item.id: (item.labels["Cy"], item.reference) for item in report.disagreements}
    assert looked == {"tower-3": ("UNSURE", "FAIL"), "tower-4": ("FAIL", "PASS"), "tower-5": ("PASS", "FAIL")}
    with_unsure = measure(read_annotations(three), with_unsure=True).sources["overall"]
    ratings = [*complete[:3], "FFU", *complete[3:]]
    assert with_unsure.fleiss.value == pytest.approx(by_hand(ratings)[0])
    assert with_unsure.alpha.value == pytest.approx(by_hand(ratings)[1])


def test_command(three: list[Path], tmp_path: Path) -> None:
    def call(*arguments: object) -> Any:
        return CliRunner().invoke(agreement, [str(item) for item in arguments], catch_exceptions=False)

    done = call(*three, "--bootstrap", "50")
    assert done.exit_code == 0 and "Ada / Cy" in done.stdout and "tower-5" in done.stdout
    with pytest.raises(InputError, match="give --samples"):
        call(*three, "--labelled", tmp_path / "out" / "gold.jsonl")
    write_samples(tmp_path / "set.jsonl", SAMPLES)
    gold, again = tmp_path / "out" / "gold.jsonl", tmp_path / "out" / "again.jsonl"
    done = call(
        *three, "--json", "--samples", tmp_path / "set.jsonl", "--labelled", gold, "--disagreements", again
    )
    assert json.loads(done.stdout)["counts"]["Cy"] == {"PASS": 4, "FAIL": 3, "UNSURE": 1}
    labels = {sample.id: sample.label for sample in load(str(gold), None)}
    assert labels["tower-5"] is Label.PASS and labels["tower-3"] is Label.FAIL  # two of three; both who know
    assert [sample.id for sample in load(str(again), None)] == ["tower-3", "tower-4", "tower-5"]
    with pytest.raises(InputError, match="none of these samples"):
        decide(SAMPLES[:2], read_annotations(three))


def test_dialogues_become_what_the_diahalu_loader_reads(tmp_path: Path) -> None:
    text = "A1: Hi. Who wrote it?\nB1: Mary Shelley.\nA2: When?\nB2: In 1918, I think."
    meta = {"domain": "knowledge", "topic_source": "own", "model": "tiny"}
    dialogues = [
        Sample(f"d{number}", "Frankenstein", text, task=Task.DIALOGUE, meta=meta) for number in range(3)
    ]
    where = Mark(start=text.index("1918"), end=text.index("1918") + 4, type="non-factual")
    with Work(dialogues, tmp_path / "said", types=("non-factual",)) as work:
        for who in ("Ada", "Bo"):
            work.save(who, 0, Said(label="FAIL", unsupported=[where], note="1818"))
            work.save(who, 1, Said(label="PASS"))
        work.save("Ada", 2, Said(label="PASS"))
        work.save("Bo", 2, Said(label="FAIL", unsupported=[where]))
    rows = read_annotations(sorted((tmp_path / "said").glob("*")))
    decided, left = decide(dialogues, rows)
    assert left == ["d2"] and majority([row for row in rows if row.id == "d2"]) is None
    write_jsonl(tmp_path / "diahalu" / "DiaHalu_Bench.jsonl", diahalu_rows(decided))
    first, second = load_benchmark("diahalu_v2", tmp_path)
    assert (first.label, second.label, first.answer) == (Label.FAIL, Label.PASS, text)
    assert first.meta["hallucinations"] == [{"turn": 2, "type": "non-factual"}]
    assert first.meta["model"] == "tiny" and first.source == "diahalu_knowledge"
    with pytest.raises(InputError, match="unknown domain"):
        list(diahalu_rows(decide(SAMPLES, [_about(SAMPLES[0])])[0]))


def _about(sample: Sample) -> Annotation:
    return Annotation(
        label="PASS", annotator="Ada", id=sample.id, source="", group="", sample="", time="2026-01-01"
    )


# --- The page -----------------------------------------------------------------------------------------------


def test_the_server_answers_this_machine_alone(tmp_path: Path) -> None:
    from fastapi.testclient import TestClient

    from eval.annotation.app import create_app

    with Work(SAMPLES, tmp_path) as work:
        client = TestClient(create_app(work, "towers"), base_url="http://127.0.0.1:8010")
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
        assert (
            client.get("/", headers={"Host": "example.org"}).status_code == 400
        )  # a name made to point here
        url = "/api/samples/1?annotator=Ada"
        said = {"label": "FAIL", "note": "<b>"}
        form = client.post(url, content=json.dumps(said), headers={"Content-Type": "text/plain"})
        assert form.status_code == 422  # what another site's page may send without being asked about it
        shown = client.get(url).json()
        assert shown["said"] is None and "FAIL" not in shown.values() and "label" not in shown
        assert client.post(url, json=said).json() == {"done": 1}
        assert client.get(url).json()["said"]["note"] == "<b>"
        assert client.get("/api/labels?annotator=Ada").json() == [None, "FAIL", *[None] * 6]
        for wrong, body in (
            (url, said | {"label": "MAYBE"}),
            (url, said | {"more": 1}),
            ("/api/samples/1", said),
        ):
            assert client.post(wrong, json=body).status_code == 422
        assert client.post("/api/samples/1?annotator=..%2Fx", json=said).status_code == 422
        assert client.get("/api/samples/8?annotator=Ada").status_code == 404
    assert [path.name for path in tmp_path.iterdir()] == ["Ada.jsonl"]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The page of four samples, served."""
    import uvicorn

    from eval.annotation.app import create_app

    with Work(SAMPLES[:4], tmp_path) as work, socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(create_app(work, "towers"), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


def test_annotating_by_keyboard_and_on_a_phone(address: str, browser: Any, tmp_path: Path) -> None:
    problems: list[str] = []
    asked: set[str] = set()
    for name, width in (("Ada", 1280), ("Bo", 390)):
        tab = browser.new_context(viewport={"width": width, "height": 800}).new_page()
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("request", lambda request: asked.add(request.url[: len(address)]))
        begin(tab, address, name)
        assert tab.locator("#document").text_content() == SAMPLES[0].document
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        if name == "Ada":  # two samples, and a reload goes on with the third
            tab.keyboard.press("p")
            tab.locator("#position", has_text="2 of 4").wait_for()
            into_the_document = ("d", *["ArrowDown"] * 99, "ArrowRight", "m")
            for key in ("a", "ArrowRight", "Shift+ArrowRight", "m", *into_the_document, "n"):
                tab.keyboard.press(key)
            tab.keyboard.type("fup")  # in a note these are letters
            tab.keyboard.press("Escape")
            tab.keyboard.press("f")
            tab.locator("#position", has_text="3 of 4").wait_for()
            tab.reload()
            tab.locator("#position", has_text="3 of 4").wait_for()
            annotate(tab, opinions(SAMPLES[2:4], 1, 0))
        else:
            for place in ("PASS", "FAIL", "UNSURE", "FAIL"):
                before = tab.locator("#position").text_content()
                tab.locator(f".choice[data-label={place}]").click()
                tab.wait_for_function(
                    "before => position.textContent !== before || !finished.hidden", arg=before
                )
        assert tab.evaluate("window.broken") is None
        tab.context.close()
    assert problems == [] and asked == {address}
    rows = read_annotations([tmp_path / "Ada.jsonl", tmp_path / "Bo.jsonl"])
    assert [row.label for row in rows] == ["PASS", "FAIL", "PASS", "FAIL", "PASS", "FAIL", "UNSURE", "FAIL"]
    assert [mark.text for mark in rows[1].unsupported] == ["to the"] and rows[1].note == "fup"
    [shows] = rows[1].evidence  # a word of the last line, where the arrow keys end
    assert shows.start > len(SAMPLES[1].document) - 200 and sum(row.seconds for row in rows) > 0


def test_annotate_needs_something_to_annotate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        CliRunner().invoke(app, [str(tmp_path / "none.jsonl")], catch_exceptions=False)
    write_samples(tmp_path / "set.jsonl", SAMPLES)
    with pytest.raises(InputError, match="unknown source"):
        CliRunner().invoke(app, [str(tmp_path / "set.jsonl"), "--source", "x"], catch_exceptions=False)
