"""A chat model as a teacher, behind an endpoint or in this process."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.teachers.base import Ask, Judgement, ask_each
from data_pipeline.teachers.perturbing import read_edit
from data_pipeline.teachers.prompts.base import Prompted
from data_pipeline.teachers.prompts.judgement import judgement_prompt
from data_pipeline.teachers.prompts.perturbation import perturbation_prompt
from judge.prompting.parsing import parse
from judge.remote.chat import ChatRequest, Reply
from judge.types import Sample


def asking(
    run: Callable[[Iterable[ChatRequest]], Iterator[Reply]],
    *,
    temperature: float = 0.0,
    max_tokens: int = 1024,
    seed: int | None = None,
) -> Ask:
    """An :data:`Ask` from a function that runs chat requests in order (:meth:`judge.remote.ChatClient.run`).

    Sampling considers all tokens (``top_p`` 1), whatever the server's default.
    """

    def ask(prompts: Iterable[Prompted]) -> Iterator[Reply]:
        return run(
            ChatRequest(
                prompted.messages,
                prompted.schema,
                max_tokens=max_tokens,
                temperature=temperature,
                seed=seed,
                top_p=1.0 if temperature else None,
            )
            for prompted in prompts
        )

    return ask


@dataclass(frozen=True)
class LLMTeacher:
    """A chat model as a teacher.

    Args:
        name: its name in tables and rows.
        ask: sends prompts to it, with the sampling settings applied.
    """

    name: str
    ask: Ask

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        """A verified wrong answer for every gold sample, or why there is none."""
        for gold, reply in ask_each(golds, perturbation_prompt, self.ask):
            yield read_edit(gold, reply)

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        """A judgement of every sample, asked for with the judge's own prompt in reason mode."""
        for sample, reply in ask_each(samples, judgement_prompt, self.ask):
            parsed = parse(reply.text, sample)
            reasoning = (parsed.reasoning or "").strip()
            if reply.problem is None and parsed.label is not None and reasoning:
                yield Judgement(self.name, parsed.label, reasoning, raw=reply.text)
            else:  # a label without a reasoning counts as no label
                problem = reply.problem or parsed.error or "no reasoning"
                yield Judgement(self.name, None, problem=problem, raw=reply.text)
