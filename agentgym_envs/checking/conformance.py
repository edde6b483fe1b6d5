"""Checks that a text environment keeps this package's contract.

The suite plays a few tasks and compares what it sees with what `TextEnv` promises. The same calls
check our environments and a user's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.checking import checks, instance_checks, reward_checks
from agentgym_envs.checking.format_checks import check_format
from agentgym_envs.checking.probing import MakeEnv, Transcript
from agentgym_envs.registration.registry import resolve_env_id


@dataclass(frozen=True)
class Check:
    """One part of the conformance suite.

    Attributes:
        name: what is checked.
        remedy: what to do where it fails.
        run: checks it; raises `ConformanceError` where the environment breaks the contract, and
            `EnvFailure` where its machinery broke.
    """

    name: str
    remedy: str
    run: Callable[[], None]


def check_text_env(
    env: str | MakeEnv, *, num_tasks: int = 3, expert_solves: bool = True, **env_kwargs: Any
) -> None:
    """Check that a text environment keeps the contract.

    Its tasks are also played in a second process under another `PYTHONHASHSEED`, where the class
    can be imported there by its name and `env_kwargs` can be pickled; a warning is logged where
    not. One other order of sets is tried, so that a small set may look the same by chance.

    Args:
        env: a registered id or its short name; or a `TextEnv` class, or a function that takes its
            keyword arguments.
        num_tasks: tasks played of each split.
        expert_solves: demand that an expert, where there is one, solves them.
        **env_kwargs: passed whenever the environment is made.

    Raises:
        ConformanceError: it does not.
        EnvFailure: its machinery broke.
        ValueError: `num_tasks` is below 1, or the id is unknown.
    """
    for check in conformance_checks(
        env, num_tasks=num_tasks, expert_solves=expert_solves, **env_kwargs
    ):
        check.run()


def conformance_checks(
    env: str | MakeEnv, *, num_tasks: int = 3, expert_solves: bool = True, **env_kwargs: Any
) -> Iterator[Check]:
    """Yield the checks of `check_text_env`, each to be run before the next is taken.

    Where the environment cannot be made, or lists no tasks, the checks that need them do not come.

    Args:
        env: as `check_text_env` takes it.
        num_tasks: tasks played of each split.
        expert_solves: demand that an expert, where there is one, solves them.
        **env_kwargs: passed whenever the environment is made.

    Raises:
        ValueError: `num_tasks` is below 1, or the id is unknown.
    """
    if num_tasks < 1:
        raise ValueError(f"num_tasks must be >= 1, got {num_tasks}")
    entry = env if callable(env) else resolve_env_id(env)
    make: MakeEnv = entry if callable(entry) else functools.partial(gym.make, entry)
    make = functools.partial(make, **env_kwargs)
    return _checks(entry, make, env_kwargs, num_tasks, expert_solves)


def _checks(
    entry: str | MakeEnv,
    make: MakeEnv,
    env_kwargs: dict[str, Any],
    num_tasks: int,
    expert_solves: bool,
) -> Iterator[Check]:
    is_made = False
    task_ids: list[str] = []
    transcripts: dict[str, Transcript] = {}

    def attributes() -> None:
        nonlocal is_made
        checks.check_attributes(make)
        is_made = True

    def splits() -> None:
        task_ids.extend(checks.check_splits(make, num_tasks))

    def tasks() -> None:
        for task_id in task_ids:
            transcripts[task_id] = checks.check_task(make, task_id, expert_solves=expert_solves)

    yield Check("it can be made, and sets what a scenario must", _ATTRIBUTES, attributes)
    if not is_made:
        return
    yield Check("splits and task ids", _SPLITS, splits)
    if not task_ids:
        return
    first, *others = (
        Check(
            f"the format {action_format}",
            _FORMAT,
            functools.partial(
                check_format, make, action_format, task_ids[0], expert_solves=expert_solves
            ),
        )
        for action_format in ACTION_FORMATS
    )
    yield first
    run = functools.partial
    yield Check("Gymnasium's check_env", _GYMNASIUM, run(checks.check_gymnasium, make))
    yield Check("mistakes of the caller", _MISTAKES, run(checks.check_mistakes, make))
    yield Check("how tasks are drawn", _DRAWS, run(checks.check_draws, make))
    yield Check("tasks, each played twice", _TASKS, tasks)
    yield from others
    yield Check("the turn limit and the end", _END, run(checks.check_end, make, task_ids[0]))
    if transcripts:
        side_by_side = run(instance_checks.check_side_by_side, make, transcripts)
        yield Check("two instances side by side", _SIDE_BY_SIDE, side_by_side)
        longest = max(transcripts, key=lambda task_id: len(transcripts[task_id]))
        copies = run(instance_checks.check_copies, make, longest, transcripts[longest])
        yield Check("copies in the middle of an episode", _COPIES, copies)
        idle = run(reward_checks.check_idle_turns, make, longest, transcripts[longest])
        yield Check("turns without an action earn nothing", _IDLE, idle)
        constant = run(reward_checks.check_constant_answers, make, transcripts)
        yield Check("one answer to all tasks", _CONSTANT, constant)
        replay = run(instance_checks.check_second_process, entry, env_kwargs, transcripts)
        yield Check("the same in another process", _SECOND_PROCESS, replay)
    if isinstance(entry, str):
        make_vec = run(checks.check_make_vec, entry, env_kwargs)
        yield Check("gymnasium.make_vec", _MAKE_VEC, make_vec)


_ATTRIBUTES = (
    "derive from TextEnv, set task_set, instructions, verbs (a tuple of ActionVerb), "
    "default_max_turns and source in the class; an __init__ passes **kwargs on to super().__init__"
)
_SPLITS = (
    "set task_set to one whose splits train, validation and test share no number, such as "
    "ListedTasks"
)
_FORMAT = (
    "leave system_prompt and the reading of completions to TextEnv, and answer text that is no "
    "possible action by Outcome.invalid(text), reward 0, no exception"
)
_GYMNASIUM = "what Gymnasium says above; most of it TextEnv does, so write begin and play alone"
_MISTAKES = (
    "take **kwargs and pass them on to super().__init__, and let TextEnv.reset read the options"
)
_DRAWS = "leave the draw to TextEnv; what draws besides takes self.np_random"
_TASKS = (
    "let what a task holds and answers follow from its id and the actions alone: no clock, and "
    "no random numbers but those of random.Random(task.number); and let an expert's thoughts name "
    "only what was shown (thing_names says what a name is)"
)
_SIDE_BY_SIDE = "keep what an episode changes on self, and set all of it in begin"
_END = "write begin and play and leave step and reset to TextEnv, which counts the turns"
_COPIES = "keep what an episode changes in the environment; the same actions give the same states"
_IDLE = "give reward, score and success for what an action has changed alone"
_CONSTANT = (
    "compare an answer with the task's own; spread the right ones, so that no policy is paid for "
    "ignoring the task"
)
_SECOND_PROCESS = "sort what comes out of a set; read nothing that differs between processes"
_MAKE_VEC = "register what can be imported by its name, and keep info to JSON values"
