"""Checks that episodes of earlier weights may be trained on, beside the other options."""

from __future__ import annotations

import os
from typing import Any


def check_staleness(args: Any) -> None:
    """Check that episodes may be as old as `max_staleness` says, and are corrected for it.

    Args:
        args: an `AgentOnlineConfig`, after `check_batch`, before TRL has derived anything.

    Raises:
        ValueError: it is too little for a batch, or the loss is not corrected.
    """
    staleness = args.max_staleness
    if staleness == 0:
        if args.carry_over:
            raise ValueError(
                "carry_over lets episodes go on with later weights, which max_staleness=0 forbids; "
                "pass --max_staleness 1 or more, or --carry_over false"
            )
        return
    if not args.vllm_importance_sampling_correction:
        raise ValueError(
            f"max_staleness={staleness} trains on episodes of earlier weights, and "
            "vllm_importance_sampling_correction=False leaves the loss as if they were of the "
            "present ones; leave the correction on, or pass --max_staleness 0"
        )
    accumulated = args.gradient_accumulation_steps
    passes = args.steps_per_generation or accumulated
    if args.generation_batch_size is not None:
        processes = int(os.environ.get("WORLD_SIZE", "1"))
        passes = args.generation_batch_size // (args.per_device_train_batch_size * processes)
    steps = -(-passes * args.num_iterations // accumulated)
    if staleness < steps:
        raise ValueError(
            f"a batch of episodes serves {steps} optimizer steps, so max_staleness={staleness} "
            f"lets nothing be played ahead; pass --max_staleness {steps}, or 0"
        )
