"""The lines that ``judge batch`` ends with."""

from pathlib import Path

from judge.batch.file import verdict_row
from judge.batch.summary import summarize
from judge.files import write_jsonl
from judge.types import Label, Sample, Verdict


def test_documents_that_were_shortened_are_counted(tmp_path: Path) -> None:
    given = [
        Verdict(Label.PASS, 0.2),
        Verdict(Label.FAIL, 0.9, cut_chars=1200),
        Verdict(Label.PASS, 0.4, cut_chars=3),
        Verdict(None, error="no answer fits"),
    ]
    rows = [verdict_row(Sample(f"s{at}", "d", "a"), verdict) for at, verdict in enumerate(given)]
    write_jsonl(tmp_path / "out.jsonl", rows)
    assert [*summarize(tmp_path / "out.jsonl").lines()] == [
        "4 answers: 2 PASS, 1 FAIL, 1 unread (their error says why)",
        "too long, and shortened: 2 documents (cut_chars says by how much)",
        "least sure, by p(FAIL): s2 0.400, s0 0.200, s1 0.900",
    ]
    write_jsonl(tmp_path / "out.jsonl", rows[:1])
    assert len([*summarize(tmp_path / "out.jsonl").lines()]) == 2
