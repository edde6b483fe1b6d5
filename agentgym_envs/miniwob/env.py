"""MiniWoBEnv: the tasks of MiniWoB++ in Chromium, read and played as text.

The pages come from the `miniwob` package, which judges by scripts of its own; the browser, the tree
of a page and the grammar are WebArena's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentgym_envs.errors import EnvFailure, InvalidAction, NoExpert, needs_extra

with needs_extra("miniwob", "MiniWoB"):
    import playwright as _playwright  # noqa: F401
    import starlette as _starlette  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401

from gymnasium.error import ResetNeeded

from agentgym_envs.arguments import whole_number
from agentgym_envs.browsing.actions import DRAG, VERBS, parse_action
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.chromium.picture import window_pixels
from agentgym_envs.browsing.view import View, one_line, screen_lines
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.miniwob import expert, pages, prompts
from agentgym_envs.miniwob.baselines import first_named
from agentgym_envs.miniwob.tasks import MiniWoBTasks, success_threshold, task_seed

_ON_OTHER_PAGES = ("goto", "new_tab", "tab_focus", "close_tab", "go_back", "go_forward")
_VERBS = (*(verb for verb in VERBS if verb.name not in _ON_OTHER_PAGES), DRAG)
_KINDS = tuple(verb.name for verb in _VERBS)

WINDOW = (500, 320)
"""Width and height of the window: a task is 160 by 210, and a calendar may open below it."""

VIEWPORT_LINES = 80
_LAST_PAGE = "last"


class _Look(NamedTuple):
    """An episode's state: whether the page has ended it, and the reward it gave then."""

    done: bool
    raw: float


class MiniWoBEnv(TextEnv):
    """One small task on one page.

    `info["raw_reward"]` is the page's own reward, from -1 to 1 and without loss for the time taken;
    0 until the page has ended the episode. The reward is the same, but never below 0, and so is the
    score. An episode is a success where the raw reward reaches `info["success_threshold"]`: 1, or
    0.9 in the seven tasks that reward how close an answer is.

    Args:
        viewport_lines: lines of a page's tree shown at once; None shows whole pages.
        **kwargs: as `TextEnv`; there is no original to be compatible with.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: a package is missing; the message says what to install.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    task_set = MiniWoBTasks()
    verbs = _VERBS
    instructions = prompts.instructions("plain")
    default_max_turns = 10
    shows_state = True
    baselines = {"first_named": lambda env: first_named(env.goal, env.browser.page)}

    def __init__(self, *, viewport_lines: int | None = VIEWPORT_LINES, **kwargs: Any) -> None:
        if kwargs.get("compat") is not None:
            raise ValueError(f"MiniWoB has no compat, got {kwargs['compat']!r}; leave it out")
        if viewport_lines is not None:
            viewport_lines = whole_number(
                "viewport_lines", viewport_lines, least=1, besides=", or None for whole pages"
            )
        pages.pages_folder()
        super().__init__(**kwargs)
        self.instructions = prompts.instructions(self.action_format)
        self.source = f"miniwob/{pages.package_version()}"
        self.viewport_lines = viewport_lines
        self._browser: ChromiumBrowser | None = None
        self._raw_reward = 0.0

    def begin(self, task: TaskSpec) -> str:
        """Open the task's page in a browser of its own and start the page's episode.

        Raises:
            EnvFailure: the page did not start.
        """
        self._close_browser()
        self._raw_reward = 0.0
        self._view = View(self.viewport_lines)
        self._browser = ChromiumBrowser(answer=pages.answer, viewport=WINDOW)
        self._browser.open(pages.page_url(task.subtask), {})
        mode = "test" if task.split == "test" else "train"
        start = f"agentgym.start({task_seed(task.number)}, {json.dumps(mode)})"
        self.goal = self._browser.look_up(_LAST_PAGE, start)
        look = self._look()
        if not self.goal or look is None or look.done:
            raise EnvFailure(f"the page of {task.task_id} ({task.subtask}) did not start")
        return f"Goal: {one_line(self.goal)}\n\n{self._observation()}"

    def apply(self, action: str) -> Outcome:
        """Play one action: the browser's, `scroll` or `stop`."""
        try:
            done = parse_action(action, kinds=_KINDS, action_format=self.action_format)
            if done.kind == "stop":
                return Outcome(prompts.FAILED, terminated=True)
            if done.kind == "scroll":
                self._view.scroll(done.text, self.browser)
            else:
                self.browser.act(done)
        except InvalidAction as error:
            return self._answer(str(error))
        return self._answer()

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion without an action by showing the page again."""
        return self._answer(str(error))

    def extra_info(self) -> Mapping[str, Any]:
        """Return the page's own reward, and the one from which on an episode is a success."""
        threshold = success_threshold(self.task.subtask)
        return {"raw_reward": self._raw_reward, "success_threshold": threshold}

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from its beginning, for the few tasks with an expert.

        Raises:
            NoExpert: the task has none.
        """
        solve = expert.EXPERTS.get(self.task.subtask)
        if solve is None:
            raise NoExpert(
                f"{self.task.subtask} has no expert; these tasks have one: "
                f"{', '.join(sorted(expert.EXPERTS))}"
            )
        return solve(self.goal, lambda: self.browser.page())

    @property
    def browser(self) -> ChromiumBrowser:
        """The current episode's browser.

        Raises:
            ResetNeeded: there has been no reset yet, or the environment is closed.
        """
        if self._browser is None:
            raise ResetNeeded("there is no browser; call reset() first")
        return self._browser

    def render(self) -> Any:
        """Return the window as an array (height, width, 3) for `"rgb_array"`, else as `TextEnv`."""
        return window_pixels(self.browser) if self.render_mode == "rgb_array" else super().render()

    def close(self) -> None:
        """Release the browser, also if called twice."""
        self._close_browser()
        super().close()

    # Inside -----------------------------------------------------------------------------------

    def _answer(self, refusal: str = "") -> Outcome:
        """Return the page as it is now, and the end of the episode if the page ended it."""
        is_valid = not refusal
        look = self._look()
        if look is None:
            return Outcome(prompts.LEFT, terminated=True, is_valid=is_valid)
        if look.done:
            self._raw_reward = look.raw
            # Some pages add up parts of 1, which rounding leaves just below it.
            success = look.raw > success_threshold(self.task.subtask) - 1e-6
            message = prompts.SOLVED if success else prompts.FAILED
            reward = min(max(look.raw, 0.0), 1.0)
            return Outcome(
                message, reward, terminated=True, success=success, score=reward, is_valid=is_valid
            )
        message = self._observation()
        if refusal:
            message = f"That did not work: {one_line(refusal)}\n\n{message}"
        return Outcome(message, is_valid=is_valid)

    def _look(self) -> _Look | None:
        """Wait until the page stands still, or None where it is not the task's page any more."""
        text = self.browser.look_up(_LAST_PAGE, "agentgym.look()")
        if not text:
            self.browser.page()  # raises where the browser is broken
            return None
        look = json.loads(text)
        return _Look(bool(look["done"]), float(look["raw"] or 0.0)) if look["started"] else None

    def _observation(self) -> str:
        return "\n".join(screen_lines(self.browser.page(), self._view, self.action_format))

    def _close_browser(self) -> None:
        if self._browser is not None:
            browser, self._browser = self._browser, None
            browser.close()
