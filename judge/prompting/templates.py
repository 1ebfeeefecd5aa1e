"""Prompts from the user's files, for judges that were trained on other prompts than the project's own.

A Jinja file is one prompt; a YAML file has several, by task and language, and says how the judge replies
(:mod:`judge.prompting.prompt_file`). Templates run in a sandbox; a sample's text is a value in them, never
template code.
"""

from pathlib import Path
from typing import Any

from judge.errors import InputError
from judge.files import open_text, sha256_text
from judge.prompting.replies import ReplyForm
from judge.types import Message, Mode, Sample

VARIABLES = "document, question, answer, task and language"


class TemplatePrompt:
    """The prompts of one file.

    Args:
        path: a ``.yaml`` or ``.yml`` file of prompts; any other file is one Jinja template, a user turn.

    Raises:
        InputError: if the file cannot be read, is wrong, or has an invalid Jinja template.
    """

    def __init__(self, path: Path):
        from judge.configs import load_config
        from judge.prompting.prompt_file import Entry, PromptFile

        self.path = path
        with open_text(path) as stream:
            self._source = stream.read()
        several = path.suffix.lower() in (".yaml", ".yml")
        alone = PromptFile(prompts=(Entry(user=self._source),))
        self._file = load_config(PromptFile, path) if several else alone
        self.chat = self._file.chat
        """Arguments of the tokenizer's chat template."""
        self._turns = [
            [
                (turn.role, self._template(turn.text, f"prompts.{place}" if several else None))
                for turn in entry.conversation
            ]
            for place, entry in enumerate(self._file.prompts)
        ]

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """The rendered turns of the prompt for the sample's task and language.

        Raises:
            InputError: if the file has no prompt for these, or a template fails.
        """
        values = {
            "document": sample.document_text if document is None else document,
            "question": sample.question,
            "answer": sample.answer,
            "task": sample.task.value,
            "language": sample.language,
        }
        messages: list[Message] = []
        for role, template in self._turns[self._place(sample)]:
            try:
                messages.append({"role": role, "content": template.render(values)})
            except Exception as error:  # a template is a program, and may fail like one (1 / 0)
                raise InputError(
                    f"could not be rendered ({error}); a template may use {VARIABLES}", file=self.path
                ) from None
        return messages

    def form(self, sample: Sample) -> ReplyForm:
        """How the judge replies to the prompt for a sample."""
        return self._file.form(self._place(sample))

    def describe(self) -> dict[str, str]:
        """The file's name and the hash of its text."""
        return {
            "prompt_version": f"template:{self.path.name}",
            "prompt_hash": sha256_text(self._source)[:16],
        }

    @property
    def ends_with_a_reply(self) -> bool:
        """Does any prompt end with an assistant turn, which the model should continue?"""
        return any(turns[-1][0] == "assistant" for turns in self._turns)

    def _place(self, sample: Sample) -> int:
        place = self._file.chosen(sample.task, sample.language)
        if place is None:
            raise InputError(
                f"has no prompt for task {sample.task.value!r} in language {sample.language!r}; add one, or "
                "leave such samples out",
                file=self.path,
                field="prompts",
            )
        return place

    def _template(self, source: str, field: str | None) -> Any:
        from jinja2 import StrictUndefined, TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        try:
            return ImmutableSandboxedEnvironment(  # prompts are plain text, not HTML
                undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False
            ).from_string(source)
        except TemplateError as error:
            raise InputError(f"is not a Jinja template ({error})", file=self.path, field=field) from None
