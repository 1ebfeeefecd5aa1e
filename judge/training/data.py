"""Reads training rows as token ids, shortened to fit and rendered exactly as when judging."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import read_jsonl
from judge.progress import track
from judge.prompting.fitting import fit
from judge.prompting.prompts import split_document
from judge.prompting.rendering import Renderer, common_prefix
from judge.training.drawing import times_taken
from judge.types import Message

IGNORED = -100  # label of a position without loss


@dataclass(frozen=True, slots=True)
class Example:
    """One row as token ids. ``completions`` holds one reply (SFT), or the chosen and rejected ones (DPO)."""

    id: str
    group: str
    prompt: tuple[int, ...]
    completions: tuple[tuple[int, ...], ...]
    cut_chars: int = 0
    source: str = ""
    """The data set that the row came from."""

    @property
    def length(self) -> int:
        """Tokens of the prompt and the longest reply."""
        return len(self.prompt) + max(map(len, self.completions))


def check_messages(value: Any, *, file: Path, line: int, field: str) -> list[Message]:
    """A list of chat messages from a row. Raises ``InputError`` if it is something else."""
    right = (
        isinstance(value, list)
        and value
        and all(
            isinstance(message, dict)
            and isinstance(message.get("role"), str)
            and isinstance(message.get("content"), str)
            for message in value
        )
    )
    if not right:
        raise InputError(
            f"holds {value!r:.60}, expected a list of messages with role and content",
            file=file,
            line=line,
            field=field,
        )
    return [{"role": message["role"], "content": message["content"]} for message in value]


def fit_prompt(
    messages: Sequence[Message], count: Callable[[Sequence[Message]], int], limit: int
) -> tuple[Sequence[Message], int]:
    """Shorten the document inside a prompt until it takes at most ``limit`` tokens.

    Returns:
        The messages, and how many characters were cut.

    Raises:
        TooLong: if the rest of the prompt alone is longer, or there is no document to shorten.
    """
    *before, last = messages
    parts = split_document(last["content"])
    head, document, tail = parts or (last["content"], "", "")
    return fit(document, lambda text: [*before, {**last, "content": head + text + tail}], count, limit)


def load_examples(path: Path, fields: Sequence[str], renderer: Renderer, max_length: int) -> list[Example]:
    """Read rows of TRL's conversational form and tokenize them.

    Args:
        path: ``sft/*.jsonl`` or ``dpo/*.jsonl`` of a built data set.
        fields: names of the completion fields: ``completion``, or ``chosen`` and ``rejected``.
        renderer: the tokenizer with its chat template.
        max_length: tokens of the prompt and its longest completion together.

    Raises:
        InputError: if a field is missing or wrong, or a row cannot be made to fit; names file and line.
    """
    examples = []
    for line, row in track(read_jsonl(path), f"tokenize {path.parent.name}/{path.name}"):
        for field in ("prompt", *fields):
            if field not in row:
                raise InputError(
                    f"is missing (the row has: {', '.join(row)})", file=path, line=line, field=field
                )
        prompt = check_messages(row["prompt"], file=path, line=line, field="prompt")
        replies = [
            check_messages(row[field], file=path, line=line, field=field)[-1]["content"] for field in fields
        ]
        try:
            longest = max(len(renderer.tokenizer(reply)["input_ids"]) for reply in replies) + 4  # end of turn
            messages, cut = fit_prompt(prompt, renderer.count, max_length - longest)
        except InputError as error:
            raise InputError(str(error), file=path, line=line) from None
        pairs = [renderer.completion_ids(messages, reply) for reply in replies]
        shared = common_prefix([ids for ids, _ in pairs])
        examples.append(
            Example(
                id=str(row.get("id", line)),
                group=str(row.get("group", line)),
                prompt=tuple(pairs[0][0][:shared]),
                completions=tuple((*ids[shared:], *reply) for ids, reply in pairs),
                cut_chars=cut,
                source=_source(row),
            )
        )
    if not examples:
        key = "preferences.pairs above 0" if path.parent.name == "dpo" else "other modes or splits"
        raise InputError(
            f"holds no row; build the data set with {key}, or, for validation, set evaluations=0", file=path
        )
    return examples


def _source(row: Mapping[str, Any]) -> str:
    meta = row.get("meta")
    return str(meta.get("source", "")) if isinstance(meta, Mapping) else ""


def check_cut_share(examples: Sequence[Example], limit: float, path: Path) -> None:
    """Raise ``InputError`` if too many documents of a data set were shortened."""
    cut = sum(example.cut_chars > 0 for example in examples)
    if cut > limit * len(examples):
        raise InputError(
            f"{cut} of {len(examples)} documents do not fit into max_length and would be shortened, more "
            f"than max_cut_share={limit} allows; raise max_length, or allow more",
            file=path,
        )


def choose_rows(
    examples: Sequence[Example], weights: Mapping[str, float], seed: int, path: Path
) -> list[Example]:
    """Choose the rows to train on, by the weights of their sources.

    Args:
        examples: all rows.
        weights: how often the documents of each source are seen. A repeated document gets a group of its own,
            so that it trains in another sequence.
        seed: decides which documents of a source are left out or repeated.
        path: for the error message.

    Raises:
        InputError: if no row is left, or a weight is given to a source without rows.
    """
    if weights:
        source_of = {example.group: example.source for example in reversed(examples)}  # its first row's
        times = times_taken([*source_of.values()], weights, seed)
        taken = dict(zip(source_of, times, strict=True))
        examples = [
            replace(example, group=f"{example.group}#{turn}") if turn else example
            for turn in range(max(taken.values(), default=0))
            for example in examples
            if turn < taken[example.group]
        ]
    if not examples:
        raise InputError("holds no row that the recipe's source_weights leave", file=path)
    return list(examples)
