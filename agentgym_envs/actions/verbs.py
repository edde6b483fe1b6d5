"""Describes an environment's actions as data: a name, a template, arguments.

A plain action is the filled template; the formats that call functions name the arguments.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agentgym_envs.errors import InvalidAction

MAX_REPEATED = 1000
"""Characters of a policy's text that an observation repeats at most."""

_MAX_READ = 2_000
"""Characters of the longest action where the end of several arguments is to be looked for."""

_MAX_DIGITS = 100

_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class ActionVerb:
    """One kind of action.

    Attributes:
        name: an identifier, the function's name in `function_call` and `code`.
        template: the plain action, with a slot per argument: `"get {count} {item}"`.
        description: one sentence for the policy.
        integers: the arguments that hold a whole number; all others hold text.
        free_text: the arguments that hold words of the policy's own, read as they are written;
            from the others quotes and a final full stop are taken off.
        is_multiline: the last argument may go on over lines, as a program's text does.
        defaults: what stands for an argument that a call leaves out; these come last.
        notes: what an argument is, for tools' schemas; the template tells it of the others.
        patterns: regular expressions of arguments, for a template that holds no words of its own
            and would take any text.
    """

    name: str
    template: str
    description: str
    integers: tuple[str, ...] = ()
    defaults: Mapping[str, str | int] = field(default_factory=dict, hash=False)
    notes: Mapping[str, str] = field(default_factory=dict, hash=False)
    free_text: tuple[str, ...] = ()
    is_multiline: bool = False
    patterns: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or keyword.iskeyword(self.name):
            raise ValueError(
                f"a verb's name must be a Python identifier and no keyword, for code calls it as a "
                f"function; got {self.name!r}; the template may say what it likes"
            )
        if set("{}") & set(_SLOT.sub("", self.template)):
            raise ValueError(
                f"{self.name}: a slot of a template is written {{name}}; got {self.template!r}"
            )
        named = {*(*self.integers, *self.defaults, *self.notes, *self.free_text, *self.patterns)}
        strangers = named - set(self.parameters)
        if strangers:
            raise ValueError(f"{self.name}: {sorted(strangers)} are not in {self.template!r}")
        last = self.parameters[len(self.parameters) - len(self.defaults) :]
        if set(last) != set(self.defaults):
            raise ValueError(
                f"{self.name}: arguments with defaults come last; got {list(self.defaults)} of "
                f"{list(self.parameters)}"
            )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The arguments' names, in the template's order."""
        return tuple(_SLOT.findall(self.template))

    @cached_property
    def is_distinct(self) -> bool:
        """Whether words of the template or patterns tell the verb's actions from other texts."""
        words = _SLOT.sub("", self.template)
        return bool(self.patterns) or any(character.isalnum() for character in words)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts = _SLOT.split(self.template)  # text, name, text, name, ..., text
        pattern = ""
        for index, part in enumerate(parts):
            if index % 2 == 0:
                pattern += re.escape(part)
            else:
                any_value = f"[0-9]{{1,{_MAX_DIGITS}}}" if part in self.integers else ".*?"
                pattern += f"(?P<{part}>{self.patterns.get(part, any_value)})"
        return re.compile(pattern, re.DOTALL | re.IGNORECASE)

    @cached_property
    def _loose_pattern(self) -> re.Pattern[str]:
        # Spaces are taken all at once: a run of them is then read in linear time.
        spaced = re.sub(r"(?:\\\s)+", r"(?<!\\s)\\s++", self._pattern.pattern)
        return re.compile(spaced, self._pattern.flags)

    @property
    def form(self) -> str:
        """The template as people read it: `get <count> <item>`."""
        return _SLOT.sub(r"<\1>", self.template)

    @property
    def signature(self) -> str:
        """The verb as a Python call: `get(count: int, item: str = 'log')`."""
        kinds = [f"{p}: {'int' if p in self.integers else 'str'}" for p in self.parameters]
        defaults = [
            f" = {self.defaults[p]!r}" if p in self.defaults else "" for p in self.parameters
        ]
        return f"{self.name}({', '.join(map(str.__add__, kinds, defaults))})"

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Write a call in Python: `get(count=2, item='log')`."""
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"

    def build(self, arguments: Mapping[str, Any]) -> str:
        """Fill the template, with the defaults of arguments that are left out.

        Raises:
            InvalidAction: an argument is missing, unknown or of the wrong kind.
        """
        unknown = sorted(set(arguments) - set(self.parameters))
        missing = [p for p in self.parameters if p not in arguments and p not in self.defaults]
        if unknown or missing:
            raise InvalidAction(
                f"{self.name} takes {self.signature}, got {sorted(arguments)!r:.80}."
            )
        arguments = {**self.defaults, **arguments}
        values = {p: self._value(p, arguments[p]) for p in self.parameters}
        return self.fill(values)

    def fill(self, values: Mapping[str, str]) -> str:
        """Write the plain action with these values in its slots."""
        return _SLOT.sub(lambda slot: values[slot.group(1)], self.template)

    def ends_in(self, parameter: str) -> bool:
        """Return whether the plain action ends with this argument."""
        return self.template.endswith("{" + parameter + "}")

    def is_slow_on(self, text: str) -> bool:
        """Return whether the ends of several arguments would be looked for in a long text."""
        num_searched = len(self.parameters) - any(map(self.ends_in, self.parameters))
        return num_searched > 1 and len(text) > _MAX_READ

    def match(self, action: str) -> dict[str, Any] | None:
        """Return the arguments of a plain action of this verb, or None if it is another's."""
        match = self._pattern.fullmatch(action)
        return None if match is None else self._typed(match)

    def read(self, action: str) -> dict[str, Any] | None:
        """Return the arguments of a plain action however it is spaced and capitalized.

        Arguments are in small letters and have single spaces, but for those in `free_text`.

        Returns:
            None where the action is another verb's, or too long to find its arguments in.
        """
        if self.is_slow_on(action):
            return None
        match = self._loose_pattern.fullmatch(action.strip())
        arguments = None if match is None else self._typed(match)
        if arguments is None:
            return None
        for name, value in arguments.items():
            if name in self.free_text:
                arguments[name] = value.strip()
            elif name not in self.integers:
                arguments[name] = " ".join(value.lower().split())
        return arguments

    def _typed(self, match: re.Match[str]) -> dict[str, Any] | None:
        """Return the arguments of a match, or None where a number has too many digits."""
        arguments: dict[str, Any] = {name: match[name] for name in self.parameters}
        for name in self.integers:
            if len(arguments[name]) > _MAX_DIGITS:
                return None
            arguments[name] = int(arguments[name])
        return arguments

    def _value(self, parameter: str, value: Any) -> str:
        if isinstance(value, list) and parameter not in self.integers:
            texts = [entry if isinstance(entry, str) else _number_text(entry) for entry in value]
            if None not in texts:
                value = ", ".join(text or "" for text in texts)
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if parameter in self.integers and isinstance(value, str) and value.strip().isdecimal():
            return value.strip()
        text = value if isinstance(value, str) else _number_text(value)
        if text is not None and (is_integer or parameter not in self.integers):
            return text
        kind = "an int" if parameter in self.integers else "a str"
        raise InvalidAction(f"{self.name}: {parameter} must be {kind}, got {shown(value)}.")


def unknown_action(action: str, verbs: Iterable[ActionVerb]) -> str:
    """Say that an action is none of an environment's, and which it has."""
    forms = ", ".join(verb.form for verb in verbs)
    return f"{clipped(action, 100)!r} is no action; write one of: {forms}."


def shown(value: Any) -> str:
    """Return a value as a message shows it: shortly, whatever it is."""
    # Policies send values that repr refuses: endless digits, lists nested a thousand deep.
    return f"{value!r:.80}" if isinstance(value, str | bool | float) else type(value).__name__


def clipped(text: str, limit: int = MAX_REPEATED) -> str:
    """Return the beginning of a policy's text and its length, for observations that repeat it."""
    return text if len(text) <= limit else f"{text[:limit]}... ({len(text)} characters)"


def _number_text(value: Any) -> str | None:
    """Return a finite number as text, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        return str(value)
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        raise InvalidAction("The number is too large.") from None
