"""Advantages of episodes that branch from one another: turns that several of them share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean


def shared_turn_advantages(
    of_episode: Sequence[float],
    turns: Sequence[Sequence[Hashable]],
    counted: Sequence[bool],
    *,
    group_size: int,
) -> list[list[float]]:
    """Return each turn's advantage, after ARPO's hard estimate (arXiv 2507.19849, section 3.2).

    A turn that d of a group's n episodes share has A = (n - 1) / (n - d) * (1 / d) sum_i A_i in
    each of them, with A_i = (r_i - mean(r)) / std(r) of the group. Deviation: ARPO has no first
    factor. The mean of the group holds the d rewards that are compared with it, so without the
    factor a turn's expected gradient is (n - d) / (n - 1) of that of a turn in one episode: a half
    with two roots, and 0 where all share the turn. With it, r is compared with the mean of those
    that do not share the turn, as in RLOO, and all turns weigh alike.

    Args:
        of_episode: (E,) group-relative advantages A_i.
        turns: for each episode what names its turns; a shared one has one name in all that hold it.
        counted: (E,) whether the episode has a reward; the others enter no mean.
        group_size: episodes per group; the groups follow one another.

    Returns:
        for each episode an advantage per turn, 0 where all of a group share it; none for those
        that do not count.
    """
    holders: dict[Hashable, list[float]] = {}
    for advantage, names, counts in zip(of_episode, turns, counted, strict=True):
        for name in names if counts else ():
            holders.setdefault(name, []).append(advantage)
    shared: list[list[float]] = []
    for place, (names, counts) in enumerate(zip(turns, counted, strict=True)):
        first = place - place % group_size
        num = sum(counted[first : first + group_size])
        shared.append([_credit(holders[name], num) for name in names] if counts else [])
    return shared


def _credit(advantages: Sequence[float], num_counted: int) -> float:
    """Return the advantage of a turn from those of its holders, among so many of a group."""
    num_others = num_counted - len(advantages)
    return fmean(advantages) * (num_counted - 1) / num_others if num_others else 0.0
