"""The file with the prompts of a released judge, by task and language, and how it replies.

For example, a judge that says Yes to what a document supports::

    reply: word
    words: {PASS: "Yes", FAIL: "No"}
    prompts:
      - tasks: [qa]
        user: |
          {{ document }} ... {{ question }} ... {{ answer }}
      - user: |
          {{ document }} ... {{ answer }}
"""

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from judge.configs import StrictConfig
from judge.prompting.replies import DEFAULT, Kind, ReplyForm
from judge.types import LANGUAGES, Label, Language, Task


class Words(StrictConfig):
    """The label words of a judge."""

    PASS: str = Field(min_length=1)
    FAIL: str = Field(min_length=1)

    @field_validator("PASS", "FAIL", mode="before")
    @classmethod
    def _a_word(cls, word: object) -> object:
        if isinstance(word, bool | int):
            raise ValueError("YAML reads this word as a value; write it in quotes")
        return word.strip() if isinstance(word, str) else word

    @model_validator(mode="after")
    def _differ(self) -> Self:
        if self.PASS.upper() == self.FAIL.upper():
            raise ValueError("PASS and FAIL have the same word")
        return self


class Keys(StrictConfig):
    """The keys of a judge's JSON."""

    reasoning: str = Field(min_length=1)
    score: str = Field(min_length=1)


class Turn(StrictConfig):
    """One turn of the conversation; ``text`` is a Jinja template."""

    role: str = Field(min_length=1)
    text: str


class Entry(StrictConfig):
    """One prompt. The first that fits a sample's task and language is used."""

    tasks: tuple[Task, ...] = ()
    """All, by default."""
    languages: tuple[Language, ...] = ()
    """Both, by default."""
    system: str | None = None
    user: str | None = None
    """A Jinja template, as is ``system``."""
    turns: tuple[Turn, ...] = ()
    """Turns of any roles, instead of ``system`` and ``user``."""
    words: Words | None = None
    keys: Keys | None = None
    before: str | None = None
    """The reply's text before its label word; verdict mode asks for the word after it."""

    @model_validator(mode="after")
    def _one_conversation(self) -> Self:
        if bool(self.turns) == (self.user is not None) or (self.turns and self.system is not None):
            raise ValueError("give user, with system where there is one, or else turns")
        return self

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns, in either way of writing them."""
        if self.turns:
            return self.turns
        system = () if self.system is None else (Turn(role="system", text=self.system),)
        return (*system, Turn(role="user", text=self.user or ""))

    def fits(self, task: Task, language: Language) -> bool:
        """Does it apply to samples of this task and language?"""
        return (not self.tasks or task in self.tasks) and (not self.languages or language in self.languages)


class PromptFile(StrictConfig):
    """The whole file.

    ``words``, ``keys`` and ``before`` apply to prompts that do not set their own; by default ``words`` and
    ``keys`` are the project's own, which Lynx and Bi'an share.
    """

    reply: Kind = "json"
    words: Words | None = None
    keys: Keys | None = None
    before: str = ""
    chat: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the tokenizer's chat template."""
    prompts: tuple[Entry, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _every_prompt_is_used(self) -> Self:
        used = {self.chosen(task, language) for task in Task for language in LANGUAGES}
        for place in range(len(self.prompts)):
            if place not in used:
                raise ValueError(f"prompts.{place} is never used: those before it take all of its samples")
        return self

    def chosen(self, task: Task, language: Language) -> int | None:
        """The index of the prompt for samples of a task and language, if there is one."""
        places = range(len(self.prompts))
        return next((place for place in places if self.prompts[place].fits(task, language)), None)

    def form(self, place: int) -> ReplyForm:
        """How the judge replies to a prompt."""
        entry = self.prompts[place]
        words, keys = entry.words or self.words, entry.keys or self.keys
        before = self.before if entry.before is None else entry.before
        pair = {} if words is None else {Label.PASS: words.PASS, Label.FAIL: words.FAIL}
        return ReplyForm(
            self.reply,
            {language: pair or DEFAULT.words[language] for language in LANGUAGES},
            {
                language: DEFAULT.keys[language] if keys is None else (keys.reasoning, keys.score)
                for language in LANGUAGES
            },
            before,
        )
