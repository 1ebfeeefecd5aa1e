"""The tokenizer of a judge, read from its files without transformers.

``judge export`` and training write a tokenizer as transformers had it in memory: ``tokenizer.json`` is what
splits text, ``tokenizer_config.json`` names the special tokens, ``chat_template.jinja`` renders a
conversation. These need the libraries tokenizers and jinja2 alone. With transformers, a verdict from a fresh
process takes three seconds more.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Template
    from tokenizers import AddedToken, Tokenizer

FILES = ("tokenizer.json", "tokenizer_config.json")
TEMPLATE = "chat_template.jinja"
MORE = "additional_chat_templates"
"""Folder of templates that a caller chooses between by name, which this tokenizer does not."""


class StoredTokenizer:
    """What :class:`judge.prompting.rendering.Renderer` asks of a tokenizer, under transformers' names.

    Args:
        core: splits text.
        names: special tokens by their names: ``{"eos_token": "</s>"}``.
        extra: further special tokens.
        chat_template: Jinja; ``None`` for a model without one.
    """

    def __init__(
        self, core: "Tokenizer", names: Mapping[str, str], extra: Sequence[str], chat_template: str | None
    ):
        core.no_truncation()
        core.no_padding()
        self._core = core
        self._names = dict(names)
        self.all_special_tokens = list(dict.fromkeys([*self._names.values(), *extra]))
        self.chat_template = chat_template
        self._template = None if chat_template is None else _compiled(chat_template)

    @property
    def eos_token_id(self) -> Any:
        """The token that ends a text; ``None`` where there is none."""
        return self._core.token_to_id(self._names["eos_token"]) if "eos_token" in self._names else None

    @property
    def of_bytes(self) -> bool:
        """Does it split texts into bytes?"""
        return type(self._core.decoder).__name__ == "ByteLevel"

    @property
    def pad_token_id(self) -> Any:
        """The token that fills rows up; ``None`` where there is none."""
        return self._core.token_to_id(self._names["pad_token"]) if "pad_token" in self._names else None

    @property
    def added_tokens_decoder(self) -> "dict[int, AddedToken]":
        """Tokens beside the vocabulary proper, by id."""
        found: dict[int, AddedToken] = self._core.get_added_tokens_decoder()
        return found

    def __call__(self, text: str | list[str], add_special_tokens: bool = True) -> dict[str, Any]:
        """``input_ids`` of a text, or of each of several."""
        texts = [text] if isinstance(text, str) else text
        found = self._core.encode_batch(texts, add_special_tokens=add_special_tokens)
        ids = [each.ids for each in found]
        return {"input_ids": ids[0] if isinstance(text, str) else ids}

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """The text of tokens."""
        return str(self._core.decode(list(ids), skip_special_tokens=skip_special_tokens))

    def apply_chat_template(
        self,
        messages: Sequence[Mapping[str, object]],
        tokenize: bool = False,
        add_generation_prompt: bool = False,
        **chat: Any,
    ) -> str:
        """A conversation as text. ``tokenize`` is there for transformers' callers, and stays false."""
        if self._template is None or tokenize:
            raise ValueError("needs a chat template, and gives text")
        values = {"tools": None, "documents": None, **self._names, **chat}
        return self._template.render(messages=messages, add_generation_prompt=add_generation_prompt, **values)


def read_stored(folder: Path) -> StoredTokenizer | None:
    """The tokenizer of an export; ``None`` where its files do not say all, and transformers has to read them.

    Those are vocabularies that are no ``tokenizer.json``, and choices of several chat templates.

    Raises:
        InputError: a file is damaged.
    """
    from tokenizers import Tokenizer

    if not all((folder / name).is_file() for name in FILES) or (folder / MORE).is_dir():
        return None
    vocabulary, config = (folder / name for name in FILES)
    try:
        settings: dict[str, Any] = dict(json.loads(config.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise InputError(f"is no JSON object ({error}); judge export makes it", file=config) from None
    template = settings.get("chat_template")
    if (folder / TEMPLATE).is_file():
        template = (folder / TEMPLATE).read_text(encoding="utf-8")
    extra = settings.get("extra_special_tokens") or settings.get("additional_special_tokens") or []
    if settings.get("split_special_tokens") or not isinstance(template, str | None):
        return None
    named = {**settings, **settings.get("model_specific_special_tokens", {})}
    if isinstance(extra, dict):
        named, extra = {**named, **extra}, []
    names = {name: _content(value) for name, value in named.items() if name.endswith("_token")}
    try:
        core = Tokenizer.from_file(str(vocabulary))
    except Exception as error:  # the library raises nothing more exact
        raise InputError(f"holds no tokenizer ({error}); judge export makes it", file=vocabulary) from None
    return StoredTokenizer(
        core,
        {name: content for name, content in names.items() if content is not None},
        [content for content in map(_content, extra) if content is not None],
        template,
    )


def says_all(tokenizer: StoredTokenizer, folder: Path) -> bool:
    """Is the tokenizer of a folder one of bytes, whose files say all, whoever wrote them?

    Others (of SentencePiece) transformers changes as it reads them.
    """
    settings = json.loads((folder / FILES[1]).read_text(encoding="utf-8"))
    return tokenizer.of_bytes and not (settings.get("add_bos_token") or settings.get("add_eos_token"))


def _content(token: Any) -> str | None:
    """The text of a special token, which may be stored with how it is split off."""
    found = token.get("content") if isinstance(token, dict) else token
    return found if isinstance(found, str) else None


def _compiled(source: str) -> "Template":
    """A chat template, with what transformers gives one to use; in a sandbox, for it is a program."""
    from datetime import datetime

    from jinja2 import TemplateError, nodes
    from jinja2.ext import Extension, LoopControlExtension
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """``{% generation %}`` marks replies for training; here what is in it just stays."""

        tags = {"generation"}  # noqa: RUF012 (as jinja2 has it)

        def parse(self, parser: Parser) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def fail(message: str) -> None:
        raise TemplateError(message)

    def to_json(value: Any, ensure_ascii: bool = False, **style: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **style)

    environment = ImmutableSandboxedEnvironment(  # prompts are plain text, not HTML
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, LoopControlExtension], autoescape=False
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = fail
    environment.globals["strftime_now"] = lambda style: datetime.now().strftime(style)
    return environment.from_string(source)
