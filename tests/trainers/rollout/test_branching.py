"""Episodes that branch: what they share, where they begin, and that they are played truly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp
from statistics import fmean
from typing import Any

import pytest

from agentgym_envs import EnvFailure, Trajectory, Turn
from agentgym_envs.trajectories.trajectory import TokenTrace
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers
from tests.trainers.rollout.test_rollout import CHAT, check_trace, rollout_of, vector
from tests.trainers.tiny_models import tiny_model
from trainers.backends.hf import HFBackend
from trainers.credit.turn_methods import shared_turn_advantages
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns
from trainers.rollout.branching import choose_branches, first_turns, play_branched, turn_entropies
from trainers.tokens.generation import Sampling
from wrappers import FailureRules, TextVectorEnv

register_helpers()


def root(*entropies: float, status: Any = "terminated") -> Trajectory:
    """An episode of one trace whose turns, of two tokens each, have these entropies."""
    trace = TokenTrace([1, 2])
    turns = []
    for number, entropy in enumerate(entropies):
        if number:
            trace.append_given([9])
        trace.append_action([3, 4], [-entropy - 0.5, -entropy + 0.5])
        turns.append(Turn(f"see {number}", "go", 0.0, True, 0.0, num_tokens=2))
    return Trajectory("e", "t_0", turns=turns, traces=[trace], status=status)


def test_a_turns_entropy_is_the_mean_surprise_of_its_tokens() -> None:
    assert turn_entropies(root(1.0, 3.0, 2.0)) == pytest.approx([1.0, 3.0, 2.0])
    probabilities = (0.7, 0.2, 0.1)
    entropy = sum(-p * _log(p) for p in probabilities)
    surprises = [-_log(p) for p in probabilities]
    assert sum(p * s for p, s in zip(probabilities, surprises, strict=True)) == entropy


def _log(p: float) -> float:
    from math import log

    assert exp(log(p)) == pytest.approx(p)
    return log(p)


def test_branches_begin_where_the_policy_was_least_sure_and_never_at_the_start() -> None:
    one, two = root(9.0, 1.0, 3.0, 2.0), root(9.0, 5.0)
    branches = choose_branches([one, two], 5)
    assert [(b.root is one, b.turn) for b in branches if b is not None] == [
        (True, 2), (False, 1), (True, 3), (False, 1), (True, 1)
    ]  # fmt: skip


def test_roots_that_failed_or_had_one_turn_are_no_roots() -> None:
    good = root(1.0, 2.0)
    branches = choose_branches([root(1.0), root(1.0, 2.0, status="failed"), good], 2)
    assert [b and b.root is good for b in branches] == [True, True]
    assert choose_branches([root(1.0)], 2) == [None, None]


def test_first_turns_are_cut_behind_their_last_sampled_id() -> None:
    traces = [*root(1.0, 1.0).traces, *root(1.0).traces]
    assert first_turns(traces, 0) == []
    assert first_turns(traces, 1)[0].completion_ids == [3, 4]
    assert first_turns(traces, 2) == [traces[0]]
    assert first_turns(traces, 3) == traces


@pytest.mark.parametrize("history", [LastTurns(), LastTurns(1), Summary()])
def test_branches_share_turns_and_tokens_with_their_root_and_go_on_truly(history: History) -> None:
    model = tiny_model("qwen3")
    task_ids = ["counting_40"] * 4 + ["counting_50"] * 4
    with vector(3, max_turns=4) as env:
        rollout = rollout_of(
            env, HFBackend(model), CHAT, sampling=Sampling(6), history=history, seed=1
        )
        episodes = play_branched(rollout.run, task_ids, group_size=4, roots=1, stream=(0,))
    assert [episode.task_id for episode in episodes] == task_ids
    for start in (0, 4):
        base, *branches = episodes[start : start + 4]
        for branch in branches:
            shared = sum(a is b for a, b in zip(base.turns, branch.turns, strict=False))
            assert 0 < shared < len(branch.turns)
            assert branch.turns[shared].observation == base.turns[shared].observation
            assert first_turns(branch.traces, shared) == first_turns(base.traces, shared)
        assert len({tuple(t.completion for t in e.turns) for e in episodes[start : start + 4]}) > 1
    for episode in episodes:
        sampled = [len(ids) for trace in episode.traces for ids in trace.sampled_turns()]
        assert sampled == [turn.num_tokens for turn in episode.turns]
        for trace in episode.traces:
            assert check_trace(trace, model, CHAT) < 1e-4
        again = CountingEnv(max_turns=4)
        again.reset(options={"task_id": episode.task_id})
        observation, info = "", {}
        for turn in episode.turns:
            observation, *_, info = again.step(turn.action)
        assert (observation, info["score"]) == (episode.final_observation, episode.score)


def test_worker_processes_play_branches_too() -> None:
    results = []
    for backend in ("sync", "process"):
        with TextVectorEnv(COUNTING_ID, 2, backend=backend, max_turns=3) as env:  # type: ignore[arg-type]
            rollout = rollout_of(
                env, HFBackend(tiny_model("qwen3")), CHAT, sampling=Sampling(4), seed=1
            )
            results.append(play_branched(rollout.run, ["counting_40"] * 3, group_size=3, roots=1))
    assert results[0] == results[1]


class Forgetful(CountingEnv):
    """Answers otherwise each time."""

    count = 0

    def apply(self, action: str) -> Any:
        Forgetful.count += 1
        outcome = super().apply(action)
        return outcome._replace(observation=f"{outcome.observation} {Forgetful.count}")


def test_an_environment_that_answers_otherwise_fails_its_branches() -> None:
    with TextVectorEnv([lambda: Forgetful(max_turns=3)] * 2) as env:
        rollout = rollout_of(
            env,
            HFBackend(tiny_model("qwen3")),
            CHAT,
            sampling=Sampling(4),
            failure_rules=FailureRules(retries=0, max_failed_share=0.1, max_outage=0),
        )
        with pytest.raises(EnvFailure, match="branching needs an environment that always answers"):
            play_branched(rollout.run, ["counting_40"] * 5, group_size=5, roots=1)


# What first turns learn ---------------------------------------------------------------------------

NUM_TURNS, GROUP = 4, 8
_DRAWS = random.Random(0)
LOGITS = [_DRAWS.gauss(0, 1) for _ in range(2**NUM_TURNS)]
"""Of action 1 behind the actions before, which are the binary digits behind a leading 1."""
REWARDS = [float(_DRAWS.random() < 0.3) for _ in range(2**NUM_TURNS)]


def chance(actions: Sequence[int]) -> float:
    """Return the probability of the last of some actions."""
    logit = LOGITS[int("1" + "".join(map(str, actions[:-1])), 2)]
    return 1 / (1 + exp(-logit if actions[-1] else logit))


def value(actions: Sequence[int]) -> float:
    """Return the expected reward behind some actions."""
    if len(actions) == NUM_TURNS:
        return REWARDS[int("".join(map(str, actions)), 2)]
    return sum(chance([*actions, a]) * value([*actions, a]) for a in (0, 1))


def branched_group(draws: random.Random, roots: int) -> tuple[list[list[int]], list[list[Any]]]:
    """Return the actions of a group's episodes, and what names their turns."""

    def play(actions: Sequence[int]) -> list[int]:
        played = list(actions)
        while len(played) < NUM_TURNS:
            played.append(int(draws.random() < chance([*played, 1])))
        return played

    actions = [play([]) for _ in range(roots)]
    names: list[list[Any]] = [[(n, t) for t in range(NUM_TURNS)] for n in range(roots)]
    made = [root(*(-_log(chance(own[: t + 1])) for t in range(NUM_TURNS))) for own in actions]
    for branch in choose_branches(made, GROUP - roots):
        assert branch is not None
        number = next(n for n, one in enumerate(made) if one is branch.root)
        actions.append(play(actions[number][: branch.turn]))
        own = [(len(names), t) for t in range(branch.turn, NUM_TURNS)]
        names.append([*names[number][: branch.turn], *own])
    return actions, names


@pytest.mark.slow
@pytest.mark.parametrize(("roots", "expected"), [(2, 1.0), (4, 0.78)])
def test_first_turns_have_the_gradient_of_groups_without_branches(
    roots: int, expected: float
) -> None:
    """With two roots of four turns all are branched at; with four the choice has a say."""
    draws, num_groups = random.Random(1), 10_000
    total = 0.0
    for _ in range(num_groups):
        actions, names = branched_group(draws, roots)
        rewards = [value(own) for own in actions]
        centred = [reward - fmean(rewards) for reward in rewards]
        credit = shared_turn_advantages(centred, names, [True] * GROUP, group_size=GROUP)
        first = chance([1])
        total += sum(of[0] * (own[0] - first) for own, of in zip(actions, credit, strict=True))
    first = chance([1])
    true = first * (1 - first) * (value([1]) - value([0])) * (1 - 1 / GROUP)
    assert total / num_groups / GROUP / true == pytest.approx(expected, abs=0.06)
