"""Whether RL can work from a policy's start: the numbers by subtask.

Pure functions of episodes, a group of them for each task. `trainers.evaluation.advice` says what
follows, and `agentgym headroom` plays them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, comb, inf, log2
from statistics import fmean

from agentgym_envs.registration.registry import distinct_names
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.evaluation.intervals import Estimate, mean_over_tasks
from trainers.evaluation.tally import TaskKey, pass_at_k, tally, task_key

SIZES = (4, 8, 16, 32)
"""Group sizes whose share of differing groups is estimated, beside that of training."""
TOTAL = "all"
"""The name of the row over all subtasks."""
TURN_LIMITS = ("horizon", "max_turns", "env_limit")
"""Each `truncated_by` that a number of turns causes."""


@dataclass(frozen=True)
class TurnQuantiles:
    """The median and the 90% quantile of turns. None lies beyond the turn limit."""

    median: int | None
    p90: int | None

    @classmethod
    def of(cls, turns: Iterable[float]) -> TurnQuantiles | None:
        """Return the smallest values that half, and 90%, do not exceed, or None without any."""
        ordered = sorted(turns)
        if not ordered:
            return None
        picked = [ordered[ceil(len(ordered) * share) - 1] for share in (0.5, 0.9)]
        return cls(*(None if value == inf else int(value) for value in picked))


@dataclass(frozen=True)
class Limits:
    """The limits of one environment's episodes. None is unknown, or has no bound.

    Attributes:
        horizon: turns of the episodes that were played.
        longest: turns of the horizon's last stage.
        max_turns: turns that the environment allows.
        actions_per_turn: actions of a turn, of which the expert writes one.
        max_tokens_per_turn: sampled tokens of a turn.
        max_tokens_per_episode: tokens of an episode.
    """

    horizon: int | None = None
    longest: int | None = None
    max_turns: int | None = None
    actions_per_turn: int = 1
    max_tokens_per_turn: int | None = None
    max_tokens_per_episode: int | None = None


@dataclass(frozen=True)
class HeadroomRow:
    """The numbers of one subtask, or of all. Shares are in 0..1.

    Attributes:
        n_tasks: tasks with two episodes or more.
        samples: the fewest episodes of a task. Larger groups are extrapolated.
        success: pass@1, with its 95% interval over tasks.
        pass_at_k: the share of groups with a success.
        differ: by group size, the share of groups whose returns differ.
        never: tasks without a success.
        always: tasks without a failure.
        num_successes: successful episodes.
        turns: theirs; None without one.
        expert: the expert's turns; None without an expert.
        out_of_reach: share of the tasks for which the expert needs more turns than the longest
            horizon; None without an expert or a horizon.
        enough_turns: twice the turns within which 90% of the successful episodes end, and of the
            expert's; None where that is unknown.
        idle_turns: share of the turns that were played after those.
        cut_by_turns: share of episodes that a turn limit ended.
        cut_by_tokens: share of episodes without room for another turn.
        cut_turns: share of turns that a token limit cut.
        invalid_actions: share of turns with an invalid action.
    """

    n_tasks: int
    samples: int
    success: Estimate
    pass_at_k: float
    differ: dict[int, float]
    never: int
    always: int
    num_successes: int
    turns: TurnQuantiles | None
    expert: TurnQuantiles | None
    out_of_reach: float | None
    enough_turns: int | None
    idle_turns: float
    cut_by_turns: float
    cut_by_tokens: float
    cut_turns: float
    invalid_actions: float


@dataclass(frozen=True)
class Headroom:
    """The numbers of one environment: of all its tasks, and by subtask."""

    num_generations: int
    limits: Limits
    total: HeadroomRow
    subtasks: dict[str, HeadroomRow]

    @property
    def differing(self) -> float:
        """The share of groups of the training's size whose returns differ."""
        return self.total.differ[self.num_generations]

    def __str__(self) -> str:
        rows = {TOTAL: self.total, **{f"  {name}": row for name, row in self.subtasks.items()}}
        groups = ["tasks", "success", f"pass@{self.num_generations}"]
        groups += [f"differ@{size}" for size in self.total.differ]
        play = ["turns", "expert", "beyond", "by turns", "by tokens", "cut turns", "invalid"]
        first = [["", *groups], *([name, *_groups(row)] for name, row in rows.items())]
        second = [["", *play], *([name, *_play(row)] for name, row in rows.items())]
        return "\n".join([*_aligned(first), "", *_aligned(second)])


def headroom(
    episodes: Sequence[Trajectory],
    *,
    num_generations: int,
    expert: Sequence[Trajectory] = (),
    limits: Mapping[str, Limits] | None = None,
) -> dict[str, Headroom]:
    """Return the headroom of a policy in each environment, by the environment's short name.

    Args:
        episodes: some of each task, under the settings of training. Groups differ by their
            returns, the sums of the environment's rewards.
        num_generations: the group size of training.
        expert: the expert's episodes of the same tasks, as far as it has any.
        limits: those of the episodes, by environment id.

    Raises:
        ValueError: no task has two episodes with a score.
    """
    numbers = Counter(task_key(one) for one in episodes if one.status != "failed")
    # The fewest of a task bound all estimates, so tasks that lost half of theirs are left out.
    least = max(1, max(numbers.values(), default=0) // 2)
    groups = [one for one in episodes if one.status != "failed" and numbers[task_key(one)] > least]
    if not groups:
        raise ValueError("no task has two episodes with a score, so there is nothing to compare")
    result = {}
    for env_id, name in distinct_names(list({one.env_id: None for one in groups})).items():
        own = [one for one in groups if one.env_id == env_id]
        bounds = (limits or {}).get(env_id, Limits())
        needed = _needed_turns(expert, bounds.actions_per_turn)
        subtasks = {
            subtask: _row(
                [one for one in own if one.subtask == subtask], num_generations, needed, bounds
            )
            for subtask in sorted({one.subtask for one in own})
        }
        total = _row(own, num_generations, needed, bounds)
        result[name] = Headroom(num_generations, bounds, total, subtasks)
    return result


def share_differing(counts: Iterable[int], size: int) -> float:
    """Estimate without bias the probability that the returns of a group differ.

    1 - sum C(c_v, k) / C(n, k), for c_v of n episodes with return v, as `pass_at_k` is for two.
    """
    counts = list(counts)
    return 1 - sum(comb(count, size) for count in counts) / comb(sum(counts), size)


def extrapolated(share: Callable[[int], float], samples: int, size: int) -> float:
    """Return a share of groups of `size` from those of at most `samples` episodes.

    Beyond the samples it is as if the rest fell as k^-b, as it does where few tasks have very small
    probabilities: the gain of each doubling of k is the same multiple of the last one's. A multiple
    above 1 counts as 1, so rare events are underestimated.
    """
    if size <= samples:
        return share(size)
    quarter, half, whole = (share(max(1, samples // part)) for part in (4, 2, 1))
    gain, before = whole - half, half - quarter
    multiple = min(1.0, gain / before) if before > 0 else 0.0
    doublings = log2(size / samples)
    if multiple < 1:
        doublings = (1 - multiple**doublings) / (1 - multiple)
    return min(1.0, whole + gain * multiple * doublings)


def _needed_turns(expert: Iterable[Trajectory], actions_per_turn: int) -> dict[TaskKey, float]:
    """Return the turns that the expert needs, by task. `inf` is more than the turn limit."""
    return {
        task_key(one): ceil(len(one.turns) / actions_per_turn) if one.success else inf
        for one in expert
        if one.success or one.truncated_by in TURN_LIMITS
    }


def _row(
    episodes: Sequence[Trajectory], size: int, needed: Mapping[TaskKey, float], limits: Limits
) -> HeadroomRow:
    total = tally(episodes)
    returns: dict[TaskKey, Counter[float]] = {}
    for one in episodes:  # rounded: sums of equal rewards differ in the last bit
        returns.setdefault(task_key(one), Counter())[round(one.episode_return, 6)] += 1
    rates = list(total.task_success.values())
    solved = [len(one.turns) for one in episodes if one.success]
    expert = [needed[task] for task in total.successes if task in needed]
    longest = limits.longest if expert else None
    turns = [len(one.turns) for one in episodes]
    own, guide = TurnQuantiles.of(solved), TurnQuantiles.of(expert)
    enough = _enough_turns(own, guide)

    def differing(k: int) -> float:
        return fmean(share_differing(counts.values(), k) for counts in returns.values())

    def passing(k: int) -> float:
        return fmean(pass_at_k(len(one), sum(one), k) for one in total.successes.values())

    return HeadroomRow(
        n_tasks=len(rates),
        samples=total.samples,
        success=mean_over_tasks(rates, episodes=len(episodes)),
        pass_at_k=extrapolated(passing, total.samples, size),
        differ={k: extrapolated(differing, total.samples, k) for k in sorted({*SIZES, size})},
        never=rates.count(0.0),
        always=rates.count(1.0),
        num_successes=len(solved),
        turns=own,
        expert=guide,
        out_of_reach=None if longest is None else _mean(turns > longest for turns in expert),
        enough_turns=enough,
        idle_turns=sum(max(0, number - (enough or inf)) for number in turns) / max(sum(turns), 1),
        cut_by_turns=_mean(one.truncated_by in TURN_LIMITS for one in episodes),
        cut_by_tokens=_mean(one.truncated_by == "token_budget" for one in episodes),
        cut_turns=total.cut_answers / max(total.turns, 1),
        invalid_actions=total.invalid / max(total.turns, 1),
    )


def _mean(facts: Iterable[bool]) -> float:
    return fmean(map(float, facts))


def _enough_turns(turns: TurnQuantiles | None, expert: TurnQuantiles | None) -> int | None:
    """Return twice the needed turns, beyond which gains saturate (arXiv 2510.01132)."""
    needed = [part.p90 for part in (turns, expert) if part is not None]
    known = [number for number in needed if number is not None]
    return 2 * max(known) if turns is not None and len(known) == len(needed) else None


# -- The table -------------------------------------------------------------------------------------


def shown(share: float) -> str:
    """Return a share as percent, with a decimal where it is small."""
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"


def _quantiles(turns: TurnQuantiles | None) -> str:
    if turns is None:
        return "-"
    return ", ".join("over" if part is None else str(part) for part in (turns.median, turns.p90))


def _groups(row: HeadroomRow) -> list[str]:
    """Return the first table's cells."""
    differ = ["~" * (k > row.samples) + shown(share) for k, share in row.differ.items()]
    success = f"{shown(row.success.value)} ({row.success.low:.0%} to {row.success.high:.0%})"
    return [str(row.n_tasks), success, shown(row.pass_at_k), *differ]


def _play(row: HeadroomRow) -> list[str]:
    """Return the second table's cells."""
    beyond = "-" if row.out_of_reach is None else shown(row.out_of_reach)
    shares = (row.cut_by_turns, row.cut_by_tokens, row.cut_turns, row.invalid_actions)
    return [_quantiles(row.turns), _quantiles(row.expert), beyond, *map(shown, shares)]


def _aligned(table: list[list[str]]) -> list[str]:
    """Return the lines of a table, whose first column is aligned to the left."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in table
    ]
