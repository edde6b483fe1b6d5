"""The conformance suite: checks that a text environment keeps this package's contract."""

from agentgym_envs.checking.conformance import Check, check_text_env, conformance_checks
from agentgym_envs.checking.probing import ConformanceError

__all__ = ["Check", "ConformanceError", "check_text_env", "conformance_checks"]
