"""A run whose episodes go at their own pace: the policy answers some while others' slots step.

The policy is asked as soon as a quarter of the episodes under way have their observation, or no
environment is at work. Fewer at a time would make many small batches, more would wait for the
slowest environments; `benchmarks.throughput.ready_share` compares. Which episodes are answered
together then depends on time, so only a policy whose answer to an episode does not depend on the
others gives the same trajectories again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trainers.rollout.loop import EpisodeRun, Place
from trainers.rollout.types import Episode, Reply
from wrappers.vector.arguments import Answer
from wrappers.vector.calls import wait_for_answers

READY_SHARE = 0.25
"""The share of the episodes under way that must be ready for the policy to be asked."""


class OverlappedRun(EpisodeRun):
    """Plays a list of tasks once, without waiting for the slowest environment at every turn."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._starting: dict[tuple[int, int], int] = {}  # (id(env), slot) -> task's place in list
        self._stepping: dict[tuple[int, int], tuple[Episode, Reply]] = {}

    def abandon(self) -> None:
        """Give up what environments still do, and let the policy forget the live episodes."""
        if self._starting or self._stepping:
            for place in self.places.values():
                place.env.cancel()
        super().abandon()

    def start(self, place: Place, starting: Mapping[int, int], options: dict[str, Any]) -> None:
        """Begin to reset slots."""
        place.env.reset_async(options=options)
        self._starting |= {(id(place.env), slot): index for slot, index in starting.items()}

    def step(
        self,
        place: Place,
        by_slot: Mapping[int, tuple[Episode, Reply]],
        actions: Sequence[str | None],
    ) -> None:
        """Begin to play turns."""
        place.env.step_async(actions)
        self._stepping |= {(id(place.env), slot): turn for slot, turn in by_slot.items()}

    def ready(self) -> list[Episode]:
        """Wait until enough episodes have their observation, and return these."""
        while True:
            while self._hear_some():
                self.start_waiting()
            at_work = {episode.key for episode, _ in self._stepping.values()}
            ready = [episode for episode in self.live if episode.key not in at_work]
            num_working = len(self._starting) + len(self._stepping)
            if not num_working or len(ready) >= _least(len(ready) + num_working):
                return ready
            wait_for_answers(place.env for place in self.places.values())

    def _hear_some(self) -> bool:
        """Take in what has been answered; False where there was nothing."""
        answers = [
            (place, slot, answer)
            for place in self.places.values()
            for slot, answer in place.env.poll().items()
        ]
        for place, slot, answer in answers:
            self._hear(place, slot, answer)
        return bool(answers)

    def _hear(self, place: Place, slot: int, answer: Answer) -> None:
        name = (id(place.env), slot)
        if name in self._starting:
            observation, *_, info = answer
            self.begin(place, slot, self._starting.pop(name), observation, info)
        else:
            self.hear(*self._stepping.pop(name), answer)


def _least(num_episodes: int) -> int:
    return math.ceil(READY_SHARE * num_episodes)
