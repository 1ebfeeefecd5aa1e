"""The tokenizer of an encoder judge, read without the network and without torch."""

from pathlib import Path
from typing import TYPE_CHECKING

from judge.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"
ENDS = ("[CLS]", "[SEP]")
"""A text's first and last token."""


def read_tokenizer(folder: Path) -> "Tokenizer":
    """The tokenizer of a model folder, without the limits that were kept with it.

    Raises:
        InputError: there is none, or it lacks the special tokens of encoders.
    """
    from tokenizers import Tokenizer

    file = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more exact
        raise InputError(f"holds no tokenizer ({error})", file=file) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a text that says [SEP] opens no field
    try:
        text_ends(tokenizer)
    except ValueError as error:
        raise InputError(f"{error}; a judge that reads pages is made of a BERT", file=file) from None
    return tokenizer


def text_ends(tokenizer: "Tokenizer") -> tuple[int, int]:
    """The tokens that every text begins and ends with. Raises ``ValueError`` if there are none."""
    first, last = map(tokenizer.token_to_id, ENDS)
    if first is None or last is None:
        raise ValueError("knows no [CLS] and [SEP]")
    return first, last
