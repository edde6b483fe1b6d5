"""What the default mode says to actions that the simulator does not carry out.

Knows texts: the simulator's own are recognised here, and ours, which say what would be valid.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from agentgym_envs.sciworld.verbs import VERBS, form_of, verb_of

NOT_KNOWN = "No known action matches that input."
"""The simulator's answer to what it cannot read."""

NO_ANSWER = (
    "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
    "object referents. "
)
"""The answer of the simulator's interface where the simulator itself has none."""

MAX_LENGTH = 400
"""Longer actions are not read: the longest of the simulator's own has 100 characters."""

_ASKS = "Ambiguous request:"
_NAMES_SHOWN = 40
_CLOSE_NAMES = 8


def is_question(text: str) -> bool:
    """Tell whether the simulator asks which of several actions is meant."""
    return text.startswith(_ASKS)


def choices(text: str) -> list[str]:
    """Return the actions among which such a question asks to choose, in order."""
    rows = (line.partition(":\t") for line in text.splitlines())
    return [action for number, tab, action in rows if tab and number.isdigit()]


def not_known(action: str, names: Sequence[str]) -> str:
    """Say what would have been valid.

    Args:
        action: what the policy wrote.
        names: what can be named where it is.
    """
    verb = verb_of(action)
    if verb is None:
        forms = "; ".join(form_of(each) for each in VERBS)
        return f"{NOT_KNOWN} Actions are: {forms}."
    told = f"{NOT_KNOWN} The form is: {form_of(verb)}."
    if not verb.parameters:
        return told
    rest = action.lower()[len(verb.template.partition("{")[0]) :].strip()
    close = difflib.get_close_matches(rest, names, n=_CLOSE_NAMES, cutoff=0.5)
    if close:
        return f"{told} Names like yours here: {', '.join(close)}."
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = f", and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"{told} You can name here: {shown}{more}."


def not_a_choice(action: str, count: int) -> str:
    """Say which numbers would have answered the question."""
    return (
        f"{action} is none of the choices; they were 0 to {count - 1}. Nothing was done. Repeat "
        "the request to be asked again, or be more specific."
    )


def too_long(action: str) -> str:
    """Say that an action is too long to be read."""
    return f"{NOT_KNOWN} An action has at most {MAX_LENGTH} characters, yours has {len(action)}."
