"""The conformance suite: checks that a text environment keeps this package's contract."""

from agentgym_envs.checking.conformance import check_text_env
from agentgym_envs.checking.probing import ConformanceError

__all__ = ["ConformanceError", "check_text_env"]
