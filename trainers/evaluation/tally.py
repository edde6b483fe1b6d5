"""Sums up the episodes of a policy, with uncertainty, for evaluations and reports.

Success (the goal was reached) and score (progress) are never mixed. Failed episodes, whose
machinery broke, are counted apart and enter nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import TypeVar

import numpy as np

from agentgym_envs.core import UNSCORED
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.evaluation.intervals import Estimate, mean_gain, mean_over_tasks, sign_flip_p

Key = TypeVar("Key")
TaskKey = tuple[str, str, str]
"""env_id, source and task_id: an id alone names other tasks elsewhere."""


@dataclass
class Tally:
    """The episodes of one policy on some tasks, summed up. Other counts are as in `EvalResult`.

    Attributes:
        successes: for each task, success of each episode that did not fail.
        scores: for each task, their scores.
        turns: of all episodes that did not fail, `invalid` ones included.
        tokens: sampled tokens.
        episodes: episodes that have a score.
        longest_cut: turns of the longest episode that a turn limit ended; 0 without one.
        seconds: durations of the episodes, failed ones too; 0 if unknown.
        cost: of the answers, those of failed episodes too; None if unknown.
    """

    successes: dict[TaskKey, list[bool]] = field(default_factory=dict)
    scores: dict[TaskKey, list[float]] = field(default_factory=dict)
    turns: int = 0
    invalid: int = 0
    tokens: int = 0
    episodes: int = 0
    failures: int = 0
    unscored: int = 0
    truncated: Counter[str] = field(default_factory=Counter)
    longest_cut: int = 0
    seconds: float = 0.0
    refusals: int = 0
    cut_answers: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    def add(self, episode: Trajectory, seconds: float = 0.0) -> None:
        """Count an episode and its duration in seconds."""
        self.seconds += seconds
        calls = [turn.call for turn in episode.turns if turn.call is not None]
        self.refusals += sum(call.is_refusal for call in calls)
        self.cut_answers += sum(turn.is_cut for turn in episode.turns)
        self.prompt_tokens += sum(call.prompt_tokens for call in calls)
        self.cached_tokens += sum(call.cached_tokens for call in calls)
        if episode.cost is not None:
            self.cost = (self.cost or 0.0) + episode.cost
        if episode.status == "failed":
            self.unscored += episode.error == UNSCORED
            self.failures += episode.error != UNSCORED
            return
        task = task_key(episode)
        self.successes.setdefault(task, []).append(episode.success)
        self.scores.setdefault(task, []).append(episode.score)
        self.turns += len(episode.turns)
        self.invalid += sum(not turn.is_valid_action for turn in episode.turns)
        self.tokens += sum(turn.num_tokens for turn in episode.turns)
        self.episodes += 1
        if episode.status == "truncated":
            self.truncated[str(episode.truncated_by)] += 1
        if episode.truncated_by == "max_turns":
            self.longest_cut = max(self.longest_cut, len(episode.turns))

    @property
    def num_played(self) -> int:
        """All episodes."""
        return self.episodes + self.failures + self.unscored

    @property
    def samples(self) -> int:
        """The fewest episodes of a task."""
        return min((len(outcomes) for outcomes in self.successes.values()), default=0)

    @property
    def task_success(self) -> dict[TaskKey, float]:
        """The share of successful episodes of each task."""
        return {task: float(np.mean(values)) for task, values in self.successes.items()}

    @property
    def task_score(self) -> dict[TaskKey, float]:
        """The mean score of each task."""
        return {task: float(np.mean(values)) for task, values in self.scores.items()}

    def success(self) -> Estimate | None:
        """Return avg@k, the mean over tasks of success in k episodes, or None without episodes.

        The interval is over tasks, for the episodes of one task are not independent.
        """
        if not self.successes:
            return None
        return mean_over_tasks(list(self.task_success.values()), episodes=self._tries(1))

    def score(self) -> Estimate | None:
        """Return the mean over tasks of the score, with its interval."""
        return mean_over_tasks(list(self.task_score.values())) if self.scores else None

    def pass_at(self, k: int) -> Estimate | None:
        """Return pass@k with its interval, or None if a task has fewer than k episodes."""
        return self._over_tries(pass_at_k, k)

    def pass_all(self, k: int) -> Estimate | None:
        """Return pass^k with its interval, or None if a task has fewer than k episodes."""
        return self._over_tries(pass_all_k, k)

    def _over_tries(self, estimate: Callable[[int, int, int], float], k: int) -> Estimate | None:
        """Return the mean over tasks of an estimate for tries of k episodes."""
        if not 1 <= k <= self.samples:
            return None
        shares = [estimate(len(out), sum(out), k) for out in self.successes.values()]
        return mean_over_tasks(shares, episodes=self._tries(k))

    def _tries(self, k: int) -> int:
        """Return how many tries of k episodes there are."""
        return sum(len(outcomes) // k for outcomes in self.successes.values())


def task_key(episode: Trajectory) -> TaskKey:
    """Return the key of an episode's task."""
    return episode.env_id, episode.source, episode.task_id


def tally(episodes: Iterable[Trajectory]) -> Tally:
    """Sum episodes up."""
    total = Tally()
    for episode in episodes:
        total.add(episode)
    return total


def pass_at_k(num_episodes: int, num_successes: int, k: int) -> float:
    """Estimate without bias that one of k episodes succeeds (arXiv 2107.03374, equation 1).

    1 - C(n - c, k) / C(n, k), for c successes in n episodes.

    Raises:
        ValueError: k is not in 1..n, or c is not in 0..n.
    """
    return 1.0 - pass_all_k(num_episodes, num_episodes - num_successes, k)


def pass_all_k(num_episodes: int, num_successes: int, k: int) -> float:
    """Estimate without bias that all of k episodes succeed (pass^k of arXiv 2406.12045).

    C(c, k) / C(n, k), for c successes in n episodes.

    Raises:
        ValueError: k is not in 1..n, or c is not in 0..n.
    """
    if not 1 <= k <= num_episodes or not 0 <= num_successes <= num_episodes:
        raise ValueError(
            f"expected 1 <= k <= n and 0 <= c <= n, got n={num_episodes}, c={num_successes}, k={k}"
        )
    return comb(num_successes, k) / comb(num_episodes, k)


@dataclass(frozen=True)
class Difference:
    """The paired difference of two policies.

    Attributes:
        gain: the mean difference of the success rates, with its interval.
        gains: that of each task.
    """

    gain: Estimate
    gains: tuple[float, ...]

    @property
    def n_tasks(self) -> int:
        """Tasks that both played."""
        return len(self.gains)

    @property
    def better(self) -> int:
        """Tasks with a gain."""
        return sum(gain > 0 for gain in self.gains)

    @property
    def worse(self) -> int:
        """Tasks with a loss."""
        return sum(gain < 0 for gain in self.gains)


def p_of(parts: Sequence[Difference]) -> float:
    """Return the p value of the mean of some differences, each weighing alike.

    It is that of `sign_flip_p`, with the tasks of all.
    """
    return sign_flip_p([gain / part.n_tasks for part in parts for gain in part.gains])


def paired(first: Mapping[Key, float], second: Mapping[Key, float]) -> Difference | None:
    """Compare the success rates of two policies by task, or return None if they share no task."""
    shared = [task for task in first if task in second]
    if not shared:
        return None
    gains = tuple(first[task] - second[task] for task in shared)
    return Difference(mean_gain(gains), gains)
