"""The tokenizer of an encoder judge, read without the network and without torch."""

from pathlib import Path
from typing import TYPE_CHECKING

from judge.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER = "tokenizer.json"


def read_tokenizer(folder: Path) -> "Tokenizer":
    """The tokenizer of a model folder, without the limits that were kept with it.

    Raises:
        InputError: there is none, or it lacks the special tokens of BERT.
    """
    from tokenizers import Tokenizer

    file = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more exact
        raise InputError(f"holds no tokenizer ({error})", file=file) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if None in (tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")):
        raise InputError("knows no [CLS] and [SEP]; encoder judges are made of BERTs", file=file)
    return tokenizer
