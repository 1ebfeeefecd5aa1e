"""Building prompts to teachers: one user turn with fenced fields, and the JSON schema of the reply."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge.files import sha256_text
from judge.prompting.prompts import guard
from judge.types import Message

TAGS = (
    "document", "question", "answer", "other_answer", "true_answer", "gold_answer", "evidence", "change",
    "message",
)  # fmt: skip
"""The fields a prompt can have, each fenced by tags of its name."""
TEXT: Mapping[str, Any] = {"type": "string"}
"""The schema of a text."""
POINTS: Mapping[str, Any] = {"type": "array", "items": TEXT}
"""The schema of bullet points."""

_TAG = re.compile(rf"<(\s*/?\s*(?:{'|'.join(TAGS)})\s*)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt to a teacher, and the JSON schema of its reply; ``None`` for plain text."""

    messages: list[Message]
    schema: Mapping[str, Any] | None


def reply_schema(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a JSON object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def prompted(rules: str, fields: Mapping[str, str], reply: str, schema: Mapping[str, Any] | None) -> Prompted:
    """One user turn: the rules, the fields that are not empty, and how to reply.

    A field's text is data: it can neither open nor close a field, nor imitate a chat control token.
    """
    fences = [_fence(tag, text) for tag, text in fields.items() if text.strip()]
    return Prompted([{"role": "user", "content": "\n\n".join([rules, *fences, reply])}], schema)


def identity(name: str, version: str, texts: object) -> dict[str, str]:
    """Version and hash of the texts of prompts, for a manifest."""
    digest = sha256_text(json.dumps(texts, ensure_ascii=False))
    return {f"{name}_version": version, f"{name}_hash": digest[:16]}


def _fence(tag: str, text: str) -> str:
    clean = _TAG.sub(r"‹\1›", guard(text)).strip()
    return f"<{tag}>\n{clean}\n</{tag}>"
