"""Rows of trajectories, TRL's padded batch of them, and the episodes behind it.

A trajectory becomes one row of plain id lists per token trace: one where the history only grew, one
per window where old turns were dropped. Environment tokens carry mask 0 from their birth on: no
policy gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from accelerate.utils import gather_object
from datasets import Dataset
from torch.nn.utils.rnn import pad_sequence

from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from trainers.credit.advantages import environments_that_vary, whiten_by_environment
from trainers.trl_bridge.layout import Sizes

IGNORED = -100
"""The label of a token that is not trained on, or not scored."""
SEQUENCES = ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")
"""Keys of TRL's batch: the tensors of the rows' tokens."""
_MEAN_OVER_TOKENS_THEN_ROWS = ("grpo", "sapo")
_SUM_OVER_TOKENS_MEAN_OVER_ROWS = ("dr_grpo", "luspo")


@dataclass(frozen=True)
class Rows:
    """The loss's rows, as id lists.

    Attributes:
        columns: `prompt_ids`, `completion_ids`, `logprobs` (nats) and `env_mask` (1 = sampled),
            each a list with one entry per row.
        episode_of_row: the trajectory's index behind each row; -1 for a filler.
        traces: the trace behind each row; None for a filler, also one that stands for an episode.
    """

    columns: dict[str, list[Any]]
    episode_of_row: list[int]
    traces: list[TokenTrace | None]

    def completions(self) -> list[list[int]]:
        """Return one list of completion ids per episode, those of its windows joined."""
        joined: list[list[int]] = [[] for _ in range(max(self.episode_of_row) + 1)]
        for episode, ids in zip(self.episode_of_row, self.columns["completion_ids"], strict=True):
            if episode >= 0:
                joined[episode] += ids
        return joined

    def note_advantages(self, advantages: Sequence[Sequence[float]]) -> None:
        """Write the advantages of its tokens into each trace.

        Args:
            advantages: per row (T,) numbers, with padding behind the trace's end.
        """
        for trace, row in zip(self.traces, advantages, strict=True):
            if trace is not None:
                # Six digits are float32's, and half the length in a file.
                trace.advantages = [
                    float(f"{value:.6g}") if sampled else 0.0
                    for value, sampled in zip(row, trace.action_mask, strict=False)
                ]


def task_dataset(task_ids: Sequence[str]) -> Dataset:
    """Return a dataset of task ids as prompts, which TRL hands to the rollout unchanged."""
    return Dataset.from_dict({"prompt": list(task_ids)})


def labelled_dataset(rows: Sequence[dict[str, Any]]) -> Dataset:
    """Return the pre-tokenized dataset that TRL's SFT takes.

    Args:
        rows: `input_ids` (T,) and `action_mask` (T,); only tokens of mask 1 become labels.
    """
    return Dataset.from_dict(
        {
            "input_ids": [row["input_ids"] for row in rows],
            "labels": [
                [
                    i if m else IGNORED
                    for i, m in zip(row["input_ids"], row["action_mask"], strict=True)
                ]
                for row in rows
            ],
        }
    )


def make_rows(
    trajectories: Sequence[Trajectory],
    *,
    filler_id: int,
    multiple_of: int = 1,
    at_least: int = 0,
    mask_truncated: bool = False,
) -> Rows:
    """Turn trajectories into rows.

    A failed trajectory, or one without a sampled token, becomes a filler: one row of two given
    tokens, since TRL wants a row and cannot take empty completions.

    Args:
        trajectories: the episodes.
        filler_id: the id that fillers hold.
        multiple_of: fillers are added until this divides the number of rows.
        at_least: fillers are added until there are so many rows.
        mask_truncated: truncated episodes get mask 0 throughout.
    """
    filler = TokenTrace([filler_id], [filler_id], [0], [0.0])
    traces: list[TokenTrace | None] = []
    episode_of_row: list[int] = []
    for index, trajectory in enumerate(trajectories):
        own_traces = [trace for trace in trajectory.traces if any(trace.action_mask)]
        is_masked = mask_truncated and trajectory.status == "truncated"
        if trajectory.status == "failed" or is_masked:
            own_traces = []
        traces += own_traces or [None]
        episode_of_row += [index] * max(len(own_traces), 1)
    while len(traces) % multiple_of or len(traces) < at_least:
        traces.append(None)
        episode_of_row.append(-1)
    rows = [filler if trace is None else trace for trace in traces]
    columns: dict[str, list[Any]] = {
        "prompt_ids": [row.prompt_ids for row in rows],
        "completion_ids": [row.completion_ids for row in rows],
        "logprobs": [row.logprobs for row in rows],
        "env_mask": [row.action_mask for row in rows],
    }
    return Rows(columns, episode_of_row, traces)


@dataclass(frozen=True)
class EpisodeBatch:
    """The episodes of a batch, from which an algorithm makes their advantages.

    A row is a row of TRL's tensors: an episode's whole token sequence, or one of its token windows
    where its history is cut or rendered again. The rows of an episode follow one another. Fillers
    are further rows, without an episode, for a number of rows that TRL can split.

    Attributes:
        trajectories: the E episodes of this process.
        rewards: (N,) float32, of the episodes of all processes; NaN for those that do not count
            (`trainers.credit.rewards`). Each `group_size` consecutive ones played the same task.
        group_size: episodes per task.
        first: the index of this process's first episode in `rewards`.
        episode_of_row: (R,) int64, the index in `trajectories` behind each row; -1 for fillers.
        action_mask: (R, T), 1 on sampled tokens.
        reduce_sum: adds up a tensor over the processes.
        gather: joins lists of the processes; small values that pickle.
        environment: (N,) int64, the number of each episode's environment.
        num_environments: of the run.
    """

    trajectories: list[Trajectory]
    rewards: torch.Tensor
    group_size: int
    first: int
    episode_of_row: torch.Tensor
    action_mask: torch.Tensor
    reduce_sum: Callable[[torch.Tensor], torch.Tensor]
    gather: Callable[[list[Any]], list[Any]]
    environment: torch.Tensor
    num_environments: int

    @classmethod
    def from_batch(cls, trainer: Any, batch: dict[str, Any]) -> EpisodeBatch:
        """Return the episodes of TRL's last batch, and mask those without a reward in it."""
        accelerator, trajectories = trainer.accelerator, trainer.trajectories
        rewards, device = trainer.episode_rewards, batch["completion_mask"].device

        def reduce_sum(tensor: torch.Tensor) -> torch.Tensor:
            total: torch.Tensor = accelerator.reduce(tensor, reduction="sum")
            return total

        first = accelerator.process_index * len(trajectories)
        episode_of_row = torch.tensor(trainer.rows.episode_of_row, device=device)
        if rewards.isnan().any():
            row_rewards = rewards[first + episode_of_row.clamp(min=0)]
            leave_out_unrewarded(batch, row_rewards, reduce_sum=reduce_sum)
        is_training = trainer.model.training
        numbers = episode_environments(trajectories, trainer.environment_names)
        return cls(
            trajectories=trajectories,
            rewards=rewards,
            group_size=trainer.num_generations if is_training else trainer.num_generations_eval,
            first=first,
            episode_of_row=episode_of_row,
            action_mask=batch["completion_mask"] * batch["tool_mask"],
            reduce_sum=reduce_sum,
            gather=gather_object if accelerator.num_processes > 1 else list,
            environment=accelerator.gather(torch.tensor(numbers, device=device)),
            num_environments=len(trainer.environment_names),
        )

    def local(self, values: torch.Tensor) -> torch.Tensor:
        """Return this process's E of (N,) values."""
        return values[self.first : self.first + len(self.trajectories)]

    def mean_over_tokens(self, values: torch.Tensor) -> torch.Tensor:
        """Return (E,) means of (R, T) values over each episode's sampled tokens."""
        row = self.episode_of_row.clamp(min=0)
        mask = self.action_mask * (self.episode_of_row >= 0)[:, None]
        sums = values.new_zeros(2, len(self.trajectories))
        sums[0].index_add_(0, row, (values * mask).sum(dim=1))
        sums[1].index_add_(0, row, mask.sum(dim=1).to(values))
        return sums[0] / sums[1].clamp(min=1)

    def whiten(
        self, values: torch.Tensor, rewards: torch.Tensor, *, by_environment: bool
    ) -> tuple[torch.Tensor, float]:
        """Give values mean 0 and variance 1 over the sampled tokens of all processes.

        Where the rewards behind the values are equal in all processes, what is left in the values
        is a critic's error or a KL. Scaled to variance 1 it would be a whole step, so they become
        0.

        Args:
            values: (R, T).
            rewards: (E,) of this process's episodes.
            by_environment: whiten each environment's values by themselves.

        Returns:
            (R, T), and the share of the episodes that are in such a batch or environment.
        """
        environment, number = self.environment, self.num_environments
        if not by_environment:
            environment, number = torch.zeros_like(environment), 1
        known_rewards = rewards.masked_fill(~self.trained, torch.nan).tolist()
        all_rewards = torch.tensor(self.gather(known_rewards), device=rewards.device)
        varies = environments_that_vary(all_rewards, environment)
        row = self.episode_of_row.clamp(min=0)
        whitened = whiten_by_environment(
            values,
            self.action_mask * self.local(varies)[row][:, None],
            self.local(environment)[row],
            num_environments=number,
            reduce_sum=self.reduce_sum,
        )
        return whitened, 1 - varies.float().mean().item()

    @property
    def trained(self) -> torch.Tensor:
        """(E,) bool, the episodes of this process that have a reward and a sampled token."""
        trained = torch.zeros_like(self.counted)
        trained[self.episode_of_row[self.action_mask.any(dim=1)]] = True
        return trained

    @property
    def counted(self) -> torch.Tensor:
        """(E,) bool, the episodes of this process that have a reward."""
        return ~self.local(self.rewards).isnan()


def episode_environments(trajectories: Sequence[Trajectory], names: Mapping[str, str]) -> list[int]:
    """Return the number of each episode's environment."""
    if len(names) == 1:
        return [0] * len(trajectories)
    numbers = {name: number for number, name in enumerate(names)}
    return [numbers[scenario_name(trajectory.task_id)] for trajectory in trajectories]


def rows_of_all(trainer: Any, trajectories: Sequence[Trajectory]) -> Rows:
    """Return a batch's rows, as many in each process."""

    def rows(at_least: int = 0) -> Rows:
        return make_rows(
            trajectories,
            filler_id=trainer.processing_class.pad_token_id,
            multiple_of=trainer.args.steps_per_generation,
            at_least=at_least,
            mask_truncated=trainer.mask_truncated_episodes,
        )

    alone, accelerator = rows(), trainer.accelerator
    if accelerator.num_processes == 1:
        return alone
    # TRL gathers numbers of rows, for which every process needs as many rows as the others.
    count = torch.tensor([len(alone.episode_of_row)], device=accelerator.device)
    return rows(at_least=int(accelerator.gather(count).max()))


def leave_out_unrewarded(
    batch: dict[str, Any],
    rewards: torch.Tensor,
    *,
    reduce_sum: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    """Take the tokens of rows without a reward out of TRL's mask and out of its token count.

    `rewards` are (R,), of the episode of each row; NaN where it has none.
    """
    unrewarded = rewards.isnan()
    tokens = (batch["completion_mask"] * batch["tool_mask"])[unrewarded].sum()
    batch["tool_mask"] = batch["tool_mask"] * ~unrewarded[:, None]
    batch["num_items_in_batch"] = batch["num_items_in_batch"] - reduce_sum(tokens)


def is_mean_over_rows(loss_type: str) -> bool:
    """Return whether TRL's loss of this name is a mean over the rows of a micro-batch."""
    return loss_type in _MEAN_OVER_TOKENS_THEN_ROWS + _SUM_OVER_TOKENS_MEAN_OVER_ROWS


def row_weights(
    loss_type: str, *, tokens: torch.Tensor, episode_of_row: torch.Tensor, num_episodes: float
) -> torch.Tensor:
    """Return the factors that make TRL's mean over rows a mean over episodes.

    Where rows are episodes and all are trained on, every factor is 1. Otherwise a loss that
    averages over rows would count fillers, and an episode of several windows as often as it has
    windows.

    Args:
        loss_type: TRL's name of the loss.
        tokens: (R,) the sampled tokens of each row.
        episode_of_row: (R,) int64; -1 for fillers.
        num_episodes: the episodes that are trained on, which have tokens.

    Returns:
        (R,) float32, to multiply the advantages and the KL with; 0 for a row without tokens.
    """
    weights = (tokens > 0).to(torch.float32)
    if not is_mean_over_rows(loss_type):
        return weights
    weights *= len(tokens) / max(num_episodes, 1.0)
    if loss_type in _MEAN_OVER_TOKENS_THEN_ROWS:
        same_episode = episode_of_row[:, None] == episode_of_row[None, :]  # (R, R)
        episode_tokens = (same_episode * tokens[None, :]).sum(dim=1)  # (R,)
        weights *= tokens / episode_tokens.clamp(min=1)
    return weights


def token_weights(
    trainer: Any, *, tokens: torch.Tensor, weights: torch.Tensor, num_items: torch.Tensor
) -> torch.Tensor:
    """Return each row's weight of a token in TRL's loss, times the accumulated passes.

    Args:
        trainer: a `trl.GRPOTrainer`.
        tokens: (R,) the scored tokens of each row of this process's batch.
        weights: (R,), `row_weights`.
        num_items: the tokens of the batch, of all processes.

    Returns:
        (R,) float32.
    """
    loss_type, steps = trainer.loss_type, trainer.args.steps_per_generation
    if not is_mean_over_rows(loss_type):
        return weights * steps * trainer.accelerator.num_processes / num_items.clamp(min=1)
    of_row = weights * steps / len(weights)
    if loss_type in _MEAN_OVER_TOKENS_THEN_ROWS:
        return of_row / tokens.clamp(min=1)
    return of_row / (trainer.max_completion_length if loss_type == "dr_grpo" else 1)


def trim_padding(batch: dict[str, Any]) -> dict[str, Any]:
    """Cut the columns that are padding in every row: left of prompts, right of completions."""
    prompt_width = max(int(batch["prompt_mask"].sum(dim=1).max()), 1)
    width = max(int(batch["completion_mask"].sum(dim=1).max()), 1)
    full_width = batch["completion_ids"].size(1)
    trimmed = dict(batch)
    for key, value in batch.items():
        if not isinstance(value, torch.Tensor) or value.ndim < 2:
            continue
        if key.startswith("prompt_"):
            trimmed[key] = value[:, -prompt_width:]
        elif value.size(1) == full_width:
            trimmed[key] = value[:, :width]
    return trimmed


def two_columns(batch: dict[str, Any]) -> dict[str, Any]:
    """Return a batch with T of 2 at least.

    TRL takes (B, 1) tensors for a value per row, and then averages its metrics over rows, masked or
    not, in place of tokens.
    """
    if batch["completion_ids"].size(1) > 1:
        return batch
    return {
        key: torch.nn.functional.pad(value, (0, 1))
        if isinstance(value, torch.Tensor) and value.ndim == 2 and not key.startswith("prompt_")
        else value
        for key, value in batch.items()
    }


def padded(sequences: list[torch.Tensor], side: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (N, L) ids and their mask."""
    ids = pad_sequence(sequences, batch_first=True, padding_side=side)
    ones = [torch.ones_like(one) for one in sequences]
    return ids, pad_sequence(ones, batch_first=True, padding_side=side)


def has_signal(batch: dict[str, Any]) -> torch.Tensor:
    """Return (B,) bool: the rows with an advantage. Only these have a policy gradient."""
    return (batch["advantages"] != 0).any(dim=1)


def lay_out(trainer: Any, batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return micro-batches with little padding, grouped by the cost of their passes."""
    steps, per_update = trainer.args.steps_per_generation, trainer.args.gradient_accumulation_steps
    # Micro-batches may change places within one optimizer step only.
    together = min(per_update, steps)
    is_whole = steps % per_update == 0 or per_update % steps == 0
    if is_whole and not trainer.policy_loss.has_terms_of_micro_batches:
        model = trainer.accelerator.unwrap_model(trainer.model)
        hidden_size = model.config.get_text_config(decoder=True).hidden_size
        batches = [
            batch
            for first in range(0, steps, together)
            for batch in regroup(batches[first : first + together], hidden_size)
        ]
    return [trim_padding(batch) for batch in batches]


def regroup(batches: list[dict[str, Any]], hidden_size: int) -> list[dict[str, Any]]:
    """Redistribute the rows of one optimizer step over its micro-batches.

    Rows of one prompt come together, so that it is computed once, or rows of like length, so that
    less is padding, whichever costs less. Rows without an advantage come last, so that whole
    micro-batches have none. The sum over the micro-batches stays the same.
    """
    joined = {
        key: torch.cat([batch[key] for batch in batches]) if value.ndim else value
        for key, value in batches[0].items()
    }
    size = len(batches[0]["prompt_ids"])
    chunks = _cheaper(joined, size, hidden_size)
    return [
        {
            key: value[torch.tensor(chunk, device=value.device)] if value.ndim else value
            for key, value in joined.items()
        }
        for chunk in chunks
    ]


def _cheaper(batch: dict[str, Any], size: int, hidden_size: int) -> list[list[int]]:
    """Return the rows of each micro-batch."""
    prompt_width = batch["prompt_ids"].size(1)
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    sizes = Sizes.measure(ids, mask, prompt_width, hidden_size)
    signal = has_signal(batch).tolist()
    by_length = sorted(range(len(ids)), key=lambda row: -sizes.lengths[row] * signal[row])
    with_signal = [row for row in by_length if signal[row]]
    by_prompt = [
        *(row for group in sizes.groups(with_signal).values() for row in group),
        *by_length[len(with_signal) :],
    ]
    orders = [
        [order[first : first + size] for first in range(0, len(order), size)]
        for order in (by_length, by_prompt)
    ]
    return min(orders, key=lambda chunks: sum(map(sizes.cost, chunks)))
