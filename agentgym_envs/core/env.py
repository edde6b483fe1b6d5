"""Defines `TextEnv`, the one base class of every scenario.

It chooses the task, reads the action out of a completion, keeps the turn limit and builds the info
dict and the five-tuple.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from gymnasium.error import ResetNeeded

from agentgym_envs.actions import (
    CALL_FORMATS,
    CUT_THOUGHT,
    NO_END,
    ActionParser,
    ActionVerb,
    make_parser,
    parse_several,
    strip_thinking,
)
from agentgym_envs.actions.compat import StrippedTextParser
from agentgym_envs.actions.verbs import unknown_action
from agentgym_envs.arguments import checked_options, text_or_file, whole_number
from agentgym_envs.core.checks import (
    check_attributes,
    check_beginning,
    check_extra_info,
    check_names,
    check_play,
    checked_actions_per_turn,
    checked_outcome,
    checked_task_set,
    name_taken,
    own_values,
)
from agentgym_envs.core.experts import ExpertMixin
from agentgym_envs.core.outcome import Outcome
from agentgym_envs.core.snapshots import SnapshotMixin
from agentgym_envs.core.spaces import FreeText
from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.core.text import append_turn_notice, truncate
from agentgym_envs.errors import InvalidAction
from agentgym_envs.machinery.secrets import masked

if TYPE_CHECKING:
    own_property = property
else:

    class own_property(property):
        """A property that a scenario cannot set."""

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __set__(self, env: Any, value: Any) -> None:
            raise AttributeError(name_taken(env, self.name))


COMPATIBILITIES: tuple[str | None, ...] = (None, "agentgym")


class TextEnv(SnapshotMixin, ExpertMixin, ABC):
    """A text environment: observations and actions are strings.

    A scenario sets the class attributes and writes `begin`, `play` or `apply`, and, if it has an
    expert, `expert_moves`.

    Args:
        task_set: the scenario's task set; None takes the class's own.
        split: where `reset` draws from when it is given no task.
        action_format: `"plain"`, `"react"`, `"function_call"` or `"code"`.
        actions_per_turn: the most actions that a completion may hold. They are played in their
            order up to one that is invalid or ends the episode, as one turn with the sum of their
            rewards.
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
    """The scenario's part of the system prompt, without the action format's rules."""

    task_set: TaskSet
    """The scenario's tasks, unless `__init__` is given them."""

    verbs: tuple[ActionVerb, ...]
    """The scenario's actions, from which the formats `function_call` and `code` are made.

    An action belongs to the first verb that reads it, in every format: the more specific of two
    comes first."""

    default_max_turns: int
    """Turns of an episode where `max_turns` is not given."""

    default_max_observation: int = 8_000
    """Characters of an observation, for `max_observation`."""

    reward_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The least and the greatest reward, of a turn and of an episode.

    Under `compat` there may be others.
    """

    shows_state: ClassVar[bool] = False
    """Whether an observation shows the whole state.

    A turn of several actions then shows the last one's alone."""

    source: str
    """Names the data that the ids refer to, with a version."""

    original_parsers: ClassVar[Mapping[str, ActionParser]] = {"plain": StrippedTextParser()}
    """Parsers of completions under `compat="agentgym"`, for the formats that differ there."""

    reset_options: ClassVar[tuple[str, ...]] = ("task_id", "horizon")
    """The keys that `reset(options=...)` takes."""

    def __init__(
        self,
        task_set: TaskSet | None = None,
        *,
        split: str = "train",
        action_format: str = "plain",
        actions_per_turn: int = 1,
        max_turns: int | None = None,
        compat: str | None = None,
        tasks: Sequence[str | int] | None = None,
        render_mode: str | None = None,
        system_prompt: str | Path | None = None,
        turns_left: bool | None = None,
        max_observation: int | None = None,
        max_error: int = 2_000,
    ) -> None:
        self.task_set = checked_task_set(self, task_set)
        check_attributes(self)
        check_play(self, TextEnv)
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
        self.split = split
        self.compat = compat
        self.action_format = action_format
        self.actions_per_turn = checked_actions_per_turn(
            self, actions_per_turn, lists_calls=action_format in CALL_FORMATS
        )
        self.parser = make_parser(action_format, self.verbs)
        if self.is_agentgym_compat:
            self.parser = self.original_parsers.get(action_format, self.parser)
        self.max_turns = self.default_max_turns if max_turns is None else max_turns
        self.render_mode = render_mode
        if system_prompt is not None:
            self._text_env.system_prompt = text_or_file("system_prompt", system_prompt)
        self.turns_left = not self.is_agentgym_compat if turns_left is None else turns_left
        if max_observation is None and not self.is_agentgym_compat:
            max_observation = self.default_max_observation
        if max_observation is not None:
            max_observation = whole_number("max_observation", max_observation, least=100)
        self.max_observation = max_observation
        self.max_error = whole_number("max_error", max_error, least=100)
        self.observation_space = FreeText()
        self.action_space = FreeText()
        self._text_env.draws_from = self.task_set.select(split, tasks)

    # What a scenario writes -------------------------------------------------------------------

    @abstractmethod
    def begin(self, task: TaskSpec) -> str:
        """Set the task up, set `self.goal`, and return the first observation."""

    def play(self, verb: str, *args: Any, **arguments: Any) -> Outcome:
        """Play one action. Impossible actions are outcomes too, never exceptions.

        Args:
            verb: the name of one of `verbs`.
            *args: none; a scenario names the arguments of its verbs.
            **arguments: those of the verb, in small letters and with single spaces; `integers` are
                ints, and `free_text` is as it was written.
        """
        raise NotImplementedError

    def apply(self, action: str) -> Outcome:
        """Play one plain action by `play`, or say which actions there are.

        A scenario that reads actions in its own way writes this in place of `play`.
        """
        for verb in self.verbs:
            arguments = verb.read(action)
            if arguments is not None:
                return self.play(verb.name, **arguments)
        return Outcome.invalid(unknown_action(action, self.verbs))

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return Outcome.invalid(str(error))

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now, or None where they are not listed.

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
        """Return the task that `options` name, or draw one.

        Raises:
            ValueError: the split has no task to draw.
            UnknownTask: there is no task of the given id.
        """
        task_id = options.get("task_id")
        if task_id is None:
            numbers = self._text_env.draws_from
            if not len(numbers):
                why = self.task_set.explain_empty(self.split)
                raise ValueError(
                    f"split {self.split!r} holds no task to draw in {self.source!r}; make the "
                    f"environment with another split=, or name a task_id{why and f': {why}'}"
                )
            task_id = int(numbers[int(self.np_random.integers(len(numbers)))])
        return self.task_set.spec(task_id)

    # What everybody calls ---------------------------------------------------------------------

    goal: str
    """The current task's goal, set by `begin`."""

    @own_property
    def system_prompt(self) -> str:
        """The instruction text with the action format's rules, or the text given in its place."""
        if self._text_env.system_prompt is not None:
            return self._text_env.system_prompt
        rules = self.parser.instructions
        if self.actions_per_turn > 1:
            how = _SEVERAL.get(self.action_format, "separated by semicolons")
            rules += (
                f"\nInstead of one action you may give up to {self.actions_per_turn}, {how}. They "
                "are played in their order, up to the first that is not possible."
            )
        return f"{self.instructions.strip()}\n\n{rules}"

    @own_property
    def is_agentgym_compat(self) -> bool:
        """It plays as the original does, for `compat="agentgym"`."""
        return self.compat is not None

    @own_property
    def env_id(self) -> str:
        """The id it was made by, or an empty text where it was constructed directly."""
        return "" if self.spec is None else self.spec.id

    @own_property
    def env_kwargs(self) -> dict[str, Any]:
        """The arguments of `gymnasium.make` that made it, as JSON values without secrets."""
        kwargs = self._text_env.make.keywords if self.spec is None else self.spec.kwargs
        shown: dict[str, Any] = masked(json.loads(json.dumps(kwargs, default=str)), in_kwargs=True)
        return shown

    @own_property
    def task(self) -> TaskSpec:
        """The current task.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        task = self._text_env.task
        if task is None:
            raise ResetNeeded("there is no task yet; call reset() first")
        return task

    @own_property
    def is_over(self) -> bool:
        """No episode is under way: it has ended, or there has been no reset yet."""
        return self._text_env.is_over

    @own_property
    def num_turns_left(self) -> int:
        """The turns that the episode may still have, by `max_turns` and the horizon."""
        state = self._text_env
        limit = self.max_turns
        if state.horizon is not None and state.horizon < limit:
            limit = state.horizon
        return limit - state.turn

    def task_ids(self, split: str | None = None) -> list[str]:
        """List the task ids of a split, by default the environment's own."""
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
        state, own = self._text_env, own_values(self)
        task = state.task = self.choose_task(chosen)
        state.options, state.random_state, state.horizon = dict(chosen), random_state, horizon
        state.actions, state.turn, state.score = [], 0, 0.0
        state.is_over = True  # stays so if `begin` raises
        try:
            observation = self.begin(task)
            check_names(self, own, _METHODS)
            check_beginning(self, observation)
        except Exception as error:
            error.add_note(f"raised where {task.task_id} begins")
            raise
        state.is_over = False
        observation = self.__with_turn(observation)
        state.last = (None, observation)
        return observation, self.__info({}, truncated_by=None)

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
        state = self._text_env
        if state.is_over:
            raise ResetNeeded("the episode is over or has not begun; call reset() before step()")
        if not isinstance(action, str):
            raise TypeError(f"an action must be a str, got {type(action).__name__}: {action!r}")
        state.actions.append(action)
        state.turn += 1
        state.is_over = True  # stays so if `apply` raises: nobody knows then where the game stands
        try:
            try:
                actions = self.__plain_actions(action)
            except InvalidAction as error:
                outcome, info = self.__checked(self.reject(action, error))
            else:
                if len(actions) == 1:
                    outcome, info = self.__checked(self.apply(actions[0]))
                else:
                    outcome, info = self.__play_turn(actions)
        except Exception as error:
            error.add_note(f"raised in {self.task.task_id}, turn {state.turn}: {action[:200]!r}")
            raise
        truncated_by = None
        if outcome.truncated:
            truncated_by = "env_limit"
        elif not outcome.terminated:
            truncated_by = self.__spent_limit()
        state.is_over = outcome.terminated or truncated_by is not None
        info = self.__info(info, truncated_by=truncated_by)
        observation = self.__with_turn(outcome.observation)
        state.last = (action, observation)
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
        action, observation = self._text_env.last
        return observation if action is None else f"> {action}\n{observation}"

    def __plain_actions(self, completion: str) -> list[str]:
        """Return a completion's plain actions, as the original reads them under `compat`."""
        if not self.is_agentgym_compat:
            completion = strip_thinking(completion)
        if completion == CUT_THOUGHT:
            raise InvalidAction(NO_END)
        if self.actions_per_turn == 1:
            return [self.parser.parse(completion)]
        return parse_several(self.parser, completion, self.verbs)

    def __play_turn(self, actions: Sequence[str]) -> tuple[Outcome, Mapping[str, Any]]:
        """Play several actions, up to one that is invalid or ends the episode, as one turn."""
        blocks: list[str] = []
        reward = 0.0
        for action in actions[: self.actions_per_turn]:
            outcome, info = self.__checked(self.apply(action))
            blocks.append(f"> {action}\n{outcome.observation}")
            reward += outcome.reward
            self._text_env.score = float(info.get("score", self._text_env.score))
            if outcome.terminated or outcome.truncated or not info.get("is_valid_action", True):
                break
        rest = "; ".join(actions[len(blocks) :])
        if self.shows_state:
            # The answer to an invalid action need not show the state that the others led to.
            del blocks[: -1 if info.get("is_valid_action", True) else -2]
        if rest and not outcome.terminated:
            blocks.append(f"Not played: {rest}")
        return outcome._replace(observation="\n".join(blocks), reward=reward), info

    def __checked(self, outcome: Outcome) -> tuple[Outcome, Mapping[str, Any]]:
        """Return an outcome with the observation cut to its limit, and its info."""
        method = "play" if type(self).apply is TextEnv.apply else "apply"
        info = checked_outcome(outcome, f"{type(self).__name__}.{method}")
        limit = self.max_observation
        if limit is not None and not info.get("is_valid_action", True):
            limit = min(limit, self.max_error)
        shown = truncate(outcome.observation, limit)
        return (
            outcome if shown is outcome.observation else outcome._replace(observation=shown)
        ), info

    def __spent_limit(self) -> str | None:
        """Return the turn limit that this turn has reached."""
        turn, horizon = self._text_env.turn, self._text_env.horizon
        if turn >= self.max_turns:
            return "max_turns"
        return "horizon" if horizon is not None and turn >= horizon else None

    def __with_turn(self, observation: str) -> str:
        state = self._text_env
        if state.is_over or not self.turns_left:
            return observation
        limit = state.turn + self.num_turns_left
        return append_turn_notice(observation, turn=state.turn + 1, limit=limit)

    def __info(self, extra: Mapping[str, Any], *, truncated_by: str | None) -> dict[str, Any]:
        state = self._text_env
        task = state.task
        assert task is not None
        success = bool(extra.get("success", False))
        info: dict[str, Any] = {
            "task_id": task.task_id,
            "subtask": task.subtask,
            "split": task.split,
            "source": self.source,
            "goal": self.goal,
            "available_actions": self.available_actions(),
            "turn": state.turn,
            "truncated_by": truncated_by,
            "is_valid_action": True,
            **extra,
            "score": float(extra.get("score", 1.0 if success else state.score)),
            "success": success,
        }
        if state.horizon is not None:
            info["horizon"] = state.horizon
        further = self.extra_info()
        if further != {}:
            check_extra_info(further, type(self).__name__)
            info.update(further)
        state.score = info["score"]
        return info


_SEVERAL = {
    "function_call": "one JSON object after the other",
    "code": "a call a line",
}
"""The form of several actions in one answer, for the formats that call functions."""

_METHODS = frozenset(name for name in dir(TextEnv) if callable(getattr(TextEnv, name)))
