"""Judging without knowing the label: every teacher gets the judge's own prompt (Bi'an, section 2.3).

So teachers are asked word for word what the trained judge is asked later.
"""

from collections.abc import Mapping
from typing import Any

from data_pipeline.teachers.prompts.base import TEXT, Prompted, reply_schema
from judge.prompting.prompts import KEYS, LABEL_WORDS, BuiltinPrompt
from judge.types import Sample

_PROMPT = BuiltinPrompt()


def judgement_prompt(sample: Sample) -> Prompted:
    """Is the answer faithful? The reply has the reasoning first and then the label word."""
    reasoning, score = KEYS[sample.language]
    words: Mapping[str, Any] = {"type": "string", "enum": list(LABEL_WORDS[sample.language].values())}
    return Prompted(_PROMPT.messages(sample, "reason"), reply_schema(**{reasoning: TEXT, score: words}))
