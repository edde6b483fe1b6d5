"""Between trajectories and TRL: with `trl_batches` all that knows TRL's dict keys and hooks.

A trajectory becomes one row per token trace: one where the history only grew, one per window where
old turns were dropped. Environment tokens carry mask 0 from their birth on: never trained on.
Written for TRL 1.16; each hook that is used has a contract test.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from agentgym_envs.trajectory import TokenTrace, Trajectory
from trainers.extras import MISSING_TRAIN_EXTRA
from trainers.results import Stopwatch
from trainers.rewards import reward_columns
from trainers.seeds import batch_seed
from trainers.trl_batches import has_signal, regroup, row_weights, trim_padding

try:
    import torch
    from datasets import Dataset
    from torch.utils.data import Sampler
    from transformers.trainer_pt_utils import LengthGroupedSampler
    from trl import GRPOTrainer, SFTTrainer
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error

RolloutFunc = Callable[[list[str], Any], dict[str, Any]]

IGNORED = -100
"""The label of a token that is not trained on."""


class Player(Protocol):
    """Plays tasks; `RolloutEngine` is one."""

    def run(self, task_ids: Sequence[str], *, global_step: int = 0) -> list[Trajectory]:
        """Play one episode per task id and return them in the same order."""


@dataclass(frozen=True)
class Rows:
    """What the loss is computed on, as id lists.

    Attributes:
        columns: `prompt_ids`, `completion_ids`, `logprobs` (nats) and `env_mask` (1 = sampled),
            each a list with one entry per row.
        episode_of_row: the trajectory's index behind each row; -1 for a filler.
    """

    columns: dict[str, list[Any]]
    episode_of_row: list[int]


def task_dataset(task_ids: Sequence[str]) -> Dataset:
    """Return a dataset whose prompts are task ids; TRL hands them to the rollout as they are."""
    return Dataset.from_dict({"prompt": list(task_ids)})


def labelled_dataset(rows: Sequence[dict[str, list[int]]]) -> Dataset:
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


def rows_of(
    trajectories: Sequence[Trajectory],
    *,
    filler_id: int,
    multiple_of: int = 1,
    mask_truncated: bool = False,
) -> Rows:
    """Turn trajectories into rows.

    A failed trajectory, or one without a sampled token, becomes a filler: one row of two given
    tokens, since TRL wants a row and cannot take empty completions.

    Args:
        trajectories: the episodes.
        filler_id: the id that fillers hold.
        multiple_of: fillers are added until this divides the number of rows.
        mask_truncated: truncated episodes get mask 0 throughout.
    """
    filler = TokenTrace([filler_id], [filler_id], [0], [0.0])
    traces: list[TokenTrace] = []
    episode_of_row: list[int] = []
    for index, trajectory in enumerate(trajectories):
        kept = [] if trajectory.status == "failed" else _with_actions(trajectory)
        if mask_truncated and trajectory.status == "truncated":
            kept = []
        for trace in kept or [filler]:
            traces.append(trace)
            episode_of_row.append(index)
    while len(traces) % multiple_of:
        traces.append(filler)
        episode_of_row.append(-1)
    columns: dict[str, list[Any]] = {
        "prompt_ids": [trace.prompt_ids for trace in traces],
        "completion_ids": [trace.completion_ids for trace in traces],
        "logprobs": [trace.logprobs for trace in traces],
        "env_mask": [trace.action_mask for trace in traces],
    }
    return Rows(columns, episode_of_row)


def _with_actions(trajectory: Trajectory) -> list[TokenTrace]:
    return [trace for trace in trajectory.traces if any(trace.action_mask)]


def make_rollout_func(player: Player) -> RolloutFunc:
    """Return a `rollout_func` for a stock `trl.GRPOTrainer`.

    Use it with `reward_funcs=agent_reward` and `train_dataset=task_dataset(task_ids)`, and sample
    at the trainer's own temperature, by which its loss divides.

    Args:
        player: plays task ids.
    """

    def rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
        with sampling_mode(trainer.model):
            trajectories = player.run(list(prompts), global_step=trainer.state.global_step)
        rows = rows_of(trajectories, filler_id=trainer.processing_class.pad_token_id)
        if rows.episode_of_row != list(range(len(prompts))):
            raise ValueError(
                "an episode has several token windows (keep_last_turns), which a stock GRPOTrainer "
                "cannot take; use trainers.grpo.AgentGRPOTrainer"
            )
        return {**rows.columns, **reward_columns(trajectories)}

    return rollout


@contextmanager
def sampling_mode(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode without gradients, and back."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


class EpochOrder(Sampler[int]):
    """A sampler whose order depends on the seed and the epoch only.

    Samplers that go on drawing from epoch to epoch would begin again with the first epoch's order
    in a run that is resumed in a later one.

    Args:
        sampler: draws from `generator`.
        generator: the sampler's; None where it does not shuffle.
        seed: the run's seed.
    """

    def __init__(self, sampler: Any, *, generator: torch.Generator | None, seed: int) -> None:
        self._sampler = sampler
        self._generator = generator
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch; the trainer calls it."""
        self._epoch = epoch

    def __iter__(self) -> Iterator[int]:
        if self._generator is not None:
            self._generator.manual_seed(batch_seed(self._seed, (self._epoch,)))
        return iter(self._sampler)

    def __len__(self) -> int:
        return len(self._sampler)


class ImitationTrainer(SFTTrainer):  # type: ignore[misc]
    """`SFTTrainer` whose order by length is the same in a resumed run."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(train_dataset)
        if not isinstance(sampler, LengthGroupedSampler):
            return sampler
        sampler.generator = torch.Generator()
        return EpochOrder(sampler, generator=sampler.generator, seed=self.args.seed)


class EpisodeTrainer(GRPOTrainer):  # type: ignore[misc]
    """`GRPOTrainer` whose rows come from trajectories.

    It lets an episode have several rows, leaves failed episodes out exactly, drops needless
    padding, passes over micro-batches in which no row has an advantage (what TRL logs of tokens,
    such as the entropy, then tells of the others), and logs how far sampled and trained
    log-probabilities are apart. A subclass plays
    the episodes in `play`. With `beta` > 0 the KL term is averaged over rows, not episodes.

    Args:
        **kwargs: `trl.GRPOTrainer`'s, without `rollout_func`.
    """

    mask_truncated_episodes = False
    _buffered_inputs: list[dict[str, Any]] | None
    play_metrics: dict[str, float]
    """What `play` wants logged besides what the episodes tell."""

    def __init__(self, **kwargs: Any) -> None:
        self.play_metrics = {}
        with warnings.catch_warnings():
            # TRL calls the hook experimental; the version is pinned and the hook under test.
            warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
            super().__init__(rollout_func=self._roll_out, **kwargs)

    def play(self, task_ids: list[str]) -> list[Trajectory]:
        """Play one episode per task id with the current policy."""
        raise NotImplementedError

    def _roll_out(self, prompts: list[str], _trainer: Any) -> dict[str, Any]:
        watch = Stopwatch()
        self.trajectories = self.play(list(prompts))
        for name, value in {**self.play_metrics, "rollout_time": watch.seconds}.items():
            self._log_metric(name, value)
        self._rows = rows_of(
            self.trajectories,
            filler_id=self.processing_class.pad_token_id,
            multiple_of=self.args.steps_per_generation,
            mask_truncated=self.mask_truncated_episodes,
        )
        return {**self._rows.columns, **reward_columns(self.trajectories)}

    def _get_train_sampler(self, dataset: Any = None) -> EpochOrder:
        sampler = super()._get_train_sampler(dataset)
        generator = sampler.generator if sampler.shuffle else None
        return EpochOrder(sampler, generator=generator, seed=self.args.seed)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        batch = super()._generate_and_score_completions(inputs)
        episode_of_row = torch.tensor(self._rows.episode_of_row, device=batch["advantages"].device)
        valid = torch.tensor(
            sum(t.status != "failed" for t in self.trajectories),
            dtype=torch.float32,
            device=episode_of_row.device,
        )
        weights = row_weights(
            self.loss_type,
            tokens=(batch["completion_mask"] * batch["tool_mask"]).sum(dim=1),
            episode_of_row=episode_of_row,
            num_episodes=self.accelerator.gather(valid.unsqueeze(0)).mean().item(),
        )
        batch["advantages"] = batch["advantages"][episode_of_row.clamp(min=0)] * weights
        return batch

    def _prepare_inputs(self, generation_batch: Any) -> dict[str, Any]:
        before = self._buffered_inputs
        inputs = super()._prepare_inputs(generation_batch)
        batches = self._buffered_inputs
        if batches is None or batches is before:
            return inputs
        steps = self.args.steps_per_generation
        one_optimizer_step = self.args.gradient_accumulation_steps % steps == 0
        # "bnpo" divides by the tokens of each micro-batch, so regrouping would change its loss.
        if one_optimizer_step and self.loss_type != "bnpo":
            batches = regroup(batches)
        self._buffered_inputs = [trim_padding(batch) for batch in batches]
        return self._buffered_inputs[self._step % steps]

    def _get_per_token_logps_and_entropies(self, *args: Any, **kwargs: Any) -> Any:
        outputs = super()._get_per_token_logps_and_entropies(*args, **kwargs)
        self._last_logprobs = outputs[0].detach()
        return outputs

    def _is_without_gradient(self, inputs: dict[str, Any]) -> bool:
        other_terms = self.beta != 0.0 or self._entropy_bonus_enabled or self.aux_loss_enabled
        alone = self.accelerator.num_processes == 1  # several must do the same passes together
        training = alone and self.model.training
        return training and not other_terms and not bool(has_signal(inputs).any())

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        if self._is_without_gradient(inputs):
            # The two passes through the model would cost half of a step, for a gradient of 0.
            return sum(p.sum() * 0.0 for p in model.parameters() if p.requires_grad)  # type: ignore[return-value]
        loss = super()._compute_loss(model, inputs)
        mask = inputs["completion_mask"] * inputs["tool_mask"]
        on_policy = inputs.get("old_per_token_logps", self._last_logprobs)
        if bool(mask.any()):
            gap = (on_policy - inputs["sampling_per_token_logps"]).abs()[mask.bool()]
            metrics = self._metrics["train" if self.model.training else "eval"]
            metrics["sampling/logprob_gap_mean"].append(gap.mean().item())
            metrics["sampling/logprob_gap_max"].append(gap.max().item())
        return loss
