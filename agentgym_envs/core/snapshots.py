"""Copies environments within an episode, by playing the episode so far again.

The same task and the same actions give the same states, so an episode is its task and its actions.
That holds for every environment, simulators in other processes included, and costs the time of the
turns that are played again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import gymnasium as gym

from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import EnvFailure


class Snapshot(NamedTuple):
    """An episode so far, which can be pickled.

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


@dataclass(slots=True)
class State:
    """The state of an environment that is `TextEnv`'s own, whatever its scenario keeps.

    Attributes:
        make: makes another environment with the same arguments.
        draws_from: the numbers of the tasks that a reset draws from.
        system_prompt: what was given for the environment's own; None where nothing was.
        task: the current one; None before the first reset.
        options: of the last reset.
        random_state: of the environment's generator when it was reset, before a task was drawn.
        horizon: the turn limit of this episode alone.
        actions: the completions that were played.
        turn: how many.
        score: the last one.
        is_over: no episode is under way.
        last: the last completion, None after a reset, and the observation that answered it.
    """

    make: partial[Any]
    draws_from: Sequence[int] = ()
    system_prompt: str | None = None
    task: TaskSpec | None = None
    options: Mapping[str, Any] | None = None
    random_state: Mapping[str, Any] | None = None
    horizon: int | None = None
    actions: list[str] = field(default_factory=list)
    turn: int = 0
    score: float = 0.0
    is_over: bool = True
    last: tuple[str | None, str] = (None, "")


class SnapshotMixin(gym.Env[str, str]):
    """Remembers an environment's arguments and actions, and copies it by playing them again."""

    source: str
    _text_env: State

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the arguments."""
        env = super().__new__(cls)
        env._text_env = State(make=partial(cls, *args, **kwargs))
        return env

    def snapshot(self) -> Snapshot:
        """Return the episode so far, to go on from here in this or another environment.

        `copy.deepcopy(env)` and pickling do both at once.
        """
        state = self._text_env
        random_state = state.random_state
        if random_state is None:
            random_state = self.np_random.bit_generator.state
        return Snapshot(
            self.source, state.options, random_state, tuple(state.actions), state.last[1]
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go to where a snapshot was taken, past any wrappers, as `restore` does through them.

        Raises:
            ValueError: the snapshot is of other data.
            EnvFailure: the environment's machinery broke, or playing the same again differed.
        """
        restore(self, snapshot)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made: Self = _rebuild(self._text_env.make, self.spec, self.snapshot())
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._text_env.make, self.spec, self.snapshot())


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
        own = inner._text_env
        inner._text_env = State(own.make, own.draws_from, own.system_prompt)
        return
    env.reset(options=dict(snapshot.options))
    for action in snapshot.actions:
        env.step(action)
    observation = inner._text_env.last[1]
    if observation != snapshot.observation:
        raise EnvFailure(
            f"the same episode played again came to {observation!r:.200}, not to "
            f"{snapshot.observation!r:.200}; snapshots need the same arguments, and "
            "an environment that always answers the same actions in the same way"
        )


_Env = TypeVar("_Env", bound=SnapshotMixin)


def _rebuild(make: Callable[[], _Env], spec: Any, snapshot: Snapshot) -> _Env:
    env = make()
    env.spec = spec
    env.restore(snapshot)
    return env
