"""What there is to annotate: samples of a file or a benchmark, drawn by source; and one file an annotator."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from eval.annotation.records import (
    Annotation,
    Mark,
    Name,
    Said,
    group_hash,
    read_row,
    sample_hash,
)
from eval.sampling import take
from judge.errors import InputError, unknown
from judge.files import Appender, whole_rows
from judge.samples import read_samples
from judge.types import Sample


def load(name: str, data_dir: Path | None) -> list[Sample]:
    """The samples of a file, or of a benchmark by its name.

    Raises:
        InputError: it is neither.
    """
    from eval.benchmarks import BENCHMARKS, load_benchmark

    if name in BENCHMARKS:
        return load_benchmark(name, data_dir)
    if not Path(name).suffix:
        raise InputError(unknown("benchmark", name, BENCHMARKS) + "; or give a file of samples")
    return list(read_samples(Path(name)))


def draw(
    samples: Sequence[Sample], per_source: int | None, sources: Sequence[str] = (), seed: int = 0
) -> list[Sample]:
    """So many samples of each source, labels in proportion (Lynx, Table 2: 50 of each of four sets).

    Drawn samples come in a seeded order, sources mixed: annotators who stop half-way have seen all of them.

    Args:
        samples: to draw from.
        per_source: at most so many of a source; ``None`` takes all, in their own order.
        sources: only these; all without.
        seed: the same one gives the same draw and order.

    Raises:
        InputError: a source is not there.
    """
    parts: dict[str, list[Sample]] = {}
    for sample in samples:
        parts.setdefault(sample.source, []).append(sample)
    for source in sources:
        if source not in parts:
            raise InputError(unknown("source", source, parts), field="--source")
    chosen = [sample for sample in samples if not sources or sample.source in sources]
    if per_source is None:
        return chosen
    drawn = [
        sample
        for source, part in parts.items()
        if not sources or source in sources
        for sample in take(part, per_source, seed)
    ]
    random.Random(seed).shuffle(drawn)
    return drawn


class Work:
    """The samples, and what has been said of them: one file an annotator in a folder.

    Args:
        samples: what is to be annotated, in the order in which it is shown.
        folder: holds ``NAME.jsonl`` of every annotator; what is there is gone on with.
        types: kinds of hallucination that marks have to name; none are asked for without.

    Raises:
        InputError: a file there is about other texts, or is no file of annotations.
    """

    def __init__(self, samples: Sequence[Sample], folder: Path, types: Sequence[str] = ()):
        self.samples, self.folder, self.types = list(samples), folder, tuple(types)
        self._hashes = {sample.id: sample_hash(sample) for sample in samples}
        self._said: dict[str, dict[str, Annotation]] = {}
        self._files: dict[str, Appender] = {}
        self._lock = Lock()
        for path in sorted(folder.glob("*.jsonl")):
            self._load(path)

    def annotators(self) -> list[str]:
        """Who has a file."""
        return sorted(self._said)

    def said(self, annotator: str) -> dict[str, Annotation]:
        """What an annotator has said of these samples so far, by id."""
        return self._said.get(annotator, {})

    def save(self, annotator: str, number: int, said: Said) -> Annotation:
        """Write down what an annotator says of a sample.

        Args:
            annotator: whose file it goes to.
            number: the sample's place, from 0.
            said: marks get the texts that stand there.

        Raises:
            InputError: the name can be none of a file, a mark reaches out of its text, or marks and label do
                not fit together where types are asked for.
            JudgeError: it could not be written.
        """
        sample = self.samples[number]
        unsupported = _with_texts(said.unsupported, sample.answer, "unsupported")
        evidence = _with_texts(said.evidence, sample.document_text, "evidence")
        self._check_types(said)
        row = Annotation(
            **said.model_dump(exclude={"unsupported", "evidence"}),
            unsupported=unsupported,
            evidence=evidence,
            annotator=check_name(annotator),
            id=sample.id,
            source=sample.source,
            group=group_hash(sample),
            sample=self._hashes[sample.id],
            reference=sample.label,
            time=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._lock:
            self._file(annotator).append(row.model_dump(mode="json"))
            self._said.setdefault(annotator, {})[sample.id] = row
        return row

    def close(self) -> None:
        """Close all files."""
        for file in self._files.values():
            file.close()

    def __enter__(self) -> "Work":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self, path: Path) -> None:
        """Read an annotator's file, and change nothing in it."""
        annotator = check_name(path.stem)
        found = [read_row(row, path, line) for line, row in enumerate(whole_rows(path), start=1)]
        if not found and path.stat().st_size:  # nothing tells that it is one of ours
            raise InputError("holds no whole row; move it away, or give another --out", file=path)
        for row in found:
            if row.annotator != annotator:
                raise InputError(f"holds rows of {row.annotator!r}; name it after its annotator", file=path)
            if self._hashes.get(row.id, row.sample) != row.sample:
                raise InputError(
                    f"{row.id!r} was annotated with other texts than it has now; give another --out",
                    file=path,
                )
        self._said[annotator] = {row.id: row for row in found if row.id in self._hashes}

    def _file(self, annotator: str) -> Appender:
        """The file to write to, opened when it is first written to."""
        if annotator not in self._files:
            self._files[annotator] = Appender(self.folder / f"{annotator}.jsonl")
        return self._files[annotator]

    def _check_types(self, said: Said) -> None:
        """Where types are asked for, a FAIL has typed marks in the answer, and a PASS has none."""
        if not self.types:
            return
        for mark in said.unsupported:
            if mark.type not in self.types:
                raise InputError(
                    unknown("type", mark.type, self.types) if mark.type else "every mark needs a type"
                )
        if said.label == "FAIL" and not said.unsupported:
            raise InputError("a FAIL needs a mark in the answer: where is it wrong?")
        if said.label == "PASS" and said.unsupported:
            raise InputError("a PASS has no marks in the answer; remove them, or say FAIL")


def check_name(annotator: str) -> str:
    """The name itself; raises :class:`InputError` unless it can be that of a file."""
    try:
        return TypeAdapter(Name).validate_python(annotator)
    except ValidationError:
        raise InputError(
            f"{annotator!r:.60} is no name of an annotator: letters, digits, - and _ only, at most 40",
            field="annotator",
        ) from None


def _with_texts(marks: Sequence[Mark], text: str, field: str) -> list[Mark]:
    for mark in marks:
        if mark.end > len(text):
            raise InputError(f"a mark ends at {mark.end}, the text at {len(text)}", field=field)
    return [mark.model_copy(update={"text": text[mark.start : mark.end]}) for mark in marks]
