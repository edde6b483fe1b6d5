"""Actions as data, and the formats that write and read them."""

from agentgym_envs.actions.formats import (
    ACTION_FORMATS,
    ActionFormat,
    ActionParser,
    CodeParser,
    FunctionCallParser,
    PlainParser,
    ReactParser,
    make_parser,
    strip_thinking,
)
from agentgym_envs.actions.verbs import ActionVerb

__all__ = [
    "ACTION_FORMATS",
    "ActionFormat",
    "ActionParser",
    "ActionVerb",
    "CodeParser",
    "FunctionCallParser",
    "PlainParser",
    "ReactParser",
    "make_parser",
    "strip_thinking",
]
