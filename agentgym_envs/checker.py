"""The conformance suite: does a text environment keep this package's contract?

`check_text_env` plays a few tasks and compares what it sees with what `TextEnv` promises. It knows
the contract only, no scenario; a user's own environment is checked by the same call as ours.
"""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.core import INFO_KEYS, TextEnv
from agentgym_envs.errors import NoExpert
from agentgym_envs.registry import resolve_env_id

MakeEnv = Callable[..., gym.Env[str, str]]

_REQUIRED_SPLITS = ("train", "validation", "test")
_MANY_TURNS = 1000
_MALFORMED = ("", " \n\t", "Ünïcode ☃ \ud800", "{}", "```python\n(\n```", "Action:", "x" * 10_000)
_INFO_TYPES: dict[str, tuple[type, ...]] = {
    "task_id": (str,),
    "subtask": (str,),
    "split": (str,),
    "source": (str,),
    "goal": (str,),
    "success": (bool,),
    "score": (float,),
    "is_valid_action": (bool,),
    "available_actions": (list, type(None)),
    "turn": (int,),
    "truncated_by": (str, type(None)),
}


class ConformanceError(AssertionError):
    """An environment breaks the contract; the message tells what was wanted and what was found."""


class _Step(NamedTuple):
    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def check_text_env(
    env: str | MakeEnv, *, num_tasks: int = 3, expert_solves: bool = True, **env_kwargs: Any
) -> None:
    """Check that a text environment keeps the contract.

    Args:
        env: a registered id or its short name; or a `TextEnv` class, or a function that takes its
            keyword arguments.
        num_tasks: tasks played of each split.
        expert_solves: demand that an expert, where there is one, solves them.
        **env_kwargs: passed whenever the environment is made.

    Raises:
        ConformanceError: it does not.
        ValueError: `num_tasks` is below 1, or the id is unknown.
    """
    if num_tasks < 1:
        raise ValueError(f"num_tasks must be >= 1, got {num_tasks}")
    make: MakeEnv = env if callable(env) else functools.partial(gym.make, resolve_env_id(env))
    make = functools.partial(make, **env_kwargs)
    _check_gymnasium(make)
    task_ids = _check_splits(make, num_tasks)
    _check_mistakes(make)
    _check_draws(make)
    for task_id in task_ids:
        _check_task(make, task_id, expert_solves=expert_solves)
    for action_format in ACTION_FORMATS:
        _check_format(make, action_format, task_ids[0])
    _check_end(make, task_ids[0])
    if isinstance(env, str):
        _check_make_vec(resolve_env_id(env), env_kwargs)


def _require(held: bool, contract: str, found: Any = "") -> None:
    if not held:
        raise ConformanceError(f"{contract}; found: {found!r:.500}")


def _check_gymnasium(make: MakeEnv) -> None:
    env = make()
    _require(
        isinstance(env, gym.Env) and isinstance(env.unwrapped, TextEnv),
        "the environment must derive from TextEnv",
        env,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            # Other render modes need a spec to make the environment again.
            check_env(env.unwrapped, skip_render_check=env.unwrapped.spec is None)
        except (Warning, AssertionError, gym.error.Error) as error:
            raise ConformanceError(f"Gymnasium's check_env must pass; it said: {error}") from error
    env.close()


def _check_splits(make: MakeEnv, num_tasks: int) -> list[str]:
    """Check the listed splits and return some ids of each."""
    env = _text_env(make)
    splits = env.tasks_of.splits
    missing = [name for name in _REQUIRED_SPLITS if name not in splits]
    _require(not missing, f"there must be the splits {_REQUIRED_SPLITS}", splits)
    owner: dict[str, str] = {}
    chosen = []
    for split in splits:
        task_ids = env.task_ids(split)
        _require(task_ids == env.task_ids(split), f"task_ids({split!r}) must be stable")
        for task_id in task_ids:
            _require(task_id not in owner, "splits must not overlap", (task_id, split))
            owner[task_id] = split
        picked = task_ids[:: max(1, len(task_ids) // num_tasks)][:num_tasks]
        for task_id in picked:
            spec = env.tasks_of.spec(task_id)
            _require(spec.task_id == task_id, "a listed id must name itself", (task_id, spec))
            _require(spec.split == split, f"{task_id} is listed under {split!r}", spec)
            _require(env.tasks_of.spec(spec.number) == spec, "the number must name the same task")
        chosen += picked
    env.close()
    return chosen


def _check_mistakes(make: MakeEnv) -> None:
    """Check that the caller's mistakes raise, and that the environment plays on after them."""
    env = _text_env(make)
    _raises(ResetNeeded, "step() before reset()", lambda: env.step("x"))
    _, info = env.reset(seed=0)
    name = info["task_id"].rpartition("_")[0]
    for wrong in ("nosuch_0", f"{name}_x", f"{name}_{10**17}", -1, ""):
        _raises(ValueError, f"task_id {wrong!r}", functools.partial(_reset, env, wrong))
    _raises(ValueError, "an unknown option", lambda: env.reset(options={"no_such_option": 1}))
    _raises(ValueError, "an unknown split", lambda: env.task_ids("no such split"))
    _raises(TypeError, "an action that is no string", lambda: env.step(None))  # type: ignore[arg-type]
    for keyword, value in {
        "split": "no such split",
        "action_format": "no such format",
        "compat": "no such suite",
        "tasks": ["no such task"],
        "max_turns": 0,
        "render_mode": "no such mode",
    }.items():
        call = functools.partial(_bare, make, **{keyword: value})
        _raises(ValueError, f"{keyword}={value!r}", call)
    _raises(TypeError, "an unknown keyword argument", lambda: make(no_such_keyword=1))
    env.step("x")
    env.close()


def _check_draws(make: MakeEnv) -> None:
    """Check that a seed draws the same task, of the split and filter that were asked for."""
    env, again = _text_env(make), _text_env(make)
    _, info = env.reset(seed=7)
    _require(info == again.reset(seed=7)[1], "the same seed must draw the same task", info)
    _require(info["split"] == env.split, "a task must be drawn from the env's split", info["split"])
    drawn = [each.reset()[1]["task_id"] for each in (env, again)]
    _require(drawn[0] == drawn[1], "later draws must follow the seed too", drawn)
    filtered = _text_env(make, tasks=[info["subtask"]])
    for _ in range(5):
        subtask = filtered.reset()[1]["subtask"]
        _require(subtask == info["subtask"], f"tasks=[{info['subtask']!r}] must filter", subtask)
    for each in (env, again, filtered):
        each.close()


def _check_task(make: MakeEnv, task_id: str, *, expert_solves: bool) -> None:
    """Check one task: every info, determinism, independence of seeds, and the expert."""
    first, second = (_text_env(make, max_turns=_MANY_TURNS) for _ in range(2))
    begun = _reset(first, task_id, seed=1)
    _check_info(begun[1], turn=0)
    _require(begun[1]["task_id"] == task_id, f"reset must play {task_id}", begun[1]["task_id"])
    again = _reset(second, first.task.number, seed=2)
    _require(begun == again, f"{task_id} must not depend on seed, or on id or number", again)
    last = None
    for turn, action in enumerate(_expert_actions(first), 1):
        last, other = _Step(*first.step(action)), _Step(*second.step(action))
        _check_step(last, turn=turn)
        _require(last == other, f"{task_id} must answer {action!r} the same way twice", other)
        if last.terminated or last.truncated:
            break
    if last is not None and expert_solves:
        solved = last.terminated and last.info["success"] and last.info["score"] == 1.0
        _require(solved, f"the expert must solve {task_id}", last)
    first.close()
    second.close()


def _check_format(make: MakeEnv, action_format: str, task_id: str) -> None:
    """Check a format: its rules in the prompt, the expert in it, and what it cannot read."""
    env = _text_env(make, action_format=action_format, max_turns=_MANY_TURNS)
    prompt = env.system_prompt
    _require(
        isinstance(prompt, str) and env.parser.instructions in prompt,
        f"system_prompt must be a str that holds the rules of {action_format!r}",
        prompt,
    )
    observation, _ = _reset(env, task_id)
    _require(isinstance(observation, str), "an observation must be a str", observation)
    for turn, completion in enumerate(_MALFORMED, 1):
        step = _Step(*env.step(completion))
        _check_step(step, turn=turn)
        _require(step.reward == 0, f"{completion!r:.40} must earn reward 0", step.reward)
        if action_format != "plain":
            _require(
                step.info["is_valid_action"] is False,
                f"{completion!r:.40} is no action in {action_format!r}: is_valid_action is False",
                step,
            )
        if step.terminated or step.truncated:
            _reset(env, task_id)
    _reset(env, task_id)
    for action in _expert_actions(env):
        step = _Step(*env.step(action))
        _require(step.info["is_valid_action"], f"the expert's {action!r} must be an action", step)
        if step.terminated or step.truncated:
            break
    env.close()


def _check_end(make: MakeEnv, task_id: str) -> None:
    """Check that `max_turns` truncates and that an episode's end is an end."""
    env = _text_env(make, max_turns=2)
    _reset(env, task_id)
    step = _Step(*env.step(_MALFORMED[0]))
    _require(not step.truncated, "max_turns=2 must not truncate after one turn", step)
    step = _Step(*env.step(_MALFORMED[0]))
    ended = step.truncated and not step.terminated and step.info["truncated_by"] == "max_turns"
    _require(ended, "max_turns=2 must truncate after two turns and say so", step)
    _raises(ResetNeeded, "step() after the end", lambda: env.step(_MALFORMED[0]))
    _, info = _reset(env, task_id)
    _require(info["turn"] == 0, "reset must begin a new episode", info)
    env.close()


def _check_make_vec(env_id: str, env_kwargs: dict[str, Any]) -> None:
    envs = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", **env_kwargs)
    observations, infos = envs.reset(seed=0)
    _require(len(observations) == 2, "make_vec must give an observation per env", observations)
    _require(set(INFO_KEYS) <= set(infos), f"make_vec must carry the info keys {INFO_KEYS}", infos)
    envs.step(("x", "y"))
    envs.close()


def _check_step(step: _Step, *, turn: int) -> None:
    _require(isinstance(step.observation, str), "an observation must be a str", step.observation)
    _require(type(step.reward) is float, "a reward must be a float", step.reward)
    for name in ("terminated", "truncated"):
        flag = getattr(step, name)
        _require(type(flag) is bool, f"{name} must be a bool", flag)
    _check_info(step.info, turn=turn)
    truncated_by = step.info["truncated_by"]
    _require(
        step.truncated == (truncated_by is not None),
        "truncated_by must be None exactly where truncated is False",
        (step.truncated, truncated_by),
    )
    _require(
        step.terminated or not step.info["success"], "success must terminate the episode", step
    )


def _check_info(info: dict[str, Any], *, turn: int) -> None:
    missing = [key for key in INFO_KEYS if key not in info]
    _require(not missing, f"info must hold the keys {INFO_KEYS}", {"missing": missing})
    for key, kinds in _INFO_TYPES.items():
        contract = f"info[{key!r}] must be {' or '.join(kind.__name__ for kind in kinds)}"
        _require(type(info[key]) in kinds, contract, info[key])
    _require(0 <= info["score"] <= 1, "score must be in 0..1", info["score"])
    _require(info["score"] == 1 or not info["success"], "success means score 1", info["score"])
    _require(info["turn"] == turn, f"turn must be {turn}, the steps taken", info["turn"])
    _require(bool(info["source"]), "source must name the data", info["source"])
    try:
        back = json.loads(json.dumps(info))
    except (TypeError, ValueError) as error:
        raise ConformanceError(f"info must be JSON values; json says: {error}") from error
    _require(back == info, "info must come back from JSON as it was", info)


def _text_env(make: MakeEnv, **kwargs: Any) -> TextEnv:
    env = make(**kwargs).unwrapped
    assert isinstance(env, TextEnv)
    return env


def _bare(make: MakeEnv, **kwargs: Any) -> TextEnv:
    # `gymnasium.make` warns of a render mode before the environment can refuse it.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _text_env(make, **kwargs)


def _reset(
    env: TextEnv, task_id: str | int, *, seed: int | None = None
) -> tuple[str, dict[str, Any]]:
    return env.reset(seed=seed, options={"task_id": task_id})


def _expert_actions(env: TextEnv) -> Iterator[str]:
    """Yield the expert's actions; none where the environment has no expert."""
    try:
        yield from env.expert()
    except NoExpert:
        return


def _raises(kind: type[Exception], mistake: str, call: Callable[[], Any]) -> None:
    contract = f"{mistake} must raise {kind.__name__} with a message"
    try:
        call()
    except kind as error:
        _require(bool(str(error)), contract, error)
    except Exception as error:
        raise ConformanceError(f"{contract}; found: {error!r}") from error
    else:
        raise ConformanceError(f"{contract}; it raised nothing")
