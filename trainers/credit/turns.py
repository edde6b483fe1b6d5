"""The turns of a batch as the methods that credit turns see them: states, rewards, measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import torch

from agentgym_envs.core.text import remove_turn_notice
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.credit.advantages import discounted_returns, members


@dataclass(frozen=True)
class TurnBatch:
    """The turns of the episodes that count, of all processes, episode after episode.

    Attributes:
        episodes: (M,) the index of each turn's episode among those of all processes.
        groups: (M,) the number of its task's group.
        environments: (M,) the number of its environment.
        states: (M,) a name of the state it was played in, group included.
        rewards: (M,) its reward.
        measures: (M,) a measure of the method's, such as its entropy; 0 by default.
    """

    episodes: list[int]
    groups: list[int]
    environments: list[int]
    states: list[Hashable]
    rewards: list[float]
    measures: list[float]

    @classmethod
    def from_trajectories(
        cls,
        trajectories: Sequence[Trajectory],
        rewards: Sequence[Sequence[float]],
        *,
        counted: Sequence[bool],
        first: int,
        group_size: int,
        gather: Callable[[list[Any]], list[Any]],
        environment: Sequence[int],
        anchor: str = "observation",
        similarity: float = 0.9,
        measures: Sequence[Sequence[float]] | None = None,
    ) -> TurnBatch:
        """Join the turns of all processes.

        Args:
            trajectories: the episodes of this process; a group's may lie in several.
            rewards: of each turn of them.
            counted: which of them have a reward; the others are in no state.
            first: the index of the first one among the episodes of all processes.
            group_size: episodes per task; the groups follow one another.
            gather: joins lists of the processes.
            environment: the number of each episode's environment, for those of all processes.
            anchor: equality of states: `"observation"`, what the turn read, `"valid"`, what was
                read behind the last valid action, as others change nothing and are all answered
                alike, `"history"`, all that was read up to there, or `"similar"`, observations that
                share most of their words.
            similarity: for `"similar"`, the least overlap in 0..1.
            measures: a number for each turn of them.
        """
        own: list[tuple[int, Hashable, float, float]] = []
        for index, trajectory in enumerate(trajectories):
            if not counted[index]:
                continue
            texts = _observations(trajectory, valid_alone=anchor == "valid")
            measured = [0.0] * len(texts) if measures is None else measures[index]
            states: Sequence[Hashable] = (
                texts if anchor == "similar" else [*_digests(texts, anchor)]
            )
            entries = zip(states, rewards[index], measured, strict=True)
            own += [(first + index, *entry) for entry in entries]
        joined = gather(own)
        episodes = [episode for episode, *_ in joined]
        groups = [episode // group_size for episode in episodes]
        named: list[Any] = [state for _, state, *_ in joined]
        if anchor == "similar":
            named = similar_states(named, groups, threshold=similarity)
        return cls(
            episodes,
            groups,
            [environment[episode] for episode in episodes],
            list(zip(groups, named, strict=True)),
            [reward for *_, reward, _ in joined],
            [measure for *_, measure in joined],
        )

    def by_episode(self) -> list[list[int]]:
        """Return the indices of each episode's turns, in order."""
        return members(self.episodes)

    @property
    def numbers(self) -> list[int]:
        """(M,) the number of each turn in its episode."""
        return [number for turns in self.by_episode() for number in range(len(turns))]

    def share_met_again(self) -> float:
        """Return the share of turns in whose state another turn of the group was too."""
        times = Counter(self.states)
        return sum(n for n in times.values() if n > 1) / max(len(self.states), 1)

    def returns(self, discount: float) -> list[float]:
        """(M,) the discounted rewards from each turn on."""
        return [
            value
            for turns in self.by_episode()
            for value in discounted_returns([self.rewards[index] for index in turns], discount)
        ]

    def scale_sets(self, scale: str, own: Sequence[Hashable]) -> Sequence[Hashable] | None:
        """Return names of the sets of turns over which `scale_rewards` takes the deviation.

        Args:
            scale: `"group"`, the turns that are compared with each other; `"batch"`;
                `"environment"`; or `"none"`.
            own: names of the turns that are compared with each other.
        """
        sets: dict[str, Sequence[Hashable] | None] = {
            "group": own,
            "batch": [0] * len(own),
            "environment": self.environments,
            "none": None,
        }
        return sets[scale]

    def local_values(self, values: Sequence[float], *, first: int, count: int) -> list[list[float]]:
        """Return the (M,) values of a process's `count` episodes, none for those left out."""
        by_index = {self.episodes[turns[0]]: turns for turns in self.by_episode()}
        return [
            [values[index] for index in by_index.get(episode, [])]
            for episode in range(first, first + count)
        ]


def mean_per_turn(
    values: torch.Tensor, turn: torch.Tensor, episode_of_row: torch.Tensor, num_episodes: int
) -> list[list[float]]:
    """Return the mean over each turn's sampled tokens.

    Args:
        values: (R, T).
        turn: (R, T) int64, each sampled token's turn within its episode, -1 elsewhere.
        episode_of_row: (R,) int64.
        num_episodes: E.

    Returns:
        for each of E episodes, a mean per turn; none for one without sampled tokens.
    """
    means: list[list[float]] = []
    for episode in range(num_episodes):
        rows = episode_of_row == episode
        turns_of_rows = turn[rows]
        sampled = turns_of_rows >= 0
        count = torch.bincount(turns_of_rows[sampled])
        total = torch.bincount(turns_of_rows[sampled], weights=values[rows][sampled].double())
        means.append((total / count.clamp(min=1)).tolist())
    return means


def _observations(trajectory: Trajectory, *, valid_alone: bool) -> list[str]:
    """Return the observation of each turn, with `valid_alone` that of the last valid action."""
    texts: list[str] = []
    is_valid = True
    for turn in trajectory.turns:
        keep = valid_alone and not is_valid
        texts.append(texts[-1] if keep else remove_turn_notice(turn.observation))
        is_valid = turn.is_valid_action
    return texts


def _digests(observations: Sequence[str], anchor: str) -> list[bytes]:
    """Name each turn's state by a digest, which is short enough to be sent around."""
    digests = []
    read = blake2b(digest_size=16)
    for observation in observations:
        if anchor != "history":
            read = blake2b(digest_size=16)
        read.update(observation.encode("utf-8", "surrogatepass") + b"\0")
        digests.append(read.digest())
    return digests


def similar_states(
    observations: Sequence[str], groups: Sequence[Hashable], *, threshold: float
) -> list[int]:
    """Name the cluster of each observation: GiGPO with similarity (verl-agent, August 2025).

    Each observation joins the first cluster of its group whose first member is as similar to it as
    `threshold` or more, and founds one otherwise. Deviation: similarity is the overlap of words as
    multisets, 2 |a & b| / (|a| + |b|), which takes time in proportion to the texts' lengths, where
    verl-agent aligns characters (difflib's ratio).

    Args:
        observations: what each turn read.
        groups: what names the group of each turn; clusters lie within one.
        threshold: in 0..1; 1 joins texts of the same words only.

    Returns:
        the number of each turn's cluster in its group.
    """
    founders: dict[Hashable, list[Counter[str]]] = {}
    known: dict[tuple[Hashable, str], int] = {}
    for group, text in zip(groups, observations, strict=True):
        if (group, text) in known:
            continue
        words, clusters = Counter(text.split()), founders.setdefault(group, [])
        alike = (n for n, other in enumerate(clusters) if overlap(words, other) >= threshold)
        known[group, text] = number = next(alike, len(clusters))
        if number == len(clusters):
            clusters.append(words)
    return [known[key] for key in zip(groups, observations, strict=True)]


def overlap(words: Counter[str], others: Counter[str]) -> float:
    """Return the share of words that two texts have in common, in 0..1. Empty ones have 1."""
    total = words.total() + others.total()
    return 2 * (words & others).total() / total if total else 1.0
