"""Preference pairs from episodes: the better against the worse one of the same task.

A pair shares its turns up to the first one in which the policy wrote something else after having
read the same; those are context.
"""

from __future__ import annotations

import logging
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from trainers.history.views import History
from trainers.options.errors import UsageError
from trainers.tokens.chat import ALL_TURNS, ChatFormat
from trainers.tokens.seeds import batch_seed

logger = logging.getLogger(__name__)

_WINDOWS, _LENGTH, _NO_TARGET = "several token windows", "too many tokens", "nothing to learn"
_EXCLUSIONS = (_WINDOWS, _LENGTH, _NO_TARGET)
"""Why a pair is no row."""


@dataclass(frozen=True)
class Pair:
    """Two episodes of one task, of which one is preferred.

    Attributes:
        chosen, rejected: the episodes.
        shared_turns: leading turns that both have in common; the next one is where they part.
        compared_turns: turns from there on that are compared; 0 compares all.
    """

    chosen: Trajectory
    rejected: Trajectory
    shared_turns: int
    compared_turns: int = 0


def preference_pairs(
    trajectories: Iterable[Trajectory],
    *,
    against: Iterable[Trajectory] | None = None,
    max_pairs_per_task: int = 4,
    min_return_gap: float = 0.01,
    compared_turns: int = 0,
    seed: int = 0,
) -> list[Pair]:
    """Pair episodes of the same task: success against failure, higher return against lower.

    Failed episodes never enter, and of equal ones only the first does. Two episodes make no pair
    where neither is better, where they read different things before their actions differ, or where
    one is the beginning of the other.

    Args:
        trajectories: the episodes.
        against: the episodes that are rejected; by default, each is compared with all the others.
        max_pairs_per_task: pairs drawn from those that a task has; 0 takes all.
        min_return_gap: returns that differ by less are a tie, where success is equal too.
        compared_turns: turns of each episode that are compared, from where they part; 0 takes all.
        seed: of the drawing; the draws for a task depend on its own episodes only.

    Returns:
        The pairs, in the order of the tasks' first episodes.

    Raises:
        ValueError: a bound is negative.
    """
    for name, bound in (
        ("max_pairs_per_task", max_pairs_per_task),
        ("min_return_gap", min_return_gap),
        ("compared_turns", compared_turns),
    ):
        if bound < 0:
            raise ValueError(f"{name} must be >= 0, got {bound}")
    preferred = _by_task(trajectories)
    others = preferred if against is None else _by_task(against)
    all_pairs: list[Pair] = []
    for key, candidates in preferred.items():
        pairs = [
            Pair(chosen, rejected, shared, compared_turns)
            for chosen in candidates
            for rejected in others.get(key, [])
            if _is_better(chosen, rejected, min_return_gap)
            and (shared := shared_turns(chosen, rejected)) is not None
        ]
        if max_pairs_per_task and len(pairs) > max_pairs_per_task:
            draws = np.random.default_rng(batch_seed(seed, [zlib.crc32(key[1].encode())]))
            picks = draws.choice(len(pairs), max_pairs_per_task, replace=False)
            pairs = [pairs[index] for index in sorted(picks)]
        all_pairs += pairs
    return all_pairs


def shared_turns(one: Trajectory, other: Trajectory) -> int | None:
    """Count the turns before the first one in which two episodes' actions differ.

    Returns:
        The count; None where nothing can be compared: they read different things first, or one
        ends before they differ.
    """
    if one.system_prompt != other.system_prompt:
        return None
    for index, (turn, twin) in enumerate(zip(one.turns, other.turns, strict=False)):
        if turn.observation != twin.observation:
            return None
        if turn.completion != twin.completion:
            return index
    return None


def pair_rows(
    pairs: Iterable[Pair],
    chat: ChatFormat,
    *,
    max_tokens: int | None = None,
    env_history: Callable[[str], History] = lambda env_id: ALL_TURNS,
) -> list[dict[str, Any]]:
    """Turn pairs into token rows, whose masks are 1 on the policy's tokens after they part.

    A row ends with its last such token: the following ones have no part in the loss.

    Recorded tokens are used if they are this chat format's; text is encoded otherwise. Pairs whose
    compared turns lie in several traces (`history`, a chat template that changes earlier turns) are
    left out: no one sequence holds them. `compared_turns=1` compares one turn alone.

    Args:
        pairs: the pairs.
        chat: the policy's chat format.
        max_tokens: leave out pairs with a longer sequence.
        env_history: returns an environment's history, for episodes that are encoded.

    Returns:
        `chosen_ids` (C,), `chosen_mask` (C,), `rejected_ids` (R,), `rejected_mask` (R,) and the
        `scenario` of each.

    Raises:
        ValueError: no pair is left.
    """
    rows: list[dict[str, Any]] = []
    excluded: Counter[str] = Counter()
    for pair in pairs:
        history = env_history(pair.chosen.env_id)
        traces = [chat.tokenize_trajectory(side, history) for side in (pair.chosen, pair.rejected)]
        row = _row(pair, traces, max_tokens)
        if isinstance(row, str):
            excluded[row] += 1
        else:
            rows.append(row)
    total = len(rows) + excluded.total()
    reasons = ", ".join(f"{excluded[why]} with {why}" for why in _EXCLUSIONS if excluded[why])
    if not total:
        raise UsageError(
            "there is no pair to learn from; a pair is two episodes of one task of which one did "
            "better, and which read the same up to where they part. Collect several per task, "
            "with the same budgets and environment options (observations tell the turn limit), of "
            "tasks that the policy solves sometimes"
        )
    if not rows:
        raise UsageError(
            f"there is no pair to learn from: {total} found, {reasons}; `max_length` bounds the "
            "tokens, and `compared_turns=1` compares one turn, which lies in one window"
        )
    if reasons:
        logger.warning("left out of %d pairs: %s", total, reasons)
    return rows


def _row(
    pair: Pair, traces: Sequence[Sequence[TokenTrace]], max_tokens: int | None
) -> dict[str, Any] | str:
    """Return a pair's row, or which of `_EXCLUSIONS` leaves it out."""
    chosen = _compared(pair.chosen, traces[0], pair)
    rejected = _compared(pair.rejected, traces[1], pair)
    if len(chosen) > 1 or len(rejected) > 1:
        return _WINDOWS
    if not (chosen and rejected):
        return _NO_TARGET
    (chosen_ids, chosen_mask), (rejected_ids, rejected_mask) = *chosen, *rejected
    if max_tokens is not None and max(len(chosen_ids), len(rejected_ids)) > max_tokens:
        return _LENGTH
    return {
        "chosen_ids": chosen_ids,
        "chosen_mask": chosen_mask,
        "rejected_ids": rejected_ids,
        "rejected_mask": rejected_mask,
        "scenario": scenario_name(pair.chosen.task_id),
    }


def distinct(trajectories: Iterable[Trajectory]) -> list[Trajectory]:
    """Leave out failed episodes, those without turns, and repetitions of earlier ones."""
    first: dict[Any, Trajectory] = {}
    for trajectory in trajectories:
        if trajectory.status != "failed" and trajectory.turns:
            trajectory = trajectory.whole()
            texts = tuple((turn.observation, turn.completion) for turn in trajectory.turns)
            first.setdefault((trajectory.source, trajectory.task_id, texts), trajectory)
    return list(first.values())


def distinct_successes(trajectories: Iterable[Trajectory]) -> list[Trajectory]:
    """Return the distinct ones that succeeded."""
    return [trajectory for trajectory in distinct(trajectories) if trajectory.success]


def _by_task(trajectories: Iterable[Trajectory]) -> dict[tuple[str, str], list[Trajectory]]:
    """Group by content and task."""
    groups: dict[tuple[str, str], list[Trajectory]] = {}
    for trajectory in distinct(trajectories):
        groups.setdefault((trajectory.source, trajectory.task_id), []).append(trajectory)
    return groups


def _is_better(one: Trajectory, other: Trajectory, min_return_gap: float) -> bool:
    if one.success != other.success:
        return one.success
    gap = one.episode_return - other.episode_return
    return gap > 0 and gap >= min_return_gap


def _compared(
    trajectory: Trajectory, traces: Sequence[TokenTrace], pair: Pair
) -> list[tuple[list[int], list[int]]]:
    """Return the ids and masks of the traces that hold turns which are compared.

    A mask is 1 on these turns; both end with the last of them.
    """
    first = sum(turn.trained for turn in trajectory.turns[: pair.shared_turns])
    end = first + (pair.compared_turns or len(trajectory.turns))
    rows = []
    turns = 0
    for trace in traces:
        mask = [0] * len(trace.prompt_ids)
        last = 0
        for is_action in trace.action_mask:
            # Given tokens stand between turns, so each run of sampled ones is a turn.
            turns += is_action > last
            mask.append(is_action if first < turns <= end else 0)
            last = is_action
        while mask and not mask[-1]:
            mask.pop()
        if mask:
            rows.append((trace.ids[: len(mask)], mask))
    return rows
