"""A server's backend for a thread that samples while the trainer's thread trains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol

from trainers.tokens.generation import Backend, Generated, Sampling


class ServerBackend(Backend, Protocol):
    """A backend on servers, which may be restarted: `VLLMServerBackend`, `VLLMServersBackend`."""

    send_again: Callable[[], None]

    def has_weights(self) -> bool:
        """Return whether the weights that were sent last are there."""


class Player(Protocol):
    """A player in a thread of its own: `trainers.rollout.ahead.BatchesAhead`."""

    @property
    def is_player(self) -> bool:
        """This is the player's thread."""

    def turn(self) -> AbstractContextManager[None]:
        """Sample a turn."""

    def in_trainer(self, work: Callable[[], None]) -> None:
        """Run work in the trainer's thread."""


class SharedBackend:
    """`Backend` whose weights are sent from the trainer's thread alone, by `send`.

    Each turn records the weights that sampled it. A player's `sync_weights` asks for the weights
    that were sent last; if a server has lost them, the trainer's thread sends its present ones as
    soon as it waits for the player. Without a player it sends as the backend alone does.

    Args:
        backend: samples; another one than a server's has no player.
        step: returns the trainer's present optimizer step.
    """

    def __init__(self, backend: ServerBackend, step: Callable[[], int]) -> None:
        self.player: Player | None = None  # samples in a thread of its own
        self.max_length = backend.max_length
        self._backend = backend
        self._step = step
        self._weights_step: int | None = None
        backend.send_again = self._send_again

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int],
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, as in `Backend.generate`."""
        player = self._present_player
        with nullcontext() if player is None else player.turn():
            turns = self._backend.generate(prompts, sampling, keys=keys, budgets=budgets)
            return [replace(turn, weights_step=self._weights_step) for turn in turns]

    def finish(self, keys: Sequence[int]) -> None:
        """Forget rows."""
        self._backend.finish(keys)

    def reseed(self, seed: int) -> None:
        """Restart the random numbers."""
        self._backend.reseed(seed)

    def sync_weights(self, global_step: int) -> None:
        """Send the present weights, or check for a player that those sent last are there."""
        if self._present_player is None:
            self.send(global_step)
        elif not self._backend.has_weights():
            self._send_again()

    def send(self, global_step: int) -> None:
        """Send the weights of an optimizer step, from the trainer's thread."""
        self._backend.sync_weights(global_step)
        self._weights_step = global_step

    def _send_again(self) -> None:
        player = self._present_player
        if player is None:
            self.send(self._step())
        else:
            player.in_trainer(lambda: self.send(self._step()))

    @property
    def _present_player(self) -> Player | None:
        player = self.player
        return player if player is not None and player.is_player else None
