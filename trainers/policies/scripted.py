"""Policies without tokens: experts and baselines, the random policy, and any function."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.options.policies import BASELINE, policy_name
from trainers.rollout.policy import Episode, Policy, Reply, Stop
from trainers.rollout.rollout import Rollout
from trainers.tokens.seeds import batch_seed
from wrappers import FailureRules, TextVectorEnv

TextFunction = Callable[[Sequence[str]], str]
"""Takes the observations so far, the newest last, and returns a completion."""

_WORDS = re.compile(r"\w+(?:[ -]\w+){0,2}")


class ExpertPolicy(Policy):
    """Plays the actions of the environment's expert or of a baseline, to their end.

    Args:
        privileged: ask the expert that may use what no observation has shown.
        baseline: play this one of the environment's `baselines` instead.
    """

    def __init__(self, *, privileged: bool = False, baseline: str | None = None) -> None:
        self._kwargs: dict[str, Any] = {"privileged": True} if privileged else {}
        self.name = "expert:privileged" if privileged else "expert"
        if baseline is not None:
            self._kwargs, self.name = {"baseline": baseline}, f"{BASELINE}{baseline}"

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Ask each episode's expert for its next action."""
        by_env: dict[int, list[str | None]] = {}
        for episode in episodes:
            if id(episode.env) not in by_env:
                where = [False] * episode.env.num_envs
                for other in episodes:
                    if other.env is episode.env:
                        where[other.slot] = True
                by_env[id(episode.env)] = episode.env.expert_actions(where, **self._kwargs)
        actions = [by_env[id(episode.env)][episode.slot] for episode in episodes]
        return [Stop("no_action") if a is None else Reply(a) for a in actions]


class RandomPolicy(Policy):
    """Draws uniformly from the available actions.

    Where an environment does not list them, it draws one of its verbs and fills that with words of
    the observations.

    Args:
        seed: determines each task's draws, with the task's place in the list.
    """

    name = "random"
    seed: int

    def __init__(self, seed: int = 0) -> None:
        self.seed = self._batch_seed = seed
        self._random: dict[int, random.Random] = {}
        self._seen: dict[int, list[str]] = {}
        self._formats: dict[int, list[tuple[ActionParser, tuple[ActionVerb, ...]]]] = {}

    def begin_batch(
        self, *, stream: Sequence[int] = (), temperature: float | None = None, global_step: int = 0
    ) -> None:
        """Seed the draws by `seed` and `stream`, or by `seed` alone without a stream."""
        self._batch_seed = batch_seed(self.seed, stream) if stream else self.seed

    def act(self, episodes: Sequence[Episode]) -> list[Reply]:
        """Draw an action for each episode."""
        return [self._draw(episode) for episode in episodes]

    def leave(self, episode: Episode) -> None:
        """Forget the episode's words."""
        self._random.pop(episode.key, None)
        self._seen.pop(episode.key, None)

    def _draw(self, episode: Episode) -> Reply:
        env = episode.env
        if id(env) not in self._formats:
            self._formats[id(env)] = list(zip(env.get("parser"), env.get("verbs"), strict=True))
        parser, verbs = self._formats[id(env)][episode.slot]
        draws = self._random.setdefault(
            episode.key, random.Random(f"{self._batch_seed}-{episode.index}")
        )
        seen = self._seen.setdefault(episode.key, [])
        seen += _WORDS.findall(episode.observation)
        available = episode.info["available_actions"]
        action = draws.choice(available) if available else _filled(draws, verbs, seen)
        return Reply(parser.format(action))


class FunctionPolicy(Policy):
    """Plays the completions that a function of the observations returns.

    Args:
        function: takes an episode's observations so far and returns a completion.
        name: recorded as the trajectories' policy; None takes the function's.
    """

    def __init__(self, function: TextFunction, *, name: str | None = None) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "function") if name is None else name
        self._observations: dict[int, list[str]] = {}

    def act(self, episodes: Sequence[Episode]) -> list[Reply]:
        """Call the function for each episode."""
        replies = []
        for episode in episodes:
            observations = self._observations.setdefault(episode.key, [])
            observations.append(episode.observation)
            replies.append(Reply(self.function(tuple(observations))))
        return replies

    def leave(self, episode: Episode) -> None:
        """Forget the episode's observations."""
        self._observations.pop(episode.key, None)


def scripted_policy(policy: str | TextFunction | Policy, *, seed: int = 0) -> Policy:
    """Return the policy of a name or a function, or a policy as it is.

    `seed` is the random policy's. Raises `ValueError` for another name.
    """
    if isinstance(policy, str):
        policy = policy_name(policy)
    if policy in ("expert", "expert:privileged"):
        return ExpertPolicy(privileged=policy != "expert")
    if policy == "random":
        return RandomPolicy(seed)
    if isinstance(policy, str) and policy.startswith(BASELINE):
        return ExpertPolicy(baseline=policy.removeprefix(BASELINE))
    if isinstance(policy, str):
        raise ValueError(
            f"unknown policy {policy!r}; allowed: 'expert', 'expert:privileged', 'random', "
            f"'{BASELINE}NAME' or a function"
        )
    return policy if isinstance(policy, Policy) else FunctionPolicy(policy)


def play(
    env: TextVectorEnv | Mapping[str, TextVectorEnv],
    task_ids: Sequence[str],
    policy: str | TextFunction | Policy,
    *,
    global_step: int = 0,
    seed: int = 0,
    policy_name: str | None = None,
    failure_rules: FailureRules | None = None,
    on_trajectory: Callable[[Trajectory], None] | None = None,
) -> list[Trajectory]:
    """Play every task once with a policy that has no tokens.

    Args:
        env: where to play, as in `Rollout`.
        task_ids: the tasks; there may be more than slots.
        policy: `"expert"`, `"expert:privileged"`, `"random"`, `"baseline:NAME"`, a function from
            the observations so far to a completion, or a `Policy`.
        global_step: optimizer step, for the record.
        seed: of the random policy.
        policy_name: recorded in the trajectories; None takes the policy's own.
        failure_rules: when a task is played again after a failure, and when a run stops.
        on_trajectory: called with each trajectory as its episode ends.

    Returns:
        One trajectory per task, in the same order, without token traces. An expert that gives up
        ends its episode as truncated by `"no_action"`.

    Raises:
        ValueError: there is no such policy, or a task does not exist.
        EnvFailure: more episodes failed than the failure rules allow.
    """
    chosen = scripted_policy(policy, seed=seed)
    if policy_name is not None:
        chosen.name = policy_name
    rollout = Rollout(env, chosen, failure_rules=failure_rules)
    return rollout.run(task_ids, global_step=global_step, on_trajectory=on_trajectory)


def _filled(draws: random.Random, verbs: Sequence[ActionVerb], seen: Sequence[str]) -> str:
    verb = draws.choice(verbs)
    arguments = {
        name: draws.randint(1, 9) if name in verb.integers else draws.choice(seen or ["it"])
        for name in verb.parameters
    }
    return verb.build(arguments)
