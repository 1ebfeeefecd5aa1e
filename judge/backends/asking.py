"""Asks an engine for verdicts on prompts that fit.

A verdict is read from the probabilities of two label words after one prefill, or from the text of a reply.
Both are raw: calibration and thresholds are applied afterwards (:mod:`judge.prompting.finishing`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.backends.base import WORD_TOKENS, Backend, Decoding, Generation, LabelRequest
from judge.calibration.curve import chance
from judge.prompting.parsing import parse
from judge.prompting.prompts import Prompt
from judge.prompting.replies import DEFAULT, ReplyForm
from judge.prompting.templates import TemplatePrompt
from judge.types import Label, Message, Sample, Usage, Verdict


@dataclass(frozen=True, slots=True)
class Fitted:
    """One sample's messages, shortened to fit, or the reason why they cannot fit."""

    sample: Sample
    messages: Sequence[Message] = ()
    cut_chars: int = 0
    error: str | None = None


def reply_form(prompt: Prompt, sample: Sample) -> ReplyForm:
    """The form of replies about a sample; for a template, the form that its file describes."""
    return prompt.form(sample) if isinstance(prompt, TemplatePrompt) else DEFAULT


def read_verdicts(backend: Backend, prompt: Prompt, items: Sequence[Fitted]) -> Iterator[Verdict]:
    """Verdicts from the probabilities of the two label words, or from a reply if the engine returns none."""
    forms = [reply_form(prompt, item.sample) for item in items]
    words = [form.pair(item.sample.language) for form, item in zip(forms, items, strict=True)]
    scores = _p_fail(backend, items, [form.before for form in forms], words)
    untold = [item for item, p_fail in zip(items, scores, strict=True) if p_fail is None]
    replies = read_replies(backend, prompt, untold, Decoding(WORD_TOKENS)) if untold else iter(())
    for item, p_fail, (passes, fails) in zip(items, scores, words, strict=True):
        if p_fail is None:  # the server returned no probabilities: its reply is the verdict
            yield next(replies)
            continue
        label = Label.FAIL if p_fail >= 0.5 else Label.PASS
        yield Verdict(
            label,
            p_fail,
            raw=fails if label is Label.FAIL else passes,
            cut_chars=item.cut_chars,
            usage=Usage(backend.count_tokens(item.messages), 0),
        )


def read_replies(
    backend: Backend, prompt: Prompt, items: Sequence[Fitted], decoding: Decoding
) -> Iterator[Verdict]:
    """Verdicts from the text of replies, with p(FAIL) at the place of the label word."""
    replies = backend.generate([item.messages for item in items], decoding)
    forms = [reply_form(prompt, item.sample) for item in items]
    parsed = [
        parse(reply.text, item.sample, form) for item, reply, form in zip(items, replies, forms, strict=True)
    ]
    # The probability of the label: that of the two words, at the place of the label in the reply.
    placed = [index for index, found in enumerate(parsed) if found.label_start is not None]
    before = [replies[index].text[: parsed[index].label_start] for index in placed]
    after = [replies[index].text[parsed[index].label_start :] for index in placed]
    words = [
        forms[index].pair(items[index].sample.language, rest)
        for index, rest in zip(placed, after, strict=True)
    ]
    found_p = _p_fail(backend, [items[index] for index in placed], before, words)
    scores = dict(zip(placed, found_p, strict=True))
    for index, (item, reply, found) in enumerate(zip(items, replies, parsed, strict=True)):
        yield Verdict(
            found.label,
            scores.get(index) if found.label is not None else None,
            reasoning=found.reasoning,
            raw=reply.text,
            error=_why(found.error, reply),
            truncated=reply.truncated,
            cut_chars=item.cut_chars,
            usage=Usage(backend.count_tokens(item.messages), reply.completion_tokens),
        )


def _p_fail(
    backend: Backend, items: Sequence[Fitted], prefixes: Sequence[str], words: Sequence[tuple[str, str]]
) -> list[float | None]:
    """Probability of the word for FAIL against that for PASS, after each prefix of a reply.

    ``None`` if the engine does not return it.
    """
    requests = [
        LabelRequest(item.messages, pair, prefix)
        for item, prefix, pair in zip(items, prefixes, words, strict=True)
    ]
    return [None if pair is None else chance(pair[1] - pair[0]) for pair in backend.label_logprobs(requests)]


def _why(error: str | None, reply: Generation) -> str | None:
    if reply.error is not None:
        return reply.error
    if error is not None and reply.truncated:
        return f"{error} (cut off after {reply.completion_tokens} tokens)"
    return error
