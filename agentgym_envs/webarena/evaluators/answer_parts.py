"""Finds the parts of a typed answer in a text: a name however it is punctuated, a quantity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any

from agentgym_envs.webarena.evaluators.quantities import (
    COUNTED,
    WEIGHTS,
    WORDS,
    Quantity,
    singular,
)
from agentgym_envs.webarena.evaluators.quantities import quantities as quantities_in

_FITTING = {"duration": ("duration", "clock"), "time": ("clock", "time")}
_TRANSLATION = str.maketrans(
    {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"} | dict.fromkeys("→➜⇒⟶›»·•*`", " ")
)
_MOST_REORDERED = 4
_ADDRESSED = r"(?:/?[ucr]/)?"
"""Users and communities are written `u/name` and `r/name` too."""

_WITHOUT_INITIAL = r"(?! [a-z](?:[.,;]|$| and\b))"
"""`Malik I.` is another person than `Malik`."""


def plain(text: str) -> str:
    """Return a text in lower case, without typographic marks and emphasis."""
    text = unicodedata.normalize("NFKC", text.replace("№", "no. ")).translate(_TRANSLATION)
    return re.sub(r"\s+", " ", text).strip().casefold()


# Names ----------------------------------------------------------------------------------------


def name_pattern(part: Mapping[str, Any]) -> re.Pattern[str]:
    """Return a pattern of a name, or of a number or code, in a plain text."""
    values = [part["value"], *part.get("also", ())]
    if part["type"] == "identifier":
        patterns = [_identifier(plain(str(value))) for value in values]
    else:
        patterns = [_ADDRESSED + _name(plain(str(value))) + _WITHOUT_INITIAL for value in values]
    return re.compile("|".join(rf"(?<!\w){pattern}(?!\w)" for pattern in patterns))


def words_of_name(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that stand for the same person as an e-mail address or a user name does."""
    for value in [part["value"], *part.get("also", ())]:
        user = re.fullmatch(r"([^\W\d_]+(?:\.[^\W\d_]+)+)(?:@.*)?", plain(str(value)))
        if user:
            yield from user[1].split(".")


def _identifier(value: str) -> str:
    """Return a pattern of a number or code, however it is grouped, without leading zeros."""
    signs = re.sub(r"\W", "", value).lstrip("0") or "0"
    return r"(?:no(?:\.:?|:) ?)?#?[(]?0*" + r"[\s./()-]*".join(map(re.escape, signs))


def _name(value: str) -> str:
    """Return a pattern of a name that ignores punctuation and a leading article."""
    if "@" in value:
        return re.escape(value)
    words = re.split(r"(\W+)", re.sub(r"^(?:the|an?) ", "", value).strip(".,;:!?\"'() "))
    return "".join(
        _gap(text, *words[index - 1 : index + 2 : 2]) if index % 2 else re.escape(text)
        for index, text in enumerate(words)
    )


def _gap(text: str, before: str, after: str) -> str:
    if text == "'":
        return r"'?"
    if text == " " and before.isdigit() and after.isalpha():
        return r"\W{0,3}"  # `160g`
    if text == ", ":
        return r"(?:\W{1,3}|\W+in\W+)"  # `Messenger Bag in mustard`
    if "&" in text:
        return r"\W+(?:and\W+)?"
    return r"\W{1,3}" if text.strip(".") else r"\."  # a point in a number or user name counts


# Quantities -----------------------------------------------------------------------------------


def are_quantities(
    parts: Sequence[Mapping[str, Any]], found: Sequence[Quantity], *, is_ordered: bool
) -> bool:
    """Return whether these are the quantities of an answer.

    Args:
        parts: of the answer.
        found: in a text, in its order.
        is_ordered: they stand in the parts' order, unless their units tell which is which.
    """
    if len(found) > len(parts):
        found = _distinct(found)
    if len(parts) != len(found):
        return False
    units = {singular(part["unit"]) for part in parts if "unit" in part}
    differ = len({(part["type"], part.get("unit")) for part in parts}) == len(parts)
    orders = permutations(found) if len(found) <= _MOST_REORDERED else (tuple(found),)
    for order in orders:
        fits = all(
            _fits(part, quantity, units) for part, quantity in zip(parts, order, strict=True)
        )
        says_so = differ and all(_is_named(part, q) for part, q in zip(parts, order, strict=True))
        if fits and (order == tuple(found) or not is_ordered or says_so):
            return True
    return False


def _fits(part: Mapping[str, Any], quantity: Quantity, units: set[str]) -> bool:
    expected, unit = part_quantity(part), singular(part.get("unit", ""))
    if quantity.kind == "number":
        names = _unit_names(unit)
        noun = quantity.noun or (quantity.label if unit else "")
        counts = bool(unit) or part["type"] == "currency"
        is_other = noun in units - names or (counts and noun in (COUNTED | WEIGHTS) - names)
        if part["type"] == "time":
            return _time_with_point(quantity.value) == expected
        scale = Decimal(WORDS["seconds"].get(unit, 0)) / 60 or WORDS["metres"].get(unit, 0)
        if part["type"] in ("duration", "distance"):
            return bool(scale) and quantity.value * scale == expected and not is_other
        return (
            part["type"] in ("number", "currency") and quantity.value == expected and not is_other
        )
    kinds = _FITTING.get(part["type"], (part["type"],))
    return quantity.kind in kinds and quantity.value == expected


def _unit_names(unit: str) -> set[str]:
    """Return a unit's name in the singular."""
    return {unit, *WORDS["synonyms"].get(unit, "").split()}


def _time_with_point(value: Decimal) -> Decimal | None:
    """Return the minutes since midnight of `23.30`."""
    hour, minute = divmod(value * 100, 100)
    return hour * 60 + minute if value.as_tuple().exponent == -2 and minute < 60 else None


def _is_named(part: Mapping[str, Any], quantity: Quantity) -> bool:
    names = _unit_names(singular(part.get("unit", "-")))
    return quantity.kind != "number" or (quantity.noun or quantity.label) in names


def part_quantity(part: Mapping[str, Any]) -> Decimal:
    """Return the value of a part of an answer.

    Raises:
        ValueError: its text is no such quantity.
    """
    found = quantities_in(plain(str(part["value"])))
    kinds = ("number", *_FITTING.get(part["type"], (part["type"],)))
    if len(found) != 1 or found[0].kind not in kinds:
        raise ValueError(f"{part['value']!r} is no {part['type']}")
    return found[0].value


def _distinct(found: Sequence[Quantity]) -> list[Quantity]:
    """Drop a repetition of the quantity before it, as in `5 (five)`."""
    return [
        quantity
        for index, quantity in enumerate(found)
        if not index
        or (quantity.kind, quantity.value) != (found[index - 1].kind, found[index - 1].value)
    ]


def part_nouns(part: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that may stand with a quantity: its unit, and itself written out."""
    value = part_quantity(part)
    yield from (word for word, number in WORDS["numbers"].items() if number == value)
    if "unit" in part:
        for unit in _unit_names(singular(part["unit"])):
            yield from noun_forms(unit)


def noun_forms(noun: str) -> tuple[str, ...]:
    """Return the singular and the plural of a noun in the singular."""
    return noun, noun + "s", noun[:-1] + "ies"
