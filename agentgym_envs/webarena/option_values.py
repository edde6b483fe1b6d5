"""Reads arguments that a command line can only write as text: objects, functions, files.

Each is the thing itself, `"module:name"`, which names it, the path of a `.json` file, or what such
a file would hold.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.registration.registry import import_named_module
from agentgym_envs.webarena.evaluators.verdict import Judge
from agentgym_envs.webarena.llm_judge import LLMJudge

_ENDING = ".json"


def load_option(name: str, value: Any) -> Any:
    """Load a value given as `"module:name"` or `.json` file. Others pass through.

    Args:
        name: the argument's, for messages.
        value: what was given.

    Raises:
        ValueError: there is no such thing.
    """
    if not isinstance(value, str):
        return value
    if value.endswith(_ENDING):
        try:
            return json.loads(Path(value).read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise ValueError(f"{name} {value!r} cannot be read as JSON: {error}") from error
    module_name, colon, attribute = value.partition(":")
    if not colon or not module_name or not attribute.isidentifier():
        raise ValueError(f"{name} must be module:name or a {_ENDING} file, got {value!r}")
    module = import_named_module(module_name, value)
    if not hasattr(module, attribute):
        raise ValueError(f"{name}: the module {module_name!r} has no {attribute!r}")
    return getattr(module, attribute)


def read_judge(value: Any) -> Judge | None:
    """Return a judge: as such, from a function without arguments, or an `LLMJudge`'s arguments.

    Raises:
        ValueError: it is none of them.
    """
    read = load_option("judge", value)
    if isinstance(value, str) and callable(read):
        read = read()
    if isinstance(read, Mapping):
        try:
            return LLMJudge(**read)
        except TypeError as error:
            raise ValueError(f"judge={dict(read)!r:.200}: {error}") from error
    if read is not None and not all(
        callable(getattr(read, method, None)) for method in ("is_equivalent", "is_same_reason")
    ):
        raise ValueError(
            "judge must have the methods is_equivalent and is_same_reason, or be module:function "
            f"that returns one, or a language model's arguments such as "
            f"{{'model': 'NAME', 'base_url': 'http://localhost:8000/v1'}}; got {read!r:.200}"
        )
    judge: Judge | None = read
    return judge
