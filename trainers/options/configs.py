"""TRL's configs with our defaults: the model that is trained, and how."""

from __future__ import annotations

from dataclasses import dataclass

from trl import GRPOConfig, ModelConfig, SFTConfig

from trainers.options.algorithms import GRPODefaults
from trainers.options.defaults import OnlineDefaults
from trainers.options.models import ModelDefaults
from trainers.options.offline import SFTDefaults


@dataclass
class ModelArguments(ModelDefaults, ModelConfig):
    """The policy; TRL's own `ModelConfig` with a default model."""


@dataclass
class AgentOnlineConfig(OnlineDefaults, GRPOConfig):
    """`trl.GRPOConfig` with defaults for agents; each algorithm that plays extends it."""


@dataclass
class AgentGRPOConfig(GRPODefaults, AgentOnlineConfig):
    """`AgentOnlineConfig` for GRPO and GiGPO."""


@dataclass
class AgentSFTConfig(SFTDefaults, SFTConfig):
    """`trl.SFTConfig` with defaults for agents; whole episodes are trained on, never cut."""
