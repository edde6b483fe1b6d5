"""Trains the shipped `tiny` further on play in one scenario, the start of its studies.

The shipped start plays BabyAI by the list, and where it heeds the goal it does so as an expert who
knows the whole grid, which cannot be read off the text: reinforcement learning found little to
amplify there (docs/results/learning.md). It has never seen a deep book or ALFWorld, whose names it
would spell in bytes; they become tokens of their own, with embeddings like those that are there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast, Qwen3ForCausalLM

from agentgym_envs.content.files import atomic_write
from agentgym_envs.textcraft.drawn_names import drawn_names
from lab.warm_start import Message
from lab.warm_start.alfworld_play import alfworld_play, alfworld_units
from lab.warm_start.babyai_rooms import rooms_play
from lab.warm_start.deep_play import deep_play
from lab.warm_start.texts import Text, encode, groups_of
from lab.warm_start.tiny import save_tiny
from lab.warm_start.tiny_from_episodes import build_policy
from lab.warm_start.tiny_units import tiny_units
from lab.warm_start.training import optimizers_of, take_step

MUON_LR = 0.002
ADAMW_LR = 4e-4
WARM_UP = 20  # steps
DECAY = 0.6  # share of the training in which the learning rates fall
LEAST = 1e-3  # of the rates
BATCH_TOKENS = 3072
POOL = 64  # texts sorted by length together
MAX_LENGTH = 1500


class Ground(NamedTuple):
    """The play that continues `tiny`.

    Attributes:
        play: writes one episode.
        units: the texts that become tokens beside those of `tiny`.
        num_tokens: to train on, where nothing else is said.
    """

    play: Callable[[np.random.Generator], list[Message]]
    units: Callable[[], Sequence[str]]
    num_tokens: int


GROUNDS = {
    "rooms": Ground(rooms_play, list, 1_000_000),
    "books": Ground(deep_play, lambda: [f" {name}" for name in drawn_names()], 6_000_000),
    "houses": Ground(alfworld_play, alfworld_units, 3_000_000),
}
"""BabyAI's rooms, TextCraft's deep books, ALFWorld's houses."""


def teach(name: str, folder: str, *, num_tokens: int | None = None, seed: int) -> None:
    """Teach the shipped policy one of `GROUNDS`, and save it.

    What has been learned is kept in `FOLDER.state`: where an earlier call with the same arguments
    was ended, this one goes on, to the same weights; where it was not, it writes them once more.

    Args:
        name: the ground.
        folder: where the checkpoint goes.
        num_tokens: to train on; None takes the ground's own.
        seed: of the fresh embeddings, the plays and their order.
    """
    ground = GROUNDS[name]
    num_tokens = num_tokens or ground.num_tokens
    model, tokenizer = build_policy([*tiny_units(), *ground.units()], seed=seed)
    model.train()
    pupil = _Pupil(model, optimizers_of(model), np.random.default_rng(seed))
    state_path, arguments = Path(f"{folder}.state"), (name, num_tokens, seed)
    pupil.load(state_path, arguments)
    start = time.time()
    while pupil.seen < num_tokens:
        groups = _pool(ground, tokenizer, pupil.rng)
        for place in pupil.rng.permutation(len(groups)):
            loss = pupil.learn(groups[place], num_tokens)
        pupil.save(state_path, arguments)
        print(f"{time.time() - start:.0f} s, {pupil.seen:,} tokens: {loss:.3f} nats", flush=True)
    save_tiny(folder, model, tokenizer)


@dataclass
class _Pupil:
    """A policy in training, with all that its next step depends on."""

    model: Qwen3ForCausalLM
    optimizers: list[torch.optim.Optimizer]
    rng: np.random.Generator
    seen: int = 0
    step: int = 0

    def learn(self, texts: Sequence[Text], num_tokens: int) -> float:
        """Take a step of a training on `num_tokens` tokens and return its loss, nats."""
        self.step += 1
        left = min(1.0, (1 - self.seen / num_tokens) / DECAY + LEAST)
        rate = min(1.0, self.step / WARM_UP) * left
        loss = take_step(self.model, texts, self.optimizers, (MUON_LR * rate, ADAMW_LR * rate))
        self.seen += sum(len(text.ids) for text in texts)
        return loss

    def save(self, path: Path, arguments: tuple[str, int, int]) -> None:
        """Save the state of the training."""
        state = {
            "asked": arguments,
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "rng": self.rng.bit_generator.state,
            "counts": (self.seen, self.step),
        }
        with atomic_write(path) as unfinished:
            torch.save(state, unfinished)

    def load(self, path: Path, arguments: tuple[str, int, int]) -> None:
        """Load a saved state if it is for the same arguments."""
        if not path.exists():
            return
        state = torch.load(path, weights_only=True)
        if tuple(state["asked"]) != arguments:
            return
        self.model.load_state_dict(state["model"])
        for optimizer, optimizer_state in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(optimizer_state)
        self.rng.bit_generator.state = state["rng"]
        self.seen, self.step = state["counts"]
        print(f"going on after {self.seen:,} tokens", flush=True)


def _pool(
    ground: Ground, tokenizer: PreTrainedTokenizerFast, rng: np.random.Generator
) -> list[list[Text]]:
    texts = [encode(ground.play(rng), tokenizer) for _ in range(POOL)]
    texts = sorted((t for t in texts if len(t.ids) <= MAX_LENGTH), key=lambda t: len(t.ids))
    return groups_of(texts, BATCH_TOKENS)
