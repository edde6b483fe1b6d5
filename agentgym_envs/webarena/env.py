"""WebArenaEnv: do tasks in a web browser.

The web scenario of AgentGym on embedded sites, in process or in Chromium. The environment shows
pages, reads actions and has the end judged; browsers (`browsers/`) carry the actions out, sites
(`sites/`) answer, and tasks (`tasks/`) give goals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentgym_envs.webarena.official.accounts import Account
    from agentgym_envs.webarena.official.resetting import ResetHook

from agentgym_envs.errors import InvalidAction, NoExpert, needs_extra

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
from agentgym_envs.core.snapshots import Snapshot
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.webarena import expert, prompts
from agentgym_envs.webarena.backticks import BacktickParser
from agentgym_envs.webarena.compat import OriginalText
from agentgym_envs.webarena.evaluators import Judge, Verdict, build_evaluators
from agentgym_envs.webarena.floors import not_applicable
from agentgym_envs.webarena.given import read_judge
from agentgym_envs.webarena.judgement import Judgement, judge_episode
from agentgym_envs.webarena.places import (
    BACKENDS,
    EmbeddedPlace,
    Episode,
    Place,
    filled,
    open_start,
)
from agentgym_envs.webarena.sources import (
    TasksFile,
    check_evaluation,
    open_deployment,
    open_source,
    open_world,
)
from agentgym_envs.webarena.tasks.files import WebTask

OFFICIAL_MAX_TURNS = 15
"""The paper's evaluation turns (arXiv 2509.08755) on the official sites."""


class WebArenaEnv(TextEnv):
    """Web tasks on embedded sites.

    `info["url"]` is the current address, `info["answer"]` what `stop` said, and `info["verdict"]`
    says what was missing or too much, a line each, where the task is not done. `info["unscored"]`
    is True where the episode has ended and nobody can tell whether the task is done, because it
    needs a judge: such an episode is neither a success nor a failure. `info["judgements"]` holds
    what a judge was asked and said, a line of JSON each.

    Args:
        backend: `"text"`, in process, or `"chromium"`.
        tree: how a page is shown: `"short"`, the same in both backends, or `"webarena"`, WebArena's
            own accessibility tree; that needs `backend="chromium"`.
        viewport_lines: lines of a page's tree shown at once; None shows whole pages, `"window"`
            what Chromium's window shows, as WebArena counts it (with `tree="webarena"`).
        tasks_file: tasks in WebArena's own JSON form, to be played on the embedded sites: a file,
            in the test split where a task names none, or `{split: file}`. None takes the embedded
            tasks.
        sites_dir: a folder made by `python -m worlds sites`: embedded sites of other content, with
            tasks of their own.
        judge: compares the meaning of answers, for tasks that ask for it; no embedded one does. An
            object, `"module:function"` that makes it, a language model's arguments
            (`{"model": "NAME", "base_url": "http://localhost:8000/v1"}`, see `LLMJudge`), or a
            `.json` file of them.
        sites: addresses of a deployment of the official sites, `{"shopping": "http://...", ...}`,
            or `"environment"` for WebArena's environment variables. Needs `backend="chromium"`;
            the tasks are then WebArena's own, and `task_id` is its number.
        accounts: who the agent is there, `{site: Account}`, where not WebArena's own accounts; an
            account may be an object of its fields.
        log_in: `"form"`, or `"header"` where the sites are the images of `webarena-verified`.
        headers: further HTTP headers there: `{site: {name: value}}`.
        services: origins there that the sites' pages may ask beside the sites, such as a map's
            router and tiles; the browser reaches nothing else.
        reset_hook: puts the sites there back: a function that is given the task before, or the
            address to post to, by site. It, `accounts` and `headers` may also be `"module:name"` or
            a `.json` file.
        reset: `"changed"` calls it if the task before may have changed a site, `"always"` before
            every task.
        evaluation: `"original"`, or `"verified"` for the tasks and evaluators of the package
            `webarena-verified`, which judge the recorded network traffic. Needs `sites`.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: a package is missing; the message says what to install.
    """

    verbs = VERBS
    instructions = prompts.instructions("plain")
    default_max_turns = 30
    floors = {"not_applicable": not_applicable}

    def __init__(
        self,
        *,
        backend: str = "text",
        tree: str = "short",
        viewport_lines: int | str | None = 60,
        tasks_file: TasksFile | None = None,
        sites_dir: str | Path | None = None,
        judge: Judge | Mapping[str, Any] | str | None = None,
        sites: Mapping[str, str] | str | None = None,
        accounts: Mapping[str, Account | Mapping[str, str]] | str | None = None,
        log_in: str = "form",
        headers: Mapping[str, Mapping[str, str]] | str | None = None,
        services: Sequence[str] = (),
        reset_hook: ResetHook | Mapping[str, str] | str | None = None,
        reset: str = "changed",
        evaluation: str = "original",
        **kwargs: Any,
    ) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"unknown backend {backend!r}; allowed: {', '.join(BACKENDS)}")
        shown_tree, self._lines = check_view(tree, viewport_lines, backend)
        is_verified = check_evaluation(evaluation, sites, tasks_file)
        if backend == "chromium":
            modes = [*self.metadata["render_modes"], "rgb_array"]
            self.metadata = {**self.metadata, "render_modes": modes}
        deployment = open_deployment(
            sites,
            backend,
            tree=shown_tree,
            accounts=accounts,
            log_in=log_in,
            headers=headers,
            services=services,
            reset_hook=reset_hook,
            reset=reset,
            is_verified=is_verified,
        )
        if deployment is not None:
            self.default_max_turns = OFFICIAL_MAX_TURNS
        self._content = content = open_world(sites_dir, sites)
        origins = None if deployment is None else deployment.sites
        source = open_source(tasks_file, content, sites=origins, is_verified=is_verified)
        super().__init__(source.tasks, **kwargs)
        self.instructions = prompts.instructions(
            self.action_format,
            compat=self.compat,
            is_verified=is_verified,
            asks_reason=deployment is None,
        )
        self.source = source.name
        self.backend = backend
        self.tree = tree
        self.viewport_lines = viewport_lines
        self.judge = read_judge(judge)
        self._place: Place = deployment or EmbeddedPlace(backend, content, tree=shown_tree)
        self._web_tasks = source.tasks
        self._is_embedded = deployment is None
        self._episode: Episode | None = None
        if self.action_format == "react":
            self.parser = BacktickParser(() if self.is_agentgym_compat else self.verbs)

    def snapshot(self) -> Snapshot:
        """Return the episode so far.

        Raises:
            ValueError: it is played on official sites, which would see the same actions twice.
        """
        if not isinstance(self._place, EmbeddedPlace):
            raise ValueError(
                "an episode on official sites cannot be copied, because copying plays its actions "
                "again; use the embedded sites (sites=None)"
            )
        return super().snapshot()

    # Playing ----------------------------------------------------------------------------------

    def begin(self, task: TaskSpec) -> str:
        """Open the first page in a browser of its own."""
        self._close_episode()
        self._web_task = web_task = self._web_tasks.task(task.number)
        self._evaluators = build_evaluators(
            filled(self._place, web_task.eval), is_original=not self._is_embedded
        )
        self.goal = web_task.intent
        self._judgement = Judgement()
        self._view = View(self._lines)
        text = prompts.EpisodeText if self.compat is None else OriginalText
        self._text = text(self.goal, self._view, self.action_format)
        self._episode = self._place.begin(web_task)
        if self._episode.evaluator is not None:
            self._evaluators = (self._episode.evaluator,)
        open_start(self._place, self._episode, web_task)
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
        """Return the current address, the answer, and what became of it."""
        return {"url": self.browser.page().url, **self._judgement.info()}

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the task's recorded moves, and scroll to what they rest on and touch."""
        task = self.web_task
        if not self._is_embedded:
            raise NoExpert("the embedded tasks alone have an expert")
        if self.tree != "short":
            raise NoExpert(f"the expert reads tree='short', not {self.tree!r}")
        starts, moves = expert.read_record(self._content, task)
        return expert.play_record(starts, moves, self.browser.page, self._view)

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
        """What the evaluators said, with their reasons, once `stop` was played."""
        return self._judgement.verdict

    def render(self) -> Any:
        """Return the window as an array (height, width, 3) for `"rgb_array"`, else as `TextEnv`."""
        if self.render_mode != "rgb_array":
            return super().render()
        # Imported here: it exists where the Chromium backend does.
        from agentgym_envs.browsing.chromium.picture import window_pixels

        return window_pixels(self.browser)

    def close(self) -> None:
        """Release the browser and the sites; safe to call twice."""
        self._close_episode()
        super().close()

    # Inside -----------------------------------------------------------------------------------

    def _stop(self, answer: str) -> Outcome:
        assert self._episode is not None
        self._judgement = judge_episode(
            self._episode, self._evaluators, self.judge, intent=self.goal, answer=answer
        )
        return self._judgement.outcome()

    def _close_episode(self) -> None:
        if self._episode is not None:
            episode, self._episode = self._episode, None
            episode.close()
