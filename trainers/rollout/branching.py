"""Groups of episodes of which some branch from others, where the policy was least sure.

After ARPO (arXiv 2507.19849) and Tree-GRPO (arXiv 2509.21240): M episodes of a group, its roots,
are played from the start, and the others go on from a copy of a root's state in front of one of its
turns. Deviations:
1. A turn's entropy is estimated by the mean of -log p over its sampled tokens, whose expectation
   it is, so that any backend's samples do.
2. Roots are played to their end before any branch begins; their turns are ranked by entropy, and
   the b-th branch of a root begins at the b-th of them. ARPO branches with a probability that
   grows with the entropy's rise, Tree-GRPO at random. Branches do not branch again. Since the
   choice knows what the root did later, states that are branched from are not quite a sample of
   those that the policy comes to.
3. A copy is the task played again up to there, as `TextEnv.restore` does; the wrappers come along.

A turn that two episodes share is one `Turn` in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory

Play = Callable[..., list[Trajectory]]
"""Plays task ids, as `Rollout.run` does."""


@dataclass(frozen=True)
class Branch:
    """The start of an episode that goes on from another one's state.

    Attributes:
        root: the episode that it branches from.
        turn: the first turn that is its own.
    """

    root: Trajectory
    turn: int

    def begin(self, episode: Trajectory) -> None:
        """Write the shared turns into the record of a new episode."""
        episode.turns = self.root.turns[: self.turn]
        episode.traces = first_turns(self.root.traces, self.turn)
        episode.score = episode.turns[-1].score

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions that lead there."""
        return tuple(turn.action for turn in self.root.turns[: self.turn])

    @property
    def observation(self) -> str:
        """The observation that they must have led to."""
        return self.root.turns[self.turn].observation


def play_branched(
    play: Play,
    task_ids: Sequence[str],
    *,
    group_size: int,
    roots: int,
    stream: Sequence[int] = (),
    **options: Any,
) -> list[Trajectory]:
    """Play groups of episodes, some of which branch from others.

    M = `roots` episodes of each group are played from the start. A group whose roots all failed, or
    had one turn, has its other episodes played from the start too.

    Returns:
        One trajectory per task, in the order of the tasks; a group's roots come first.
    """
    starts = range(0, len(task_ids), group_size)
    first = play(
        [task_ids[start] for start in starts for _ in range(roots)], stream=stream, **options
    )
    branches = [
        branch
        for number in range(len(starts))
        for branch in choose_branches(
            first[number * roots : (number + 1) * roots], group_size - roots
        )
    ]
    others = play(
        [task_ids[start] for start in starts for _ in range(group_size - roots)],
        stream=(*stream, 1),
        branches={place: branch for place, branch in enumerate(branches) if branch is not None},
        **options,
    )
    size = group_size - roots
    return [
        episode
        for number in range(len(starts))
        for episode in (
            *first[number * roots : (number + 1) * roots],
            *others[number * size : (number + 1) * size],
        )
    ]


def choose_branches(roots: Sequence[Trajectory], count: int) -> list[Branch | None]:
    """Return the start of each of `count` episodes. None is the task's own.

    The roots take turns, and each gives its most uncertain turn first. The first turn is no branch,
    for that is another root.
    """
    ranked = []
    for root in roots:
        entropies = turn_entropies(root) if root.status != "failed" else []
        turns = sorted(range(1, len(entropies)), key=lambda turn: -entropies[turn])
        if turns:
            ranked.append((root, turns))
    if not ranked:
        return [None] * count
    chosen: list[Branch | None] = []
    for number in range(count):
        root, turns = ranked[number % len(ranked)]
        chosen.append(Branch(root, turns[number // len(ranked) % len(turns)]))
    return chosen


def turn_entropies(trajectory: Trajectory) -> list[float]:
    """Return an estimate of each turn's mean token entropy, in nats."""
    entropies: list[float] = []
    for trace in trajectory.traces:
        ends = trace.turn_ends()
        starts = [0, *ends[:-1]]
        for start, end in zip(starts, ends, strict=True):
            pairs = zip(trace.logprobs[start:end], trace.action_mask[start:end], strict=True)
            entropies.append(-fmean(logprob for logprob, sampled in pairs if sampled))
    return entropies


def first_turns(traces: Sequence[TokenTrace], num_turns: int) -> list[TokenTrace]:
    """Return copies of an episode's traces up to the end of a turn."""
    copies: list[TokenTrace] = []
    for trace in traces:
        ends = trace.turn_ends()[:num_turns]
        if not ends:
            break
        end = ends[-1]
        num_turns -= len(ends)
        copies.append(
            TokenTrace(
                list(trace.prompt_ids),
                trace.completion_ids[:end],
                trace.action_mask[:end],
                trace.logprobs[:end],
            )
        )
    return copies
