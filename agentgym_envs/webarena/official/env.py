"""WebArenaOfficialEnv: WebArena's own tasks on a deployment of its sites, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.core.snapshots import Snapshot
from agentgym_envs.errors import NoExpert
from agentgym_envs.webarena import prompts
from agentgym_envs.webarena.browser_task import BrowserTaskEnv
from agentgym_envs.webarena.official import dataset
from agentgym_envs.webarena.official.accounts import Account
from agentgym_envs.webarena.official.deployment import ENVIRONMENT, OfficialDeployment, read_sites
from agentgym_envs.webarena.official.resetting import ResetHook
from agentgym_envs.webarena.sources import Source, TasksFile, read_source
from agentgym_envs.webarena.tasks.task_set import GivenTasks

EVALUATIONS = ("original", "verified")


class WebArenaOfficialEnv(BrowserTaskEnv):
    """The official WebArena: its tasks, by its numbers, on sites that you host.

    Args:
        sites: their addresses, `{"shopping": "http://...", ...}`, or `"environment"` for WebArena's
            environment variables. Tasks whose sites are not all there are left out.
        accounts: who the agent is there, `{site: Account}`, where not WebArena's own accounts; an
            account may be an object of its fields.
        log_in: `"form"`, or `"header"` where the sites are the images of `webarena-verified`.
        headers: further HTTP headers: `{site: {name: value}}`.
        services: origins that the sites' pages may ask beside the sites, such as a map's router
            and tiles; the browser reaches nothing else.
        reset_hook: puts the sites back: a function that is given the task before, or the address to
            post to, by site. It, `accounts` and `headers` may also be `"module:name"` or a `.json`
            file.
        reset: `"changed"` calls it if the task before may have changed a site, `"always"` before
            every task.
        evaluation: `"original"`, or `"verified"` for the tasks and evaluators of the package
            `webarena-verified`, which judge the recorded network traffic.
        tasks_file: other tasks in WebArena's own JSON form: a file, in the test split where a task
            names none, or `{split: file}`. None takes the official tasks.
        **kwargs: as `BrowserTaskEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: a package is missing; the message says what to install.
    """

    default_max_turns = 15
    """The paper's evaluation turns (arXiv 2509.08755)."""

    def __init__(
        self,
        *,
        sites: Mapping[str, str] | str = ENVIRONMENT,
        accounts: Mapping[str, Account | Mapping[str, str]] | str | None = None,
        log_in: str = "form",
        headers: Mapping[str, Mapping[str, str]] | str | None = None,
        services: Sequence[str] = (),
        reset_hook: ResetHook | Mapping[str, str] | str | None = None,
        reset: str = "changed",
        evaluation: str = "original",
        tasks_file: TasksFile | None = None,
        **kwargs: Any,
    ) -> None:
        if evaluation not in EVALUATIONS:
            raise ValueError(
                f"unknown evaluation {evaluation!r}; allowed: {', '.join(EVALUATIONS)}"
            )
        is_verified = evaluation == "verified"
        if is_verified and tasks_file is not None:
            raise ValueError("evaluation='verified' is for the official tasks: give no tasks_file=")
        deployment = OfficialDeployment(
            read_sites(sites),
            accounts=accounts,
            log_in=log_in,
            headers=headers,
            services=services,
            reset_hook=reset_hook,
            reset=reset,
            is_verified=is_verified,
        )
        if tasks_file is None:
            source = official_source(deployment.sites, is_verified=is_verified)
        else:
            sites_name = f"{len(deployment.sites)} sites of a deployment"
            source = read_source(tasks_file, sites_name=sites_name)
        super().__init__(deployment, source, **kwargs)
        self.instructions = prompts.instructions(
            self.action_format, compat=self.compat, is_verified=is_verified, asks_reason=False
        )

    def snapshot(self) -> Snapshot:
        """Raise ValueError: the sites would see the same actions twice."""
        raise ValueError(
            "an episode on official sites cannot be copied, because copying plays its actions "
            "again; use the embedded sites (agentgym/WebArena-v0)"
        )

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Raise NoExpert."""
        raise NoExpert("the embedded tasks alone have an expert")


def official_source(sites: Mapping[str, str], *, is_verified: bool = False) -> Source:
    """Return the official tasks whose sites are all among those of a deployment.

    Args:
        sites: its addresses.
        is_verified: take the tasks as `webarena-verified` words them.

    Raises:
        ValueError: there is none.
        ImportError: the official tasks are not installed.
    """
    tasks = dataset.verified_tasks() if is_verified else dataset.official_tasks()
    playable = [task for task in tasks if set(task.sites) <= set(sites)]
    if not playable:
        raise ValueError(f"no official task plays on {sorted(sites)} alone; name more sites")
    return Source(
        GivenTasks(playable, dataset.agentgym_panels()),
        dataset.source_name(is_verified=is_verified),
    )
