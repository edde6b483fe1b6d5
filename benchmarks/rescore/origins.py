"""Makes the environments of recorded episodes again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
from gymnasium.error import Error as GymnasiumError

import agentgym_envs  # noqa: F401  registers the ids
from agentgym_envs import EnvFailure, UnknownTask, registered_ids
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.recorded import env_kwargs_of
from trainers.history.notes import Notes
from trainers.options.values import kwargs_for, value_for
from trainers.rollout.environments import EnvFactory

_NOTES = Notes()
BY_POLICY = ("token_budget", "refused", "no_action")
"""The causes of truncation that are the policy's, which had read an observation then."""


class NotReplayable(Exception):
    """The episode cannot be played again, for the reason in the message."""


@dataclass(frozen=True)
class Origin:
    """The environment of an episode.

    Attributes:
        factory: makes it.
        horizon: the turn limit of the episode alone; None has none.
        own_history: a class of the user's reads the actions out of completions.
    """

    factory: EnvFactory
    horizon: int | None = None
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

    def of(self, episode: Trajectory, options: Mapping[str, Any]) -> Origin:
        """Return the origin of an episode, by its own record or by its run's `options`.

        Raises:
            NotReplayable: it cannot be replayed, or the environment has another prompt.
        """
        _check(episode)
        self._check_wrappers(options)
        factory = EnvFactory(episode.env_id, self._kwargs_of(episode, options), self._wrappers)
        own_history = ":" in str(value_for(options.get("history"), episode.env_id))
        try:
            probe: Any = self._probe(factory)
            prompt, env = probe.get_wrapper_attr("system_prompt"), probe.unwrapped
            if env.source == episode.source:
                env.task_set.spec(episode.task_id)
        except UnknownTask as error:
            raise NotReplayable(str(error)) from error
        except _REFUSALS as error:
            raise NotReplayable(f"{episode.env_id} cannot be made here: {error}") from error
        if env.source != episode.source:
            raise NotReplayable(f"it was played on {episode.source!r}, and here is {env.source!r}")
        if not _is_of_prompt(episode, prompt, own_history):
            raise NotReplayable(_NO_PROMPT)
        return Origin(factory, episode.horizon, own_history)

    def close(self) -> None:
        """Close the environments that were asked."""
        for probe in self._probes.values():
            if not isinstance(probe, Exception):
                probe.close()

    def _kwargs_of(self, episode: Trajectory, options: Mapping[str, Any]) -> dict[str, Any]:
        env_id, recorded = episode.env_id, episode.env_kwargs
        if recorded is None:
            try:
                recorded = env_kwargs_of(options, env_id)
            except (ValueError, TypeError, AttributeError) as error:
                raise NotReplayable(f"the record of its run cannot be read ({error})") from error
        return {**recorded, **kwargs_for(self._kwargs, env_id, [*registered_ids(), env_id])}

    def _check_wrappers(self, options: Mapping[str, Any]) -> None:
        """Refuse to import a recorded wrapper. The caller chooses the code that runs."""
        recorded = options.get("wrapper") or []
        if recorded and not self._wrappers:
            names = recorded if isinstance(recorded, list) else [recorded]
            words = " ".join(f"--wrapper {name}" for name in names)
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
    "the environment made here has another system prompt; pass the arguments that it was made with "
    "by --env-kwargs"
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


def _is_of_prompt(episode: Trajectory, prompt: str, own_history: bool) -> bool:
    """Return whether a policy makes the episode's system prompt of an environment's."""
    if own_history:
        return episode.system_prompt.startswith(prompt)
    return episode.system_prompt in (prompt, _NOTES.instruction(prompt))
