"""Checks keyword arguments, with errors that name the value, allowed ones and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from numbers import Integral, Real
from pathlib import Path
from typing import Any


def whole_number(
    name: str, value: Any, *, least: int, most: int | None = None, besides: str = ""
) -> int:
    """Return a keyword argument that must be a whole number, as an int.

    Args:
        name: the argument's name.
        value: what was given.
        least: the smallest that is allowed.
        most: the largest; None allows every larger one.
        besides: what the caller allows besides numbers, as the message says it: `" or None"`.

    Raises:
        ValueError: it is no whole number, or outside these bounds.
    """
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and least <= value and (most is None or value <= most):
        return int(value)
    bounds = f">= {least}" if most is None else f"in {least}..{most}"
    message = f"{name} must be {bounds}{besides}, got {value!r:.80}"
    raise ValueError(
        message if is_whole else f"{message}; {_remedy(name, value, 'a whole number')}"
    )


def checked_options(options: Mapping[str, Any] | None, allowed: Sequence[str]) -> Mapping[str, Any]:
    """Return the options of a reset.

    Raises:
        ValueError: they are no dict, or one of them is not allowed.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        example = {"task_id": options if isinstance(options, str | int) else "<env>_<number>"}
        raise ValueError(
            f"reset options must be a dict or None, got {options!r:.80}; write for example "
            f"options={example}"
        )
    unknown = sorted(str(key) for key in set(options) - set(allowed))
    if unknown:
        raise ValueError(f"unknown reset options {unknown}; allowed: {', '.join(allowed)}")
    return options


def text_or_file(name: str, value: Any) -> str:
    """Return a keyword argument that is a text, or the path of a file of it.

    A path is a `Path`, or one line that ends in `.txt` or `.md`.

    Raises:
        TypeError: it is neither.
        ValueError: the file cannot be read.
    """
    if not isinstance(value, str | Path):
        raise TypeError(f"{name} must be a text or a path, got {type(value).__name__}")
    if isinstance(value, str) and ("\n" in value or not value.endswith((".txt", ".md"))):
        return value
    try:
        return Path(value).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{name} {str(value)!r} cannot be read: {error}; give the path of a text file, or the "
            "text itself"
        ) from error


def positive_seconds(name: str, value: Any) -> float:
    """Return a keyword argument that must be a number of seconds above 0.

    Raises:
        ValueError: it is no number, not finite, or not above 0.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and isfinite(value) and value > 0:
        return float(value)
    message = f"{name} must be > 0 seconds, got {value!r:.80}"
    raise ValueError(message if is_number else f"{message}; {_remedy(name, value, 'a number')}")


def _remedy(name: str, value: Any, kind: str) -> str:
    is_quoted = isinstance(value, str) and value.strip().isdecimal()
    example = f" without quotes: {name}={value.strip()}" if is_quoted else ""
    return f"give {kind}{example}"
