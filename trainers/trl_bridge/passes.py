"""TRL's pass for log-probabilities, over compact rows. Knows tensors, no episode."""

from __future__ import annotations

from typing import Any

import torch

from trainers.trl_bridge.compact import Compact


class CompactPasses:
    """A mixin before `GRPOTrainer`: little is padding, and attention needs no mask."""

    def _get_per_token_logps_and_entropies(
        self,
        model: Any,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        logits_to_keep: int,
        batch_size: int | None = None,
        compute_aux_loss: bool = False,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]:
        order = torch.arange(len(input_ids), device=input_ids.device)
        if batch_size is not None and batch_size < len(order):
            # Rows of like length come together, so that little is padding.
            order = torch.argsort(attention_mask.sum(dim=1), descending=True, stable=True)
        logps, entropies, aux_losses = [], [], []
        for chunk in order.split(batch_size or len(order)):
            layout = Compact.of(attention_mask[chunk])
            packed = layout.pack(input_ids[chunk])
            # An aux loss counts tokens by the mask; attention needs none.
            mask = layout.pack(layout.mask) if compute_aux_loss else torch.ones_like(packed)
            logp, entropy, aux_loss = super()._get_per_token_logps_and_entropies(  # type: ignore[misc]
                model,
                packed,
                mask,
                layout.num_kept(logits_to_keep),
                compute_aux_loss=compute_aux_loss,
                **kwargs,
            )
            logps.append(layout.unpack(logp, logits_to_keep))
            if entropy is not None:
                entropies.append(layout.unpack(entropy, logits_to_keep))
            if aux_loss is not None:
                aux_losses.append(aux_loss)
        back = torch.argsort(order)
        return (
            torch.cat(logps)[back],
            torch.cat(entropies)[back] if entropies else None,
            torch.stack(aux_losses).mean() if aux_losses else None,
        )
