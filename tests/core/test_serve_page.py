"""The page of ``judge serve`` in a real browser: one answer, its sentences, a file, a token."""

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.samples import sample_from_row
from judge.serving.page import ASSETS, HEADERS, OWN
from judge.types import Sample
from tests.core.test_claims import BRIDGE, Words
from tests.core.test_serving import Running
from tests.made_up import make_samples
from tests.tiny_data import rows_of

NASTY = "<script>window.broken = 1</script> \U0001d538 &amp; <mark>"
IMAGE = "<img src=x onerror='window.broken = 1'>"
ANSWER = f"Ada Holst designed the bridge. \U0001d538 sued everybody {IMAGE}! A storm damaged the pier."

DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def made_up(count: int) -> Iterator[Sample]:
    """Made-up samples with quotes, commas, line breaks and markup in their fields."""
    for number, sample in enumerate(make_samples(count)):
        yield replace(sample, id=f"=row {number}", answer=f'{sample.answer} "So it is", they say.')


def write_rows(path: Path, samples: Iterable[Sample]) -> list[dict[str, str]]:
    """A CSV of samples; gives its rows."""
    rows = [
        {
            "id": sample.id,
            "document": sample.document_text,
            "question": sample.question,
            "answer": sample.answer,
        }
        for sample in samples
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "document", "question", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    return rows


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens the page; at the end nothing was asked of others, and nothing was complained about."""
    servers: list[Running] = []
    problems: list[str] = []
    asked: set[str] = set()

    def start(width: int, token: str | None = None) -> Any:
        servers.append(Running(Words(), token=token))
        url = f"{servers[-1].url}/"
        tab = browser.new_context(viewport={"width": width, "height": 800}).new_page()
        tab.on("console", lambda message: "401" in message.text or problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("request", lambda request: asked.add(request.url))
        tab.goto(url)
        return tab

    yield start
    for server in servers:
        server.stop()
    assert problems == []
    assert all(url.startswith(tuple(f"{server.url}/" for server in servers)) for url in asked)


def judge(tab: Any) -> None:
    tab.locator("#document").fill(f"{NASTY} {BRIDGE}")
    tab.locator("#question").fill("What of the bridge?")
    tab.locator("#answer").fill(ANSWER)
    tab.keyboard.press("Control+Enter")
    tab.locator("#sentences [role=button]").first.wait_for()


def test_what_the_page_is_made_of_is_there_and_guarded() -> None:
    server = Running(Words(), token="secret")
    try:
        for path in OWN:
            found = server.client.get(path)
            assert found.status_code == 200, path
            assert found.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        policy = HEADERS["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy and "http" not in policy
        assert "/" not in server.client.get("/openapi.json").json()["paths"]
    finally:
        server.stop()
    assert {path.name for path in ASSETS.iterdir()} == set(OWN.values())


def test_an_answer_is_judged_sentence_by_sentence_by_keyboard(opened: Callable[..., Any]) -> None:
    tab = opened(1280)
    judge(tab)
    parts = tab.locator("#sentences [role=button]")
    assert [part.get_attribute("class") for part in parts.all()] == ["doubt low", "doubt middle", "doubt low"]
    assert tab.locator("#result").evaluate("node => node === document.activeElement")
    assert "%" in tab.locator("#chance").text_content()
    assert "not calibrated" in tab.locator("#meaning").text_content()
    assert "1 of 3 sentences" in tab.locator("#said").text_content()
    assert "Sentences are hints" in tab.locator("#result").text_content()
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert tab.locator("#shown mark").text_content().startswith("In 1987 a storm damaged")
    assert parts.nth(2).get_attribute("aria-pressed") == "true"
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press(" ")
    assert "Sentence 2 of 3" in tab.locator("#detail-text").text_content()
    assert tab.locator("#shown").text_content() == f"{NASTY} {BRIDGE}"
    assert IMAGE in tab.locator("#sentences").text_content()
    assert tab.evaluate("window.broken") is None and tab.locator("#result script, #result img").count() == 0
    tab.keyboard.press("Escape")
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Delete")
    tab.keyboard.press("Control+Enter")
    assert tab.locator("#problem").text_content() == "There is no answer yet."


def test_a_phone_and_a_token(opened: Callable[..., Any]) -> None:
    tab = opened(390, "päss")
    for word in ("wrong", "päss"):
        tab.locator("#token-dialog[open]").wait_for()
        tab.locator("#token").fill(word)
        tab.keyboard.press("Enter")
        if word == "wrong":
            tab.locator("#token-problem", has_text="not the right one").wait_for()
    tab.locator("#model", has_text="Judged by scripted").wait_for()
    tab.get_by_role("button", name="An invented sentence").click()
    tab.locator("#sentences [role=button]").nth(1).wait_for()
    tab.locator("#sentences [role=button]").first.click()
    assert tab.locator("#shown mark").is_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.reload()  # the tab keeps the token
    tab.locator("#model", has_text="Judged by scripted").wait_for()


def test_a_file_is_judged_and_downloaded(opened: Callable[..., Any], tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.csv", made_up(150))
    tab = opened(1280)
    tab.evaluate(DROP, ["rows.csv", (tmp_path / "rows.csv").read_text()])
    tab.locator("#batch-state", has_text="All judged").wait_for()
    wanted = Words().check([sample_from_row(row, line=at) for at, row in enumerate(rows, start=1)])
    for kind in ("csv", "jsonl"):
        with tab.expect_download() as caught:
            tab.locator(f"#download-{kind}").click()
        assert caught.value.suggested_filename == f"rows.verdicts.{kind}"
        caught.value.save_as(tmp_path / f"out.{kind}")
    found = rows_of(tmp_path / "out.jsonl")
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert [row["p_fail"] for row in found] == pytest.approx([verdict.p_fail for verdict in wanted])
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert len(lines) == 151 and lines[1].split(",")[:3] == ["1", "'=row 0", found[0]["label"]]
    tab.locator("#rows button").first.click()
    tab.locator("#sentences [role=button]").first.wait_for()
    assert tab.locator("#answer").input_value() in [row["answer"] for row in rows]

    (tmp_path / "wrong.jsonl").write_text('{"document": "d", "answer": "a"}\n{"document": "d"}\n')
    tab.locator("#file").set_input_files(tmp_path / "wrong.jsonl")
    tab.locator("#problem", has_text="wrong.jsonl: Line 2 has no answer").wait_for()
