"""How much a server takes on before it refuses."""

from dataclasses import dataclass

from judge.errors import InputError

PROMPT_TOKENS = 32_768
"""Tokens of one prompt, unless the command says otherwise: a model with a longer context would take memory in
proportion for one request. Longer documents are shortened, or judged in windows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one server.

    Raises:
        InputError: the largest request would not fit into the queue.
    """

    max_batch: int = 64
    """Samples that are judged together at most."""
    max_wait_ms: float = 5.0
    """How long a sample waits for others to share its batch, in milliseconds, while the judge is idle."""
    max_queue: int = 1024
    """Samples that may wait; what comes beyond is refused with 429."""
    max_samples: int = 256
    """Samples of one request."""
    max_sentences: int = 2048
    """Sentences of all answers of one request that asks for claims: each is judged by itself."""
    max_characters: int = 1_000_000
    """Characters of all documents, questions and answers of one request."""
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
