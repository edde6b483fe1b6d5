"""The environments' base class and its parts: tasks, outcomes, snapshots, experts, games."""

from agentgym_envs.core.env import COMPATIBILITIES, TextEnv
from agentgym_envs.core.outcome import (
    CONVERSATION_KEY,
    INFO_KEYS,
    JUDGEMENTS_KEY,
    UNSCORED,
    UNSCORED_KEY,
    VERDICT_KEY,
    Conversation,
    ExpertMove,
    Outcome,
)

__all__ = [
    "COMPATIBILITIES",
    "CONVERSATION_KEY",
    "INFO_KEYS",
    "JUDGEMENTS_KEY",
    "UNSCORED",
    "UNSCORED_KEY",
    "VERDICT_KEY",
    "Conversation",
    "ExpertMove",
    "Outcome",
    "TextEnv",
]
