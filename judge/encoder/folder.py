"""The folder of an encoder: its files, its tokenizer, its maximum length. Needs no torch."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import InputError, brief
from judge.models.base import unknown_model
from judge.models.bundled import MINILM, bring_encoder
from judge.models.hub import refuse_absent
from judge.progress import stage

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
TOKEN_HEAD = "token_head.safetensors"  # noqa: S105 (a file's name)
"""Next to the weights of a judge trained here: the linear map from hidden states to token scores."""
FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")


def read_tokenizer(folder: Path) -> "Tokenizer":
    """The fast tokenizer of a model folder, without its stored truncation and padding.

    Text that looks like a special token is treated as text.

    Raises:
        InputError: if there is none.
    """
    tokenizer = _stored_tokenizer(folder)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # [SEP] in a text does not separate anything
    _break_up_special_tokens(tokenizer)
    return tokenizer


def _break_up_special_tokens(tokenizer: "Tokenizer") -> None:
    """Put a space into special tokens that the model itself finds in a text, as XLM-R finds ``</s>``."""
    from tokenizers import normalizers

    special = {
        token.content: id for id, token in tokenizer.get_added_tokens_decoder().items() if token.special
    }
    found = [
        text for text, id in special.items() if id in tokenizer.encode(text, add_special_tokens=False).ids
    ]
    if found:
        steps = [tokenizer.normalizer] if tokenizer.normalizer else []
        broken = [normalizers.Replace(text, f"{text[0]} {text[1:]}") for text in found]
        tokenizer.normalizer = normalizers.Sequence([*steps, *broken])


def _stored_tokenizer(folder: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    file = folder / TOKENIZER
    if file.is_file():
        try:
            return Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises nothing more specific
            raise InputError(f"holds no tokenizer ({error})", file=file) from None
    from transformers import AutoTokenizer

    try:
        made: Tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False).backend_tokenizer
    except Exception as error:  # each kind of tokenizer raises its own errors
        raise InputError(f"holds no tokenizer that can be read ({brief(error)})", file=folder) from None
    return made


def find_folder(model: str, revision: str | None = None) -> Path:
    """The folder of an encoder, downloaded if it is a Hub id.

    Raises:
        InputError: if there is no such folder, and the Hub has no such model or cannot be reached.
    """
    if Path(model).is_dir():
        return Path(model)
    if model == MINILM.hub_id:
        return bring_encoder()
    refuse_absent(model)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        with stage(f"download {model}"):
            return Path(snapshot_download(model, revision=revision, allow_patterns=list(FILES)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise unknown_model(model, model, None, OSError(str(error))) from error


def longest_pair(config: dict[str, Any], most: int) -> int:
    """Tokens that an encoder can read at once, at most ``most``."""
    places = int(config.get("max_position_embeddings") or most)
    if config.get("model_type") in ("roberta", "xlm-roberta", "mpnet", "camembert"):
        places -= 2  # the first two positions are those of padding
    if config.get("model_type") == "deberta-v2" and not config.get("position_biased_input", True):
        places = max(places, most)  # it uses relative distances, not positions
    return min(places, most)
