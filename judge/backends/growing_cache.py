"""A cache of keys and values that has room for the tokens to come.

transformers' own is copied whole at every token of a reply. This one is copied when its room is full.
"""

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

ROOM = 64
"""Tokens for which a cache has room at least when it grows; a long one grows by an eighth."""


class GrowingLayer(DynamicLayer):
    """One layer: ``keys`` and ``values`` are the filled part of larger tensors."""

    def __init__(self) -> None:
        super().__init__()
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values, ``(rows, heads, tokens, size)``, the new ones at the end."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        held = self.get_seq_length()
        tokens = held + key_states.shape[2]
        if held == 0:
            self._room, self.keys, self.values = None, key_states, value_states
            return self.keys, self.values
        # Whatever else was put in the place of what is held has no room.
        if (
            self._room is None
            or self._room[0].data_ptr() != self.keys.data_ptr()
            or tokens > self._room[0].shape[2]
        ):
            self._room = self._larger(self.keys, tokens), self._larger(self.values, tokens)
        for room, new in zip(self._room, (key_states, value_states), strict=True):
            room[:, :, held:tokens] = new
        self.keys, self.values = (room[:, :, :tokens] for room in self._room)
        return self.keys, self.values

    def reorder_cache(self, beam_idx: torch.LongTensor) -> None:
        """Select rows. The room goes first: kept until the next token, it would double the memory."""
        self._room = None
        super().reorder_cache(beam_idx)

    @staticmethod
    def _larger(held: torch.Tensor, tokens: int) -> torch.Tensor:
        rows, heads, filled, size = held.shape
        room = held.new_empty(rows, heads, tokens + max(ROOM, tokens // 8), size)
        room[:, :, :filled] = held
        return room


def give_room(cache: Any) -> None:
    """Let an empty cache of transformers grow so; sliding windows and states stay as they are."""
    if isinstance(cache, DynamicCache):
        cache.layers = [
            GrowingLayer() if type(layer) is DynamicLayer and not layer.is_initialized else layer
            for layer in cache.layers
        ]
