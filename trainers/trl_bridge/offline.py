"""TRL's trainers on saved episodes: the order of rows, and `DPOTrainer` on token ids.

Of pairs TRL takes texts, counts every token behind the prompt as the policy's, and loads the
reference from the model's name again, which fails or differs where the model lives in memory.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from accelerate.utils import is_peft_model
from datasets import Dataset
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers.trainer_pt_utils import LengthGroupedSampler
from trl import DPOTrainer
from trl.models import prepare_deepspeed
from trl.trainer.dpo_trainer import DataCollatorForPreference

from trainers.models.dropout import disable_dropout
from trainers.rollout.mixtures import Mixture
from trainers.trl_bridge.parts import Reference
from trainers.trl_bridge.run import RunMixin
from trainers.trl_bridge.sampler import EpochOrder, mixture_order


def saved_order(trainer: Any, dataset: Any, sampler_of: Callable[[Any], Any]) -> Any:
    """Return an order of the rows of saved episodes that a resumed run repeats.

    Args:
        trainer: one whose `mixture` has the rows by environment, None for one environment's.
        dataset: the rows; None takes the trainer's.
        sampler_of: TRL's `_get_train_sampler`.
    """
    if trainer.mixture is not None:
        count = len(trainer.train_dataset if dataset is None else dataset)
        return mixture_order(
            range(count), trainer.mixture, num_draws=count, state=lambda: trainer.state
        )
    sampler = sampler_of(dataset)
    if not isinstance(sampler, LengthGroupedSampler):
        return sampler
    sampler.generator = torch.Generator()
    return EpochOrder(
        sampler, generator=sampler.generator, seed=trainer.args.seed, state=lambda: trainer.state
    )


class MaskedPreferenceCollator(DataCollatorForPreference):  # type: ignore[misc]
    """TRL's collator, with the rows' own masks as `completion_mask` (2B, T)."""

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """Pad rows to one batch: the chosen sequences first, the rejected ones after them."""
        batch = super().torch_call([{**example, "prompt_ids": []} for example in examples])
        masks = [example[side] for side in ("chosen_mask", "rejected_mask") for example in examples]
        width = batch["input_ids"].size(1)
        batch["completion_mask"] = torch.tensor(
            [mask + [0] * (width - len(mask)) for mask in masks]
        )
        return batch


class PreferenceTrainer(RunMixin, DPOTrainer):  # type: ignore[misc]
    """`DPOTrainer` on rows of token ids and masks, with every loss type of TRL's.

    The reference is the model at the start: its log-probabilities are computed before training
    (`precompute_ref_log_probs`), or a copy of it is kept. With a new adapter, it is the base alone.

    Args:
        model: a loaded model.
        rows: of `trainers.credit.pairs.pair_rows`: ids and masks of both sides.
        args: TRL's `DPOConfig`; `max_length` has no effect, as a pair that is cut would lose the
            tokens in which its sides differ.
        ref_model: the reference, where it is another model.
        processing_class: the tokenizer, for its padding token.
        **kwargs: `trl.DPOTrainer`'s, such as `peft_config` and `callbacks`.
    """

    mixture: Mixture | None = None
    """The rows by environment, or None where there is one, whose order is TRL's own."""

    def __init__(
        self,
        model: Any,
        rows: Sequence[dict[str, Any]],
        *,
        args: Any,
        ref_model: Any = None,
        processing_class: Any,
        **kwargs: Any,
    ) -> None:
        args.remove_unused_columns = False
        has_adapter = kwargs.get("peft_config") is not None or is_peft_model(model)
        if ref_model is None and not (has_adapter or args.precompute_ref_log_probs):
            ref_model = copy.deepcopy(model).eval().requires_grad_(False)
        names = [
            f"{side}_{column}" for side in ("chosen", "rejected") for column in ("ids", "mask")
        ]
        dataset = Dataset.from_dict({name: [row[name] for row in rows] for name in names})
        super().__init__(
            model=model,
            ref_model=ref_model,
            args=args,
            data_collator=MaskedPreferenceCollator(
                pad_token_id=processing_class.pad_token_id,
                pad_to_multiple_of=args.pad_to_multiple_of,
            ),
            train_dataset=dataset,
            # Trainer insists on a dataset where there are evaluations; ours play episodes instead.
            eval_dataset=None if args.eval_strategy == "no" else dataset.select([0]),
            processing_class=processing_class,
            **kwargs,
        )
        self.parts.append(Reference(self))
        if args.disable_dropout:
            disable_dropout(self.model, self.ref_model)

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return saved_order(self, train_dataset, super()._get_train_sampler)

    def _prepare_dataset(self, dataset: Dataset, *_args: Any, **_kwargs: Any) -> Dataset:
        return dataset

    def _precompute_ref_logps(self: Any, dataset: Dataset, name: str, batch_size: int) -> Dataset:
        """Add the reference's log-probabilities to rows, in every process.

        TRL's own lets the first process write them to a file of `datasets`' cache; for rows in
        memory that lies in a folder that the other processes do not know.
        """
        model = self.ref_model or self.model
        if self.ref_model is None and self.is_deepspeed_enabled:
            if self._precompute_engine is None:
                self._precompute_engine = prepare_deepspeed(model, self.accelerator)
            model = self._precompute_engine
        batches = self.accelerator.prepare(
            DataLoader(dataset, batch_size=batch_size, collate_fn=self.data_collator)
        )
        bar = tqdm(
            batches,
            desc=f"log-probabilities of the reference, {name}",
            disable=self.args.disable_tqdm or not self.is_world_process_zero(),
        )
        gather = self.accelerator.gather_for_metrics
        computed = [gather(self.compute_ref_log_probs(model, batch)) for batch in bar]
        for side, logps in zip(("chosen", "rejected"), zip(*computed, strict=True), strict=True):
            dataset = dataset.add_column(f"ref_{side}_logps", torch.cat(logps).tolist())
        return dataset
