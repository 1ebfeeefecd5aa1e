import base64
import gzip
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from eval.benchmarks.base import Benchmark
from eval.benchmarks.halubench import HALUBENCH
from eval.compare import compare_command as compare_app
from eval.comparison import compare_results
from eval.pages import payload as payload_module
from eval.pages.card import write_card
from eval.pages.cli import report_command as app
from eval.pages.html import html_page
from eval.pages.markdown import markdown
from eval.pages.pairs import compare_all
from eval.pages.payload import pack
from eval.pages.runs import read_sets
from eval.pages.slices import ANSWER_EDGES, confusion, histogram, slices
from eval.pages.standings import standings, unbeaten
from eval.pages.tables import set_tables
from eval.report import write_reports
from eval.run import evaluate
from eval.verdicts import VerdictFile
from judge.baselines.rules import TrivialBaseline
from judge.errors import InputError, JudgeWarning
from judge.types import Label, Mode, Sample, Verdict
from tests.calling import invoke

ATTACK = """</script><script>window.broken = 1</script><img src=x onerror="window.broken = 2">"""
ATTACK_NAME = "<b onclick='x'>\"evil\"</b>"
OPEN = '{"reports": [{"benchmark": "open_factual_bench"}]}'
SPACE = "\u2028\u2029\x00\U0001f600"


SOURCES = ("<u>source 0</u>", "<u>source 1</u>", "<u>source 2</u>")


def samples(count: int, seed: int = 0, sources: Sequence[str] = SOURCES) -> list[Sample]:
    """Every answer, question, source and id tries to be markup; lengths and groups differ."""
    drawn = random.Random(seed)
    return [
        Sample(
            id=f"{number}<i>",
            document=f"{ATTACK} Document {number}. " + "word " * drawn.randint(0, 900),
            question=f"Question {number}? {ATTACK}{SPACE}",
            answer=f"Answer {number}. {ATTACK}" + "so " * drawn.randint(0, 200),
            label=drawn.choice(list(Label)),
            source=sources[number % len(sources)],
            group=f"g{number // 2}",
            meta={"edit_type": ["<s>number</s>", "entity"][number % 2]},
        )
        for number in range(count)
    ]


@dataclass(frozen=True)
class Scripted:
    """Right as often as its skill says; some verdicts are not parsed, some have no probability."""

    name: str
    skill: float
    mode: Mode = "reason"
    parameters: int | None = None
    unparsed: float = 0.05
    unscored: float = 0.1
    chunk: int = 1

    def restart(self, done: int) -> int:
        return done

    def describe(self) -> dict[str, Any]:
        found = {"model": self.name, "mode": self.mode, "prompt_hash": "abc", "parameters": self.parameters}
        return {name: value for name, value in found.items() if value is not None}

    def iter_check(self, asked: Sequence[Sample]) -> Iterator[Verdict]:
        drawn = random.Random(self.name)
        for sample in asked:
            if drawn.random() < self.unparsed:
                yield Verdict(None, raw=f"Hm. {ATTACK}", error="no label")
                continue
            fail = (sample.label is Label.FAIL) == (drawn.random() < self.skill)
            p_fail = 0.5 + drawn.random() / 2 if fail else drawn.random() / 2
            yield Verdict(
                Label.FAIL if fail else Label.PASS,
                None if drawn.random() < self.unscored else p_fail,
                reasoning=f"Because. {ATTACK}" if self.mode == "reason" else None,
            )


BASELINES = [TrivialBaseline("baseline:always-pass"), TrivialBaseline("baseline:always-fail")]


def result(
    out: Path, judge: Scripted, *sets: tuple[Benchmark, list[Sample]], command: str = "judge eval"
) -> Path:
    with VerdictFile(out, {}) as file:
        reports = [
            replace(evaluate([judge], benchmark, chosen, BASELINES, file, bootstrap=20), command=command)
            for benchmark, chosen in sets
        ]
    write_reports(out, reports)
    return out


def own_figures(asked: Any, verdicts: Any) -> dict[str, Any]:
    return {"by <kind>": {"a|b": {"share": 0.25, "n": 3, "none": None}}}


MADE_UP = Benchmark(
    name="made-up", title=f"Made up {ATTACK}", read=lambda _: (), figures=own_figures, notes=("A note.",)
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three judges on one benchmark, of which two are also on another one."""
    root = tmp_path_factory.mktemp("results")
    common, other = samples(120), samples(60, seed=1, sources=("halueval", "RAGTruth"))
    judges = [
        Scripted(ATTACK_NAME, 0.9, "reason", 500_000_000),
        Scripted("middle", 0.7, "verdict", 7_000_000_000),
        Scripted("coin", 0.45, "verdict"),
    ]
    command = f"judge eval --model '{ATTACK}'\n--out x"
    return [
        result(
            root / str(number),
            judge,
            (MADE_UP, common),
            *[(HALUBENCH, other)][number // 2 :],
            command=command,
        )
        for number, judge in enumerate(judges)
    ]


def test_results_are_grouped_by_the_samples_that_were_judged(folders: list[Path], tmp_path: Path) -> None:
    sets = read_sets(folders)
    assert [(group.name, len(group.runs)) for group in sets] == [("made-up", 3), ("halubench", 2)]
    assert [len(run.judged) for group in sets for run in group.runs] == [120] * 3 + [60] * 2
    smaller = result(tmp_path / "smaller", Scripted("middle", 0.7), (MADE_UP, samples(30)))
    names = [group.name for group in read_sets([*folders, smaller])]
    assert names[0].startswith("made-up (120, ") and names[2].startswith("made-up (30, ")


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    sets = [(MADE_UP, samples(6))]
    made = [
        result(tmp_path / "a", Scripted("same", 0.7, "verdict"), *sets),
        result(tmp_path / "b", Scripted("same", 0.7, "reason"), *sets),
        result(tmp_path / "c", Scripted("same", 0.7, "reason"), *sets),
    ]
    (group,) = read_sets([*made, made[0]])
    assert [run.name for run in group.runs] == ["same (verdict)", "same (b)", "same (c)"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "report.json").unlink(), "is the run finished"),
        (lambda folder: (folder / "report.json").write_text("[]"), "has no list of reports; give a report"),
        (
            lambda folder: (folder / "report.json").write_text("{"),
            "report.json: is not valid JSON: Expecting",
        ),
        (lambda folder: drop_last(folder / "verdicts.jsonl"), "holds 119 verdicts on made-up"),
        (lambda folder: (folder / "verdicts.jsonl").write_text("{}\n"), "jsonl:1: is not a verdict"),
        (lambda folder: (folder / "report.json").write_text(OPEN), "which measures no judge"),
    ],
)
def test_a_wrong_folder_gives_one_clear_error(
    folders: list[Path], tmp_path: Path, change: Callable[[Path], Any], message: str
) -> None:
    copy = shutil.copytree(folders[2], tmp_path / "copy")
    change(copy)
    with pytest.raises(InputError, match=message) as caught:
        read_sets([copy])
    assert str(copy) in str(caught.value)


def drop_last(path: Path) -> None:
    path.write_bytes(path.read_bytes().rstrip(b"\n").rpartition(b"\n")[0] + b"\n")


def test_standings_set_each_judge_against_the_best_baseline(folders: list[Path]) -> None:
    lines = standings(read_sets(folders))
    first = [line for line in lines if line.set == "made-up"]
    assert [line.name for line in first if line.run is not None] == [ATTACK_NAME, "middle", "coin"]
    assert [line.run is None for line in first] == [False] * 3 + [True] * 2
    assert [line.name for line in unbeaten(lines)] == ["coin"]
    best = first[0]
    assert best.baseline_figure == 0.5 and best.metrics.balanced_accuracy is not None
    assert best.lift == pytest.approx(best.metrics.balanced_accuracy - 0.5)
    assert (best.size, best.size_class) == ("500M", "under 1B")
    assert (first[1].size, first[2].size_class) == ("7B", "unknown size")


def test_pairs_are_what_the_comparison_of_two_results_gives(folders: list[Path]) -> None:
    """Among them AUROCs over the samples that both judges have scored."""
    (group, _) = read_sets(folders)
    found = compare_all(group)
    assert list(found) == [(0, 1), (0, 2), (1, 2)]
    for (one, two), comparison in found.items():
        (wanted,) = (row for row in compare_results(folders[one], folders[two]) if row.benchmark == "made-up")
        assert comparison == wanted


def test_compare_names_what_only_one_result_has(folders: list[Path]) -> None:
    with pytest.warns(JudgeWarning, match="left out, as only .* has them: halubench"):
        invoke(compare_app, folders[0], folders[2], "--bootstrap", "0")


def test_slices_part_all_samples(folders: list[Path]) -> None:
    (group, _) = read_sets(folders)
    judged = group.runs[0].judged
    found = slices(judged)
    assert list(found) == ["document length, characters", "answer length, characters", "edit type"]
    for parts in found.values():
        assert sum(part.n for part in parts) == 120
        assert sum(part.n * part.accuracy for part in parts) == pytest.approx(
            sum(row.verdict.label is row.gold for row in judged)
        )
        assert all(part.interval[0] <= part.accuracy <= part.interval[1] for part in parts)
    long = next(part for part in found["answer length, characters"] if part.name == "400 to 799")
    assert long.n == sum(400 <= len(row.answer) < 800 for row in judged)
    assert ANSWER_EDGES[-2:] == (400, 800)
    scored = sum(row.verdict.p_fail is not None for row in judged)
    assert sum(map(sum, histogram(judged).values())) == scored < 120
    assert sum(map(sum, confusion(judged).values())) == 120


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_payload_holds_what_was_judged(folders: list[Path]) -> None:
    sets = read_sets(folders)
    packed = pack(sets)
    assert (packed.limit, packed.verdicts) == (2000, 480)
    first, second = unpacked(packed.text)
    run = sets[0].runs[0]
    assert first["id"] == [row.id for row in run.judged] and len(second["id"]) == 60
    assert first["answer"] == [row.answer for row in run.judged]
    letters = {None: "U", Label.PASS: "P", Label.FAIL: "F"}
    assert first["gold"] == "".join(letters[row.gold] for row in run.judged)
    assert first["runs"][0]["label"] == "".join(letters[row.verdict.label] for row in run.judged)
    for number, row in zip(first["runs"][0]["p"], run.judged, strict=True):
        assert number == (-1 if row.verdict.p_fail is None else round(row.verdict.p_fail * 10_000))


def test_texts_are_cut_until_the_payload_fits(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    sets = read_sets(folders)
    whole = len(pack(sets).text)
    monkeypatch.setattr(payload_module, "MOST", whole // 2)
    packed = pack(sets)
    assert packed.limit < 600 and (len(packed.text) <= whole // 2 or packed.limit == 75)
    first = unpacked(packed.text)[0]
    assert max(map(len, first["answer"])) == packed.limit
    assert f"all texts are cut to {packed.limit} characters" in html_page(sets)


def test_markdown_shows_every_table_and_no_markup_of_the_data(folders: list[Path]) -> None:
    text = markdown(read_sets(folders))
    for heading in ("Leaderboard", "Judges and baselines", "By source: balanced accuracy", "Made by"):
        assert f"# {heading}\n" in text
    assert "| baseline:always-fail |" in text and "A note." in text
    assert "> Warning: published on 14,900 samples" in text and "*Lynx-70B*" in text
    assert "McNemar's p" in text and "Accuracy by edit type" in text
    assert "a\\|b" in text and "| 25.0 | 3 | - |" in text
    commands = [line for line in text.splitlines() if line.startswith("    ")]
    assert commands[:2] == [f"    judge eval --model '{ATTACK}'", "    --out x"]
    others = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert "<" not in others  # the commands are blocks of code, where it means nothing


def test_repeated_runs_and_cost_are_shown(tmp_path: Path) -> None:
    judges = [Scripted("same", skill, unscored=0) for skill in (0.9, 0.7)]
    with VerdictFile(tmp_path, {}) as file:
        report = evaluate(judges, MADE_UP, samples(40), BASELINES, file, bootstrap=0, latency=3)
    write_reports(tmp_path, [report])
    (group,) = sets = read_sets([tmp_path])
    assert len(group.runs[0].judged) == 40 and report.repeats is not None
    mean, spread = (100 * found["accuracy"] for found in (report.repeats.mean, report.repeats.spread))
    text = markdown(sets)
    assert f"| **same** | 2 | - | {mean:.1f} ± {spread:.1f} |" in text
    board, main = (re.findall(r"\| \*\*same\*\* \|.* (?:40) \|.*", text))[:2]
    assert f" {mean:.1f} |" in board and f" {mean:.1f} |" in main
    write_card(sets, tmp_path / "README.md")
    found = yaml.safe_load((tmp_path / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    metrics = found["model-index"][0]["results"][0]["metrics"]
    assert metrics[0]["value"] == round(report.repeats.mean["accuracy"], 4)
    part = next(iter(report.repeats.tables["source"].values()))
    cell = f"{100 * part.mean['accuracy']:.1f} ± {100 * part.spread['accuracy']:.1f}"
    balanced = f"{100 * part.mean['balanced_accuracy']:.1f} ± {100 * part.spread['balanced_accuracy']:.1f}"
    assert cell in text or balanced in text
    assert "same: mean ± standard deviation of all runs." in text and "± " in html_page(sets)
    assert "### Cost of a verdict" in text and "seconds alone (95 %)" in text


def test_runs_whose_sources_and_edit_types_differ(tmp_path: Path) -> None:
    """Figures stand under the part that they are of, by its name and size; elsewhere there is none."""
    given = samples(40, sources=("web", "mail"))
    changed = [replace(item, source=item.source.replace("mail", "letters"), meta={}) for item in given]
    runs = zip(("one", "two"), (given, changed), strict=True)
    folders = [result(tmp_path / name, Scripted(name, 0.8), (MADE_UP, found)) for name, found in runs]
    for order in (folders, folders[::-1]):
        (group,) = read_sets(order)
        tables = {table.title: table for table in set_tables(group)}
        parts = tables["By source: balanced accuracy"]
        assert set(parts.head[1:]) == {"web (20)", "mail (20)", "letters (20)"}
        for row in parts.rows:
            shown = dict(zip(parts.head, row.cells, strict=True))
            assert shown["web (20)"] is not None
            assert (shown["mail (20)"] is None) is (row.cells[0] == "two")
            assert (shown["letters (20)"] is None) is (row.cells[0] == "one")
        edits = {row.cells[0]: row.cells[1:] for row in tables["Accuracy by edit type"].rows}
        assert edits["two"] == (None, None) and None not in edits["one"]
        assert html_page([group])


def test_reports_without_verdicts_are_shown(folders: list[Path], tmp_path: Path) -> None:
    copy = shutil.copytree(folders[0], tmp_path / "copy")
    (copy / "verdicts.jsonl").unlink()
    sets = read_sets([copy, folders[1]])
    assert [len(run.judged) for run in sets[0].runs] == [0, 120]
    assert compare_all(sets[0]) == {}
    assert unpacked(pack(sets).text)[0]["runs"][0] is None
    assert "First minus second" not in markdown(sets)
    assert html_page(read_sets([copy]))


def test_a_model_card_has_the_figures_and_keeps_what_it_says(folders: list[Path], tmp_path: Path) -> None:
    path, new = tmp_path / "README.md", tmp_path / "new.md"
    path.write_text("---\nbase_model: org/base\ntags: [a, b]\n---\n\n# Mine\n\nText.\n", encoding="utf-8")
    for card in (path, path, new):
        write_card(read_sets(folders[1:2]), card)
    assert "| judge | benchmark |" in new.read_text(encoding="utf-8")
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    found = yaml.safe_load(front)
    assert body == "\n# Mine\n\nText.\n" and found["base_model"] == "org/base" and found["tags"] == ["a", "b"]
    (entry,) = found["model-index"]
    assert entry["name"] == "middle"
    assert [result["dataset"]["type"] for result in entry["results"]] == ["made-up", "halubench"]
    report = json.loads((folders[1] / "report.json").read_text(encoding="utf-8"))["reports"][0]
    values = {metric["type"]: metric["value"] for metric in entry["results"][0]["metrics"]}
    assert values["accuracy"] == round(report["metrics"]["accuracy"], 4)
    assert values["roc_auc"] == round(report["metrics"]["auroc"], 4)


def test_a_model_card_is_about_one_judge_and_a_card(folders: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    with pytest.raises(InputError, match="about one judge, these results are about"):
        write_card(read_sets(folders), path)
    assert not path.exists()
    path.write_text("---\n[: broken\n---\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not a model card"):
        write_card(read_sets(folders[1:2]), path)


def test_command(folders: list[Path], tmp_path: Path) -> None:
    assert invoke(app, *folders).stdout == markdown(read_sets(folders))
    page, text, card = tmp_path / "a.html", tmp_path / "a.md", tmp_path / "README.md"
    done = invoke(app, folders[1], "--html", page, "--markdown", text, "--model-card", card)
    assert done.exit_code == 0 and all(str(path) in done.stdout for path in (page, text, card))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    text.rename(tmp_path / "in.jsonl")
    with pytest.raises(InputError, match=r"in\.jsonl: is not a result; give a folder"):
        invoke(app, tmp_path / "in.jsonl")
    with pytest.raises(InputError, match="is the run finished"):
        invoke(app, folders[1], tmp_path / "nothing", "--html", tmp_path / "b.html")
    assert not (tmp_path / "b.html").exists()
    for out, why in (
        (folders[1] / "verdicts.jsonl", "is a file that is read"),
        (page, "is named for two outputs"),
        (tmp_path / "a.md.gz", r"the report is not packed; give a name such as a\.md, not \.gz"),
    ):
        with pytest.raises(InputError, match=why):
            invoke(app, folders[1], "--html", page, "--markdown", out)


class Reader(HTMLParser):
    """Elements and their attributes, and by their places the texts of style and script."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in ("script", "style"):
            place = len(self.found) - 1
            self.texts[place] = self.texts.get(place, "") + data


def test_page_is_self_contained_and_free_of_the_markup_of_its_data(folders: list[Path]) -> None:
    sets = read_sets(folders)
    reader = Reader()
    reader.feed(html_page(sets))
    tags = [tag for tag, _ in reader.found]
    assert not {"img", "link", "iframe", "i", "u", "s"} & set(tags) and tags.count("script") == 3
    attributes = {name for _, found in reader.found for name in found}
    assert not {"src", "style", "onclick", "onerror"} & attributes
    assert {found["href"][:1] for tag, found in reader.found if tag == "a" and found["href"]} == {"#"}
    policy = next(found["content"] for _, found in reader.found if "http-equiv" in found) or ""
    assert policy.startswith("default-src 'none'; ")
    places = [place for place, (tag, _) in enumerate(reader.found) if tag in ("style", "script")]
    style, data, script, _ = (reader.texts[place].rstrip("\n") + "\n" for place in places)
    for kind, text in (("script", script), ("style", style)):
        digest = base64.b64encode(sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|https?://(?!www\.w3)", script
    )
    assert [run["name"] for run in json.loads(data)["runs"]] == [
        ATTACK_NAME, "middle", "coin", ATTACK_NAME, "middle",
    ]  # fmt: skip


# --- In a browser -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page_file(folders: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html_page(read_sets(folders)), encoding="utf-8", newline="")
    return path


DEVICES = pytest.mark.parametrize(
    "tab", [("light", 1280), ("dark", 375)], ids=["desktop", "dark phone"], indirect=True
)


@pytest.fixture
def tab(browser: Any, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page, opened; at the end, that it logged nothing and asked for nothing but itself."""
    scheme, width = getattr(request, "param", ("dark", 375))
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda found: asked.append(found.url))
    page.goto(page_file.as_uri())
    page.locator("#sample-count", has_text=" of ").wait_for()
    yield page
    assert page.evaluate("window.broken") is None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == [] and asked == [page_file.as_uri()]
    context.close()


def column(tab: Any, place: int) -> list[str]:
    rows = tab.locator("#board tbody tr:visible")
    return [row.locator("> *").nth(place).inner_text().split("\n")[0] for row in rows.all()]


def test_a_figure_with_a_name_sorts_with_the_shares(folders: list[Path]) -> None:
    page = html_page(read_sets(folders))
    cell = re.search(r'data-v="([^"]*)">([0-9.]+) \(always-', page)
    assert cell is not None and float(cell[1]) == pytest.approx(float(cell[2]) / 100, abs=1e-3)


@DEVICES
def test_leaderboard_sorts_and_filters(tab: Any) -> None:
    assert len(column(tab, 0)) == 5 + 4
    header = tab.locator("#board th", has_text="accuracy").nth(1)
    header.locator("button").focus()
    tab.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    found = [float(text) for text in column(tab, 4)]
    assert found == sorted(found, reverse=True)
    tab.keyboard.press("Enter")
    assert header.get_attribute("aria-sort") == "ascending"
    assert [float(text) for text in column(tab, 4)] == found[::-1]
    tab.locator("#board th button", has_text="size").click()
    assert column(tab, 10)[:2] == ["7B", "7B"] and column(tab, 10)[-1] == ""

    tab.locator("#by-set").select_option("halubench")
    assert set(column(tab, 1)) == {"halubench"} and len(column(tab, 0)) == 4
    tab.locator("#with-baselines").uncheck()
    tab.locator("#by-size").select_option("under 1B")
    assert column(tab, 0) == [ATTACK_NAME]
    assert tab.locator("#board-count").inner_text() == "1 of 5 results"
    tab.locator("#by-set").select_option("")
    tab.locator("#by-size").select_option("")
    tab.locator("#by-mode").select_option("verdict")
    assert sorted(column(tab, 0)) == ["coin", "middle", "middle"]
    tab.locator("#by-name").fill("COI")
    assert column(tab, 0) == ["coin"]


def test_a_judge_is_shown_with_its_charts(tab: Any) -> None:
    tab.locator("#board a", has_text="coin").click()
    assert tab.locator("#run").evaluate("found => found.selectedOptions[0].textContent") == "coin · made-up"
    titles = tab.locator("#charts h3").all_inner_texts()
    assert titles[:4] == ["Verdicts", "Reliability", "Scores", "Leaving the doubtful open"]
    assert "By edit type" in titles and tab.locator("#charts svg").count() == len(titles) - 1
    assert tab.locator("#charts svg text", has_text="<s>number</s>").count() == 1


def test_two_judges_are_compared_both_ways(tab: Any, folders: list[Path]) -> None:
    tab.locator("#pair-set").select_option(label="made-up")
    cells = tab.locator("#matrix tbody button")
    assert cells.count() == 6
    forth, back = cells.nth(1).inner_text(), cells.nth(4).inner_text()
    assert forth.startswith("+") and back == forth.replace("+", "\u2212")
    cells.nth(4).click()
    said = tab.locator("#pair").inner_text()
    assert said.startswith(f"coin against {ATTACK_NAME}") and "McNemar" in said
    wanted = compare_results(folders[2], folders[0])[0]
    low, high = wanted.differences[1].interval or (0, 0)
    assert f"{100 * low:.1f} to {100 * high:.1f}".replace("-", "\u2212") in said


@DEVICES
def test_samples_are_found_and_read(tab: Any, folders: list[Path]) -> None:
    run = read_sets(folders)[0].runs[0]
    tab.locator("#sample-run").select_option("0")
    for show, wanted in {
        "wrong": [row for row in run.judged if row.verdict.label is not row.gold],
        "miss": [row for row in run.judged if (row.gold, row.verdict.label) == (Label.FAIL, Label.PASS)],
        "alarm": [row for row in run.judged if (row.gold, row.verdict.label) == (Label.PASS, Label.FAIL)],
        "unparsed": [row for row in run.judged if row.verdict.label is None],
        "": run.judged,
    }.items():
        tab.locator("#show").select_option(show)
        assert tab.locator("#sample-count").inner_text() == f"{len(wanted)} of 120 samples"
    tab.locator("#source").select_option("<u>source 1</u>")
    tab.locator("#edit").select_option("entity")
    assert tab.locator("#sample-count").inner_text() == "20 of 120 samples"
    tab.locator("#source").select_option("")
    tab.locator("#edit").select_option("")
    tab.locator("#search").fill("question 77?")
    tab.locator("#sample-count", has_text="1 of 120").wait_for()
    tab.locator("#list").focus()
    tab.keyboard.press("ArrowDown")
    said = tab.locator("#sample").inner_text()
    row = run.judged[77]
    assert row.answer.split("<img")[0] in said and ATTACK in said and "The other judges" in said
    assert tab.locator("#sample img, #sample script, #list img").count() == 0


def test_the_list_draws_what_is_in_view_and_follows_the_keys(tab: Any) -> None:
    tab.locator("#show").select_option("")
    total = int(tab.locator("#sample-count").inner_text().split()[2])
    assert tab.locator("#rows .item").count() < 40 < total
    tab.locator("#list").focus()
    tab.keyboard.press("End")
    last = tab.locator("#rows .item[aria-selected=true]")
    last.wait_for()
    assert last.get_attribute("aria-posinset") == last.get_attribute("aria-setsize") == str(total)
    assert tab.locator("#list").get_attribute("aria-activedescendant") == last.get_attribute("id")
    tab.keyboard.press("Home")
    assert tab.locator("#rows .item[aria-selected=true]").get_attribute("aria-posinset") == "1"
