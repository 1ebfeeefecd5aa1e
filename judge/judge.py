"""The judge: a backend, a prompt and a mode; samples in, verdicts out, in order."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from judge.backends.base import Backend, Generation, LabelRequest
from judge.checker import Checker
from judge.errors import InputError, unknown
from judge.fitting import TooLong, fit
from judge.loading import Precision
from judge.parsing import parse
from judge.prompts import LABEL_WORDS, BuiltinPrompt, Prompt, TemplatePrompt
from judge.quantization import QuantizationChoice
from judge.types import MODES, Label, Language, Message, Mode, Sample, Usage, Verdict

if TYPE_CHECKING:
    from judge.backends.vllm_engine import VLLMSettings

Engine = Literal["transformers", "vllm"]

MAX_NEW_TOKENS = 512
CHUNK = {"verdict": 256, "reason": 32}
"""Samples that are sorted into batches together, by mode; verdicts stream out after each chunk."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    """One sample's messages, made to fit, or the reason why they cannot."""

    sample: Sample
    messages: Sequence[Message] = ()
    cut_chars: int = 0
    prompt_tokens: int = 0
    error: str | None = None


@dataclass(frozen=True)
class Judge:
    """Says whether answers are faithful to their documents.

    Args:
        backend: the engine with its model.
        name: what reports call the judge.
        prompt: turns a sample into messages; the project's own by default.
        mode: ``verdict`` reads one label word from one prefill; ``reason`` generates JSON with a reasoning.
        max_new_tokens: limit of the reason mode's reply.
        temperature: 0 is greedy; more samples, seeded by ``seed``. Verdict mode does not sample.
        guide: a regular expression that engines which can do so hold the reason mode's replies to.
    """

    backend: Backend
    name: str = "judge"
    prompt: Prompt = field(default_factory=BuiltinPrompt)
    mode: Mode = "verdict"
    max_new_tokens: int = MAX_NEW_TOKENS
    temperature: float = 0.0
    seed: int = 0
    guide: str | None = None

    @property
    def chunk(self) -> int:
        """How many samples are judged together."""
        return CHUNK[self.mode]

    def check(self, samples: Iterable[Sample]) -> list[Verdict]:
        """Judge samples; one verdict each, in their order."""
        return list(self.iter_check(samples))

    def iter_check(self, samples: Iterable[Sample]) -> Iterator[Verdict]:
        """Judge samples as a stream, some at a time (:data:`CHUNK`); verdicts come in the samples' order."""
        stream = iter(samples)
        while chunk := list(islice(stream, self.chunk)):
            fitted = [self._fit(sample) for sample in chunk]
            able = [item for item in fitted if item.error is None]
            verdicts = iter(self._verdicts(able) if self.mode == "verdict" else self._reasons(able))
            for item in fitted:
                yield Verdict(None, error=item.error) if item.error is not None else next(verdicts)

    def describe(self) -> dict[str, Any]:
        """Everything that identifies the judge: model, prompt, mode, decoding."""
        decoding: dict[str, Any] = {}
        if self.mode == "reason":
            decoding = {
                "max_new_tokens": self.max_new_tokens,
                "temperature": self.temperature,
                "seed": self.seed,
                "guided": self.guide is not None,
            }
        return {**self.backend.describe(), **self.prompt.describe(), "mode": self.mode, **decoding}

    def _fit(self, sample: Sample) -> _Fitted:
        reply = self.max_new_tokens if self.mode == "reason" else 8
        try:
            messages, cut = fit(
                sample.document_text,
                lambda document: self.prompt.messages(sample, self.mode, document),
                self.backend.count_tokens,
                self.backend.context_length - reply,
            )
        except TooLong as error:
            return _Fitted(sample, error=str(error))
        return _Fitted(sample, messages, cut, self.backend.count_tokens(messages))

    def _verdicts(self, items: Sequence[_Fitted]) -> Iterator[Verdict]:
        languages = [item.sample.language for item in items]
        for item, p_fail in zip(items, self._p_fail(items, [""] * len(items), languages), strict=True):
            label = Label.FAIL if p_fail >= 0.5 else Label.PASS
            yield Verdict(
                label,
                p_fail,
                raw=LABEL_WORDS[item.sample.language][label],
                cut_chars=item.cut_chars,
                usage=Usage(item.prompt_tokens, 0),
            )

    def _reasons(self, items: Sequence[_Fitted]) -> Iterator[Verdict]:
        replies = self.backend.generate(
            [item.messages for item in items],
            max_new_tokens=self.max_new_tokens,
            temperature=self.temperature,
            seed=self.seed,
            guide=self.guide,
        )
        parsed = [parse(reply.text) for reply in replies]
        # The label's own probability: that of the two words where the reply holds one of them.
        placed = [index for index, found in enumerate(parsed) if found.label_start is not None]
        scores = dict(
            zip(
                placed,
                self._p_fail(
                    [items[index] for index in placed],
                    [replies[index].text[: parsed[index].label_start] for index in placed],
                    [_language(replies[index].text[parsed[index].label_start :]) for index in placed],
                ),
                strict=True,
            )
        )
        for index, (item, reply, found) in enumerate(zip(items, replies, parsed, strict=True)):
            yield Verdict(
                found.label,
                scores.get(index) if found.label is not None else None,
                reasoning=found.reasoning,
                raw=reply.text,
                error=_why(found.error, reply),
                truncated=reply.truncated,
                cut_chars=item.cut_chars,
                usage=Usage(item.prompt_tokens, reply.completion_tokens),
            )

    def _p_fail(
        self, items: Sequence[_Fitted], prefixes: Sequence[str], languages: Sequence[Language]
    ) -> list[float]:
        """Probability of the ``FAIL`` word against the ``PASS`` word, after each prefix of a reply."""
        requests = []
        for item, prefix, language in zip(items, prefixes, languages, strict=True):
            words = LABEL_WORDS[language]
            requests.append(LabelRequest(item.messages, (words[Label.PASS], words[Label.FAIL]), prefix))
        return [
            1 / (1 + math.exp(min(passing - failing, 700)))
            for passing, failing in self.backend.label_logprobs(requests)
        ]


def _language(text: str) -> Language:
    """The language of the label word that a text begins with; it need not be that of the question."""
    return "zh" if text.startswith(tuple(LABEL_WORDS["zh"].values())) else "en"


def _why(error: str | None, reply: Generation) -> str | None:
    if error is not None and reply.truncated:
        return f"{error} (cut off after {reply.completion_tokens} tokens)"
    return error


def load_judge(
    model: str,
    *,
    mode: Mode = "verdict",
    template: Path | None = None,
    revision: str | None = None,
    precision: Precision = "auto",
    max_length: int | None = None,
    max_new_tokens: int = MAX_NEW_TOKENS,
    batch_tokens: int | None = None,
    floor_data: Sequence[Sample] | None = None,
    backend: Engine = "transformers",
    vllm: "VLLMSettings | None" = None,
    quantization: QuantizationChoice = "none",
) -> Checker:
    """Make a judge from the name of a model, or a floor from ``floor:NAME``.

    Args:
        model: a Hub id, a local folder (full weights or a LoRA adapter), or ``floor:NAME``.
        mode: how it answers, see :class:`Judge`.
        template: a Jinja prompt to use instead of the project's own.
        revision: Hub revision.
        precision: number format of the weights.
        max_length: upper bound on the context in tokens.
        max_new_tokens: limit of a reason-mode reply.
        batch_tokens: padded tokens that run in one batch.
        floor_data: labelled samples that a fitted floor learns from.
        backend: the engine that runs the model.
        vllm: how vLLM runs the model, where it is the engine.
        quantization: ``nf4`` loads the base weights in 4 bits; transformers only.

    Raises:
        InputError: unknown model, mode, backend or floor, a template that cannot be read, or no vLLM here.
    """
    if mode not in MODES:
        raise InputError(unknown("mode", mode, MODES))
    if backend not in get_args(Engine):
        raise InputError(unknown("backend", backend, get_args(Engine)))
    if model.startswith("floor:"):
        from judge.floors import make_floor

        return make_floor(model, floor_data)
    prompt: Prompt = BuiltinPrompt() if template is None else TemplatePrompt(template)

    if backend == "vllm":
        if quantization != "none":
            raise InputError(f"quantization {quantization} is for the backend transformers; leave it away")
        from judge.backends.guided import judgement_pattern
        from judge.backends.vllm import VLLMBackend

        engine: Backend = VLLMBackend(
            model, revision=revision, precision=precision, max_length=max_length, settings=vllm
        )
        guide = judgement_pattern(max_new_tokens) if template is None else None
        return Judge(engine, model, prompt, mode, max_new_tokens, guide=guide)

    from judge.backends.transformers import BATCH_TOKENS, TransformersBackend
    from judge.loading import load_model

    loaded = load_model(
        model,
        revision=revision,
        precision=precision,
        quantization=None if quantization == "none" else quantization,
    )
    engine = TransformersBackend(loaded, max_length=max_length, batch_tokens=batch_tokens or BATCH_TOKENS)
    return Judge(engine, model, prompt, mode, max_new_tokens)
