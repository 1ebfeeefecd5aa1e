"""Models behind an OpenAI-compatible HTTP endpoint: the client, its call cache and its budget."""

from judge.remote.budget import Budget
from judge.remote.cache import CallCache
from judge.remote.chat import ChatRequest, Reply
from judge.remote.client import ChatClient
from judge.remote.config import EndpointConfig, Prices

__all__ = [
    "Budget",
    "CallCache",
    "ChatClient",
    "ChatRequest",
    "EndpointConfig",
    "Prices",
    "Reply",
]
