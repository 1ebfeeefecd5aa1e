"""The samples and verdicts of a page, packed: columns as JSON, gzipped, in Base64, which is safe in HTML."""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from eval.pages.runs import Judged, Run, SampleSet
from judge.types import Label

LIMITS = (2000, 600, 300, 150, 75)
"""Characters kept of each text; the first limit at which the payload fits into the page is used."""
MOST = 12_000_000
"""Maximum length of the packed text. The whole page stays under 15 MB with 100 results."""
_PIECES, _PIECE = 16, 2**16
_CODES = {Label.PASS: "P", Label.FAIL: "F", None: "U"}


@dataclass(frozen=True, slots=True)
class Payload:
    """``text`` is Base64 of gzip of JSON; no text in it is longer than ``limit`` characters."""

    text: str
    limit: int
    verdicts: int


def pack(sets: Sequence[SampleSet]) -> Payload:
    """Pack all samples and verdicts, with texts as long as fits."""
    verdicts = sum(len(run.judged) for group in sets for run in group.runs)
    for limit in LIMITS:
        plain = json.dumps(_columns(sets, limit), ensure_ascii=False, separators=(",", ":")).encode(
            errors="replace"
        )
        if limit > LIMITS[-1] and _packed_size(plain) > MOST:
            continue
        text = base64.b64encode(_compress(plain)).decode()
        if len(text) <= MOST:
            break
    return Payload(text, limit, verdicts)


def _packed_size(plain: bytes) -> float:
    """Estimate the length of the packed text from pieces, because packing all of it takes seconds."""
    step = max(_PIECE, len(plain) // _PIECES)
    pieces = b"".join(plain[start : start + _PIECE] for start in range(0, len(plain), step))
    return len(plain) * len(_compress(pieces)) / len(pieces) * 4 / 3


def _compress(plain: bytes) -> bytes:
    return gzip.compress(plain, compresslevel=6, mtime=0)  # the same bytes on every run


def _columns(sets: Sequence[SampleSet], limit: int) -> list[dict[str, Any]]:
    return [
        {
            **_samples(group.samples, limit),
            "runs": [_verdicts(run, limit) if run.judged else None for run in group.runs],
        }
        for group in sets
    ]


def _samples(judged: Sequence[Judged], limit: int) -> dict[str, Any]:
    return {
        "id": [_cut(row.id, limit) for row in judged],
        "gold": "".join(_CODES[row.gold] for row in judged),
        "source": [row.source for row in judged],
        "edit": [row.edit_type for row in judged],
        "question": [_cut(row.question, limit) for row in judged],
        "answer": [_cut(row.answer, limit) for row in judged],
        "document": [_cut(row.document, limit) for row in judged],
        "chars": [row.document_chars for row in judged],
    }


def _verdicts(run: Run, limit: int) -> dict[str, Any]:
    """Labels as letters, probabilities in ten-thousandths (-1 for none), and texts; the raw output only of
    unparsed verdicts."""
    verdicts = [row.verdict for row in run.judged]
    return {
        "label": "".join(_CODES[verdict.label] for verdict in verdicts),
        "p": [
            round(10_000 * verdict.p_fail) if verdict.p_fail is not None and isfinite(verdict.p_fail) else -1
            for verdict in verdicts
        ],
        "reasoning": [_cut(verdict.reasoning or "", limit) for verdict in verdicts],
        "raw": [_cut(verdict.raw, limit) if verdict.label is None else "" for verdict in verdicts],
        "error": [_cut(verdict.error or "", limit) for verdict in verdicts],
        "cut": [verdict.cut_chars for verdict in verdicts],
        "tokens": [verdict.usage.prompt_tokens + verdict.usage.completion_tokens for verdict in verdicts],
    }


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
