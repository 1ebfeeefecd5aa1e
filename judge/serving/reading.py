"""From a request to samples. The body is read within its limits and parsed in Rust (pydantic), which refuses
anything but UTF-8, half characters and deep nesting, and never fails in another way. Samples are checked like
the rows of files."""

import asyncio
import re
from codecs import BOM_UTF8
from typing import Any

from fastapi import HTTPException, Request
from pydantic import ValidationError
from starlette.requests import ClientDisconnect

from judge.errors import InputError, counted, unknown
from judge.files import parse_json
from judge.prompting.sentences import claim_spans
from judge.samples import sample_from_row
from judge.serving.limits import Limits
from judge.serving.models import JudgeRequest
from judge.types import Sample

GONE = 499
"""Status in the metrics for a client that did not wait; it is never received."""


async def read_request(request: Request, limits: Limits) -> tuple[list[Sample], bool]:
    """Read and check the body of ``POST /v1/judge``.

    Returns:
        The samples, and whether their sentences are to be judged too.

    Raises:
        HTTPException: 408 too slow, 413 too large, 415 not JSON by its header, 400 not JSON, 422 wrong
            fields; ``detail`` says briefly where, what was found and what is expected.
    """
    # JSON only: pages of other sites can send forms and plain text to a server on localhost, but not JSON.
    kind, _, more = request.headers.get("content-type", "").lower().partition(";")
    charset = re.search(r'charset="?([^\s";]+)', more)
    if charset is not None and charset[1] not in ("utf-8", "utf8", "us-ascii"):
        raise HTTPException(415, f"the body must be UTF-8; Content-Type says {charset[1]:.40}")
    if kind.strip() != "application/json":
        raise HTTPException(415, "the body must be application/json; say so in the header Content-Type")
    body = await _read_body(request, limits)
    try:
        found = JudgeRequest.model_validate_json(body.removeprefix(BOM_UTF8))
    except ValidationError as error:
        raise _explain(error) from None
    try:
        parse_json(body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:  # such as a duplicate key, which pydantic would accept
        raise HTTPException(400, f"the body is not valid JSON: {fault}"[:300]) from None
    if len(found.samples) > limits.max_samples:
        raise HTTPException(
            413, f"{len(found.samples)} samples in one request; at most {limits.max_samples} are taken"
        )
    samples = [_sample(row, place) for place, row in enumerate(found.samples)]
    places: dict[str, int] = {}
    for place, sample in enumerate(samples):
        if (first := places.setdefault(sample.id, place)) != place:
            raise HTTPException(
                422, f"samples.{place}.id: {sample.id!r:.80} is already that of samples.{first}"
            )
    _check_size(samples, found.claims, limits)
    return samples, found.claims


def _sample(row: Any, place: int) -> Sample:
    """A sample of a request; ``place`` counts from 0."""
    if not isinstance(row, dict):
        raise HTTPException(422, f"samples.{place}: is a {type(row).__name__}, expected an object")
    try:
        return sample_from_row(row, line=place + 1, labelled=False)
    except InputError as error:
        # Names of unknown fields come from the client and may have any length.
        raise HTTPException(422, f"samples.{place}.{error.field!s:.40}: {error.found}") from None


async def _read_body(request: Request, limits: Limits) -> bytes:
    too_large = HTTPException(
        413, f"the body is larger than {limits.max_body_bytes} bytes; send fewer samples"
    )
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limits.max_body_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for part in request.stream():
                body += part
                if len(body) > limits.max_body_bytes:
                    raise too_large
    except TimeoutError:
        raise HTTPException(408, f"the body did not arrive within {limits.body_seconds:g} s") from None
    except ClientDisconnect:
        raise HTTPException(GONE, "the client left") from None
    return bytes(body)


def _explain(error: ValidationError) -> HTTPException:
    """An unknown field if there is one, else the first problem, with its place; others are only counted."""
    first: Any
    found = error.errors(include_input=False, include_url=False, include_context=False)
    first, *others = sorted(found, key=lambda one: one["type"] != "extra_forbidden")
    if first["type"] == "json_invalid":
        return HTTPException(400, f"the body is not valid JSON: {first['msg']}"[:300])
    place = ".".join(str(part)[:40] for part in first["loc"]) or "the body"
    more = f" (and {counted(len(others), 'more problem')})" if others else ""
    message = first["msg"]
    if first["type"] == "extra_forbidden":
        message = unknown("field", first["loc"][-1], JudgeRequest.model_fields)
    return HTTPException(422, f"{place}: {message}{more}")


def _check_size(samples: list[Sample], claims: bool, limits: Limits) -> None:
    characters = sum(len(one.document_text) + len(one.question) + len(one.answer) for one in samples)
    if characters > limits.max_characters:
        raise HTTPException(
            413, f"{characters} characters in one request; at most {limits.max_characters} are taken"
        )
    if claims:
        sentences = sum(len(claim_spans(sample.answer)) for sample in samples)
        if sentences > limits.max_sentences:
            raise HTTPException(
                413,
                f"{sentences} sentences in one request with claims; at most {limits.max_sentences} are taken",
            )
