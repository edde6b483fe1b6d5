"""Measures of a batch by the policy itself: entropies, probabilities of answers, the KL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

from trainers.tokens.generation import Sampling
from trainers.trl_bridge.episode_batch import EpisodeBatch
from trainers.trl_bridge.metrics import TokenMetrics
from trainers.trl_bridge.rollout import sampling_mode


class PolicyMeasures:
    """Passes without gradients, by the policy as it is.

    Args:
        trainer: a `trl.GRPOTrainer`.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._kl_metrics = TokenMetrics(trainer.accelerator)

    def entropies_of(self, batch: dict[str, Any]) -> torch.Tensor:
        """Return (R, T) nats, the entropy of each completion token's distribution.

        Args:
            batch: TRL's padded tensors.
        """
        entropies: torch.Tensor = self._pass_over(
            batch["prompt_ids"],
            batch["prompt_mask"],
            batch["completion_ids"],
            batch["completion_mask"],
        )[1]
        return entropies

    def answer_probabilities(
        self,
        batch: dict[str, Any],
        episodes: EpisodeBatch,
        turn: torch.Tensor,
        *,
        answer_ids: Callable[[str], tuple[list[int], int]],
    ) -> list[list[float]]:
        """Return the right answer's probability behind each turn's observation: IGPO's p_t.

        It is the geometric mean over the answer's tokens, so that long answers are not less likely.

        Args:
            batch: TRL's padded tensors.
            episodes: the episodes.
            turn: (R, T) int64, each sampled token's turn within its episode, -1 elsewhere.
            answer_ids: given a task id, returns the ids of an action that gives the answer, up to
                its end, and the place where the answer begins in them.

        Returns:
            for each episode, a probability per turn; none for one without sampled tokens.
        """
        probabilities: list[list[float]] = [[] for _ in episodes.trajectories]
        prefixes, answers, starts, owners = [], [], [], []
        before = torch.nn.functional.pad(turn, (1, 0), value=-1)[:, :-1]
        for row, column in ((turn >= 0) & (turn != before)).nonzero().tolist():
            owner = int(episodes.episode_of_row[row])
            ids, start = answer_ids(episodes.trajectories[owner].task_id)
            prompt = batch["prompt_ids"][row][batch["prompt_mask"][row].bool()]
            prefixes.append(torch.cat([prompt, batch["completion_ids"][row, :column]]))
            answers.append(prompt.new_tensor(ids))
            starts.append(start)
            owners.append(owner)
        size = self._trainer.args.per_device_train_batch_size
        for first in range(0, len(owners), size):
            chunk = slice(first, first + size)
            logps = self._pass_over(
                *_padded(prefixes[chunk], "left"), *_padded(answers[chunk], "right")
            )[0]
            for index, owner in enumerate(owners[chunk], first):
                of_answer = logps[index - first, starts[index] : len(answers[index])]
                probabilities[owner].append(of_answer.double().mean().exp().item())
        return probabilities

    def kl_of(self, batch: dict[str, Any], episodes: EpisodeBatch) -> torch.Tensor:
        """Return (R, T), log-probabilities of the policy less those of the reference (k1).

        All 0 where `beta` is 0, for then there is no reference.
        """
        mask = episodes.action_mask
        if "ref_per_token_logps" not in batch:
            return torch.zeros(mask.shape, device=mask.device)
        kl: torch.Tensor = (self._policy_logps(batch) - batch["ref_per_token_logps"]) * mask
        self._kl_metrics.add(self._trainer.logged, mask, mean={"kl": kl})
        return kl

    def _policy_logps(self, batch: dict[str, Any]) -> torch.Tensor:
        """Return (R, T) log-probabilities of the policy that is about to be trained.

        Those that were sampled are another distribution's where tokens were left out, and another
        policy's where it played ahead.
        """
        names = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
        logps: torch.Tensor
        if "old_per_token_logps" in batch:
            logps = batch["old_per_token_logps"]
        elif Sampling.of(self._trainer.args).is_cut or self._trainer.max_staleness:
            logps = self._pass_over(*(batch[name] for name in names))[0]
        else:
            logps = batch["sampling_per_token_logps"]
        return logps

    @torch.no_grad()
    def _pass_over(
        self,
        prompt_ids: torch.Tensor,
        prompt_mask: torch.Tensor,
        ids: torch.Tensor,
        mask: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (R, T) log-probabilities and entropies of the last T columns."""
        trainer = self._trainer
        with sampling_mode(trainer.model):
            logps, entropies, _ = trainer._get_per_token_logps_and_entropies(
                trainer.model,
                torch.cat([prompt_ids, ids], dim=1),
                torch.cat([prompt_mask, mask], dim=1),
                ids.size(1),
                batch_size=trainer.args.per_device_train_batch_size,
                compute_entropy=True,
            )
        return logps, entropies


def _padded(sequences: list[torch.Tensor], side: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (N, L) ids and their mask."""
    ids = pad_sequence(sequences, batch_first=True, padding_side=side)
    ones = [torch.ones_like(one) for one in sequences]
    return ids, pad_sequence(ones, batch_first=True, padding_side=side)
