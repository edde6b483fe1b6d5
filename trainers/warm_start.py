"""Trains the shipped start of the `tiny` policy from nothing: `python -m trainers.warm_start`.

Next-token training on made-up recipe books, drills and expert episodes of the training split
(`trainers.made_up_books`); only the policy's own tokens are in the loss. The validation and test
splits are never read, the printed accuracy is on made-up books and training goals.

Muon (arXiv 2502.16982) for the matrices and AdamW for the rest: with AdamW alone and no drills the
copying heads had not formed after 1.7M tokens, with both they formed after 0.6M.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from trainers.made_up_books import Message, drill, made_up_episode, training_split_episode
from trainers.tiny import build_model, build_tokenizer, save_tiny
from trainers.tiny_vocabulary import tiny_units

MUON_LR = 0.02
ADAMW_LR = 2e-3
MAX_LENGTH = 1000
POOL = 128  # texts sorted by length together, so that a batch pads little


@dataclass(frozen=True)
class Text:
    """One encoded text: `ids` and `action_mask`, both (T,), mask 1 on the policy's tokens."""

    ids: list[int]
    action_mask: list[int]


def encode(tokenizer: PreTrainedTokenizerFast, messages: Sequence[Message]) -> Text:
    """Encode chat messages as the rollout engine does: the end token is the policy's own."""
    ids: list[int] = []
    mask: list[int] = []
    for message in messages:
        role = tokenizer.convert_tokens_to_ids(f"<|{message.role}|>")
        content = tokenizer(message.content, split_special_tokens=True).input_ids
        ids += [role, *content, tokenizer.eos_token_id]
        mask += [0] + [int(message.role == "assistant" and not message.is_slip)] * (
            len(content) + 1
        )
    return Text(ids, mask)


def draw(rng: np.random.Generator, progress: float) -> list[Message]:
    """Draw a text; drills come first and grow, episodes take over by a third of the way.

    In the last fifth half of the episodes show actions without thoughts. The policy that comes out
    plans in about half of its episodes, and succeeds less often than one that always does: the
    quickstart's gain is mostly the way back (docs/quickstart.md).

    Args:
        rng: the only source of chance.
        progress: share of the training done, 0..1.
    """
    if rng.random() < max(0.1, 1 - progress / 0.35):
        longest = 5 + int(15 * min(1.0, progress / 0.3))
        return drill(rng, int(rng.integers(4, longest + 1)))
    with_thoughts = progress < 0.8 or rng.random() < 0.5
    episode = training_split_episode if rng.random() < 0.5 else made_up_episode
    return episode(rng, with_thoughts=with_thoughts)


def batches(
    tokenizer: PreTrainedTokenizerFast, rng: np.random.Generator, tokens: range, batch_tokens: int
) -> Iterator[tuple[list[Text], float]]:
    """Yield batches of similar lengths and the progress, through a range of token counts."""
    seen, num_tokens = tokens.start, tokens.stop
    while seen < num_tokens:
        texts = [encode(tokenizer, draw(rng, seen / num_tokens)) for _ in range(POOL)]
        texts = sorted((t for t in texts if len(t.ids) <= MAX_LENGTH), key=lambda t: len(t.ids))
        groups: list[list[Text]] = [[]]
        for text in texts:
            if groups[-1] and (len(groups[-1]) + 1) * len(text.ids) > batch_tokens:
                groups.append([])
            groups[-1].append(text)
        for place in rng.permutation(len(groups)):
            seen += sum(len(text.ids) for text in groups[place])
            yield groups[place], min(1.0, seen / num_tokens)


def action_losses(
    model: Qwen3ForCausalLM, texts: Sequence[Text]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the (B, T - 1) losses in nats and the (B, T - 1) mask of the policy's tokens."""
    length = max(len(text.ids) for text in texts)
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    mask = torch.zeros(len(texts), length, dtype=torch.bool)
    for row, text in enumerate(texts):
        ids[row, : len(text.ids)] = torch.tensor(text.ids)
        mask[row, : len(text.ids)] = torch.tensor(text.action_mask, dtype=torch.bool)
    logits = model(ids[:, :-1], use_cache=False).logits  # (B, T - 1, V)
    losses = cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
    return losses.view(mask[:, 1:].shape), mask[:, 1:]


@torch.no_grad()
def likelihood(model: Qwen3ForCausalLM, texts: Sequence[Text]) -> tuple[float, float]:
    """Return (mean nats per action token, mean probability of a whole text's action tokens)."""
    nats, tokens, whole = 0.0, 0, 0.0
    for start in range(0, len(texts), 16):
        losses, mask = action_losses(model, texts[start : start + 16])
        nats += float((losses * mask).sum())
        tokens += int(mask.sum())
        whole += float((-(losses * mask).sum(1)).exp().sum())
    return nats / tokens, whole / len(texts)


def train(tokens: range, batch_tokens: int, seed: int, folder: str) -> None:
    """Train a policy and save it, also every twentieth of the way.

    Args:
        tokens: from how many to how many; a start other than 0 continues what is in `folder`.
        batch_tokens: tokens per step, padding included.
        seed: of the initialisation and the texts.
        folder: where the checkpoint goes.
    """
    tokenizer = build_tokenizer(tiny_units())
    model = build_model(len(tokenizer), seed=seed)
    if tokens.start:
        model = Qwen3ForCausalLM.from_pretrained(folder)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    optimizers = [
        torch.optim.Muon(matrices, lr=MUON_LR, weight_decay=0.01),
        torch.optim.AdamW(others, lr=ADAMW_LR, betas=(0.9, 0.95), weight_decay=0.0),
    ]
    peaks = (MUON_LR, ADAMW_LR)
    held_out = np.random.default_rng([seed, 1])
    probes = {
        "made-up": [encode(tokenizer, made_up_episode(held_out)) for _ in range(64)],
        "training goals": [encode(tokenizer, training_split_episode(held_out)) for _ in range(64)],
    }
    start, next_report = time.time(), tokens.start / tokens.stop + 0.05
    rng = np.random.default_rng([seed, tokens.start])
    for step, (texts, progress) in enumerate(batches(tokenizer, rng, tokens, batch_tokens), 1):
        rate = min(1.0, step / 50) * min(1.0, (1 - progress) / 0.7)
        for optimizer, peak in zip(optimizers, peaks, strict=True):
            optimizer.param_groups[0]["lr"] = peak * rate
        losses, mask = action_losses(model, texts)
        loss = (losses * mask).sum() / mask.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        if progress >= next_report:
            next_report += 0.05
            print(
                f"{time.time() - start:.0f} s, step {step}, {progress:.0%}: {loss.item():.3f} nats"
            )
            for name, probe in probes.items():
                nats, whole = likelihood(model, probe)
                print(f"  {name}: {nats:.4f} nats a token, whole texts {whole:.3f}", flush=True)
            save_tiny(folder, model, tokenizer)
    save_tiny(folder, model, tokenizer)


def main() -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="folder of the checkpoint")
    parser.add_argument("--tokens", type=int, default=12_000_000, help="tokens to train on")
    parser.add_argument(
        "--batch-tokens", type=int, default=6144, help="tokens per step, padding included"
    )
    parser.add_argument("--done", type=int, default=0, help="continue --out after so many tokens")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tokens = range(arguments.done, arguments.tokens)
    train(tokens, arguments.batch_tokens, arguments.seed, arguments.out)


if __name__ == "__main__":
    main()
