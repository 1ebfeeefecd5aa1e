"""The settings of one endpoint, as recipes write them."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, field_validator

from judge.configs import StrictConfig


class Prices(StrictConfig):
    """Prices per million tokens, in any one currency."""

    prompt: NonNegativeFloat
    completion: NonNegativeFloat


class EndpointConfig(StrictConfig):
    """One model behind an OpenAI-compatible endpoint (OpenAI, vLLM, llama.cpp, ...)."""

    base_url: str = "https://api.openai.com/v1"
    model: str = Field(min_length=1)
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable with the API key; unnecessary if the server requires none."""
    concurrency: PositiveInt = 16
    """Maximum number of concurrent calls."""
    timeout: PositiveFloat = 120.0
    """Seconds without data from the server after which a call times out."""
    retries: NonNegativeInt = 8
    """How often a failed call (408, 429, 5xx, timeout, lost connection) is retried before the run fails.

    A server that was never reached is given up sooner."""
    backoff: PositiveFloat = 0.5
    """Seconds before the first retry, doubled for each further one; ``Retry-After`` may ask for more."""
    ask_again: NonNegativeInt = 2
    """How often, over all runs, a call is repeated if its reply is refused, truncated or invalid."""
    token_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"  # noqa: S105 (no password)
    """The field that limits a reply's length; OpenAI's reasoning models need the second."""
    prices: Prices | None = None

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("expected an address such as http://localhost:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("holds more than an address; keys come from the environment (key_variable)")
        return url.rstrip("/")
