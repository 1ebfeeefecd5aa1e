"""Limits beyond which a server refuses requests."""

from dataclasses import dataclass

from judge.errors import InputError

PROMPT_TOKENS = 32_768
"""Default limit of tokens per prompt: a model with a longer context would need memory in proportion for a
single request. Longer documents are shortened, or judged in windows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server.

    Raises:
        InputError: if the largest request would not fit into the queue.
    """

    max_batch: int = 64
    """Maximum number of samples judged together."""
    max_wait_ms: float = 5.0
    """How long an idle judge waits for more samples to join a batch, in milliseconds."""
    max_queue: int = 1024
    """Samples that may wait; beyond that, requests are refused with 429."""
    max_samples: int = 256
    """Samples in one request."""
    max_sentences: int = 2048
    """Sentences in all answers of a request for claims, since each is judged separately."""
    max_characters: int = 1_000_000
    """Characters in all documents, questions and answers of one request."""
    max_body_bytes: int = 4 * 2**20
    """Bytes of one request's body."""
    body_seconds: float = 30.0
    """How long a client may take to send its body."""

    def __post_init__(self) -> None:
        if self.max_samples > self.max_queue:
            raise InputError(
                f"max-samples {self.max_samples} is more than max-queue {self.max_queue}: the largest "
                "request would always be refused; lower the first or raise the second"
            )
