"""Reads the quantities in a text: numbers, amounts of money, times, distances, dates.

`$3269.84`, `3,269.84 dollars`, `95 minutes`, `1 h 35 min`, `84.3 km`, `4 June 2026`, `5:30 pm`. A
number without a unit stays a bare number; what it measures is for whoever asked.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from importlib import resources

WORDS = tomllib.loads(
    (resources.files("agentgym_envs.webarena.evaluators") / "words.toml").read_text("utf-8")
)

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:[\u00a0\u202f ]\d{3})+|\d+)(?:\.\d+)?"
_MONTH = "|".join(f"{name}|{name[:3]}|{name[:4]}" for name in WORDS["months"])
_YEAR, _DAY = r"(?P<year{0}>\d{{4}})", r"(?P<day{0}>\d{{1,2}})"


def _units(name: str) -> str:
    return "|".join(f"{unit}s?" for unit in sorted(WORDS[name], key=len, reverse=True))


_DURATION = rf"{_NUMBER}\s*-?(?:{_units('seconds')})(?![a-z])"
_DOLLARS = r"(?:us\s?\$|\$|usd|(?:us )?dollars?)(?!\w)"
_PATTERNS = (
    ("date", r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"),
    (
        "date",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})",
    ),
    ("date", rf"(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})"),
    ("date", r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})"),
    (
        "currency",
        rf"(?<!\w)(?:us\s?\$|\$|usd\s?)\s?(?P<number>-?{_NUMBER})(?:\s(?:usd|{_DOLLARS}))?",
    ),
    ("currency", rf"(?P<number>{_NUMBER})\s?{_DOLLARS}"),
    ("currency", rf"(?P<cents>{_NUMBER})\s?(?:cents?|¢)(?!\w)"),
    (
        "clock",
        r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::00)?|\.(?P<minutes>\d{2})(?=\s?[ap]\.?m\b))"
        r"(?:\s?(?P<half>[ap]\.?m)\b\.?|\s?(?:h|hrs?|hours?)\b)?",
    ),
    ("clock", r"(?P<hour>\d{1,2})\s?(?P<half>[ap]\.?m)\b\.?"),
    (
        "duration",
        rf"(?:{_NUMBER}\s?h\s?(?P<rest>[0-5]\d)(?!\w|[.,]\d|\s?(?:{_units('seconds')}|m)\b)"
        rf"|{_DURATION}(?:(?:,| and|,and)? ?{_NUMBER}\s*(?:{_units('seconds')}|m)\b)*)",
    ),
    ("duration", rf"(?P<seconds>{_NUMBER})(?:\"|''|′′)"),
    ("distance", rf"(?P<number>{_NUMBER})\s?-?(?P<unit>{_units('metres')})\b"),
    ("number", rf"(?P<number>(?<![\w.])[-+]?{_NUMBER})"),
)
_READERS = tuple((kind, re.compile(rf"(?<![\w.,]){p}" if kind != "currency" else p))
                 for kind, p in _PATTERNS)  # fmt: skip
_PART = re.compile(rf"({_NUMBER})\s*-?([a-z]+)")
_WORDS_AS_NUMBERS = re.compile(
    rf"\b(?:(?P<tens>\w+ty)[- ])?(?P<ones>{'|'.join(WORDS['numbers'])})\b"
)

_SIGNED = ("currency", "duration", "distance")  # a number's own pattern has the sign
_MINUS = re.compile(r"(?:^|[\s(:])-$")

COUNTED = frozenset(WORDS["counted"].split())
WEIGHTS = frozenset(WORDS["weights"].split())
_AFTER = re.compile(r"(?:[ -](?!(?:and|at|by|for|from|in|of|on|or|out|to|with)\b)[a-z]+){1,3}")
_BEFORE = re.compile(r"\b([a-z]+) ?[:=] ?$")

# `the last one` counts nothing.
_POINTING = re.compile(r"\b(?:the|the only|this|that|which|other|first|last|latest|\w+est)[ -]$")


@dataclass(frozen=True)
class Quantity:
    """A quantity in a text.

    Attributes:
        start, end: where it stands.
        kind: `number`, `currency`, `duration` (minutes), `distance` (metres), `date` (ordinal),
            `time` (minutes since midnight, with am or pm) or `clock` (the same without, or hours
            and minutes of a duration).
        value: what it is.
        noun: what a bare number counts, in the singular: of the words after it the first that
            numbers count, else the next one.
        label: a word with a colon before a bare number, in the singular, if numbers count it.
    """

    start: int
    end: int
    kind: str
    value: Decimal
    noun: str = ""
    label: str = ""


def quantities(text: str, *, with_words: bool = False) -> list[Quantity]:
    """Return the quantities of a lower-case text in its order.

    Args:
        text: in lower case.
        with_words: words such as `five` count too; else they do where there are no figures.
    """
    found: list[Quantity] = []
    for kind, pattern in _READERS:
        for match in pattern.finditer(text):
            if any(q.start < match.end() and match.start() < q.end for q in found):
                continue
            value = _value(kind, match)
            if value is not None:
                is_bare = kind == "number"
                noun = _noun(text[match.end() :]) if is_bare else ""
                label = _label(text[: match.start()]) if is_bare else ""
                start = match.start()
                if kind in _SIGNED and _MINUS.search(text[:start]):
                    start, value = start - 1, -value
                kind_of = "time" if kind == "clock" and match["half"] else kind
                found.append(Quantity(start, match.end(), kind_of, value, noun, label))
    if with_words or not found:
        found += _written_out(text)
    return sorted(found, key=lambda q: q.start)


def singular(noun: str) -> str:
    """Return a noun without the ending of its plural."""
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def _value(kind: str, match: re.Match[str]) -> Decimal | None:
    if kind == "date":
        return _day(match.groupdict())
    if kind == "clock":
        return _clock(match)
    if match.groupdict().get("seconds"):
        return _number(match["seconds"]) / 60
    if kind == "duration":
        units = WORDS["seconds"] | {"m": 60}
        parts = [
            (n, unit if unit in units else singular(unit)) for n, unit in _PART.findall(match[0])
        ]
        seconds = sum(_number(n) * units[unit] for n, unit in parts)
        return Decimal(seconds) / 60 + int(match["rest"] or 0)
    if match.groupdict().get("cents"):
        return _number(match["cents"]) / 100
    number = _number(match["number"])
    return number * WORDS["metres"][singular(match["unit"])] if kind == "distance" else number


def _number(text: str) -> Decimal:
    return Decimal(re.sub(r"[^\d.-]", "", text))


def _day(parts: dict[str, str | None]) -> Decimal | None:
    if "first" in parts:
        first, second = int(parts["first"] or 0), int(parts["second"] or 0)
        if first <= 12 and second <= 12 and first != second:
            return None  # 4/6/2026 is April or June
        day, month = max(first, second), min(first, second)
    else:
        day, name = int(parts["day"] or 0), parts["month"] or ""
        names = [number for full, number in WORDS["months"].items() if full[:3] == name[:3]]
        month = int(name) if name.isdigit() else names[0]
    try:
        return Decimal(date(int(parts["year"] or 0), month, day).toordinal())
    except ValueError:
        return None


def _clock(match: re.Match[str]) -> Decimal | None:
    parts = match.groupdict()
    hour, half = int(parts["hour"]), parts["half"] or ""
    minute = int(parts.get("minute") or parts.get("minutes") or 0)
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return Decimal(hour * 60 + minute) if minute < 60 else None


def _noun(rest: str) -> str:
    match = _AFTER.match(rest)
    words = [singular(word) for word in match[0].replace("-", " ").split()] if match else []
    return next((word for word in words if word in COUNTED), words[0] if words else "")


def _label(text: str) -> str:
    match = _BEFORE.search(text)
    return singular(match[1]) if match and singular(match[1]) in COUNTED else ""


def _written_out(text: str) -> Iterator[Quantity]:
    for match in _WORDS_AS_NUMBERS.finditer(text):
        if match["ones"] == "one" and _POINTING.search(text[: match.start()]):
            continue
        tens = WORDS["numbers"].get(match["tens"], 0)
        value = Decimal(tens + WORDS["numbers"][match["ones"]])
        yield Quantity(*match.span(), "number", value, _noun(text[match.end() :]))
