"""Tells text within an argument from the markup around an action.

An argument stands in quotes, in the brackets of `type [7] [...]`, or in a pair of tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

_REACH = 4_000  # characters on each side that are looked at, so that reading stays linear
_MOST_TAGS = 8
MOST_TOKENS = 200
"""Most tokens of one kind that are looked at. Further ones count as markup."""
_OPENINGS = {
    quote: re.compile(rf"(?<![\w`{quote}]){quote}(?=\S)|(?<=: ){quote}") for quote in "\"'`"
}
_STRINGS = {
    quote: re.compile(rf"{quote}(?:\\.|{quote}{quote}|[^\\{quote}])*{quote}(?!\w)", re.DOTALL)
    for quote in "\"'`"
}
_BEFORE_ARGUMENT = re.compile(r"[:,(\[={]\s?\Z")
_BEHIND_ARGUMENT = re.compile(r"\s{0,9}[,}\])]")
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
_CLOSED = "\0"
"""Stands for a pair of brackets."""
_BEFORE_BRACKET = re.compile(rf"[\w\]){_CLOSED}][ \t]{{0,9}}\Z")
# What Google's and Moonshot's models write around an argument.
_TOKENS = (("<escape>", "<escape>"), ('<|"|>', '<|"|>'), ("<|sep|>", "<|close|>argument"))
_CLOSING = re.compile(r"</([\w:.-]{1,40})>")


def is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text stands within an argument.

    Args:
        text: the completion.
        start: where the part begins.
        end: where it ends.
    """
    looks = (_in_tokens, in_quotes, _in_brackets, _in_tags)
    return any(look(text, start, end) for look in looks)


def unquoted(pattern: re.Pattern[str], text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern that stand in no argument.

    Args:
        pattern: what is looked for.
        text: the completion.
        start: where to begin.
    """
    for number, match in enumerate(pattern.finditer(text, start)):
        if number >= MOST_TOKENS or not is_quoted(text, *match.span()):
            yield match


def in_quotes(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text stands in quotes, as a string of code, JSON or SQL does.

    A string over several lines must stand where a call's argument does.
    """
    left = max(0, start - _REACH)
    for quote, opening in _OPENINGS.items():
        if text.find(quote, left, start) < 0 or text.find(quote, end) < 0:
            continue
        if quote * 3 in text and text.count(quote * 3, left, start) % 2 and quote != "`":
            return text.find(quote * 3, end, end + _REACH) >= 0
        places = [match.start() for match in opening.finditer(text, left, start + 1)]
        place = places[-1] if places else -1
        string = _STRINGS[quote].match(text, place, end + _REACH) if place >= 0 else None
        if string and string.end() > end:
            is_argument = _BEFORE_ARGUMENT.search(text, max(0, place - 2), place)
            if "\n" not in string[0] or (
                is_argument and _BEHIND_ARGUMENT.match(text, string.end())
            ):
                return True
    return False


def _in_tokens(text: str, start: int, end: int) -> bool:
    for opening, closing in _TOKENS:
        place = text.rfind(opening, max(0, start - _REACH), start) + len(opening)
        if place < len(opening) or text.find(closing, end, end + _REACH) < 0:
            continue
        is_closed = closing in text[place:start] or (
            opening == closing and text.count(opening, 0, start) % 2 == 0
        )
        if not is_closed:
            return True
    return False


def _in_brackets(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _REACH) : start]
    if "[" not in before:
        return False
    behind = text[end : end + _REACH]
    for _ in range(2):
        before, behind = _BRACKETED.sub(_CLOSED, before), _BRACKETED.sub("", behind)
    opening, closing = before.rfind("["), behind.find("]")
    return (
        opening > before.rfind("]", opening)
        and _BEFORE_BRACKET.search(before, max(0, opening - 10), opening) is not None
        and closing >= 0
        and "[" not in behind[:closing]
    )


def _in_tags(text: str, start: int, end: int) -> bool:
    left = max(0, start - _REACH)
    for closing in islice(_CLOSING.finditer(text, end, end + _REACH), _MOST_TAGS):
        name = closing[1]
        opening = text.rfind(f"<{name}", left, start)
        content = text.find(">", opening, start) + 1 if opening >= 0 else 0
        if content and not (
            f"</{name}" in text[content:start] or f"<{name}" in text[end : closing.start()]
        ):
            return True
    return False
