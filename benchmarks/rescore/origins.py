"""Finds the environments that may have played a recorded episode, and their turn limits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import gymnasium as gym
from gymnasium.error import Error as GymnasiumError

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs import EnvFailure, UnknownTask, registered_ids
from agentgym_envs.actions import ACTION_FORMATS, CALL_FORMATS
from agentgym_envs.core import COMPATIBILITIES
from agentgym_envs.core.text import LAST_TURNS, noticed_limit
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.recorded import env_kwargs_of
from trainers.history.notes import Notes
from trainers.options.values import kwargs_for, value_for
from trainers.rollout.environments import EnvFactory

_NOTES = Notes()
_SEVERAL = re.compile(r"you may give up to (\d+)")
"""The number of actions in a turn, as a system prompt says it."""
_LIMITS = ("max_turns", "horizon")
"""The causes of truncation that are numbers of turns."""
BY_POLICY = ("token_budget", "refused", "no_action")
"""The causes that are the policy's, which had read an observation without answering it."""


class NotReplayable(Exception):
    """The episode cannot be played again, for the reason in the message."""


@dataclass(frozen=True)
class Origin:
    """One way in which an episode may have been played.

    Attributes:
        factory: makes the environment.
        horizon: the turn limit of the episode alone; None has none.
        assumed_limit: a turn limit that no record names and the episode shows; None where it is
            the environment's own.
        own_history: a class of the user's reads the actions out of completions.
    """

    factory: EnvFactory
    horizon: int | None = None
    assumed_limit: int | None = None
    own_history: bool = False

    @property
    def key(self) -> str:
        """The same for origins with the same environment."""
        kwargs = json.dumps(self.factory.kwargs, sort_keys=True)
        return f"{self.factory.env_id} {kwargs} {self.factory.wrappers}"


class Origins:
    """Finds origins, with environments that are made once and asked for their prompts.

    Args:
        kwargs: the environments' arguments, also under an environment's name. They win over those
            of a record.
        wrappers: through which episodes were played, as `EnvFactory` takes them.
    """

    def __init__(self, kwargs: Mapping[str, Any], wrappers: Sequence[str] = ()) -> None:
        self._kwargs = dict(kwargs)
        self._wrappers = tuple(wrappers)
        self._probes: dict[str, gym.Env[str, str] | Exception] = {}

    def of(self, episode: Trajectory, options: Mapping[str, Any]) -> list[Origin]:
        """List the origins that give the episode's system prompt.

        What the run's `options` leave open is tried: formats of actions, and the original's mode.

        Raises:
            NotReplayable: there is none, or the episode cannot be replayed anywhere.
        """
        _check(episode)
        self._check_wrappers(options)
        kwargs, is_recorded = self._kwargs_of(episode, options)
        own_history = ":" in str(value_for(options.get("history"), episode.env_id))
        origins: list[Origin] = []
        reason = ""
        for candidate in _completed(kwargs, episode, is_recorded=is_recorded):
            factory = EnvFactory(episode.env_id, candidate, self._wrappers)
            try:
                probe: Any = self._probe(factory)
                prompt, env = probe.get_wrapper_attr("system_prompt"), probe.unwrapped
                if env.source == episode.source:
                    env.task_set.spec(episode.task_id)
            except UnknownTask as error:
                raise NotReplayable(str(error)) from error
            except _REFUSALS as error:
                reason = reason or f"{episode.env_id} cannot be made here: {error}"
                continue
            reason = _NO_PROMPT
            if env.source != episode.source:
                reason = f"it was played on {episode.source!r}, and here is {env.source!r}"
            elif _is_of_prompt(episode, prompt, own_history):
                limits = _Limits(
                    env.max_turns,
                    is_known=is_recorded or "max_turns" in kwargs,
                    has_horizon=not is_recorded or options.get("horizon") is not None,
                    has_notices=env.turns_left,
                )
                origins.append(limits.origin(episode, factory, own_history))
        if not origins:
            raise NotReplayable(reason)
        return origins

    def close(self) -> None:
        """Close the environments that were asked."""
        for probe in self._probes.values():
            if not isinstance(probe, Exception):
                probe.close()

    def _kwargs_of(
        self, episode: Trajectory, options: Mapping[str, Any]
    ) -> tuple[dict[str, Any], bool]:
        """Return the known arguments, and whether they are all that the environment was given."""
        env_id = episode.env_id
        try:
            recorded = env_kwargs_of(options, env_id)
        except (ValueError, TypeError, AttributeError) as error:
            raise NotReplayable(f"the record of its run cannot be read ({error})") from error
        given = kwargs_for(self._kwargs, env_id, [*registered_ids(), env_id])
        return {**recorded, **given}, "action_format" in recorded

    def _check_wrappers(self, options: Mapping[str, Any]) -> None:
        """Refuse to import a recorded wrapper. The caller chooses the code that runs."""
        recorded = options.get("wrapper") or []
        if recorded and not self._wrappers:
            words = " ".join(f"--wrapper {name}" for name in recorded)
            raise NotReplayable(f"it was played through wrappers; pass {words}")

    def _probe(self, factory: EnvFactory) -> gym.Env[str, str]:
        key = Origin(factory).key
        if key not in self._probes:
            try:
                self._probes[key] = factory()
            except _REFUSALS as error:  # kept, too: a server that is away is asked once
                self._probes[key] = error
        probe = self._probes[key]
        if isinstance(probe, Exception):
            raise probe
        return probe


_REFUSALS = (
    *(ValueError, TypeError, OSError, AttributeError),
    *(GymnasiumError, ImportError, EnvFailure),
)
"""The errors of an environment that cannot be made."""
_NO_PROMPT = (
    "no environment here gives its system prompt; pass the arguments that it was made with by "
    "--env-kwargs"
)


def _check(episode: Trajectory) -> None:
    """Raise `NotReplayable` for an episode that no environment can play again."""
    if episode.status == "failed":
        raise NotReplayable(f"it failed: {episode.error or 'its machinery broke'}")
    if not episode.env_id:
        raise NotReplayable("it names no environment")
    if episode.env_id not in gym.registry:
        raise NotReplayable(
            f"there is no {episode.env_id} here; one that a module of yours registers is named by "
            f"--env module:{episode.env_id}, one behind a server by --env openenv:URL"
        )
    if episode.judgements:
        raise NotReplayable("a judge has scored it, who may say something else today")
    if episode.turns and not any(turn.completion for turn in episode.turns):
        raise NotReplayable("its completions are not recorded")


def _completed(
    kwargs: Mapping[str, Any], episode: Trajectory, *, is_recorded: bool
) -> Iterator[dict[str, Any]]:
    """Yield arguments with all values of those that are unknown."""
    compats = COMPATIBILITIES if "compat" not in kwargs and not is_recorded else (None,)
    formats = ACTION_FORMATS if "action_format" not in kwargs else (kwargs["action_format"],)
    several = _SEVERAL.search(episode.system_prompt)
    for compat, action_format in product(compats, formats):
        values = {**kwargs, "action_format": action_format}
        if compat is not None:
            values["compat"] = compat
        if several and not is_recorded:
            values.setdefault("actions_per_turn", int(several[1]))
        is_played = action_format not in CALL_FORMATS and values.get("actions_per_turn", 1) == 1
        if compat is None or is_played:
            yield values


def _is_of_prompt(episode: Trajectory, prompt: str, own_history: bool) -> bool:
    """Return whether a policy makes the episode's system prompt of an environment's."""
    if own_history:
        return episode.system_prompt.startswith(prompt)
    return episode.system_prompt in (prompt, _NOTES.instruction(prompt))


@dataclass(frozen=True)
class _Limits:
    """The turn limit of an environment, and whether an episode may have had another one.

    Attributes:
        max_turns: the environment's.
        is_known: the episode's environment had the same.
        has_horizon: the episode may have had a shorter one.
        has_notices: observations say which of the last turns it is.
    """

    max_turns: int
    is_known: bool
    has_horizon: bool
    has_notices: bool

    def origin(self, episode: Trajectory, factory: EnvFactory, own_history: bool) -> Origin:
        """Return the origin with the limits that the episode shows.

        It shows one where it was truncated by it, and in the notices of the last turns. Where it
        shows none, any limit that is long enough plays the same.
        """
        turns, cause = len(episode.turns), episode.truncated_by
        limit, horizon = self._shown(episode), None
        max_turns = self.max_turns
        if self.has_horizon and (
            cause == "horizon" or (limit < max_turns and cause != "max_turns")
        ):
            horizon = limit
        if not self.is_known:
            if cause == "max_turns" or limit > max_turns:
                max_turns = limit
            if cause == "horizon":
                max_turns = max(max_turns, turns + 1)
        if cause == "time_limit" and not (
            factory.wrappers or "max_episode_steps" in factory.kwargs
        ):
            raise NotReplayable(
                "a time limit ended it; pass the number of turns by "
                "--env-kwargs '{\"max_episode_steps\": N}'"
            )
        is_own = horizon is None and max_turns == self.max_turns
        assumed = None if is_own or self.is_known else limit
        if max_turns != self.max_turns:
            kwargs = {**factory.kwargs, "max_turns": max_turns}
            factory = EnvFactory(factory.env, kwargs, factory.wrappers)
        return Origin(factory, horizon, assumed, own_history)

    def _shown(self, episode: Trajectory) -> int:
        """Return the turn limit that an episode shows, the environment's where it shows none."""
        if episode.truncated_by in _LIMITS:
            return max(1, len(episode.turns))
        read = [turn.observation for turn in episode.turns] + [episode.final_observation]
        noticed = [limit for limit in map(noticed_limit, read) if limit is not None]
        if noticed:
            return max(1, noticed[-1])
        if not self.has_notices:
            return max(self.max_turns, len(episode.turns))
        answered = len(episode.turns) + (episode.truncated_by in BY_POLICY)
        return max(self.max_turns, answered + LAST_TURNS)
