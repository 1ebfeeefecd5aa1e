"""Check the starter corpus: ``python -m data_pipeline.sources.starter.check [FILE...]``.

Every line of ``en.jsonl`` and ``zh.jsonl`` is a document with questions and gold answers, every line of
``records.jsonl`` a data record with a gold description, every line of ``translation.jsonl`` a
Chinese-English pair. The check holds what the rest of the pipeline relies on: unique ids, all fields,
no duplicates, documents of the agreed length, and no number in a gold text that its document lacks.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILES = ("en.jsonl", "zh.jsonl", "records.jsonl", "translation.jsonl")
FIELDS = {
    "en": {"id", "language", "domain", "title", "document", "questions", "summary"},
    "zh": {"id", "language", "domain", "title", "document", "questions", "summary"},
    "records": {"id", "language", "domain", "record", "description"},
    "translation": {"id", "domain", "en", "zh"},
}
# 60-160 English words; a Chinese character carries roughly 0.6 of an English word.
LENGTHS = {"en": (60, 160), "zh": (100, 270)}
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def length(text: str, language: str) -> int:
    """Words of an English text, characters (without white space) of a Chinese one."""
    return len(text.split()) if language == "en" else len(re.sub(r"\s", "", text))


def missing_numbers(text: str, document: str) -> list[str]:
    """Numbers written in digits that occur in ``text`` but not in ``document``."""
    known = set(NUMBER.findall(document))
    return [number for number in NUMBER.findall(text) if number not in known]


def check_document(row: dict, language: str) -> Iterator[str]:
    """Problems of one document with questions, as sentences."""
    low, high = LENGTHS[language]
    size = length(row["document"], language)
    if not low <= size <= high:
        yield f"document has length {size}, wanted {low} to {high}"
    if row["language"] != language:
        yield f"language is {row['language']!r}, wanted {language!r}"
    if not 2 <= len(row["questions"]) <= 4:
        yield f"{len(row['questions'])} questions, wanted 2 to 4"
    asked = [pair["question"] for pair in row["questions"]]
    if len(set(asked)) != len(asked):
        yield "a question occurs twice"
    for pair in row["questions"]:
        if set(pair) != {"question", "answer"}:
            yield f"a question has the fields {sorted(pair)}, wanted question and answer"
        elif not pair["question"].strip().endswith(("?", "\uff1f")):
            yield f"question without question mark: {pair['question']!r}"
        elif not pair["answer"].strip().endswith((".", "。", '."', ".”", "。”")):
            yield f"answer is not a full sentence: {pair['answer']!r}"
        elif absent := missing_numbers(pair["answer"], row["document"]):
            yield f"numbers {absent} of {pair['answer']!r} are not in the document"
    if row["summary"] is not None and (absent := missing_numbers(row["summary"], row["document"])):
        yield f"numbers {absent} of the summary are not in the document"


def check_row(row: dict, kind: str) -> Iterator[str]:
    """Problems of one row of the file ``kind``.jsonl, as sentences."""
    if set(row) != FIELDS[kind]:
        yield f"fields {sorted(set(row) ^ FIELDS[kind])} are missing or unknown"
        return
    if empty := [name for name, value in row.items() if not value and name != "summary"]:
        yield f"empty fields {empty}"
        return
    if kind in LENGTHS:
        yield from check_document(row, kind)
    elif kind == "records" and (
        absent := missing_numbers(row["description"], json.dumps(row["record"], ensure_ascii=False))
    ):
        yield f"numbers {absent} of the description are not in the record"
    elif kind == "translation" and set(NUMBER.findall(row["en"])) != set(NUMBER.findall(row["zh"])):
        yield "the two languages hold different numbers"


def check_file(path: Path) -> list[str]:
    """All problems of one corpus file, each naming file and line."""
    kind = path.stem.split("-")[0]
    problems, ids, texts = [], set(), set()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        where = f"{path.name}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(f"{where}: no JSON ({error.msg})")
            continue
        if not isinstance(row, dict):
            problems.append(f"{where}: no JSON object")
            continue
        problems += [f"{where}: {problem}" for problem in check_row(row, kind)]
        text = str(row.get("document") or row.get("record") or row.get("zh"))
        if row.get("id") in ids or text in texts:
            problems.append(f"{where}: id or text occurs twice")
        ids.add(row.get("id"))
        texts.add(text)
    return problems


def main(arguments: list[str]) -> int:
    """Check the given files, or the whole corpus; print the problems; 0 when there are none."""
    paths = [Path(argument) for argument in arguments] or [HERE / name for name in FILES]
    problems = [problem for path in paths for problem in check_file(path)]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
