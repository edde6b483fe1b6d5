"""Writes AgentGym's own WebArena protocol, for `compat="agentgym"`.

Known of it (its server at commit f9d2fc2b, its prompt and its message for a missing element): the
four-part observation, the first pair of backticks, an answer without one being told back with
reward 0, and reward and end at `stop` alone. Not known, and so not claimed: byte-equal trees, since
the original's come from sites that are not here; addresses, which it shows under made-up names of
its own; and its browser's own error messages, for which ours stand.
"""

from __future__ import annotations

from agentgym_envs.actions.verbs import clipped
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.view import View, one_line

_WITH_ELEMENT = ("click", "hover", "type", "select")


class OriginalText:
    """Writes one episode's observations in the original's words. Replaces `EpisodeText`.

    Args:
        goal: the task's intent.
        view: the part of the page that is on the screen.
        action_format: of the environment.
    """

    def __init__(self, goal: str, view: View, action_format: str) -> None:
        self._goal = goal
        self._view = view
        self._previous = "None"

    def first_observation(self, page: Page) -> str:
        """Write the first page."""
        return self.observation(page)

    def observation(self, page: Page) -> str:
        """Write the original's four parts."""
        return observation(page, self._view, self._goal, self._previous)

    def record(self, action: WebAction, plain: str, page: Page) -> None:
        """Take note of an action, which the next observation describes.

        Args:
            action: what is done.
            plain: as it was written.
            page: on which.
        """
        self._previous = _describe(action, clipped(one_line(plain.strip())), page)

    def refusal(self, reason: str, page: Page) -> str:
        """Answer an action that cannot be carried out with the page."""
        return self.observation(page)

    def unreadable(self, completion: str, reason: str, page: Page) -> str:
        """Answer a completion without an action."""
        return f"Cannot parse action from response {clipped(completion)}"


def observation(page: Page, view: View, objective: str, previous: str) -> str:
    """Write the original's four parts."""
    tabs = " | ".join(
        f"Tab {index}{' (current)' if index == page.current_tab else ''}: "
        f"{clipped(one_line(title))}"
        for index, title in enumerate(page.tabs)
    )
    tree = "\n".join(view.show(page).lines)
    return (
        f"OBSERVATION:\n{tabs}\n\n{tree}\nURL: {clipped(one_line(page.url))}\n"
        f"OBJECTIVE: {objective}\nPREVIOUS ACTION: {previous}"
    )


def _describe(action: WebAction, plain: str, page: Page) -> str:
    if action.kind not in _WITH_ELEMENT:
        return plain
    node = page.node(action.element)
    if node is None:
        return (
            f'Attempt to perfom "{action.kind}" on element "[{action.element}]" but no matching '
            "element found. Please check the observation more carefully."
        )
    return f"{plain} where [{action.element}] is {clipped(node.line().partition(' ')[2])}"
