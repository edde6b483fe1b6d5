"""What batches of episodes wait for when nothing can be done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from wrappers.vector.slots import Waitable, wait_for_any

_GATHERING = 20e-6
"""Seconds for each answer that is waited for."""
_LONGEST = 0.2


class Pause(NamedTuple):
    """What one batch waits for.

    Attributes:
        answers: any of them ends the pause.
        seconds: so does the time; None where it is not waited for.
    """

    answers: Sequence[Waitable] = ()
    seconds: float | None = None


def gathering_seconds(num_answers: int) -> float:
    """Return how long further answers are let come once there is one.

    What a batch does between two pauses takes time in proportion to its episodes. If it were done
    for each answer alone, an episode's turn would cost the more the more episodes there are.

    Args:
        num_answers: that are waited for.
    """
    return min(_LONGEST, _GATHERING * num_answers)


def wait_for(pauses: Sequence[Pause]) -> None:
    """Wait until the first of some pauses ends."""
    answers = [answer for pause in pauses for answer in pause.answers]
    times = [pause.seconds for pause in pauses if pause.seconds is not None]
    if answers:
        wait_for_any(answers, min(times, default=None))
        time.sleep(gathering_seconds(len(answers)))
    else:
        time.sleep(min(times, default=0.0))
