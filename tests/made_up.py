"""Made-up samples with texts that look like markup, and rows in the form of released sets."""

import random
from pathlib import Path
from typing import Any

from judge.files import write_json
from judge.types import Label, Message, Sample, Verdict

NASTY = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'> 𝔸 & <mark>"

FACT: dict[str, Any] = {
    "id": "a", "domain": "science", "question": "How many?", "reference_answer": "8", "source": "s",
    "created_at": "2026-02", "metadata": {"type": "factual_qa"},
}  # fmt: skip
ONION = {
    "category": "Plants", "entity": "Rose", "hallucination": "Rose is a fish.", "fact": "Rose is a plant.",
    "context": "Roses grow.",
}  # fmt: skip


def verdict(p_fail: float | None, **more: Any) -> Verdict:
    """A verdict with the label that belongs to its probability."""
    return Verdict(None if p_fail is None else Label.FAIL if p_fail >= 0.5 else Label.PASS, p_fail, **more)


def user(text: str) -> list[Message]:
    """A conversation of one turn."""
    return [{"role": "user", "content": text}]


def put_tasks(folder: Path, rows: Any) -> Path:
    """The tasks of open-factual-bench in a folder of benchmarks."""
    path = folder / "open-factual-bench" / "tasks.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, rows)
    return folder


def make_samples(count: int, seed: int = 0) -> list[Sample]:
    """Made-up samples of four sources, two about each document, some with texts that look like markup."""
    draw = random.Random(seed)
    samples = []
    for number in range(count):
        towers, height = number // 2, 20 + draw.randrange(80)
        document = f"Tower {towers} stands by the river. {NASTY} It is {height} m high.\n\n" + " ".join(
            f"In {1900 + year} the town council spoke about tower {towers} for {draw.randrange(9) + 1} hours."
            for year in range(draw.randrange(5, 60))
        )
        samples.append(
            Sample(
                id=f"tower-{number}",
                document=document,
                question=f"How high is tower {towers}?",
                answer=f"According to the text 𝔸 tower {towers} is {height + number % 2 * 5} m high. {NASTY}",
                label=Label.FAIL if number % 2 else Label.PASS,
                source=("drop", "finance", "covid", "pubmed")[towers % 4],
                group=f"tower-{towers}",
            )
        )
    return samples
