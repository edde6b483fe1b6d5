"""Generalized advantage estimation (GAE) over sampled tokens, as pure tensor functions.

The time axis of an episode holds its sampled tokens only, over all of its rows in order. The
environment's tokens take no time, so the value that an estimate is bootstrapped from is always that
of the next *sampled* token, across observations and rows alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class SampledTokenIndex:
    """The sampled tokens of E episodes in the order they were sampled, L at most.

    Attributes:
        mask: (R, T) bool, the sampled tokens.
        episode: (M,) int64, the episode of each of the M sampled tokens, row by row.
        time: (M,) int64, its place in its episode.
        valid: (E, L) bool, where an episode has a token.
    """

    mask: torch.Tensor
    episode: torch.Tensor
    time: torch.Tensor
    valid: torch.Tensor

    @classmethod
    def from_mask(
        cls, action_mask: torch.Tensor, episode_of_row: torch.Tensor, num_episodes: int
    ) -> SampledTokenIndex:
        """Order the sampled tokens of rows, those of an episode as they were played.

        Args:
            action_mask: (R, T), 1 on sampled tokens.
            episode_of_row: (R,) int64.
            num_episodes: E; an episode without tokens has an empty time axis.
        """
        mask = action_mask.bool()
        episode = episode_of_row[:, None].expand_as(mask)[mask]  # (M,)
        lengths = torch.bincount(episode, minlength=num_episodes)  # (E,)
        order = torch.argsort(episode, stable=True)
        time = torch.empty_like(episode)
        steps = torch.arange(len(episode), device=episode.device)
        time[order] = steps - (lengths.cumsum(0) - lengths)[episode[order]]
        longest = max(int(lengths.max()), 1)
        valid = torch.arange(longest, device=mask.device)[None, :] < lengths[:, None]
        return cls(mask, episode, time, valid)

    def gather(self, values: torch.Tensor) -> torch.Tensor:
        """Return (E, L) from (R, T) values, 0 after an episode's last token."""
        table = values.new_zeros(self.valid.shape)
        table[self.episode, self.time] = values[self.mask]
        return table

    def scatter(self, values: torch.Tensor) -> torch.Tensor:
        """Return (R, T) from (E, L) values, 0 on all tokens that were not sampled."""
        rows = values.new_zeros(self.mask.shape)
        rows[self.mask] = values[self.episode, self.time]
        return rows


@dataclass(frozen=True)
class AdvantageEstimate:
    """Advantages and value targets.

    Attributes:
        advantages: (R, T), of the sampled tokens, 0 elsewhere.
        returns: (R, T), targets of the values at `value_mask`, 0 elsewhere.
        value_mask: (R, T) bool, the tokens whose value is used and trained.
    """

    advantages: torch.Tensor
    returns: torch.Tensor
    value_mask: torch.Tensor


def gae(
    rewards: torch.Tensor,
    values: torch.Tensor,
    valid: torch.Tensor,
    *,
    gamma: float,
    lam: float,
    bootstrap: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return A_t = sum_l (gamma lam)^l (r_t+l + gamma V_t+l+1 - V_t+l), GAE's eq. 16.

    The paper is arXiv 1506.02438.

    Args:
        rewards: (E, L), for the action at each time.
        values: (E, L), of the state before it.
        valid: (E, L) bool; times of no episode are passed over.
        gamma: the discount per time.
        lam: 1 sums all rewards to come; 0 looks one time ahead.
        bootstrap: (E,), the value after the last time; 0 by default, as at an episode's end.

    Returns:
        (E, L), 0 where not valid.
    """
    advantages = torch.zeros_like(values)
    ahead = torch.zeros_like(values[:, 0])
    value_ahead = ahead if bootstrap is None else bootstrap.to(values.dtype)
    for time in reversed(range(values.size(1))):
        here = valid[:, time]
        delta = rewards[:, time] + gamma * value_ahead - values[:, time]
        ahead = torch.where(here, delta + gamma * lam * ahead, ahead)
        value_ahead = torch.where(here, values[:, time], value_ahead)
        advantages[:, time] = torch.where(here, ahead, 0.0)
    return advantages


def token_gae(
    rewards: torch.Tensor,
    values: torch.Tensor,
    axis: SampledTokenIndex,
    *,
    gamma: float,
    lam: float,
    critic_lam: float,
    bootstrap: torch.Tensor | None = None,
) -> AdvantageEstimate:
    """Credit every sampled token by itself: GAE over tokens.

    Args:
        rewards: (R, T), on sampled tokens.
        values: (R, T), of the state before each token.
        axis: the tokens' order.
        gamma: the discount per token.
        lam: of the advantages.
        critic_lam: of the values' targets (arXiv 2503.01491 sets the two apart).
        bootstrap: (E,), the value of each episode's last state; 0 by default.
    """
    rewards, values = axis.gather(rewards), axis.gather(values)

    def estimate(lam: float) -> torch.Tensor:
        return gae(rewards, values, axis.valid, gamma=gamma, lam=lam, bootstrap=bootstrap)

    advantages = estimate(lam)
    targets = advantages if critic_lam == lam else estimate(critic_lam)
    return AdvantageEstimate(axis.scatter(advantages), axis.scatter(targets + values), axis.mask)


def turn_gae(
    rewards: torch.Tensor,
    values: torch.Tensor,
    axis: SampledTokenIndex,
    turn: torch.Tensor,
    *,
    gamma: float,
    lam: float,
    critic_lam: float,
    bootstrap: torch.Tensor | None = None,
) -> AdvantageEstimate:
    """Credit turns as a whole: GAE over turns, as in turn-PPO (arXiv 2512.17008).

    A turn's state is all that the policy had read before it, so its value is the one at its first
    token. Its tokens share its advantage.

    Args:
        rewards: (R, T), on sampled tokens; a turn's reward is their sum.
        values: (R, T), of the state before each token; only those of first tokens are used.
        axis: the tokens' order.
        turn: (R, T) int64, each sampled token's turn within its episode.
        gamma: the discount per turn.
        lam: of the advantages.
        critic_lam: of the values' targets.
        bootstrap: (E,), the value of each episode's last state; 0 by default.
    """
    turns = axis.gather(turn).masked_fill(~axis.valid, -1)  # (E, L)
    before = torch.nn.functional.pad(turns, (1, 0), value=-1)[:, :-1]
    first = axis.valid & (turns != before)
    num_turns = max(int(turns.max()) + 1, 1)
    turn_index = turns.clamp(min=0)

    def per_turn(tokens: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        table = tokens.new_zeros((len(tokens), num_turns))
        return table.scatter_add_(1, turn_index, tokens * chosen)

    rewards = per_turn(axis.gather(rewards), axis.valid)
    values = per_turn(axis.gather(values), first)
    is_turn = per_turn(first.to(values.dtype), first) > 0  # (E, K)

    def estimate(lam: float) -> torch.Tensor:
        return gae(rewards, values, is_turn, gamma=gamma, lam=lam, bootstrap=bootstrap)

    advantages = estimate(lam)
    targets = (advantages if critic_lam == lam else estimate(critic_lam)) + values
    return AdvantageEstimate(
        axis.scatter(advantages.gather(1, turn_index) * axis.valid),
        axis.scatter(targets.gather(1, turn_index) * first),
        axis.scatter(first),
    )


def rewards_at_turn_ends(
    turn_rewards: Sequence[Sequence[float]], turn: torch.Tensor, episode_of_row: torch.Tensor
) -> torch.Tensor:
    """Put each turn's reward on the last token of the turn.

    Args:
        turn_rewards: a list for each episode; not used for an episode without tokens.
        turn: (R, T) int64, each sampled token's turn within its episode, -1 elsewhere.
        episode_of_row: (R,) int64.

    Returns:
        (R, T) float32.

    Raises:
        ValueError: an episode has not as many rewards as turns.
    """
    after = torch.nn.functional.pad(turn, (0, 1), value=-1)[:, 1:]
    is_last = (turn >= 0) & (after != turn)
    placed = torch.zeros(turn.shape, device=turn.device)
    counts: dict[int, int] = {}
    for row, column in is_last.nonzero().tolist():
        episode, turn_index = int(episode_of_row[row]), int(turn[row, column])
        counts[episode] = counts.get(episode, 0) + 1
        if turn_index < len(turn_rewards[episode]):
            placed[row, column] = turn_rewards[episode][turn_index]
    for episode, count in counts.items():
        if count != len(turn_rewards[episode]):
            raise ValueError(
                f"episode {episode} has {len(turn_rewards[episode])} turn rewards for {count} runs "
                "of sampled tokens; there must be one reward for each run"
            )
    return placed
