"""RGB (arXiv 2309.01431): questions with retrieved passages, and passages in which people changed the answer.

Labels follow from how the passages were made, and are checked by rule. With the passages that hold the right
answer it is PASS and the fake one FAIL. With the counterfactual ones the fake answer is PASS and the right
one FAIL: a judge goes by the document, not by what it knows. With the retrieved passages that do not answer
the question the right answer is FAIL. What a passage holds is looked up; a sample whose passages do not hold
what they should, or hold too much, is left out.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.formats.files import find_file
from judge.formats.records import Record, read_lines
from judge.types import Label, Language, Sample

ORIGINAL = "github.com/chen700564/RGB, folder data"
FILES: tuple[tuple[Language, str], ...] = (("en", "en_fact.json"), ("zh", "zh_fact.json"))


def read(data_dir: Path) -> Iterator[Sample]:
    """Both files of ``data_dir/rgb`` that have counterfactual passages; up to five samples a question.

    ``meta["evidence"]`` says which passages the document is made of. The group is the question.
    """
    for language, name in FILES:
        for row in read_lines(find_file(data_dir, "rgb", [name], ORIGINAL)):
            yield from _samples(row, language)


def _samples(row: Record, language: Language) -> Iterator[Sample]:
    question = row.text("query")
    rights, fakes = _ways(row, "answer"), _ways(row, "fakeanswer")
    right_words, fake_words = ({part for way in ways for part in way} for ways in (rights, fakes))
    if right_words & fake_words or min(map(len, fake_words)) < 2:  # slips of the release
        return
    passages, answers = {}, {}
    for evidence, field, ways, others in (
        ("positive", "positive", rights, fake_words),
        ("counterfactual", "positive_wrong", fakes, right_words),
    ):
        passages[evidence] = held = [
            text
            for text in row.texts(field)
            if any(_holds(text, way) for way in ways) and not any(_holds(text, [word]) for word in others)
        ]
        # The way in which the passages write the answer.
        counts = [sum(_holds(text, way) for text in held) for way in ways]
        answers[evidence] = ("，" if language == "zh" else ", ").join(ways[counts.index(max(counts))])
    negative = row.texts("negative") if row.get("negative") != [] else []
    passages["negative"] = [text for text in negative if text.strip()]
    found = [
        ("positive", answers["positive"], Label.PASS),
        ("positive", answers["counterfactual"], Label.FAIL),
        ("counterfactual", answers["counterfactual"], Label.PASS),
        ("counterfactual", answers["positive"], Label.FAIL),
    ]
    if not any(_hints(text, word) for text in negative for word in right_words):
        found.append(("negative", answers["positive"], Label.FAIL))
    start = f"rgb-{language}-{row.name('id')}"
    for evidence, answer, label in found:
        if passages[evidence]:
            yield Sample(
                id=f"{start}-{evidence}-{label.value.lower()}",
                document=tuple(passages[evidence]),
                question=question,
                answer=answer,
                language=language,
                label=label,
                source="rgb",
                group=start,
                meta={"pair": f"{start}-{evidence}", "evidence": evidence},
            )


def _ways(row: Record, field: str) -> list[list[str]]:
    """Ways to write an answer, each a list of parts that all belong to it.

    The field holds a text, a list of parts, or a list of parts with several ways to write each.
    """
    value = row.get(field)
    parts = value if isinstance(value, list) else [value]
    ways: list[list[str]] = [[]]
    for part in parts:
        texts = part if isinstance(part, list) else [part]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise row.wrong(field, f"holds {value!r:.60}, expected a text, or a list of them")
        ways = [[*way, row.checked(field, text.strip())] for way in ways for text in texts]
    if not parts:
        raise row.wrong(field, "is empty")
    return ways


def _holds(text: str, parts: Sequence[str]) -> bool:
    """Do all parts stand in a text? Not within a longer word or number: 70 is not in 170."""
    return all(_at(text, part) for part in parts)


def _at(text: str, part: str) -> bool:
    before = r"(?<![\d.,])" if part[0].isdigit() else r"(?<![A-Za-z])" if part[0].isascii() else ""
    after = r"(?![\d])" if part[-1].isdigit() else r"(?![A-Za-z])" if part[-1].isascii() else ""
    return re.search(before + re.escape(part) + after, text, re.IGNORECASE) is not None


def _hints(text: str, part: str) -> bool:
    """May a passage hold an answer in other words? All its numbers, one of its names, or two characters of it
    do."""
    numbers = re.findall(r"\d+(?:\.\d+)?", part)
    if numbers:
        return all(_at(text, number) for number in numbers)
    words = re.findall(r"[A-Za-zÀ-ÿ]{3,}", part)
    characters = re.findall(r"[\u4e00-\u9fff]+", part)
    pieces = [run[place : place + 2] for run in characters for place in range(max(1, len(run) - 1))]
    return any(_at(text, piece) for piece in [*words, *pieces] or [part])
