from __future__ import annotations

from dataclasses import replace

from agentgym_envs.trajectories.trajectory import TokenTrace
from benchmarks.viewer.scenes import episode_credits, tokens
from tests.benchmarks.viewer.samples import made, traced, two_turns


def test_a_turn_is_credited_with_the_mean_of_its_sampled_tokens() -> None:
    episode = made(0, traces=[two_turns(0.0, 1.0, -3.0, -1.0)])
    assert episode_credits(episode) == {"turns": [0.5, -2.0], "mean": -0.75, "most": 3.0}


def test_turns_go_on_from_one_trace_to_the_next() -> None:
    episode = made(0, traces=[traced(1.0, 1.0, 4.0), traced(0.0, 0.0, 0.0)])
    assert episode_credits(episode) == {"turns": [2.0, 0.0], "mean": 1.0, "most": 4.0}


def test_an_expert_s_turns_before_the_policy_s_have_no_credit() -> None:
    episode = made(0, traces=[two_turns(0.0, 1.0, -3.0, -1.0)])
    given = [replace(turn, trained=False) for turn in episode.turns[:1]]
    late = replace(episode, turns=[*given, *episode.turns])
    assert episode_credits(late) == {"turns": [None, 0.5, -2.0], "mean": -0.75, "most": 3.0}
    shown = tokens(late)
    assert shown is not None
    assert min(shown["traces"][0]["turns"]) == 1


def test_without_advantages_there_is_no_credit() -> None:
    assert episode_credits(made(0, traces=[traced()])) is None
    assert episode_credits(made(0)) is None
    assert episode_credits(made(0, traces=[TokenTrace([1])])) is None
