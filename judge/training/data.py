"""Training rows as token ids: read, fitted, rendered exactly as judging renders them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import read_jsonl
from judge.progress import track
from judge.prompting.fitting import fit
from judge.prompting.prompts import split_document
from judge.prompting.rendering import Renderer, common_prefix
from judge.types import Message

IGNORED = -100  # label of a position without loss


@dataclass(frozen=True, slots=True)
class Example:
    """One row as token ids. ``completions`` holds one reply (SFT), or the chosen and the rejected (DPO)."""

    id: str
    group: str
    prompt: tuple[int, ...]
    completions: tuple[tuple[int, ...], ...]
    cut_chars: int = 0


def check_messages(value: Any, *, file: Path, line: int, field: str) -> list[Message]:
    """A list of chat messages from a row. Raises ``InputError`` naming what is wrong with it."""
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
            f"holds {value!r:.60}, a list of messages with role and content is wanted",
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
        TooLong: the rest of the prompt alone is longer, or there is no document to shorten.
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
        InputError: a row lacks a field or holds something else, or a row cannot fit; names file and line.
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
            messages, cut = fit_prompt(prompt, renderer.count, max_length - _longest_reply(renderer, replies))
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
            )
        )
    if not examples:
        raise InputError("holds no row", file=path)
    return examples


def _longest_reply(renderer: Renderer, replies: Iterable[str]) -> int:
    """Tokens to keep free for the longest reply and its end of turn."""
    return max(len(renderer.tokenizer(reply)["input_ids"]) for reply in replies) + 4


def check_cut_share(examples: Sequence[Example], limit: float, path: Path) -> None:
    """Refuse a data set of which too many documents were shortened. Raises ``InputError``."""
    cut = sum(example.cut_chars > 0 for example in examples)
    if cut > limit * len(examples):
        raise InputError(
            f"{cut} of {len(examples)} documents do not fit into max_length and would be shortened, more "
            f"than max_cut_share={limit} allows; raise max_length, or allow more",
            file=path,
        )
