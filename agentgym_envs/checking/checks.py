"""The checks of the conformance suite, one function for each part of the contract.

Each raises a `ConformanceError` where the environment that `make` makes breaks it.
"""

from __future__ import annotations

import functools
import random
import re
import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from agentgym_envs.actions import ActionVerb
from agentgym_envs.checking.format_checks import EXPERT, FEW, MALFORMED
from agentgym_envs.checking.probing import (
    MANY_TURNS,
    MakeEnv,
    Probe,
    Step,
    Transcript,
    expect_no_error,
    raises,
    require,
    require_equal,
)
from agentgym_envs.checking.turn_checks import check_info, check_step
from agentgym_envs.core import INFO_KEYS, TextEnv
from agentgym_envs.core.checks import check_names, own_values
from agentgym_envs.core.tasks import spread_over_kinds

_REQUIRED_SPLITS = ("train", "validation", "test")
_MAX_REPLAYED_TURNS = 30


class ShownText:
    """The words that an episode has shown so far, with the instruction text and the goal.

    Args:
        env: the environment, in an episode.
        observation: the first one.
    """

    def __init__(self, env: TextEnv, observation: str) -> None:
        self._env = env
        self._text = ""
        self._names: set[str] = set()
        for text in (env.system_prompt, env.goal, observation):
            self.add(text)

    def add(self, text: str) -> None:
        """Add the next text that was shown."""
        self._text += "\n" + _plain(text)
        self._names |= self._names_in(text)

    def check(self, thought: str) -> None:
        """Require that a thought names nothing else."""
        names = self._names_in(thought) - self._names
        unshown = [name for name in sorted(names) if not self._says(name)]
        require(
            not unshown,
            f"{self._env.task.task_id}: the expert's thought {thought!r:.300} must name only what "
            "the goal and the observations so far have shown",
            unshown,
        )

    def _says(self, name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(_plain(name))}(?!\w)", self._text) is not None

    def _names_in(self, text: str) -> set[str]:
        matches = self._env.thing_names.finditer(text)
        return {" ".join(filter(None, match.groups())) or match.group() for match in matches}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def check_attributes(make: MakeEnv) -> None:
    """Check the attributes that a scenario must set before anything can be played."""
    probe = Probe(make)
    for name, kind in {"instructions": str, "verbs": Sequence, "source": str}.items():
        value = getattr(probe.env, name, None)
        contract = f"the environment must set {name}, a {kind.__name__} that is not empty"
        require(isinstance(value, kind) and bool(value), contract, value)
    strangers = [verb for verb in probe.env.verbs if not isinstance(verb, ActionVerb)]
    require(not strangers, "verbs must hold ActionVerb only", strangers)
    turns = probe.env.default_max_turns
    require(type(turns) is int and turns >= 1, "default_max_turns must be an int >= 1", turns)
    probe.close()
    Probe(make, split="train", action_format="plain", max_turns=MANY_TURNS).close()


def check_gymnasium(make: MakeEnv) -> None:
    """Check that Gymnasium's own checker passes without a warning."""
    env = Probe(make).env
    with warnings.catch_warnings(), expect_no_error("Gymnasium's check_env", "must pass"):
        warnings.simplefilter("error")
        # Other render modes need a spec to make the environment again.
        check_env(env, skip_render_check=env.spec is None)
    env.close()


def check_splits(make: MakeEnv, num_tasks: int) -> list[str]:
    """Check the listed splits and return some ids of each."""
    env = Probe(make).env
    splits = env.task_set.splits
    missing = [name for name in _REQUIRED_SPLITS if name not in splits]
    require(not missing, f"there must be the splits {_REQUIRED_SPLITS}", splits)
    owner: dict[str, str] = {}
    chosen = []
    for split in splits:
        with expect_no_error(f"task_ids({split!r})", "must list the split"):
            task_ids = env.task_ids(split)
            require(task_ids == env.task_ids(split), f"task_ids({split!r}) must be stable")
        require(bool(task_ids) or split != "train", "the split 'train' must hold a task", task_ids)
        for task_id in task_ids:
            both = (owner.get(task_id), split)
            require(task_id not in owner, f"splits must not overlap; {task_id} is in two", both)
            owner[task_id] = split
        with expect_no_error("task_set.task_kind()", "must tell the kind of a listed task"):
            task_kind = env.task_set.task_kind
            picked = spread_over_kinds(task_ids, min(num_tasks, len(task_ids)), task_kind)
        for task_id in picked:
            with expect_no_error(f"task_set.spec({task_id!r})", "must look a listed task up"):
                spec = env.task_set.spec(task_id)
                again = env.task_set.spec(spec.number)
            require(spec.task_id == task_id, "a listed id must name itself", (task_id, spec))
            require(spec.split == split, f"{task_id} is listed under {split!r}", spec)
            require(again == spec, "the number must name the same task", (task_id, again))
        chosen += picked
    env.close()
    return chosen


def check_mistakes(make: MakeEnv) -> None:
    """Check that the caller's mistakes raise, and that the environment plays on after them."""
    probe = Probe(make)
    env = probe.env
    raises(ResetNeeded, "step() before reset()", lambda: env.step("x"))
    _, info = probe.reset(seed=0)
    name = info["task_id"].rpartition("_")[0]
    for wrong in ("nosuch_0", f"{name}_x", f"{name}_{10**17}", -1, ""):
        options = {"task_id": wrong}
        raises(ValueError, f"task_id {wrong!r}", functools.partial(env.reset, options=options))
    raises(ValueError, "an unknown option", lambda: env.reset(options={"no_such_option": 1}))
    raises(ValueError, "an unknown split", lambda: env.task_ids("no such split"))
    raises(TypeError, "an action that is no string", lambda: env.step(None))  # type: ignore[arg-type]
    for keyword, value in {
        "split": "no such split",
        "action_format": "no such format",
        "compat": "no such suite",
        "tasks": ["no such task"],
        "max_turns": 0,
        "render_mode": "no such mode",
    }.items():
        call = functools.partial(make, **{keyword: value})
        raises(ValueError, f"{keyword}={value!r}", call)
    raises(TypeError, "an unknown keyword argument", lambda: make(no_such_keyword=1))
    probe.step("x")
    probe.close()


def check_draws(make: MakeEnv) -> None:
    """Check that a seed draws the same task, of the split and filter that were asked for."""
    one, two = Probe(make), Probe(make)
    _, info = one.reset(seed=7)
    drawn = (info["task_id"], two.reset(seed=7)[1]["task_id"])
    require(drawn[0] == drawn[1], "the same seed must draw the same task", drawn)
    split = one.env.split
    require(info["split"] == split, "a task must be drawn from the env's split", info["split"])
    later = [each.reset()[1]["task_id"] for each in (one, two)]
    require(later[0] == later[1], "later draws must follow the seed too", later)
    filtered = Probe(make, tasks=[info["subtask"]])
    for _ in range(5):
        subtask = filtered.reset()[1]["subtask"]
        require(subtask == info["subtask"], f"tasks=[{info['subtask']!r}] must filter", subtask)
    for each in (one, two, filtered):
        each.close()


def check_task(make: MakeEnv, task_id: str, *, expert_solves: bool) -> Transcript:
    """Check one task: every info, determinism, independence of seeds, the expert, its thoughts.

    Returns:
        What was played, for `check_side_by_side` and `check_second_process`.
    """
    first, second = (Probe(make, max_turns=MANY_TURNS) for _ in range(2))
    global_draws = _global_generators()
    begun = first.reset(task_id, seed=1)
    check_info(begun[1], turn=0)
    require(begun[1]["task_id"] == task_id, f"reset must play {task_id}", begun[1]["task_id"])
    again = second.reset(first.env.task.number, seed=2)
    require_equal(f"{task_id} must not depend on seed, or on id or number", begun, again)
    transcript: Transcript = [("", begun)]
    own = own_values(first.env)

    def play(action: str) -> Step:
        step, other = first.step(action), second.step(action)
        check_step(step, turn=len(transcript))
        require_equal(f"{task_id} must answer {action!r:.80} the same way twice", step, other)
        with expect_no_error("a step", "must leave TextEnv's names alone"):
            check_names(first.env, own)
        transcript.append((action, step))
        return step

    shown = ShownText(first.env, begun[0])
    last = None
    for move in first.expert_moves():
        shown.check(move.thought)
        last = play(first.env.parser.format(move.action, move.thought))
        shown.add(last.observation)
        if last.terminated or last.truncated:
            break
    if expert_solves and first.has_expert:
        _check_solved(task_id, transcript)
    if last is None:  # no expert, so anything must do
        for action in begun[1]["available_actions"] or MALFORMED:
            step = play(action)
            if step.terminated or step.truncated or len(transcript) > FEW:
                break
    require(
        global_draws == _global_generators(),
        f"{task_id} must leave the generators of random and numpy.random alone, which all "
        "environments and the trainer share",
        remedy="draw from random.Random(task.number)",
    )
    first.close()
    second.close()
    return transcript[: _MAX_REPLAYED_TURNS + 1]


def _check_solved(task_id: str, transcript: Transcript) -> None:
    action, last = transcript[-1]
    num_actions = len(transcript) - 1
    solved = num_actions and last.terminated and last.info["success"] and last.info["score"] == 1.0
    require(
        bool(solved),
        f"the expert must solve {task_id}, or raise NoExpert: after its last action terminated, "
        f"success and score 1; it gave {num_actions}, the last one {action!r:.80}",
        last,
        remedy=EXPERT,
    )


def _global_generators() -> tuple[Any, ...]:
    state: Any = np.random.get_state()
    kind, keys, *rest = state
    return (random.getstate(), kind, keys.tobytes(), rest)


def check_end(make: MakeEnv, task_id: str) -> None:
    """Check that `max_turns` truncates and that an episode's end is an end."""
    probe = Probe(make, max_turns=2)
    probe.reset(task_id)
    step = probe.step(MALFORMED[0])
    require(not step.truncated, "max_turns=2 must not truncate after one turn", step)
    step = probe.step(MALFORMED[0])
    ended = step.truncated and not step.terminated and step.info["truncated_by"] == "max_turns"
    require(ended, "max_turns=2 must truncate after two turns and say so", step)
    raises(ResetNeeded, "step() after the end", lambda: probe.env.step(MALFORMED[0]))
    _, info = probe.reset(task_id)
    require(info["turn"] == 0, "reset must begin a new episode", info)
    probe.close()


def check_make_vec(env_id: str, env_kwargs: dict[str, Any]) -> None:
    """Check that the environment can be vectorized by its id."""
    with warnings.catch_warnings(), expect_no_error("gymnasium.make_vec", "must work"):
        warnings.simplefilter("ignore")  # `check_gymnasium` tells what Gymnasium warns of
        envs = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", **env_kwargs)
        observations, infos = envs.reset(seed=0)
        after = envs.step(("x", "y"))[-1]
        envs.close()
    require(len(observations) == 2, "make_vec must give an observation per env", observations)
    require(set(INFO_KEYS) <= set(infos), f"make_vec must carry the info keys {INFO_KEYS}", infos)
    for index, action in enumerate(("x", "y")):
        single = Probe(functools.partial(gym.make, env_id, **env_kwargs))
        for batched, info in (
            (infos, single.reset(seed=index)[1]),
            (after, single.step(action).info),
        ):
            contract = f"make_vec must carry each environment's info {info!r:.300}"
            require(slot_info(batched, index) == info, contract, slot_info(batched, index))
        single.close()


def slot_info(infos: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the info of one environment out of a vector environment's.

    Gymnasium keeps `"_key"` beside `"key"`, which says whose info holds it; dicts are taken apart.
    """
    keys = [key for key in infos if f"_{key}" in infos and infos[f"_{key}"][index]]
    return {
        key: slot_info(infos[key], index) if isinstance(infos[key], dict) else infos[key][index]
        for key in keys
    }
