"""The policy's texts: the browser's rules and the observation of a page.

A page's own text is quoted: names are Python literals on lines of their own, so nothing on a page
can look like a line that the environment wrote.
"""

from __future__ import annotations

from agentgym_envs.actions import CALL_FORMATS
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.view import View, one_line, screen_lines

_BROWSER = """\
You use a web browser to do a task. After each action you see the open tabs, the address, and the
page as an accessibility tree: one element a line, `[id] role 'name'`, children indented. Only a
part of a long page is shown at once."""

_GRAMMAR = """\
click [id]: clicks an element.
type [id] [content] [press_enter]: replaces what a text field holds; 1 presses Enter afterwards, 0
does not.
select [id] [option]: chooses the option with this text in a list box.
hover [id]: moves the pointer over an element.
press [key]: presses a key or combination, such as Enter or Ctrl+a.
scroll [down] and scroll [up]: show the next and the previous part of the page.
goto [url]: opens an address. go_back and go_forward move through the tab's history.
new_tab, tab_focus [index] and close_tab manage the tabs; the first tab has the index 0.
stop [answer]: ends the task. Give the answer, and only that, if the task asks for one; else leave
it empty: stop []
{impossible}"""

_CALLS = """\
Act by calling functions. An element is named by its id, the number in brackets. stop ends the task;
give the answer, and only that, if the task asks for one, else leave it out. {impossible}"""

_NOT_APPLICABLE = "If the task cannot be done, answer N/A."
_WITH_REASON = "If the task cannot be done, answer N/A and say why, as in: N/A - the reason"

_SITES = """\
You are signed in where the task needs it. http://homepage.test lists the sites. The ids belong to
the page that is shown; after every action look at the new ones."""

_COMPAT_BROWSER = """\
You control a web browser to reach an objective. You see the page's accessibility tree, its address,
the objective and your previous action."""

_COMPAT_GRAMMAR = """\
The actions are: click [id], hover [id],
type [id] [content] [0|1], press [key_comb], scroll [down|up], new_tab, tab_focus [tab_index],
close_tab, goto [url], go_back, go_forward, and stop [answer], which ends the task. {impossible}
Issue one action at a time, between triple backticks."""

_VERIFIED_ANSWER = """

The answer of stop may be JSON: a list of values, such as {example}, or the objects
that the task asks for. Where the task cannot be done, say N/A or why: NOT_FOUND_ERROR,
ACTION_NOT_ALLOWED_ERROR, PERMISSION_DENIED_ERROR, DATA_VALIDATION_ERROR or UNKNOWN_ERROR."""

SOLVED = "The task is done."
FAILED = "The task is not done."
UNSCORED = "The task is over. Nobody here can judge the answer."


def instructions(
    action_format: str,
    *,
    compat: str | None = None,
    is_verified: bool = False,
    asks_reason: bool = True,
) -> str:
    """Return the policy's instructions about the browser.

    Args:
        action_format: those that call functions are not taught WebArena's brackets.
        compat: `"agentgym"` for the original's objective and actions.
        is_verified: whether an answer may be JSON.
        asks_reason: whether N/A needs a reason, as on the embedded sites.
    """
    calls = action_format in CALL_FORMATS
    if compat is None:
        text = "\n\n".join([_BROWSER, _CALLS if calls else _GRAMMAR, _SITES])
    else:
        text = f"{_COMPAT_BROWSER}\n\n{_CALLS}" if calls else f"{_COMPAT_BROWSER} {_COMPAT_GRAMMAR}"
    text = text.replace("{impossible}", _WITH_REASON if asks_reason else _NOT_APPLICABLE)
    if is_verified:
        answer = '[["first", "second"]]'
        text += _VERIFIED_ANSWER.replace("{example}", answer if calls else f"stop {answer}")
    return text


class EpisodeText:
    """Writes the observations of one episode.

    Args:
        goal: the task's intent.
        view: the part of the page that is on the screen.
        action_format: of the environment.
    """

    def __init__(self, goal: str, view: View, action_format: str) -> None:
        self._goal = goal
        self._view = view
        self._action_format = action_format

    def first_observation(self, page: Page) -> str:
        """Write the goal and the first page."""
        return f"Goal: {one_line(self._goal)}\n\n{self.observation(page)}"

    def observation(self, page: Page) -> str:
        """Write tabs, address and the part of the page that is on the screen."""
        return page_text(page, self._view, self._action_format)

    def record(self, action: WebAction, plain: str, page: Page) -> None:
        """Record an action before it is carried out. These observations do not show it."""

    def refusal(self, reason: str, page: Page) -> str:
        """Answer an action that cannot be carried out."""
        return f"That did not work: {one_line(reason)}\n\n{self.observation(page)}"

    def unreadable(self, completion: str, reason: str, page: Page) -> str:
        """Answer a completion without an action."""
        return self.refusal(reason, page)


def tabs_line(page: Page) -> str:
    """List the tabs by index and title."""
    tabs = (
        f"[{index}] {clipped(title)!r}{' (current)' if index == page.current_tab else ''}"
        for index, title in enumerate(page.tabs)
    )
    return "Tabs: " + ", ".join(tabs)


def page_text(page: Page, view: View, action_format: str = "plain") -> str:
    """Write tabs, address and the part of the page that is on the screen."""
    screen = screen_lines(page, view, action_format)
    return "\n".join([tabs_line(page), f"URL: {clipped(one_line(page.url))}", *screen])
