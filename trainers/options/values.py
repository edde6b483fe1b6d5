"""Options as fields of dataclasses, and how their values are read and checked.

An option that may differ between the environments of a run is given as `--max_turns 20` for all, as
`--max_turns TextCraft=30` for one, or as both together. In Python, and as a mapping in an option
file, it is a value, or `{"TextCraft": 30, "default": 20}`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from agentgym_envs.errors import did_you_mean
from agentgym_envs.machinery.secrets import masked, reveal
from agentgym_envs.registration.registry import import_named_module, short_env_name
from trainers.options.errors import UsageError

ADDRESS = ("http://", "https://")
"""The beginnings of a server's address."""
BOUNDS = ("min", "above", "max")
"""The bounds in an option's metadata. `above` is one that is not allowed itself."""

_PLAIN_KIND = re.compile(r"(?:<class ')?(int|float|bool)(?:'>)?(?: \| None)?")
"""The annotation of a field that takes numbers alone, or true and false."""
_TEXTS_OF_TRANSFORMERS = frozenset({"include_num_input_tokens_seen"})
"""Fields that are declared `bool`, and that transformers derives a text from."""


def option(default: Any, help_text: str, **metadata: Any) -> Any:
    """Return the field of an option, with its help. A list is copied for each dataclass.

    The metadata has its bounds (`BOUNDS`), its `choices`, whose `remedy` ends the message about
    another value, its `aliases`, the function that reads a value by environment (`read`), and
    further arguments of `add_argument`.
    """
    metadata = {"help": help_text, **metadata}
    if isinstance(default, list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


def whole_number(name: str, word: str, least: int) -> int:
    """Return an option's whole number, or raise `ValueError` below `least` and for other words."""
    if not (word.isascii() and word.isdecimal()) or int(word) < least:
        raise ValueError(f"{name}: {word!r} is no whole number from {least}; write them as 5,10,20")
    return int(word)


def seed_list(text: str) -> list[int]:
    """Return the seeds of `0,1,2`, each once."""
    return list(dict.fromkeys(whole_number("seeds", word.strip(), 0) for word in text.split(",")))


def check_bounds(args: Any) -> None:
    """Raise `ValueError` for a number that is none, a value beyond its `choices` or its bounds.

    None has no bounds.
    """
    for entry in fields(args):
        setting, kind = getattr(args, entry.name), _PLAIN_KIND.fullmatch(str(entry.type))
        is_text = isinstance(setting, str) and entry.name not in _TEXTS_OF_TRANSFORMERS
        if kind is not None and (is_text or isinstance(setting, list | dict)):
            expected = "True or False" if kind[1] == "bool" else "a number"
            got = "the text " * is_text + repr(setting)
            raise ValueError(f"{entry.name} must be {expected}, got {got}")
        # A dict has a value for each environment.
        values = setting.values() if isinstance(setting, dict) else setting
        for value in values if isinstance(setting, dict | list) else [setting]:
            if value is not None:
                _check_value(entry.name, value, entry.metadata)


def _check_value(name: str, value: Any, metadata: Mapping[str, Any]) -> None:
    choices = metadata.get("choices", ())
    if choices and isinstance(value, str) and value not in choices:
        hint = did_you_mean(value, choices, otherwise="").removesuffix("; ")
        hint = hint or getattr(choices, "remedy", "")
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}{hint}")
    least, above, most = map(metadata.get, BOUNDS)
    # Written so that NaN is out of all bounds.
    is_low = (least is not None and not value >= least) or (above is not None and not value > above)
    if is_low or (most is not None and not value <= most):
        allowed = f"> {above}" if least is None else f">= {least}"
        allowed = allowed if most is None else f"in {least}..{most}"
        raise ValueError(f"{name} must be {allowed}, got {value}")


def read_object(name: str, text: str | None) -> dict[str, Any]:
    """Return an option's JSON object, which may be hidden, as a dict, or raise `ValueError`."""
    if text is None:
        return {}
    try:
        values = json.loads(reveal(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} must be a JSON object, got {masked(text)!r} ({error})") from None
    if not isinstance(values, dict):
        raise ValueError(f"{name} must be a JSON object, got {masked(text)!r}")
    return values


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def read_seconds(name: str, text: str) -> float:
    """Return the seconds of a time such as `90`, `90s`, `10m` or `2h`, or raise `ValueError`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(text).strip())
    if match is None:
        raise ValueError(f"{name} must be a time such as 90s, 10m or 2h, got {text!r}")
    return float(match[1]) * _UNITS[match[2]]


Weights = str | Sequence[float] | Mapping[str, float]
"""A weight for each of several things: `2,1,1`, numbers in their order, or by their names."""


def read_weights(name: str, weights: Weights | None, names: Sequence[str]) -> list[int]:
    """Return an option's weight of each name, as the smallest integers of this ratio.

    None weighs all alike. Raises `UsageError` unless each has a weight above 0.
    """
    if weights is None:
        return [1] * len(names)
    parts = weights.split(",") if isinstance(weights, str) else weights
    if isinstance(parts, Mapping):
        parts = [parts[name] for name in names] if set(parts) == set(names) else ()
    try:
        shares = [Fraction(str(part).strip()) for part in parts]
    except (TypeError, ValueError, ZeroDivisionError):
        shares = []
    if len(shares) != len(names) or not all(share > 0 for share in shares):
        raise UsageError(
            f"`{name}` must hold a number above 0 for each `env` ({', '.join(names) or 'none'}), "
            f"in their order, such as {','.join('1' * max(len(names), 1))}; got {weights!r}. Leave "
            "out of `env` an environment of weight 0"
        )
    scale = lcm(*(share.denominator for share in shares))
    whole = [int(share * scale) for share in shares]
    return [number // gcd(*whole) for number in whole]


DEFAULT = "default"
"""The key of the value for all other environments."""

_NAMED = re.compile(r"([A-Za-z][\w./:-]*)=(.*)", re.DOTALL)


class CollectValues(argparse.Action):
    """Collects the values of an option that may be repeated. The first one drops the default."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Add the values of one occurrence."""
        earlier = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*(earlier if isinstance(earlier, list) else []), *values])


BY_ENVIRONMENT: dict[str, Any] = {"action": CollectValues, "nargs": "+"}
"""The metadata of an option that may differ between environments."""


def _whole_number(name: str, value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a whole number, or NAME=NUMBER for one environment, got {value!r}"
        ) from None


COUNT_BY_ENVIRONMENT: dict[str, Any] = {"min": 1, "read": _whole_number, **BY_ENVIRONMENT}
"""The metadata of one that is a whole number."""


def split_name(text: Any) -> tuple[str, Any]:
    """Return the environment's name, which may be empty, and the value of `NAME=VALUE`."""
    match = _NAMED.fullmatch(text) if isinstance(text, str) else None
    return (match[1], match[2]) if match else ("", text)


def read_by_environment(args: Any) -> None:
    """Read a dataclass's options that may differ between environments.

    Each becomes one value, or a dict of values by environment, with one under `"default"` unless
    that is None. `read` in a field's metadata reads a value, given the option's name.
    """
    for entry in fields(args):
        if (read := entry.metadata.get("read")) is not None:
            value = getattr(args, entry.name)
            setattr(args, entry.name, _read_values(entry.name, value, read, entry.default))


def _read_values(name: str, value: Any, read: Callable[[str, Any], Any], default: Any) -> Any:
    standard, own = default, {}
    for entry in value if isinstance(value, list) else [value]:
        for label, part in _entries(name, entry):
            part = None if part is None and standard is None else read(name, part)
            if label in ("", DEFAULT):
                default = part
            else:
                own[label] = part
    if not own:
        return default
    return own if default is None else {**own, DEFAULT: default}


def _entries(name: str, entry: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(entry, str) and entry.startswith("{"):  # an option file's mapping
        try:
            entry = json.loads(entry)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{name}: {entry!r} is not JSON ({error}); give VALUE, NAME=VALUE or "
                '{"NAME": VALUE}'
            ) from None
    return entry.items() if isinstance(entry, dict) else [split_name(entry)]


def value_for(value: Any, env_id: str) -> Any:
    """Return an option's value for one environment."""
    if not isinstance(value, dict):
        return value
    own = [part for label, part in value.items() if names_environment(label, env_id)]
    return own[-1] if own else value.get(DEFAULT)


def all_values(value: Any) -> list[Any]:
    """Return an option's values for all environments, in no order."""
    return [*value.values(), value.get(DEFAULT)] if isinstance(value, dict) else [value]


def names_environment(label: str, env_id: str) -> bool:
    """Return whether this is an environment's id or short name, in upper or lower case."""
    return label.lower() in (env_id.lower(), short_env_name(env_id).lower())


def kwargs_for(kwargs: dict[str, Any], env_id: str, env_ids: Iterable[str]) -> dict[str, Any]:
    """Return the kwargs of one environment: the shared ones, then those under its name."""
    common: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in kwargs.items():
        named = [i for i in env_ids if isinstance(value, dict) and names_environment(key, i)]
        if not named:
            common[key] = value
        elif env_id in named:
            own |= value
    return {**common, **own}


def options_by_environment(kind: type) -> list[str]:
    """Return the options of a dataclass that take `NAME=VALUE` for one of several environments."""
    return [one.name for one in fields(kind) if one.metadata.get("action") is CollectValues]


def check_names(args: Any, env_ids: Iterable[str]) -> None:
    """Raise `UsageError` if an option names an environment that is none of the run's."""
    ids = list(env_ids)
    for option in options_by_environment(type(args)):
        value = getattr(args, option)
        for label in value if isinstance(value, dict) else ():
            if label != DEFAULT and not any(names_environment(label, env_id) for env_id in ids):
                names = [short_env_name(env_id) for env_id in ids]
                hint = did_you_mean(label, names, otherwise=f"they are {', '.join(names)}")
                raise UsageError(
                    f"`{option}={label}=...`: {label!r} is no environment of this run{hint}"
                )


def load_attribute(name: str) -> Any:
    """Import the object that `"module:attribute"` names, or raise `UsageError`."""
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError(f"expected module:Class, such as mylab.shaping:Shaped, got {name!r}")
    try:
        module = import_named_module(module_name, name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        hint = did_you_mean(attribute, public, otherwise=f"it has {', '.join(public) or 'nothing'}")
        raise UsageError(f"the module {module_name!r} has no {attribute!r}{hint}")
    return getattr(module, attribute)
