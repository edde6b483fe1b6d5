"""The benchmark suites, as data: which tasks, how many of each subtask, and what pins them.

A suite is a tuple of panels, one per scenario. A panel's task ids come from its environment and
must have the pinned hash, so that today's number is about the same tasks as last year's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from agentgym_envs import TextEnv
from agentgym_envs.registry import short_env_name
from agentgym_envs.secrets import masked

EMBEDDED = "embedded"
"""The label of panels that play data of our own in place of the paper's."""


@dataclass(frozen=True)
class PaperScore:
    """Overall success of the paper's agents on a panel, percent (arXiv 2509.08755, tables 1 to 5).

    Attributes:
        base: Qwen2.5-7B without training.
        fixed: AgentGym-RL-7B.
        staged: ScalingInter-7B.
        max_turns: the turn limit of its evaluation.
        tasks: one sentence on how our tasks are related to the paper's.
    """

    base: float
    fixed: float
    staged: float
    max_turns: int
    tasks: str


@dataclass(frozen=True)
class Panel:
    """The part of a suite that one scenario plays.

    Attributes:
        env_id: the environment.
        split: the split or panel of the environment that the tasks are from.
        sizes: tasks of each subtask, in the table's order.
        digest: SHA-256 of the task ids, `task_digest`.
        every: take every so many tasks of each subtask; 1 takes all.
        label: empty where the tasks are the paper's kind of data, else `EMBEDDED`.
        paper: the paper's scores on as many tasks, for panels without a label.
    """

    env_id: str
    split: str
    sizes: Mapping[str, int]
    digest: str
    every: int = 1
    label: str = ""
    paper: PaperScore | None = None

    @property
    def scenario(self) -> str:
        """The environment's short name."""
        return short_env_name(self.env_id)

    def tasks(self, env_kwargs: Mapping[str, Any] | None = None) -> dict[str, tuple[str, ...]]:
        """Return the task ids of each subtask.

        Args:
            env_kwargs: what the environment is made with, in place of its defaults.

        Raises:
            ValueError: the environment's tasks are not the pinned ones, or with `env_kwargs` they
                are other data under the same ids.
        """
        ids_by_subtask = self._task_ids(env_kwargs or {})
        digest = task_digest(ids_by_subtask)
        if digest != self.digest:
            sizes = {subtask: len(ids) for subtask, ids in ids_by_subtask.items()}
            raise ValueError(
                f"the tasks of {self.env_id}, split {self.split!r}, are not the pinned ones: "
                f"digest {digest}, expected {self.digest}; sizes {sizes}, expected "
                f"{dict(self.sizes)}. Results would not compare with earlier ones; if the change "
                "is meant, pin it anew in benchmarks/sweep/suites.py"
            )
        return {subtask: ids_by_subtask[subtask] for subtask in self.sizes}

    def _task_ids(self, env_kwargs: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        with closing(_made(self.env_id, env_kwargs)) as env:
            if env_kwargs:
                self._check_source(env.source, env_kwargs)
            ids_by_subtask: dict[str, list[str]] = {}
            for task_id in env.task_ids(self.split):
                ids_by_subtask.setdefault(env.task_set.spec(task_id).subtask, []).append(task_id)
        return {subtask: tuple(ids[:: self.every]) for subtask, ids in ids_by_subtask.items()}

    def _check_source(self, source: str, env_kwargs: Mapping[str, Any]) -> None:
        # Other data may well have tasks of the same numbers, so that the ids alone do not tell.
        with closing(_made(self.env_id, {})) as env:
            pinned = env.source
        if source != pinned:
            raise ValueError(
                f"with env_kwargs {masked(env_kwargs, in_kwargs=True)}, {self.env_id} plays "
                f"{source!r}, but the suite's panel is {pinned!r}; allowed are arguments "
                "that keep the panel's data, such as compat. Other data are measured with: "
                f"agentgym eval --env {self.scenario} --env-kwargs ..."
            )


@dataclass(frozen=True)
class Suite:
    """A named set of panels.

    Attributes:
        name: on the command line.
        description: one line.
        panels: one per scenario.
    """

    name: str
    description: str
    panels: tuple[Panel, ...]


def task_digest(tasks: Mapping[str, Sequence[str]]) -> str:
    """Return the first 16 hex digits of the SHA-256 of task ids, subtask by subtask."""
    lines = [f"{subtask}\t{task_id}" for subtask in sorted(tasks) for task_id in tasks[subtask]]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _made(env_id: str, kwargs: Mapping[str, Any]) -> TextEnv:
    try:
        env: gym.Env[Any, Any] = gym.make(env_id, disable_env_checker=True, **kwargs)
    except TypeError as error:  # what Gymnasium makes of an argument that nobody takes
        raise ValueError(
            f"env_kwargs must fit every environment of the suite, got "
            f"{masked(kwargs, in_kwargs=True)}: {error}"
        ) from error
    assert isinstance(env.unwrapped, TextEnv)
    return env.unwrapped


WEBARENA = Panel(
    "agentgym/WebArena-v0",
    "paper_test",
    {"Shopping": 15, "CMS": 15, "Maps": 10, "GitLab": 5, "Reddit": 5},
    digest="4d8e7e184f7b8fb3",
    label=EMBEDDED,
)
SEARCHQA = Panel(
    "agentgym/SearchQA-v0",
    "paper_test",
    {
        "nq": 50, "triviaqa": 50, "popqa": 50, "hotpotqa": 50, "2wikimultihopqa": 50,
        "musique": 100, "bamboogle": 50,
    },
    digest="577b7e89365d90e0",
    label=EMBEDDED,
)  # fmt: skip
TEXTCRAFT = Panel(
    "agentgym/TextCraft-v0",
    "test",
    {"depth 1": 31, "depth 2": 41, "depth 3": 25, "depth 4": 3},
    digest="b5ffee9e1d35711a",
    paper=PaperScore(
        base=42.0,
        fixed=89.0,
        staged=91.0,
        max_turns=30,
        tasks="Goals and recipes are the original's, under ids of our own; the paper does not list "
        "its goals, so the panel has its sizes by depth and our choice of goals.",
    ),
)
BABYAI = Panel(
    "agentgym/BabyAI-v0",
    "test",
    {
        "GoTo": 55, "Pickup": 15, "ActionObjDoor": 5, "FindObjS7": 5, "OneRoomS20": 5,
        "SynthLoc": 5,
    },
    digest="39377b54fc618b54",
    paper=PaperScore(
        base=66.67,
        fixed=92.22,
        staged=96.67,
        max_turns=20,
        tasks="The paper does not list BabyAI's three Pickup levels, so the panel has its sizes "
        "and our choice of tasks.",
    ),
)  # fmt: skip
SCIWORLD = Panel(
    "agentgym/SciWorld-v0",
    "paper_test",
    {"Measure": 53, "Test-Conductivity": 83, "Find": 44, "Chem-Mix": 5, "Lifespan": 15},
    digest="2d425d72639b9bd8",
    paper=PaperScore(
        base=1.5,
        fixed=50.5,
        staged=57.0,
        max_turns=30,
        tasks="The paper does not list SciWorld's variations, so the panel has its sizes and our "
        "choice of tasks.",
    ),
)

PAPER_PANELS = (WEBARENA, SEARCHQA, TEXTCRAFT, BABYAI, SCIWORLD)

_QUICK: tuple[tuple[Panel, int, str], ...] = (
    (WEBARENA, 5, "af8cc0442115fc3f"),
    (SEARCHQA, 10, "bff353ffa25e02c7"),
    (TEXTCRAFT, 5, "aba11057f4722d30"),
    (BABYAI, 5, "3b13978e1fee11d5"),
    (SCIWORLD, 20, "2232ec8076bc7490"),
)


def _thinned(panel: Panel, every: int, digest: str) -> Panel:
    sizes = {subtask: -(-size // every) for subtask, size in panel.sizes.items()}
    return replace(panel, sizes=sizes, digest=digest, every=every, paper=None)


SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        Suite(
            "agentgym-rl-27",
            "the 27 subtasks of AgentGym-RL with the paper's panel sizes: 840 tasks",
            PAPER_PANELS,
        ),
        Suite(
            "quick",
            "a thin slice of every panel: minutes on a laptop",
            tuple(_thinned(*entry) for entry in _QUICK),
        ),
        *(
            Suite(panel.scenario.lower(), f"the paper's panel of {panel.scenario}", (panel,))
            for panel in PAPER_PANELS
        ),
    )
}
"""Every suite by name."""


def find_suite(name: str) -> Suite:
    """Return a suite.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; allowed: {', '.join(SUITES)}")
    return SUITES[name]
