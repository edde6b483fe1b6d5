"""TextEnv: the one base class of every scenario.

Owns what all scenarios share: choosing a task, reading the action out of a completion, the turn
limit, the info dict and the five-tuple. Knows nothing of any game.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium as gym
from gymnasium.error import ResetNeeded

from agentgym_envs.actions import ActionVerb, make_parser
from agentgym_envs.errors import InvalidAction, NoExpert
from agentgym_envs.spaces import FreeText
from agentgym_envs.tasks import TaskSet, TaskSpec

COMPATIBILITIES: tuple[str | None, ...] = (None, "agentgym")

INFO_KEYS: tuple[str, ...] = (
    "task_id",  # str
    "subtask",  # str
    "split",  # str
    "source",  # str: the data behind the ids, with its version
    "goal",  # str
    "success",  # bool
    "score",  # float in 0..1: progress
    "is_valid_action",  # bool; True at reset
    "available_actions",  # list[str] | None
    "turn",  # int: steps taken in this episode
    "truncated_by",  # None | "env_limit" | "max_turns" | "horizon"
)
"""The keys that `info` always holds; a scenario may add its own."""

UNSCORED_KEY = "unscored"
"""A key that a scenario may add, bool: the episode is over, and nobody knows if it succeeded.

Whoever records episodes gives it the status `"failed"`, so that it counts neither as a success nor
as a failure.
"""

UNSCORED = "nobody could tell whether the task was done; it needs a judge"
"""The error of such a record."""


class Outcome(NamedTuple):
    """What `TextEnv.apply` returns: the scenario's answer to one action.

    Attributes:
        observation: what the policy reads next.
        reward: this step's reward.
        terminated: the game is over, won or lost.
        truncated: the simulator's own limit was met.
        info: values for `success`, `score`, `is_valid_action`, and keys of the scenario's own.
            Left out, `success` is False, `score` is 1.0 on success and else what it was, and
            `is_valid_action` is True.
    """

    observation: str
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    info: Mapping[str, Any] = {}


class ExpertMove(NamedTuple):
    """One move of an expert: a plain action, and why, in one or a few lines."""

    action: str
    thought: str = ""


class TextEnv(gym.Env[str, str], ABC):
    """A text environment: observations and actions are strings.

    A scenario sets the class attributes and writes `begin`, `apply` and, if it has an expert,
    `expert_moves`.

    Args:
        tasks_of: the scenario's task set.
        split: where `reset` draws from when it is given no task.
        action_format: `"plain"`, `"react"`, `"function_call"` or `"code"`.
        max_turns: steps after which an episode is truncated; None takes `default_max_turns`.
        compat: None, or `"agentgym"` for the original's text, rewards and flags.
        tasks: draw only these: subtask names, depths or ids.
        render_mode: one of `metadata["render_modes"]`.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    instructions: str
    """What the policy is told about the scenario, without the action format's rules."""

    verbs: tuple[ActionVerb, ...]
    """The actions there are; the formats `function_call` and `code` are made from them."""

    default_max_turns: int
    """The paper's evaluation turns (arXiv 2509.08755)."""

    source: str
    """Names the data that the ids refer to, with a version."""

    reset_options: ClassVar[tuple[str, ...]] = ("task_id",)
    """The keys that `reset(options=...)` takes."""

    def __init__(
        self,
        tasks_of: TaskSet,
        *,
        split: str = "train",
        action_format: str = "plain",
        max_turns: int | None = None,
        compat: str | None = None,
        tasks: Sequence[str | int] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if compat not in COMPATIBILITIES:
            raise ValueError(f"unknown compat {compat!r}; allowed: None, 'agentgym'")
        if max_turns is not None and max_turns < 1:
            raise ValueError(f"max_turns must be >= 1 or None, got {max_turns}")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"unknown render_mode {render_mode!r}; allowed: {self.metadata['render_modes']}"
            )
        self.tasks_of = tasks_of
        self.split = split
        self.compat = compat
        self.action_format = action_format
        self.parser = make_parser(action_format, self.verbs)
        self.max_turns = self.default_max_turns if max_turns is None else max_turns
        self.render_mode = render_mode
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._draws_from = tasks_of.select(split, tasks)
        self._over = True
        self._last: tuple[str | None, str] = (None, "")

    # What a scenario writes -------------------------------------------------------------------

    @abstractmethod
    def begin(self, task: TaskSpec) -> str:
        """Set the task up, set `self.goal`, and return the first observation."""

    @abstractmethod
    def apply(self, action: str) -> Outcome:
        """Play one plain action. Impossible actions are outcomes too, never exceptions."""

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state.

        Raises:
            NoExpert: the environment, or this task, has none.
        """
        raise NoExpert(f"{type(self).__name__} has no expert")

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return Outcome(str(error), info={"is_valid_action": False})

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now; None where they are not listed."""
        return None

    def choose_task(self, options: Mapping[str, Any]) -> TaskSpec:
        """Return the task that `options` name, or draw one."""
        task_id = options.get("task_id")
        if task_id is None:
            if not len(self._draws_from):
                raise ValueError(
                    f"split {self.split!r} holds no task to draw in {self.source!r}; make the "
                    "environment with another split=, or name a task_id"
                )
            drawn = int(self.np_random.integers(len(self._draws_from)))
            task_id = int(self._draws_from[drawn])
        return self.tasks_of.spec(task_id)

    # What everybody calls ---------------------------------------------------------------------

    goal: str
    """The current task's goal, set by `begin`."""

    @property
    def system_prompt(self) -> str:
        """The instruction text, the action format's rules included."""
        return f"{self.instructions.strip()}\n\n{self.parser.instructions}"

    @property
    def env_id(self) -> str:
        """The id it was made by; empty where it was constructed directly."""
        return "" if self.spec is None else self.spec.id

    @property
    def task(self) -> TaskSpec:
        """The current task.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        if not hasattr(self, "_task"):
            raise ResetNeeded("there is no task yet; call reset() first")
        return self._task

    def task_ids(self, split: str | None = None) -> list[str]:
        """List the task ids of a split; None means the environment's own."""
        return self.tasks_of.task_ids(self.split if split is None else split)

    def expert(self) -> Iterator[str]:
        """Iterate over actions in the env's own `action_format` that solve the current task.

        Valid from the current state; step the environment with each action before taking the next.
        """
        for move in self.expert_moves():
            yield self.parser.format(move.action, move.thought)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: reseeds `np_random`, which draws the task when none is named; it never changes
                what a task holds.
            options: `{"task_id": "<env>_<number>" | int}`; the id may be of any split.

        Raises:
            ValueError: an option or the task id is unknown.
        """
        super().reset(seed=seed)
        options = options or {}
        unknown = sorted(str(key) for key in set(options) - set(self.reset_options))
        if unknown:
            raise ValueError(
                f"unknown reset options {unknown}; allowed: {', '.join(self.reset_options)}"
            )
        self._task = self.choose_task(options)
        self._turn = 0
        self._score = 0.0
        self._over = True  # stays so if `begin` raises
        observation = self.begin(self._task)
        self._over = False
        self._last = (None, observation)
        return observation, self._info({}, truncated_by=None)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn.

        Args:
            action: a completion in the env's `action_format`; any string is taken.

        Returns:
            observation, reward, terminated, truncated, info. Malformed and impossible actions
            earn reward 0, `info["is_valid_action"] = False` and an observation that says why.

        Raises:
            ResetNeeded: the episode is over or has not begun.
            TypeError: `action` is not a string.
        """
        if self._over:
            raise ResetNeeded("the episode is over; call reset() before step()")
        if not isinstance(action, str):
            raise TypeError(f"an action must be a str, got {type(action).__name__}: {action!r}")
        self._turn += 1
        self._over = True  # stays so if `apply` raises: nobody knows then where the game stands
        try:
            plain = self.parser.parse(action)
        except InvalidAction as error:
            outcome = self.reject(action, error)
        else:
            outcome = self.apply(plain)
        truncated_by = None
        if outcome.truncated:
            truncated_by = "env_limit"
        elif self._turn >= self.max_turns and not outcome.terminated:
            truncated_by = "max_turns"
        self._over = outcome.terminated or truncated_by is not None
        self._last = (action, outcome.observation)
        info = self._info(outcome.info, truncated_by=truncated_by)
        return (
            outcome.observation,
            float(outcome.reward),
            outcome.terminated,
            truncated_by is not None,
            info,
        )

    def render(self) -> Any:
        """Return the last action and observation as text (`"ansi"`), or None without a mode."""
        if self.render_mode is None:
            return None
        action, observation = self._last
        return observation if action is None else f"> {action}\n{observation}"

    def _info(self, extra: Mapping[str, Any], *, truncated_by: str | None) -> dict[str, Any]:
        success = bool(extra.get("success", False))
        self._score = float(extra.get("score", 1.0 if success else self._score))
        return {
            "task_id": self._task.task_id,
            "subtask": self._task.subtask,
            "split": self._task.split,
            "source": self.source,
            "goal": self.goal,
            "available_actions": self.available_actions(),
            "turn": self._turn,
            "truncated_by": truncated_by,
            "is_valid_action": True,
            **extra,
            "score": self._score,
            "success": success,
        }
