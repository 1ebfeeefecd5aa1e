"""The keys of a data recipe: ``recipe`` defines the recipe, ``parts`` its nested groups."""

from data_pipeline.config.parts import (
    CounterfactualConfig,
    LeaksConfig,
    ModesConfig,
    PreferenceConfig,
    ReasoningConfig,
)
from data_pipeline.config.recipe import KEYS, DataConfig

__all__ = [
    "KEYS", "CounterfactualConfig", "DataConfig", "LeaksConfig", "ModesConfig", "PreferenceConfig",
    "ReasoningConfig",
]  # fmt: skip
