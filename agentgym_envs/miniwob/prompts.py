"""Writes the policy's texts besides the page: the rules, and how an episode ended."""

from __future__ import annotations

from agentgym_envs.actions import CALL_FORMATS

_PAGE = """\
You do a small task on one web page. After each action you see the page as an accessibility tree:
one element a line, `[id] role 'name'`, children indented."""

_GRAMMAR = """\
click [id]: clicks an element.
type [id] [content] [press_enter]: replaces what a text field holds; 1 presses Enter afterwards, 0
does not.
select [id] [option]: chooses the option with this text in a list box.
drag [id] [id]: drags the first element onto the second.
hover [id]: moves the pointer over an element.
press [key]: presses a key or combination, such as Enter, ArrowDown or Ctrl+a.
scroll [down] and scroll [up]: show the next and the previous part of a long page.
stop []: gives the task up."""

_CALLS = """\
Act by calling functions. An element is named by its id, the number in brackets. stop gives the task
up."""

_ENDING = """\
The page itself ends the task, when it is done and when it has gone wrong. Some elements without a
text are named by their class or colour. The ids belong to the page that is shown; after every
action look at the new ones."""

SOLVED = "The task is done."
FAILED = "The task is not done."
LEFT = "The page of the task was left; the task is not done."
"""`FAILED`, where an action has led to another page."""


def instructions(action_format: str) -> str:
    """Return the instructions.

    Formats that call functions are not taught the brackets.
    """
    return "\n\n".join([_PAGE, _CALLS if action_format in CALL_FORMATS else _GRAMMAR, _ENDING])
