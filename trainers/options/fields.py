"""The fields of dataclasses as options of a parser, read as transformers' `HfArgumentParser` does.

Written anew so that a command line is read without transformers, which not every command needs.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import MISSING, Field, fields
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from trainers.options.errors import BOUNDS

_TRUE, _FALSE = ("yes", "true", "t", "y", "1"), ("no", "false", "f", "n", "0")


def add_options(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add an option for each field of a dataclass, in a group of their own if the class names one.

    Args:
        parser: takes the options.
        kind: the dataclass. A field's metadata holds its `help`, its `aliases`, and what else
            `add_argument` takes; the bounds that `check_bounds` reads are left out.
    """
    title = getattr(kind, "_argument_group_name", None)
    group = parser if title is None else parser.add_argument_group(title)
    hints = get_type_hints(kind)
    for entry in fields(kind):
        if entry.init:
            _add_option(group, entry, hints[entry.name])


def read_switch(text: str) -> bool:
    """Read a value such as `yes` or `false`.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"expected one of {', '.join(_TRUE + _FALSE)}, got {text!r}")


def _add_option(group: Any, entry: Field[Any], hint: Any) -> None:
    names = [f"--{entry.name}"]
    if "_" in entry.name:
        names.append(f"--{entry.name.replace('_', '-')}")
    aliases = entry.metadata.get("aliases", [])
    arguments = {k: v for k, v in entry.metadata.items() if k not in ("aliases", *BOUNDS)}
    default = entry.default
    if entry.default_factory is not MISSING:
        default = entry.default_factory()
    # An action class that is a field's own is given the text; a name is a text, whatever else
    # the field may hold in Python.
    kind = _kind_of(hint)
    has_name = "choices" in arguments and get_origin(kind) is not list
    if has_name or isinstance(arguments.get("action"), type):
        kind = str
    if get_origin(kind) is list and isinstance(default, str):
        default = None  # argparse would read the text as one entry
    options = {**arguments, **_how_to_read(kind)}
    options |= {"required": True} if default is MISSING else {"default": default}
    group.add_argument(*names, *([aliases] if isinstance(aliases, str) else aliases), **options)
    if kind is bool and default is True:
        negated = (f"--no_{entry.name}", f"--no-{entry.name.replace('_', '-')}")
        group.add_argument(
            *dict.fromkeys(negated),
            **{**arguments, "action": "store_false", "dest": entry.name, "default": False},
        )


def _kind_of(hint: Any) -> Any:
    """Return the one type that an option is read as, of those that its field may have."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    if len(kinds) == 1:
        return kinds[0]
    if len(kinds) < len(get_args(hint)):
        return str  # a config whose field may be text, a list or None reads the text itself
    return next(kind for kind in kinds if kind is not str)


def _how_to_read(kind: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` that an option's type asks for."""
    if get_origin(kind) is Literal:
        return _choices(list(get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choices([member.value for member in kind])
    if kind is bool:
        return {"type": read_switch, "nargs": "?", "const": True}  # --bf16 alone means --bf16 true
    if get_origin(kind) is list:
        return {"type": get_args(kind)[0], "nargs": "+"}
    if kind is dict or get_origin(kind) is dict:
        return {"type": _read_mapping}
    return {"type": kind}


def _choices(values: list[Any]) -> dict[str, Any]:
    by_text = {str(value): value for value in values}

    def read(text: str) -> Any:
        return by_text.get(text, text)

    return {"choices": values, "type": read}


def _read_mapping(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise argparse.ArgumentTypeError(
            f"expected a JSON object, got {text!r} ({error})"
        ) from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"expected a JSON object, got {text!r}")
    return value
