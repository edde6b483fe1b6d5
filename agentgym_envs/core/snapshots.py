"""Copies environments in the middle of an episode, by playing the episode so far again.

The same task and the same actions give the same states, so an episode is its task and its actions.
That holds for every environment, simulators in other processes included, and costs the time of the
turns that are played again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import gymnasium as gym

from agentgym_envs.errors import EnvFailure


class Snapshot(NamedTuple):
    """An episode so far; it pickles.

    Attributes:
        source: the data that the task is from.
        options: of the reset; None before the first one.
        random_state: of the environment's generator when it was reset.
        actions: the completions that were played.
        observation: the last one, which playing them again must give.
    """

    source: str
    options: Mapping[str, Any] | None
    random_state: Mapping[str, Any]
    actions: tuple[str, ...]
    observation: str


class SnapshotMixin(gym.Env[str, str]):
    """Remembers what an environment was made with and what was played, and makes copies of it."""

    source: str
    _last: tuple[str | None, str]
    _make: Callable[[], Self]
    _options: Mapping[str, Any] | None
    _random_state: Mapping[str, Any] | None
    _actions: list[str]
    _over: bool

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember what it is made with."""
        env = super().__new__(cls)
        env._make = partial(cls, *args, **kwargs)
        env._options, env._random_state, env._actions = None, None, []
        return env

    def snapshot(self) -> Snapshot:
        """Return the episode so far, to go on from here in this or another environment.

        `copy.deepcopy(env)` and pickling do both at once.
        """
        state = self._random_state
        if state is None:
            state = self.np_random.bit_generator.state
        return Snapshot(self.source, self._options, state, tuple(self._actions), self._last[1])

    def restore(self, snapshot: Snapshot) -> None:
        """Go to where a snapshot was taken, past any wrappers, as `restore` does through them.

        Raises:
            ValueError: the snapshot is of other data.
            EnvFailure: the environment's machinery broke, or playing the same again differed.
        """
        restore(self, snapshot)

    def _forget_episode(self) -> None:
        """Be as before the first reset."""
        self._options, self._random_state, self._actions = None, None, []
        self._over = True

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return _rebuild(self._make, self.spec, self.snapshot())

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._make, self.spec, self.snapshot())

    def _begin_record(self, options: Mapping[str, Any], random_state: Mapping[str, Any]) -> None:
        """Forget the episode before; `random_state` is that before the task was drawn."""
        self._options, self._actions = dict(options), []
        self._random_state = random_state


def restore(env: gym.Env[str, str], snapshot: Snapshot) -> None:
    """Go to where a snapshot was taken by playing the episode again through all wrappers.

    So wrappers that count or record know of it, as they would not after
    `env.unwrapped.restore(snapshot)`.

    Args:
        env: an environment with the same arguments as the one that the snapshot is of.
        snapshot: of `env.unwrapped.snapshot()`.

    Raises:
        ValueError: the snapshot is of other data, or the environment takes none.
        EnvFailure: the environment's machinery broke, or playing the same again differed.
    """
    inner = env.unwrapped
    if not isinstance(inner, SnapshotMixin):
        raise ValueError(f"env must be a text environment, got {inner!r:.80}")
    if snapshot.source != inner.source:
        raise ValueError(
            f"the snapshot is of {snapshot.source!r}, and this environment plays "
            f"{inner.source!r}; restore it in an environment of the same data"
        )
    inner.np_random.bit_generator.state = dict(snapshot.random_state)
    if snapshot.options is None:  # of before the first reset
        inner._forget_episode()
        return
    env.reset(options=dict(snapshot.options))
    for action in snapshot.actions:
        env.step(action)
    if inner._last[1] != snapshot.observation:
        raise EnvFailure(
            f"the same episode played again came to {inner._last[1]!r:.200}, not to "
            f"{snapshot.observation!r:.200}; snapshots need the same arguments, and "
            "an environment that always answers the same actions in the same way"
        )


_Env = TypeVar("_Env", bound=SnapshotMixin)


def _rebuild(make: Callable[[], _Env], spec: Any, snapshot: Snapshot) -> _Env:
    env = make()
    env.spec = spec
    env.restore(snapshot)
    return env
