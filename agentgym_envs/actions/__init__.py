"""Actions as data, and the formats that write and read them."""

from agentgym_envs.actions.formats import (
    ACTION_FORMATS,
    CALL_FORMATS,
    ActionFormat,
    ActionParser,
    CodeParser,
    FunctionCallParser,
    PlainParser,
    ReactParser,
    make_parser,
    parse_several,
)
from agentgym_envs.actions.markup import CUT_THOUGHT, NO_END, strip_thinking
from agentgym_envs.actions.verbs import ActionVerb
from agentgym_envs.actions.wrapping import clean_action, last_labelled, unwrap, unwrap_block

__all__ = [
    "ACTION_FORMATS",
    "CALL_FORMATS",
    "CUT_THOUGHT",
    "NO_END",
    "ActionFormat",
    "ActionParser",
    "ActionVerb",
    "CodeParser",
    "FunctionCallParser",
    "PlainParser",
    "ReactParser",
    "clean_action",
    "last_labelled",
    "make_parser",
    "parse_several",
    "strip_thinking",
    "unwrap",
    "unwrap_block",
]
