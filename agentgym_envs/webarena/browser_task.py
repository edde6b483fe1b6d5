"""BrowserTaskEnv: a task in a web browser, on the embedded sites or on the official ones.

The environment shows pages, reads actions and has the end judged. Browsers carry actions out, a
deployment (`deployments.py`, `official/deployment.py`) opens the sites, and a source (`sources.py`)
has the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentgym_envs.errors import InvalidAction, needs_extra

with needs_extra("web", "WebArena"):
    import jinja2 as _jinja2  # noqa: F401
    import lxml as _lxml  # noqa: F401
    import python_multipart as _python_multipart  # noqa: F401
    import starlette as _starlette  # noqa: F401

from gymnasium.error import ResetNeeded

from agentgym_envs.browsing import Browser
from agentgym_envs.browsing.actions import VERBS, parse_action
from agentgym_envs.browsing.view import View, check_view
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.webarena import prompts
from agentgym_envs.webarena.backticks import BacktickParser
from agentgym_envs.webarena.compat import OriginalText
from agentgym_envs.webarena.deployments import Deployment, Episode, open_start
from agentgym_envs.webarena.evaluators import Judge, Verdict
from agentgym_envs.webarena.judgement import Judgement, judge_episode
from agentgym_envs.webarena.option_values import read_judge
from agentgym_envs.webarena.sources import Source
from agentgym_envs.webarena.tasks.files import WebTask


def not_applicable(env: TextEnv) -> Iterator[ExpertMove]:
    """Say at once that the task cannot be done, whatever it is, for the commonest reason."""
    del env
    yield ExpertMove("stop [N/A - there is no such thing: none was found]")


class BrowserTaskEnv(TextEnv):
    """A task in a web browser.

    `info["url"]` is the current address, `info["answer"]` what `stop` said, and `info["verdict"]`
    says what was missing or too much, a line each, where the task is not done. `info["unscored"]`
    is True where the episode has ended and nobody can tell whether the task is done, because it
    needs a judge: such an episode is neither a success nor a failure. `info["judgements"]` holds
    what a judge was asked and said, a line of JSON each.

    Args:
        deployment: the sites.
        source: the tasks.
        tree: how a page is shown: `"short"`, the same in all browsers, or `"webarena"`, WebArena's
            own accessibility tree; that needs Chromium.
        viewport_lines: lines of a page's tree shown at once; None shows whole pages, `"window"`
            what Chromium's window shows, as WebArena counts it (with `tree="webarena"`).
        judge: compares the meaning of answers, for tasks that ask for it; no embedded one does. An
            object, `"module:function"` that makes it, a language model's arguments
            (`{"model": "NAME", "base_url": "http://localhost:8000/v1"}`, see `LLMJudge`), or a
            `.json` file of them.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    verbs = VERBS
    instructions = prompts.instructions("plain")
    baselines = {"not_applicable": not_applicable}

    def __init__(
        self,
        deployment: Deployment,
        source: Source,
        *,
        tree: str = "short",
        viewport_lines: int | str | None = 60,
        judge: Judge | Mapping[str, Any] | str | None = None,
        **kwargs: Any,
    ) -> None:
        self._shown_tree, self._lines = check_view(tree, viewport_lines, deployment.backend)
        if deployment.backend == "chromium":
            modes = [*self.metadata["render_modes"], "rgb_array"]
            self.metadata = {**self.metadata, "render_modes": modes}
        super().__init__(source.tasks, **kwargs)
        self.source = source.name
        self.backend = deployment.backend
        self.tree = tree
        self.viewport_lines = viewport_lines
        self.judge = read_judge(judge)
        self._deployment = deployment
        self._web_tasks = source.tasks
        self._episode: Episode | None = None
        if self.action_format == "react":
            self.parser = BacktickParser(() if self.is_agentgym_compat else self.verbs)

    # Playing ----------------------------------------------------------------------------------

    def begin(self, task: TaskSpec) -> str:
        """Open the first page in a browser of its own."""
        self._close_episode()
        self._web_task = web_task = self._web_tasks.task(task.number)
        self.goal = web_task.intent
        self._judgement = Judgement()
        self._view = View(self._lines)
        text = prompts.EpisodeText if self.compat is None else OriginalText
        self._text = text(self.goal, self._view, self.action_format)
        self._episode = self._deployment.begin(web_task, self._shown_tree)
        open_start(self._deployment, self._episode, web_task)
        return self._text.first_observation(self.browser.page())

    def apply(self, action: str) -> Outcome:
        """Play one action: the browser's, `scroll` or `stop`."""
        before = self.browser.page()
        assert self._episode is not None
        try:
            done = parse_action(action, action_format=self.action_format)
            self._text.record(done, action, before)
            if done.kind == "stop":
                return self._stop(done.text)
            if done.kind == "scroll":
                self._view.scroll(done.text, self.browser)
            else:
                self._episode.act(done)
                self._view.follow(done, before, self.browser.page())
        except InvalidAction as error:
            refusal = self._text.refusal(str(error), self.browser.page())
            return Outcome.invalid(refusal)
        return Outcome(self._text.observation(self.browser.page()))

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion without an action."""
        message = self._text.unreadable(completion, str(error), self.browser.page())
        return Outcome.invalid(message)

    def extra_info(self) -> Mapping[str, Any]:
        """Return the current address, the answer and its verdict."""
        return {"url": self.browser.page().url, **self._judgement.info()}

    @property
    def browser(self) -> Browser:
        """The current episode's browser.

        Raises:
            ResetNeeded: there has been no reset yet, or the environment is closed.
        """
        if self._episode is None:
            raise ResetNeeded("there is no browser; call reset() first")
        return self._episode.browser

    @property
    def web_task(self) -> WebTask:
        """The current task in WebArena's form, its evaluators included.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        _ = self.task
        return self._web_task

    @property
    def verdict(self) -> Verdict | None:
        """The evaluators' verdict with its reasons, once `stop` was played."""
        return self._judgement.verdict

    def render(self) -> Any:
        """Return the window as an array (height, width, 3) for `"rgb_array"`, else as `TextEnv`."""
        if self.render_mode != "rgb_array":
            return super().render()
        # Imported here: it exists where the Chromium backend does.
        from agentgym_envs.browsing.chromium.picture import window_pixels

        return window_pixels(self.browser)

    def close(self) -> None:
        """Release the browser and the sites.

        A second call does nothing.
        """
        self._close_episode()
        super().close()

    # Inside -----------------------------------------------------------------------------------

    def _stop(self, answer: str) -> Outcome:
        assert self._episode is not None
        self._judgement = judge_episode(self._episode, self.judge, intent=self.goal, answer=answer)
        return self._judgement.outcome()

    def _close_episode(self) -> None:
        if self._episode is not None:
            episode, self._episode = self._episode, None
            episode.close()
