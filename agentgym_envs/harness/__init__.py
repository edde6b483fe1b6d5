"""Agents with a loop of their own as environments."""

from agentgym_envs.harness.endpoint import Endpoint
from agentgym_envs.harness.env import HarnessEnv

__all__ = ["Endpoint", "HarnessEnv"]
