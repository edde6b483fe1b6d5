"""Defines `TextEnv`, the one base class of every scenario.

It chooses the task, reads the action out of a completion, keeps the turn limit and builds the info
dict and the five-tuple.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from gymnasium.error import ResetNeeded

from agentgym_envs.actions import (
    CALL_FORMATS,
    CUT_THOUGHT,
    NO_END,
    ActionParser,
    ActionVerb,
    make_parser,
    strip_thinking,
)
from agentgym_envs.actions.compat import StrippedTextParser
from agentgym_envs.arguments import checked_options, text_or_file, whole_number
from agentgym_envs.core.checks import (
    check_attributes,
    check_beginning,
    check_outcome,
    checked_extra_info,
)
from agentgym_envs.core.experts import ExpertMixin
from agentgym_envs.core.outcome import Outcome
from agentgym_envs.core.snapshots import SnapshotMixin
from agentgym_envs.core.spaces import FreeText
from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.core.text import shortened, with_turn_line
from agentgym_envs.errors import InvalidAction

COMPATIBILITIES: tuple[str | None, ...] = (None, "agentgym")


class TextEnv(SnapshotMixin, ExpertMixin, ABC):
    """A text environment: observations and actions are strings.

    A scenario sets the class attributes and writes `begin`, `apply` and, if it has an expert,
    `expert_moves`.

    Args:
        task_set: the scenario's task set.
        split: where `reset` draws from when it is given no task.
        action_format: `"plain"`, `"react"`, `"function_call"` or `"code"`.
        max_turns: steps after which an episode is truncated; None takes `default_max_turns`.
        compat: None, or `"agentgym"` for the original's text, rewards and flags, in the formats
            `"plain"` and `"react"`.
        tasks: draw only these: subtask names, depths or ids.
        render_mode: one of `metadata["render_modes"]`.
        system_prompt: stands for the environment's own instruction text, rules of the format
            included: a text, or the path of a file of it (a `Path`, or a line that ends in `.txt`
            or `.md`).
        turns_left: observations say in the last three turns which turn it is; None does so unless
            `compat` is set.
        max_observation: characters of the longest observation of a step; what is left out is
            counted. None takes `default_max_observation`, or no limit under `compat`.
        max_error: likewise where the action is not valid; never more than `max_observation`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        TypeError: the class lacks an attribute that a scenario must set.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    instructions: str
    """What the policy is told about the scenario, without the action format's rules."""

    verbs: tuple[ActionVerb, ...]
    """The actions there are; the formats `function_call` and `code` are made from them."""

    default_max_turns: int
    """Turns of an episode where `max_turns` is not given."""

    default_max_observation: int = 8_000
    """Characters of an observation, for `max_observation`."""

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The least and the greatest reward, of a turn and of an episode; under `compat` there may be
    others."""

    source: str
    """Names the data that the ids refer to, with a version."""

    original_parsers: ClassVar[Mapping[str, ActionParser]] = {"plain": StrippedTextParser()}
    """What reads completions under `compat="agentgym"`; formats left out are read as ever."""

    reset_options: ClassVar[tuple[str, ...]] = ("task_id", "horizon")
    """The keys that `reset(options=...)` takes."""

    def __init__(
        self,
        task_set: TaskSet,
        *,
        split: str = "train",
        action_format: str = "plain",
        max_turns: int | None = None,
        compat: str | None = None,
        tasks: Sequence[str | int] | None = None,
        render_mode: str | None = None,
        system_prompt: str | Path | None = None,
        turns_left: bool | None = None,
        max_observation: int | None = None,
        max_error: int = 2_000,
    ) -> None:
        check_attributes(self)
        if compat not in COMPATIBILITIES:
            raise ValueError(f"unknown compat {compat!r}; allowed: None, 'agentgym'")
        if max_turns is not None:
            max_turns = whole_number("max_turns", max_turns, least=1, besides=" or None")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(
                f"unknown render_mode {render_mode!r}; allowed: {self.metadata['render_modes']}"
            )
        if compat is not None and action_format in CALL_FORMATS:
            raise ValueError(
                f"compat={compat!r} reads action_format='plain' and 'react' as AgentGym does, got "
                f"{action_format!r}: its own function calls and code have other verbs, arguments "
                "and refusals. Take action_format='react', or leave compat out"
            )
        self.task_set = task_set
        self.split = split
        self.compat = compat
        self.action_format = action_format
        self.parser = make_parser(action_format, self.verbs)
        if self.is_agentgym_compat:
            self.parser = self.original_parsers.get(action_format, self.parser)
        self.max_turns = self.default_max_turns if max_turns is None else max_turns
        self.render_mode = render_mode
        self._system_prompt = (
            None if system_prompt is None else text_or_file("system_prompt", system_prompt)
        )
        self.turns_left = not self.is_agentgym_compat if turns_left is None else turns_left
        if max_observation is None and not self.is_agentgym_compat:
            max_observation = self.default_max_observation
        if max_observation is not None:
            max_observation = whole_number("max_observation", max_observation, least=100)
        self.max_observation = max_observation
        self.max_error = whole_number("max_error", max_error, least=100)
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._draws_from = task_set.select(split, tasks)
        self._over = True
        self._last: tuple[str | None, str] = (None, "")

    # What a scenario writes -------------------------------------------------------------------

    @abstractmethod
    def begin(self, task: TaskSpec) -> str:
        """Set the task up, set `self.goal`, and return the first observation."""

    @abstractmethod
    def apply(self, action: str) -> Outcome:
        """Play one plain action. Impossible actions are outcomes too, never exceptions."""

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return Outcome(str(error), info={"is_valid_action": False})

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now; None where they are not listed.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        _ = self.task
        return None

    def extra_info(self) -> Mapping[str, Any]:
        """Return the keys that the scenario adds to `info` at the reset and at each step.

        Of `INFO_KEYS` it may hold `score`, where an episode does not begin with 0.
        """
        return {}

    def choose_task(self, options: Mapping[str, Any]) -> TaskSpec:
        """Return the task that `options` name, or draw one."""
        task_id = options.get("task_id")
        if task_id is None:
            if not len(self._draws_from):
                why = self.task_set.explain_empty(self.split)
                raise ValueError(
                    f"split {self.split!r} holds no task to draw in {self.source!r}; make the "
                    f"environment with another split=, or name a task_id{why and f': {why}'}"
                )
            drawn = int(self.np_random.integers(len(self._draws_from)))
            task_id = int(self._draws_from[drawn])
        return self.task_set.spec(task_id)

    # What everybody calls ---------------------------------------------------------------------

    goal: str
    """The current task's goal, set by `begin`."""

    @property
    def system_prompt(self) -> str:
        """The instruction text, the action format's rules included, or what was given for it."""
        if self._system_prompt is not None:
            return self._system_prompt
        return f"{self.instructions.strip()}\n\n{self.parser.instructions}"

    @property
    def is_agentgym_compat(self) -> bool:
        """It plays as the original does, for `compat="agentgym"`."""
        return self.compat is not None

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

    @property
    def is_over(self) -> bool:
        """No episode is under way: it has ended, or there has been no reset yet."""
        return self._over

    @property
    def num_turns_left(self) -> int:
        """The turns that the episode may still have, by `max_turns` and the horizon."""
        return min(self.max_turns, self._horizon or self.max_turns) - self._turn

    def task_ids(self, split: str | None = None) -> list[str]:
        """List the task ids of a split; None means the environment's own."""
        return self.task_set.task_ids(self.split if split is None else split)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: reseeds `np_random`, which draws the task when none is named; it never changes
                what a task holds.
            options: `{"task_id": "<env>_<number>" | int}`, of any split; `{"horizon": turns}`
                truncates this episode after so many turns, where `max_turns` does not do so before;
                `info["horizon"]` repeats it.

        Raises:
            ValueError: `options` is no dict, an option or the task id is unknown, or the horizon is
                no number of turns.
        """
        super().reset(seed=seed)
        chosen = checked_options(options, self.reset_options)
        random_state = self.np_random.bit_generator.state
        horizon = chosen.get("horizon")
        if horizon is not None:
            horizon = whole_number("options['horizon']", horizon, least=1, besides=" or None")
        self._task = self.choose_task(chosen)
        self._begin_record(chosen, random_state)
        self._horizon = horizon
        self._turn = 0
        self._score = 0.0
        self._over = True  # stays so if `begin` raises
        try:
            observation = self.begin(self._task)
            check_beginning(observation, getattr(self, "goal", None), type(self).__name__)
        except Exception as error:
            error.add_note(f"raised where {self._task.task_id} begins")
            raise
        self._over = False
        observation = self._with_turn(observation)
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
            TypeError, ValueError: `action` is not a string, or the scenario's answer is not what an
                `Outcome` may hold.
        """
        if self._over:
            raise ResetNeeded("the episode is over; call reset() before step()")
        if not isinstance(action, str):
            raise TypeError(f"an action must be a str, got {type(action).__name__}: {action!r}")
        self._turn += 1
        self._actions.append(action)
        self._over = True  # stays so if `apply` raises: nobody knows then where the game stands
        try:
            try:
                plain = self._plain_action(action)
            except InvalidAction as error:
                outcome = self.reject(action, error)
            else:
                outcome = self.apply(plain)
            check_outcome(outcome, type(self).__name__)
        except Exception as error:
            error.add_note(f"raised in {self._task.task_id}, turn {self._turn}: {action[:200]!r}")
            raise
        truncated_by = None
        if outcome.truncated:
            truncated_by = "env_limit"
        elif not outcome.terminated:
            truncated_by = self._spent_limit()
        self._over = outcome.terminated or truncated_by is not None
        info = self._info(outcome.info, truncated_by=truncated_by)
        observation = self._shown(outcome.observation, is_valid=info["is_valid_action"])
        self._last = (action, observation)
        return (
            observation,
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

    def _plain_action(self, completion: str) -> str:
        """Return the plain action of a completion, as the original reads it under `compat`."""
        if not self.is_agentgym_compat:
            completion = strip_thinking(completion)
        if completion == CUT_THOUGHT:
            raise InvalidAction(NO_END)
        return self.parser.parse(completion)

    def _spent_limit(self) -> str | None:
        """Return the turn limit that this turn has reached."""
        if self._turn >= self.max_turns:
            return "max_turns"
        return "horizon" if self._horizon is not None and self._turn >= self._horizon else None

    def _shown(self, observation: str, *, is_valid: bool) -> str:
        limit = self.max_observation
        if limit is not None and not is_valid:
            limit = min(limit, self.max_error)
        return self._with_turn(shortened(observation, limit))

    def _with_turn(self, observation: str) -> str:
        if self._over or not self.turns_left:
            return observation
        limit = self._turn + self.num_turns_left
        return with_turn_line(observation, turn=self._turn + 1, limit=limit)

    def _info(self, extra: Mapping[str, Any], *, truncated_by: str | None) -> dict[str, Any]:
        success = bool(extra.get("success", False))
        info = {
            "task_id": self._task.task_id,
            "subtask": self._task.subtask,
            "split": self._task.split,
            "source": self.source,
            "goal": self.goal,
            "available_actions": self.available_actions(),
            "turn": self._turn,
            "truncated_by": truncated_by,
            "is_valid_action": True,
            **({} if self._horizon is None else {"horizon": self._horizon}),
            **extra,
            "score": float(extra.get("score", 1.0 if success else self._score)),
            "success": success,
            **checked_extra_info(self.extra_info(), type(self).__name__),
        }
        self._score = info["score"]
        return info
