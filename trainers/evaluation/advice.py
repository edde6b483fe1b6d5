"""Advice before a run, from the numbers of `trainers.evaluation.headroom`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from agentgym_envs.core.text import counted
from trainers.evaluation.headroom import SIZES, Headroom, HeadroomRow, shown

COLD = 0.10
"""Success below which plain GRPO did not move in ten attempts (arXiv 2607.10079)."""
FEW_GROUPS = 0.25
"""Share of differing groups below which a run's log warns (`trainers.runs.health`)."""
MASTERED = 0.90
"""Success above which GRPO has nothing to add: +3.6 points, p = 0.50 (arXiv 2607.12640)."""
ROOM = 0.10
"""Gain of pass@k over pass@1 that is room: +22 points on such tasks (arXiv 2607.12640)."""
OUT_OF_REACH = 0.10
"""Share of tasks that no episode can solve within the horizon, from which it limits success."""
IDLE_TURNS = 0.10
"""Share of turns after those that suffice, from which a shorter horizon pays."""
CUT_TURNS = 0.10
"""Share of turns cut at a token limit from which a run's log warns."""
OUT_OF_TOKENS = 0.01
"""Share of episodes without room for a turn. A run's log warns of the first one."""
INVALID = 0.30
"""Share of invalid actions from which the policy learns the form first, not the play."""
HALF = 0.50
"""Share that counts as most: of differing groups, tasks out of reach, or invalid actions."""
BETTER = 0.10
"""Gain in differing groups that pays for a larger size, which leaves fewer tasks to a step."""
PENALTY = 0.1
"""Cost of an invalid action, where success gives 1.

With 0.02 and 0.05 their share rose in seven steps of GRPO (docs/results/rl_alone.md).
"""
MIN_TASKS = 4
"""Tasks without a differing group from which their subtask counts as without signal."""
MIN_SUCCESSES = 10
"""Successful episodes from which the 90% quantile of their turns is relied on."""


class Advice(NamedTuple):
    """A sentence that follows from a number.

    Attributes:
        rule: its name.
        text: the sentence, with the number and its reason.
        options: options of the training command that it changes.
    """

    rule: str
    text: str
    options: dict[str, Any] = {}


LIMITING = ("longer_horizon", "cut_turns", "out_of_tokens")
"""Rules whose limits can be the reason of failures, so that success is measured again."""


def advise(part: Headroom) -> list[Advice]:
    """Return the advice on one environment, the most important first."""
    play = [*_of_turns(part), *_of_tokens(part)]
    limits = [one for one in play if one.rule in LIMITING]
    others = [one for one in play if one.rule not in LIMITING]
    # Cut turns alone explain why most actions are none.
    is_limited = bool(limits) and invalid_beyond_cut(part.total) <= HALF
    return [*limits, *_of_success(part, is_limited=is_limited), *_of_tasks(part), *others]


def invalid_beyond_cut(row: HeadroomRow) -> float:
    """Return the share of invalid actions, less that of cut turns if it is one to warn of."""
    return row.invalid_actions - (row.cut_turns if row.cut_turns > CUT_TURNS else 0.0)


def is_cold(part: Headroom) -> bool:
    """Return whether successes are rare and few groups differ."""
    return part.total.success.value < COLD and part.differing < FEW_GROUPS


def _of_success(part: Headroom, *, is_limited: bool) -> Iterator[Advice]:
    row, size = part.total, part.num_generations
    success, passed = row.success.value, row.pass_at_k
    if is_cold(part):
        remedy = (
            "imitate the expert first (agentgym train sft) and measure again, start before its end "
            "(--start backward:2,4,8@100), or put its episodes into the groups "
            "(--expert_episodes 2)"
        )
        if row.expert is None:
            remedy = "there is no expert to imitate: take a better policy, or easier --tasks"
        if is_limited:
            remedy = f"measure again with the limits raised. If it stays so, {remedy}"
        yield Advice(
            "imitate_later" if is_limited or row.expert is None else "imitate",
            f"Success is {shown(success)} and {shown(part.differing)} of the groups differ: "
            f"{remedy}. Below {COLD:.0%} plain GRPO did not move in ten attempts (arXiv "
            "2607.10079).",
        )
    elif passed - success >= ROOM:
        yield Advice(
            "room",
            f"RL has room: pass@{size} is {shown(passed)}, pass@1 {shown(success)}. It makes rare "
            "successes frequent (arXiv 2607.12640).",
        )
    elif success < COLD:
        yield Advice(
            "progress",
            f"{shown(part.differing)} of the groups differ, but pass@{size} is {shown(passed)}: "
            "RL learns from rewards for progress. Watch that eval_success follows eval_score.",
        )
    if success > MASTERED:
        rest = [name for name, one in part.subtasks.items() if one.success.value <= MASTERED]
        yield Advice(
            "mastered",
            f"Success is {shown(success)}: "
            + (f"train on {', '.join(rest)} alone" if rest else "choose harder tasks")
            + ". GRPO adds nothing on mastered tasks (arXiv 2607.12640).",
            {"tasks": rest} if rest else {},
        )


def _of_tasks(part: Headroom) -> Iterator[Advice]:
    row, size = part.total, part.num_generations
    if row.success.value > MASTERED:
        return
    silent = {
        name: one
        for name, one in part.subtasks.items()
        if one.n_tasks >= MIN_TASKS and one.differ[size] == 0 and (one.out_of_reach or 0) <= HALF
    }
    if silent and part.differing > 0:
        listed = ", ".join(f"{name} ({_outcome(one)})" for name, one in silent.items())
        yield Advice(
            "tasks",
            f"No group differs in {listed}: these have no gradient, so train on the others first.",
            {"tasks": [name for name in part.subtasks if name not in silent]},
        )
    if is_cold(part):
        return
    if part.differing < FEW_GROUPS:
        yield Advice(
            "few_groups",
            f"{shown(part.differing)} of the groups differ: of {counted(row.n_tasks, 'task')} "
            f"{row.always} are always solved, {row.never} never. Draw the tasks between them "
            "more often.",
            {"task_sampling": "learnable"},
        )
    larger = next((k for k in SIZES if k > size), size)
    gain = row.differ[larger] - part.differing
    if part.differing < HALF and gain >= BETTER:
        yield Advice(
            "group_size",
            f"{shown(part.differing)} of the groups of {size} differ; of {larger} it would be "
            + "about " * (larger > row.samples)
            + f"{shown(row.differ[larger])}. A step then holds fewer tasks.",
            {"num_generations": larger},
        )


def _of_turns(part: Headroom) -> Iterator[Advice]:
    row, limits, enough = part.total, part.limits, part.total.enough_turns
    if (row.out_of_reach or 0) > OUT_OF_REACH and row.expert is not None:
        text = (
            f"For {shown(row.out_of_reach or 0)} of the tasks the expert needs more than "
            f"{counted(limits.longest or 0, 'turn')}"
        )
        hard = [name for name, one in part.subtasks.items() if (one.out_of_reach or 0) > HALF]
        if 0 < len(hard) < len(part.subtasks):
            text += f" (most of {', '.join(hard)})"
        needed, most = row.expert.p90, limits.max_turns
        if limits.longest == most:
            options = {"max_turns": 2 * (most or 0)}
            if limits.horizon is not None:
                options["horizon"] = 2 * (most or 0)
            text += ", the environment's own limit: raise it, or choose shorter tasks."
        else:
            enough = most if needed is None else min(2 * needed, most or 2 * needed)
            options = {"horizon": enough or 0}
            text += (
                ": lengthen the horizon, or choose shorter tasks. Gains saturate at twice its "
                "turns (arXiv 2510.01132)."
            )
        yield Advice("longer_horizon", text, options)
    elif is_cold(part) and row.cut_by_turns > HALF and (wider := _wider(part)) is not None:
        yield Advice(
            "longer_horizon",
            f"{shown(row.cut_by_turns)} of the episodes end at the horizon of "
            f"{counted(limits.horizon or 0, 'turn')}, most without success: lengthen it, and "
            "measure again. Gains saturate at twice the turns that are needed (arXiv 2510.01132).",
            {"horizon": wider},
        )
    elif (
        enough is not None
        and row.turns is not None
        and limits.horizon is not None
        and enough < limits.horizon == limits.longest
        and row.num_successes >= MIN_SUCCESSES
        and row.idle_turns >= IDLE_TURNS
    ):
        expert = f" (the expert's by {row.expert.p90})" if row.expert is not None else ""
        yield Advice(
            "shorter_horizon",
            f"90% of the successes end by turn {row.turns.p90}{expert} of {limits.horizon}: "
            f"{enough} turns suffice (arXiv 2510.01132) and save {shown(row.idle_turns)} of all.",
            {"horizon": enough},
        )


def _wider(part: Headroom) -> int | None:
    """Return a horizon to measure next, or None if the one that was played is long enough.

    After a schedule's first stage it is that of the last one, else at most twice the expert's
    turns. It is None where most actions are invalid, since more turns would be more of those.
    """
    row, limits = part.total, part.limits
    if limits.horizon is None or limits.longest is None or invalid_beyond_cut(row) > HALF:
        return None
    if limits.horizon < limits.longest:
        return limits.longest
    needed = limits.longest if row.expert is None else row.expert.p90
    bounds = [2 * needed if needed is not None else None, limits.max_turns]
    known = [bound for bound in bounds if bound is not None]
    return min(known) if known and min(known) > limits.longest else None


def _of_tokens(part: Headroom) -> Iterator[Advice]:
    row, limits = part.total, part.limits
    if row.cut_turns > CUT_TURNS:
        limit = limits.max_tokens_per_turn
        at = "" if limit is None else f" of {limit}"
        yield Advice(
            "cut_turns",
            f"{shown(row.cut_turns)} of the turns are cut at a token limit{at}: raise "
            "--max_tokens_per_turn, or turn thinking off (--chat_template_kwargs).",
            {}
            if limit is None
            else {"max_tokens_per_turn": limit * (4 if row.cut_turns > HALF else 2)},
        )
    if row.cut_by_tokens > OUT_OF_TOKENS:
        limit = limits.max_tokens_per_episode
        yield Advice(
            "out_of_tokens",
            f"{shown(row.cut_by_tokens)} of the episodes end without room for a turn: raise "
            "--max_tokens_per_episode, up to the model's context, or set --keep_last_turns.",
            {} if limit is None else {"max_tokens_per_episode": 2 * limit},
        )
    if invalid_beyond_cut(row) > INVALID:
        text = (
            f"{shown(row.invalid_actions)} of the actions are invalid: read some (--trajectories "
            "and agentgym view). Where their form is wrong, imitate or change --action_format"
        )
        if is_cold(part):
            yield Advice("invalid", f"{text}.")
        else:
            text += f"; where the game refuses them, they can cost {PENALTY:g} each."
            yield Advice("invalid", text, {"invalid_action_penalty": PENALTY})


def _outcome(row: HeadroomRow) -> str:
    if row.never == row.n_tasks:
        return "never solved"
    return "always solved" if row.always == row.n_tasks else "each task always or never"
