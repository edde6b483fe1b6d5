"""Opens the episodes' browsers and sites: the embedded sites, in process or in Chromium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from agentgym_envs.browsing import Browser, addresses
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.sites.content import SiteContent
from agentgym_envs.sites.names import DATABASES, SITES, fill_placeholders
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.state import SiteState, first_token
from agentgym_envs.webarena.evaluators import Evaluator, build_evaluators
from agentgym_envs.webarena.evaluators.verdict import SiteFunctions
from agentgym_envs.webarena.site_functions import EmbeddedFunctions
from agentgym_envs.webarena.tasks.files import WebTask

BACKENDS = ("text", "chromium")
SESSION_COOKIE = "session"
AND = " |AND| "
"""Stands between the addresses of a task that begins with several tabs."""


@dataclass
class Episode:
    """An episode's browser, evaluators and databases.

    Attributes:
        browser: not yet opened.
        cookies: to open it with: `{site: {name: value}}`.
        functions: the sites' part of the evaluators' helper functions.
        evaluators: judge the episode; none of a task in the making.
        state: the embedded sites' databases; None on other sites.
        folder: for the episode's files; it goes when the episode does.
        visited: the addresses of the pages that were shown, in order.
    """

    browser: Browser
    cookies: Mapping[str, Mapping[str, str]]
    functions: SiteFunctions
    evaluators: Sequence[Evaluator]
    state: SiteState | None = None
    folder: TemporaryDirectory[str] | None = None
    visited: list[str] = field(default_factory=list)

    def act(self, action: WebAction) -> None:
        """Carry out an action of the browser's, and note the page that it shows."""
        self.browser.act(action)
        self.visited.append(self.browser.page().url)

    def close(self) -> None:
        """Release everything."""
        self.browser.close()
        if self.state is not None:
            self.state.close()
        if self.folder is not None:
            self.folder.cleanup()


class Deployment(Protocol):
    """Sites, and a way to begin an episode on them.

    Attributes:
        backend: the browsers that show them, one of `BACKENDS`.
    """

    backend: str

    def fill(self, text: str) -> str:
        """Replace WebArena's placeholders by the sites' addresses."""

    def begin(self, task: WebTask, tree: str = "short") -> Episode:
        """Make ready for a task.

        Args:
            task: that is played.
            tree: how Chromium shows pages.

        Raises:
            EnvFailure: a site or the browser does not work.
            ValueError: the task needs a site that is not here, or its evaluators cannot be made.
        """


class EmbeddedDeployment:
    """The package's own sites. Every episode has its own copy.

    Args:
        backend: one of `BACKENDS`.
        content: what the sites hold when an episode begins.

    Raises:
        ValueError: there is no such backend.
    """

    def __init__(self, backend: str, content: SiteContent) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"unknown backend {backend!r}; allowed: {', '.join(BACKENDS)}")
        self.backend = backend
        self._content = content

    def fill(self, text: str) -> str:
        """Replace the placeholders by the canonical origins."""
        return fill_placeholders(text)

    def begin(self, task: WebTask, tree: str = "short") -> Episode:
        """Make ready: fresh databases, and a browser in which the agent is signed in."""
        evaluators = build_evaluators(fill_values(self, task.eval))
        episode = self.open(task, tree)
        episode.evaluators = evaluators
        return episode

    def open(self, task: WebTask, tree: str = "short") -> Episode:
        """Make ready for a task in the making, which has no evaluators yet.

        Raises:
            ValueError: the task needs a site that is not embedded.
        """
        missing = sorted(set(task.sites) - set(SITES))
        if missing:
            raise ValueError(
                f"the task webarena_{task.task_id} needs {missing}, which are not among the "
                f"embedded sites {list(SITES)}; leave it out, or host its sites and play it in "
                "agentgym/WebArenaOfficial-v0, which takes their addresses by sites="
            )
        sites = DATABASES if task.require_login else ()
        state = SiteState(signed_in=dict.fromkeys(sites, AGENT_ID), content=self._content)
        cookies = {site: {SESSION_COOKIE: first_token(site)} for site in sites}
        functions = EmbeddedFunctions(state)
        return Episode(self._browser(state, tree), cookies, functions, (), state)

    def _browser(self, state: SiteState, tree: str) -> Browser:
        # Imported here: each backend needs packages that the other does without.
        if self.backend == "chromium":
            from agentgym_envs.browsing.chromium.browser import ChromiumBrowser

            return ChromiumBrowser(state, tree=tree)
        from agentgym_envs.browsing.text.browser import TextBrowser

        return TextBrowser(state)


def fill_values(deployment: Deployment, value: Any) -> Any:
    """Replace the placeholders in all text of a JSON value."""
    if isinstance(value, str):
        return deployment.fill(value)
    if isinstance(value, Mapping):
        return {key: fill_values(deployment, inner) for key, inner in value.items()}
    return [fill_values(deployment, inner) for inner in value] if isinstance(value, list) else value


def start_urls(deployment: Deployment, task: WebTask) -> list[str]:
    """Return the addresses that a task begins with, each in a tab of its own.

    Raises:
        ValueError: one of them is no address.
    """
    urls = []
    for start in task.start_url.split(AND):
        url = addresses.normal(deployment.fill(start))
        if url is None:
            raise ValueError(
                f"the task webarena_{task.task_id} begins at {start!r:.200}, which is no address; "
                "start_url is an address that begins with http:// or a placeholder such as "
                f"__SHOPPING__, or several with {AND!r} between them"
            )
        urls.append(url)
    return urls


def open_start(deployment: Deployment, episode: Episode, task: WebTask) -> None:
    """Open the pages that a task begins with and show the first.

    Raises:
        ValueError: as `start_urls`.
    """
    first, *others = start_urls(deployment, task)
    episode.browser.open(first, episode.cookies, others)
    episode.visited.append(episode.browser.page().url)
