"""How many tokens the rows of a data set take, against the context of a model."""

from collections import Counter
from pathlib import Path
from typing import Any

from data_pipeline.audit.tables import summary
from judge.errors import InputError
from judge.files import read_jsonl
from judge.prompting.rendering import Renderer

FIELDS = {"sft": ("completion",), "dpo": ("chosen", "rejected")}
"""Files of rows, by their folder, and the fields of the replies in them."""


def row_tokens(folder: Path, model: str) -> dict[str, Any]:
    """Tokens of every row's prompt with its longest reply, as training renders them.

    Args:
        folder: a built data set.
        model: a local folder or Hub id; its tokenizer and its context length are read, not its weights.

    Raises:
        InputError: there is no such model, or a row is wrong.
    """
    tokenizer, context = _load(model)
    renderer = Renderer(tokenizer)
    files = []
    for kind, fields in FIELDS.items():
        for path in sorted((folder / kind).glob("*.jsonl")):
            lengths: Counter[int] = Counter()
            for line, row in read_jsonl(path):
                try:
                    prompt = row["prompt"]
                    replies = [row[field][0]["content"] for field in fields]
                    lengths[max(sum(map(len, renderer.completion_ids(prompt, one))) for one in replies)] += 1
                except (KeyError, IndexError, TypeError):
                    raise InputError(
                        f"is not a row with prompt and {' and '.join(fields)}", file=path, line=line
                    ) from None
            if lengths:
                files.append(_file(f"{kind}/{path.name}", lengths, context))
    return {"model": model, "context": context, "files": files}


def _load(model: str) -> tuple[Any, int]:
    from transformers import AutoConfig

    from judge.models.base import find_model
    from judge.models.weights import tokenizer_of

    base, adapter = find_model(model)
    try:
        tokenizer = tokenizer_of(base, adapter)
        config = AutoConfig.from_pretrained(base).get_text_config()
    except (OSError, ValueError) as error:
        raise InputError(f"model {model!r} could not be read ({str(error).splitlines()[0]:.160})") from None
    return tokenizer, int(getattr(config, "max_position_embeddings", 0) or 2048)


def _file(name: str, lengths: Counter[int], context: int) -> dict[str, Any]:
    over = sum(count for length, count in lengths.items() if length > context)
    return {"file": name, "rows": lengths.total(), **summary(lengths), "most": max(lengths), "over": over}
