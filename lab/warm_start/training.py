"""Next-token training of the warm start, with a loss weighted by its texts.

Muon (arXiv 2502.16982) for the matrices and AdamW for the rest: with AdamW alone and no drills the
copying heads had not formed after 1.7M tokens, with both they formed after 0.6M. Small batches:
steps count for more than tokens, and 1,024 a step got as far in 1.5M tokens as 6,144 in 3M.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import Qwen3ForCausalLM

from lab.warm_start.babyai_play import babyai_play
from lab.warm_start.textcraft_play import made_up_play, training_split_play
from lab.warm_start.texts import Text, batches, encode, tiny_tokenizer
from lab.warm_start.tiny import build_model, save_tiny

MUON_LR = 0.008
ADAMW_LR = 1.2e-3
WARM_UP = 50  # steps
DECAY = 0.7  # share of the training in which the learning rates fall to 0
REPORTS = 20


def train(folder: str, *, num_tokens: int, batch_tokens: int, seed: int) -> None:
    """Train a policy from nothing and save it.

    Args:
        folder: where the checkpoint goes.
        num_tokens: to train on.
        batch_tokens: tokens per step, padding included.
        seed: of the initialisation and the texts.
    """
    tokenizer = tiny_tokenizer()
    model = build_model(len(tokenizer), seed=seed)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
    optimizers = optimizers_of(model, weight_decay=0.01)
    probes = _probes(seed)
    start, reports = time.time(), 0
    stream = batches(seed, num_tokens=num_tokens, batch_tokens=batch_tokens)
    for step, (texts, progress) in enumerate(stream, 1):
        rate = min(1.0, step / WARM_UP) * min(1.0, (1 - progress) / DECAY)
        loss = take_step(model, texts, optimizers, (MUON_LR * rate, ADAMW_LR * rate))
        if progress * REPORTS >= reports + 1:
            reports += 1
            print(f"{time.time() - start:.0f} s, step {step}, {progress:.0%}: {loss:.3f} nats")
            for name, probe in probes.items():
                print(f"  {name}: {likelihood(model, probe):.4f} nats a token", flush=True)
    save_tiny(folder, model, tokenizer)


def optimizers_of(
    model: Qwen3ForCausalLM, *, weight_decay: float = 0.0
) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices, with its weight decay, and AdamW for all else."""
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    return [
        torch.optim.Muon(matrices, lr=MUON_LR, weight_decay=weight_decay),
        torch.optim.AdamW(others, lr=ADAMW_LR, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def take_step(
    model: Qwen3ForCausalLM,
    texts: Sequence[Text],
    optimizers: Sequence[torch.optim.Optimizer],
    rates: Sequence[float],
) -> float:
    """Take one step on a batch and return its loss, nats. Each optimizer has a rate."""
    for optimizer, rate in zip(optimizers, rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
    losses, weights = token_losses(model, texts)
    loss = (losses * weights).sum() / weights.sum().clamp(min=1)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    return loss.item()


def token_losses(
    model: Qwen3ForCausalLM, texts: Sequence[Text]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the (B, T - 1) losses in nats and their (B, T - 1) weights."""
    length = max(len(text.ids) for text in texts)
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    weights = torch.zeros(len(texts), length)
    for row, text in enumerate(texts):
        ids[row, : len(text.ids)] = torch.tensor(text.ids)
        weights[row, : len(text.ids)] = torch.tensor(text.weights)
    logits = model(ids[:, :-1], use_cache=False).logits  # (B, T - 1, V)
    losses = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return losses.view(weights[:, 1:].shape), weights[:, 1:]


@torch.no_grad()
def likelihood(model: Qwen3ForCausalLM, texts: Sequence[Text]) -> float:
    """Return the mean nats of the policy's own tokens."""
    nats = tokens = 0.0
    for start in range(0, len(texts), 16):
        losses, weights = token_losses(model, texts[start : start + 16])
        own = weights == 1.0
        nats += float((losses * own).sum())
        tokens += float(own.sum())
    return nats / tokens


def _probes(seed: int) -> dict[str, list[Text]]:
    """Return texts of each kind that are not trained on."""
    rng = np.random.default_rng([seed, 0, 2])
    kinds = {"made-up": made_up_play, "training goals": training_split_play, "BabyAI": babyai_play}
    return {name: [encode(write(rng)) for _ in range(64)] for name, write in kinds.items()}
