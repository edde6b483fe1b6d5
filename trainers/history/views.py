"""A turn's view of its episode: the protocol, and the histories that show last turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentgym_envs.actions import strip_thinking
from agentgym_envs.core import CONVERSATION_KEY
from agentgym_envs.trajectories.trajectory import Trajectory


@dataclass(frozen=True)
class View:
    """The conversation before a turn, after the instruction.

    Attributes:
        observations: (n + 1) the user's messages; the policy answers the last one.
        turns: (n) the policy's turns in between, by their numbers in the episode; None is an empty
            one, in place of omitted turns, and a text is one that the policy did not write.
        instruction: stands for the episode's own, if it is not None.

    Raises:
        ValueError: there is not one observation more than there are turns.
    """

    observations: tuple[str, ...]
    turns: tuple[int | str | None, ...] = ()
    instruction: str | None = None

    def __post_init__(self) -> None:
        if len(self.observations) != len(self.turns) + 1:
            raise ValueError(
                f"a View holds one observation more than turns, got {len(self.observations)} "
                f"observations and {len(self.turns)} turns; the last observation is what the "
                "policy answers"
            )

    def system_prompt(self, episode: Trajectory) -> str:
        """Return the instruction that the turn reads."""
        return episode.system_prompt if self.instruction is None else self.instruction

    def completions(self, episode: Trajectory) -> list[str]:
        """Return the texts of `turns`, empty ones for those that are omitted."""
        turns = episode.turns
        return [
            turns[turn].completion if isinstance(turn, int) else turn or "" for turn in self.turns
        ]


@runtime_checkable
class History(Protocol):
    """Selects the part of the past that a turn sees. A class that derives from it writes `view`.

    One object serves all episodes, so its answers follow from its arguments alone.
    `--keep_last_turns` is passed to the class as `keep_last_turns`, if it is set.
    """

    def view(self, episode: Trajectory) -> View:
        """Return the next turn's view.

        Args:
            episode: the record so far, not to be changed: `turns` holds what was read and written,
                `final_observation` is to be answered.
        """
        raise NotImplementedError

    def instruction(self, system_prompt: str) -> str:
        """Return the system prompt, extended. Idempotent.

        Args:
            system_prompt: the environment's.
        """
        return system_prompt

    def action(self, completion: str) -> str:
        """Return the part of a completion that the environment reads."""
        return strip_thinking(completion)


@dataclass(frozen=True)
class LastTurns(History):
    """The task, which is the first observation, and the last turns.

    Attributes:
        keep_last_turns: how many; None shows all. An empty turn stands for those left out.
    """

    keep_last_turns: int | None = None

    def view(self, episode: Trajectory) -> View:
        """Return all turns, or the task and the last ones."""
        num_turns, keep = len(episode.turns), self.keep_last_turns
        observations = policy_observations(episode)
        if keep is None or num_turns <= keep:
            return View(tuple(observations), tuple(range(num_turns)))
        first = num_turns - keep
        return View((observations[0], *observations[first:]), (None, *range(first, num_turns)))


def policy_observations(episode: Trajectory) -> list[str]:
    """Return the policy's observations, one more than its turns."""
    return [*(turn.observation for turn in episode.turns), episode.final_observation]


def condensed(episode: Trajectory, text: str, *, first: int) -> View:
    """Return a view that begins with the task and a text in place of earlier turns.

    Args:
        episode: the record so far.
        text: stands between the task and the observation that follows.
        first: the first turn that is shown in full.
    """
    observations = policy_observations(episode)
    parts = [observations[0], text, *observations[first : first + 1] * (first > 0)]
    opening = "\n\n".join(part for part in parts if part)
    return View((opening, *observations[first + 1 :]), tuple(range(first, len(episode.turns))))


def next_view(history: History, episode: Trajectory) -> View:
    """Return the next turn's view of an episode, checked.

    Raises:
        TypeError: the history returned something else than a `View` of texts.
        ValueError: it shows a turn that was not played, or the environment shows a conversation of
            its own and the history is not the default.
    """
    conversation = episode.info.get(CONVERSATION_KEY)
    if conversation is not None:
        if history != LastTurns():
            raise ValueError(
                f"{episode.env_id} writes the whole conversation of each turn, got the history "
                f"{history!r:.80}; leave `history` and `keep_last_turns` out"
            )
        return View(
            tuple(conversation["observations"]),
            tuple(conversation["turns"]),
            conversation["instruction"],
        )
    view: Any = history.view(episode)
    name = type(history).__name__
    if not isinstance(view, View) or not all(isinstance(text, str) for text in view.observations):
        raise TypeError(
            f"{name}.view must return a trainers.View of texts, got {view!r:.200}; return "
            "View((text,)) for one message"
        )
    for turn in view.turns:
        if isinstance(turn, int) and not 0 <= turn < len(episode.turns):
            raise ValueError(
                f"{name}.view shows turn {turn} of an episode of {len(episode.turns)} turns; they "
                "are counted from 0, and None stands for omitted turns"
            )
    return view
