"""Recognises the simulator's refusals, and writes the default mode's with the valid forms."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from agentgym_envs.sciworld.house import next_door
from agentgym_envs.sciworld.verbs import VERBS, leading_verb

NOT_KNOWN = "No known action matches that input."
"""The simulator's answer to a command that it cannot read."""

NO_ANSWER = (
    "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
    "object referents. "
)
"""The answer of the simulator's interface where the simulator itself has none."""

MAX_LENGTH = 400
"""Longer actions are not read: the longest of the simulator's own has 100 characters."""

_ASKS = "Ambiguous request:"
_CHOICES_SHOWN = 10
_NAMES_SHOWN = 40
_CLOSE_NAMES = 8
_NEARLY_THE_SAME = 0.7
_PARTS = frozenset(("anode", "cathode", "terminal"))
_EMPTY_WORDS = frozenset(("a", "an", "and", "in", "into", "of", "on", "the", "to", "with"))
_WORD = re.compile(r"[a-z]+")
_PLACED = re.compile(r"([\w ]+) \(in ([^,()]+)")
_DOOR = re.compile(r"door between (.+) and (.+)")


def is_refusal(text: str) -> bool:
    """Return whether the simulator answers that it refused the action."""
    return _pattern().fullmatch(text) is not None


@cache
def _pattern() -> re.Pattern[str]:
    """Compile the answers, where a thing's name has no line breaks."""
    listed = files("agentgym_envs.sciworld").joinpath("refusals.toml").read_text("utf-8")
    answers = [answer for group in tomllib.loads(listed).values() for answer in group]
    return re.compile("|".join(re.escape(answer).replace("<thing>", ".+") for answer in answers))


def is_question(text: str) -> bool:
    """Return whether the simulator asks which of several actions is meant."""
    return text.startswith(_ASKS)


def choices(text: str) -> list[str]:
    """Return the actions among which such a question asks to choose, in order."""
    rows = (line.partition(":\t") for line in text.splitlines())
    return [action for number, tab, action in rows if tab and number.isdigit()]


def question(text: str) -> str:
    """Write such a question with its first choices, and how to be more specific."""
    listed = choices(text)
    head, more, last = text.strip().split("\n", 1)[0], "", len(listed) - 1
    if last == _CHOICES_SHOWN:
        more = f"Choice {last} is not shown. "
    elif last > _CHOICES_SHOWN:
        more = f"Choices {_CHOICES_SHOWN} to {last} are not shown. "
    shown = [f"{number}:\t{action}" for number, action in enumerate(listed[:_CHOICES_SHOWN])]
    return "\n".join([head, *shown, f"{more}{_hint(listed)}"]).strip()


def not_known(action: str, names: Sequence[str]) -> str:
    """Return a message with the valid forms.

    Args:
        action: what the policy wrote.
        names: what can be named where it is.
    """
    verb = leading_verb(action)
    if verb is None:
        forms = "; ".join(each.form for each in VERBS)
        return f"{NOT_KNOWN} Actions are: {forms}."
    message = f"{NOT_KNOWN} The form is: {verb.form}."
    if not verb.parameters:
        return message
    rooms = next_door(names) if verb.name == "go_to" else []
    if rooms:
        return f"{message} Next door: {', '.join(rooms)}."
    action = " ".join(action.lower().split())
    written = (verb.match(action) or {"": action[len(verb.template.partition("{")[0]) :]}).values()
    # Where one of several names is right, another one is not.
    close = _like([name for name in written if name not in names] or list(written), names)
    if close:
        return f"{message} Names like yours here: {', '.join(close)}."
    listed = sorted(names, key=_is_part)
    shown = ", ".join(listed[:_NAMES_SHOWN])
    more = f", and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"{message} You can name here: {shown}{more}."


def not_a_choice(action: str, count: int) -> str:
    """Say which numbers would have answered the question."""
    return (
        f"{action} is none of the choices; they were 0 to {count - 1}. Nothing was done. Repeat "
        "the request to be asked again, or be more specific."
    )


def too_long(action: str) -> str:
    """Say that an action is too long to be read."""
    return f"{NOT_KNOWN} An action has at most {MAX_LENGTH} characters, yours has {len(action)}."


def _hint(listed: Sequence[str]) -> str:
    """Say how to answer a question by other words than a number, where that can be done."""
    if len(listed) > 1 and len(set(listed)) == 1:
        return "They are alike; answer with any of the numbers."
    name = _specific(listed)
    return f"To be more specific, say where it is or leads to: '{name}'." if name else ""


def _specific(listed: Sequence[str]) -> str:
    """Return a name that fits one of the choices alone, or an empty text if there is none."""
    doors = [{match[1], match[2]} for action in listed if (match := _DOOR.search(action))]
    if len(doors) > 1 and len(here := set.intersection(*doors)) == 1:
        return f"door to {(doors[0] - here).pop()}"
    names = [_placed(action) for action in listed]
    return next((name for name in names[:_CHOICES_SHOWN] if name and names.count(name) == 1), "")


def _placed(action: str) -> str:
    """Return the thing of a choice and its place, or an empty text where no place is given."""
    verb = leading_verb(action)
    rest = action.removeprefix(verb.template.partition("{")[0]) if verb else action
    match = _PLACED.match(rest)
    return f"{match[1]} in {match[2]}" if match else ""


def _like(written: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the names with a word of the action, or nearly equal to it, and parts last."""
    words = set().union(*map(_content_words, written))
    likeness = {
        name: max(difflib.SequenceMatcher(None, other, name).ratio() for other in written)
        for name in names
    }
    alike = [
        name for name in names if words & _content_words(name) or likeness[name] >= _NEARLY_THE_SAME
    ]
    alike.sort(key=lambda name: (_is_part(name), -likeness[name], name))
    return alike[:_CLOSE_NAMES]


def _content_words(name: str) -> set[str]:
    """Return the words that say which thing is meant, without an s of the plural."""
    words = set(_WORD.findall(name)) - _EMPTY_WORDS - _PARTS
    return {word.removesuffix("s") for word in words}


def _is_part(name: str) -> bool:
    return not _PARTS.isdisjoint(name.split())
