"""Advantages of episodes that branch from one another: turns that several of them share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean


def shared_turn_advantages(
    of_episode: Sequence[float], turns: Sequence[Sequence[Hashable]], counted: Sequence[bool]
) -> list[list[float]]:
    """Return each turn's advantage: ARPO's hard estimate (arXiv 2507.19849, section 3.2).

    A turn that d episodes share has A = (1 / d) sum_i A_i, the mean of their advantages, in each of
    them; a turn of one episode has that episode's A_i = (r_i - mean(r)) / std(r) of its group.

    Args:
        of_episode: (E,) group-relative advantages A_i.
        turns: for each episode what names its turns; a shared one has one name in all that hold it.
        counted: (E,) whether the episode has a reward; the others enter no mean.

    Returns:
        for each episode an advantage per turn; none for those that do not count.
    """
    holders: dict[Hashable, list[float]] = {}
    for advantage, names, counts in zip(of_episode, turns, counted, strict=True):
        for name in names if counts else ():
            holders.setdefault(name, []).append(advantage)
    return [
        [fmean(holders[name]) for name in names] if counts else []
        for names, counts in zip(turns, counted, strict=True)
    ]
