"""Reads documents, questions and answers of the benchmarks that training data must not contain.

``data_dir`` holds one folder per benchmark with its original files, plain or ``.gz``. A missing benchmark is
*not available*, and the gate's record says so. Some sets are both benchmark and source: rows that a source
may contain are marked (:mod:`judge.formats.shared`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from judge.errors import InputError
from judge.formats import ragtruth
from judge.formats.records import Record, read_lines, read_records
from judge.formats.shared import HALUBENCH as PARTS_OF_HALUBENCH
from judge.formats.shared import side_of
from judge.rows import read_rows
from judge.samples import read_samples
from judge.types import Sample

SHARED = ("fib", *PARTS_OF_HALUBENCH.values())
"""Sets that are also sources, whose rows in a benchmark are assigned to a side."""

Texts = tuple[str, str, str]
"""Document, question and answer; missing ones are empty."""


@dataclass(frozen=True, slots=True)
class Files:
    """Files of a benchmark.

    ``pattern`` is a glob in the benchmark's folder, without ``.gz``; ``take`` gives the texts of a record;
    ``document`` is true for a file that is one JSON document, and not JSON Lines or a table; ``shared`` names
    the set of a record if that set is also a source.
    """

    pattern: str
    take: Callable[[Record], Iterable[Texts]]
    document: bool = False
    shared: Callable[[Record], str | None] = lambda record: None

    def paths(self, folder: Path) -> list[Path]:
        """The existing files, each once, even if it is there plain and as ``.gz``."""
        found = {path.with_suffix(""): path for path in folder.glob(f"{self.pattern}.gz")}
        found |= {path: path for path in folder.glob(self.pattern)}
        return [found[path] for path in sorted(found)]

    def records(self, path: Path) -> Iterator[Record]:
        """The records of one file."""
        if self.document:
            return (record for _, record in read_records(path))
        if self.pattern.endswith(".json"):  # JSON Lines under another name
            return read_lines(path)
        return (Record(row, path, line) for line, row in read_rows(path))


def _fields(document: str, question: str, *answers: str) -> Callable[[Record], Iterable[Texts]]:
    """A function that takes texts from these fields (an empty name: no text), for each answer in turn."""

    def take(record: Record) -> Iterator[Texts]:
        def text(field: str) -> str:
            return record.text(field, empty=True) if field else ""

        for answer in answers:
            yield text(document), text(question), text(answer)

    return take


def _fib(record: Record) -> Iterator[Texts]:
    for summary in record.texts("list_choices"):
        yield record.text("input"), "", summary


def _conflictqa(record: Record) -> Iterator[Texts]:
    for evidence, answer in (("parametric_memory", "memory_answer"), ("counter_memory", "counter_answer")):
        for document in (evidence, f"{evidence}_aligned_evidence"):
            yield record.text(document, empty=True), record.text("question"), record.text(answer, empty=True)


def _bianbench(record: Record) -> Iterator[Texts]:
    listed = isinstance(record.get("context"), list)
    document = "\n\n".join(record.texts("context")) if listed else record.text("context")
    yield document, record.text("question", empty=True), record.text("answer")


def _part(record: Record) -> str | None:
    return PARTS_OF_HALUBENCH.get(str(record.get("source_ds")))


BENCHMARKS: dict[str, tuple[Files, ...]] = {
    "halubench": tuple(
        Files(pattern, _fields("passage", "question", "answer"), shared=_part)
        for pattern in ("*.csv", "*.jsonl", "**/*.parquet")
    ),
    "halueval": (
        Files("qa_data.json", _fields("knowledge", "question", "right_answer", "hallucinated_answer")),
        Files(
            "dialogue_data.json",
            _fields("knowledge", "dialogue_history", "right_response", "hallucinated_response"),
        ),
        Files("summarization_data.json", _fields("document", "", "right_summary", "hallucinated_summary")),
        Files("general_data.json", _fields("", "user_query", "chatgpt_response")),
    ),
    "diahalu": (Files("DiaHalu_Bench.jsonl", _fields("text", "", "")),),
    "onioneval": (Files("with_context.json", _fields("context", "", "fact", "hallucination"), True),),
    "bianbench": (Files("bianbench_*.jsonl", _bianbench), Files("bianbench_*.json", _bianbench, True)),
    "conflictqa": (Files("conflictQA-*.json", _conflictqa),),
    "fib": (Files("**/*binary_choice-using_*.jsonl", _fib, shared=lambda record: "fib"),),
    "open-factual-bench": (Files("tasks.json", _fields("", "question", "reference_answer"), True),),
    "ragtruth": (),
}
"""The files of each benchmark. RAGTruth's test split is two joined files, with a reader of their own."""


def available(data_dir: Path | None) -> tuple[dict[str, Iterator[Sample]], list[str]]:
    """The samples of the benchmarks that are in ``data_dir``, by name, and the names of those that are not.

    The samples are iterators, which read lazily and only once.

    Raises:
        InputError: while reading, if a file is invalid.
    """
    found: dict[str, Iterator[Sample]] = {}
    absent: list[str] = []
    for name in BENCHMARKS:
        if data_dir is None:
            absent.append(name)
            continue
        folder = data_dir / name
        if name == "ragtruth" and folder.is_dir():
            # Its source is another split, so no source may contain these rows.
            found[name] = (replace(row, source="") for row in ragtruth.load_split("test", data_dir))
        elif any(files.paths(folder) for files in BENCHMARKS[name]):
            found[name] = _read(name, folder)
        else:
            absent.append(name)
    return found, absent


def built_sets(folders: Sequence[str]) -> dict[str, Iterator[Sample]]:
    """The samples of data sets that were built for evaluation, by their folders.

    Raises:
        InputError: a folder holds no built data set.
    """
    files = [Path(folder) / "samples.jsonl" for folder in folders]
    for file in files:
        if not file.is_file():
            raise InputError("no such file; build that set first, or remove it from leaks.built", file=file)
    return {
        folder: (replace(sample, source="") for sample in read_samples(file))
        for folder, file in zip(folders, files, strict=True)
    }


def _read(name: str, folder: Path) -> Iterator[Sample]:
    """Samples of a benchmark, with file and row (from 0) as ids. ``source`` is the set whose source may
    contain the document, and empty for all others."""
    for files in BENCHMARKS[name]:
        for path in files.paths(folder):
            for number, record in enumerate(files.records(path)):
                shared = files.shared(record)
                for document, question, answer in files.take(record):
                    open_ = shared is not None and side_of(shared, document) == "source"
                    yield Sample(
                        f"{path.name.split('.')[0]}:{number}", document, answer, question,
                        source=shared if shared is not None and open_ else "",
                    )  # fmt: skip
