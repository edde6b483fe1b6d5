from __future__ import annotations

from typing import Any

import torch

from trainers.trl_bridge.batch import has_signal, regroup, row_weights, trim_padding


def padded_batch() -> dict[str, Any]:
    return {
        "prompt_ids": torch.tensor([[0, 0, 1], [0, 2, 2], [3, 3, 3], [0, 0, 4]]),
        "prompt_mask": torch.tensor([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]]),
        "completion_ids": torch.tensor([[5, 0, 0], [6, 6, 0], [7, 7, 7], [8, 0, 0]]),
        "completion_mask": torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 0]]),
        "advantages": torch.tensor([[1.0], [2.0], [3.0], [4.0]]).expand(4, 3),
        "num_items_in_batch": torch.tensor(7),
    }


def test_regrouping_keeps_rows_whole_and_puts_equal_lengths_together() -> None:
    batch = padded_batch()
    halves = [
        {key: value[part] if value.ndim else value for key, value in batch.items()}
        for part in (slice(0, 2), slice(2, 4))
    ]
    long, short = (trim_padding(half) for half in regroup(halves, 64))
    assert long["advantages"][:, 0].tolist() == [3.0, 2.0]
    assert long["completion_ids"].tolist() == [[7, 7, 7], [6, 6, 0]]
    assert short["advantages"][:, 0].tolist() == [1.0, 4.0]
    assert short["prompt_ids"].tolist() == [[1], [4]]
    assert short["completion_ids"].tolist() == [[5], [8]]
    assert short["num_items_in_batch"] == 7


def test_regrouping_puts_rows_without_an_advantage_last() -> None:
    batch = padded_batch() | {"advantages": torch.tensor([[1.0], [2.0], [0.0], [0.0]])}
    halves = [
        {key: value[part] if value.ndim else value for key, value in batch.items()}
        for part in (slice(1, 3), slice(0, 4, 3))
    ]
    first, last = regroup(halves, 64)
    assert first["advantages"].tolist() == [[2.0], [1.0]]
    assert not has_signal(last).any()


def test_regrouping_brings_rows_of_one_prompt_together_where_that_costs_less() -> None:
    prompts = torch.arange(1, 3).repeat(4)[:, None].expand(8, 100)  # two prompts in turn
    lengths = torch.tensor([[9, 8, 7, 6, 5, 4, 3, 2]]).T
    answers = (torch.arange(9)[None] < lengths).long()
    batch = {
        "prompt_ids": prompts,
        "prompt_mask": torch.ones_like(prompts),
        "completion_ids": answers,
        "completion_mask": answers,
        "advantages": torch.tensor([[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]]).T,
    }
    halves = [
        {key: value[part] for key, value in batch.items()} for part in (slice(4), slice(4, 8))
    ]
    first, second = regroup(halves, 576)
    assert first["prompt_ids"][:, 0].tolist() == [1, 1, 1, 1]
    assert second["prompt_ids"][:, 0].tolist() == [2, 2, 2, 2]
    assert second["advantages"][:, 0].tolist() == [1.0, 1.0, 1.0, 0.0]
    for half in halves:
        half["prompt_ids"] = torch.rand(4, 100)  # no two alike
    first, _ = regroup(halves, 576)
    assert first["completion_mask"].sum(dim=1).tolist() == [9, 8, 7, 5]


def test_advantages_of_tokens_give_a_row_a_signal() -> None:
    advantages = torch.tensor([[0.0, 0.0], [0.0, -1.0]])
    assert has_signal({"advantages": advantages}).tolist() == [False, True]


def test_weights_are_one_where_rows_are_episodes() -> None:
    for loss in ("grpo", "dr_grpo", "dapo"):
        weights = row_weights(
            loss,
            tokens=torch.tensor([3, 5]),
            episode_of_row=torch.tensor([0, 1]),
            num_episodes=2,
        )
        assert weights.tolist() == [1.0, 1.0]


def test_weights_make_a_mean_over_rows_a_mean_over_episodes() -> None:
    tokens = torch.tensor([1, 3, 2, 0])  # episode 0 in two windows, episode 1, a filler
    rows = torch.tensor([0, 0, 1, -1])
    weights = row_weights("grpo", tokens=tokens, episode_of_row=rows, num_episodes=2)
    # By hand: 4 rows / 2 episodes, times the row's share of its episode's tokens.
    assert weights.tolist() == [0.5, 1.5, 2.0, 0.0]
    summed = row_weights("dr_grpo", tokens=tokens, episode_of_row=rows, num_episodes=2)
    assert summed.tolist() == [2.0, 2.0, 2.0, 0.0]
