"""Goes on from the shipped `tiny` with play in BabyAI's rooms: what BabyAI's study begins with.

The shipped start plays BabyAI by the list, and where it heeds the goal it does so as an expert who
knows the whole grid, which cannot be read off the text: reinforcement learning found little to
amplify there (docs/studies/learning.md).
"""

from __future__ import annotations

import time

import numpy as np

from trainers.models.loading import load_policy
from trainers.models.tiny import save_tiny
from trainers.options.configs import ModelArguments
from trainers.options.model_names import TINY
from trainers.warm_start.babyai_rooms import rooms_play
from trainers.warm_start.texts import encode, groups_of
from trainers.warm_start.training import optimizers_of, take_step

MUON_LR = 0.002
ADAMW_LR = 4e-4
WARM_UP = 20  # steps
DECAY = 0.6  # share of the training in which the learning rates fall
LEAST = 1e-3  # of the rates
BATCH_TOKENS = 3072
POOL = 64  # texts sorted by length together
MAX_LENGTH = 1500


def teach_rooms(folder: str, *, num_tokens: int, seed: int) -> None:
    """Teach the shipped policy BabyAI's rooms, and save it.

    Args:
        folder: where the checkpoint goes.
        num_tokens: to train on.
        seed: of the plays and their order.
    """
    model, tokenizer = load_policy(ModelArguments(model_name_or_path=TINY, dtype="float32"))
    model.train()
    optimizers = optimizers_of(model)
    rng = np.random.default_rng(seed)
    start = time.time()
    seen = step = 0
    while seen < num_tokens:
        texts = [encode(rooms_play(rng)) for _ in range(POOL)]
        texts = sorted((t for t in texts if len(t.ids) <= MAX_LENGTH), key=lambda t: len(t.ids))
        groups = groups_of(texts, BATCH_TOKENS)
        for place in rng.permutation(len(groups)):
            step += 1
            left = min(1.0, (1 - seen / num_tokens) / DECAY + LEAST)
            rate = min(1.0, step / WARM_UP) * left
            loss = take_step(model, groups[place], optimizers, (MUON_LR * rate, ADAMW_LR * rate))
            seen += sum(len(text.ids) for text in groups[place])
        print(f"{time.time() - start:.0f} s, {seen:,} tokens: {loss:.3f} nats", flush=True)
    save_tiny(folder, model, tokenizer)
