"""What batches of episodes wait for when nothing can be done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from wrappers.vector.slots import Waitable, wait_for_any


class Pause(NamedTuple):
    """What one batch waits for.

    Attributes:
        answers: any of them ends the pause.
        seconds: so does the time; None where it is not waited for.
    """

    answers: Sequence[Waitable] = ()
    seconds: float | None = None


def wait_for(pauses: Sequence[Pause]) -> None:
    """Wait until the first of some pauses ends."""
    answers = [answer for pause in pauses for answer in pause.answers]
    times = [pause.seconds for pause in pauses if pause.seconds is not None]
    if answers:
        wait_for_any(answers, min(times, default=None))
    else:
        time.sleep(min(times, default=0.0))
