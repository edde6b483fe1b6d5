"""What is made of an episode only when it is opened: its scene, its tokens and their credit.

Imported late, for replaying needs simulators and tokens need a tokenizer; a list needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.viewer.index import Index

if TYPE_CHECKING:
    from benchmarks.viewer.credits import Credits


def scene_of(index: Index, number: int) -> dict[str, Any] | None:
    """Return what there is to see of an episode besides its text, as `scenes` describes it."""
    from benchmarks.viewer.scenes import scene

    return scene(index.trajectory(number), index.folder(number))


def tokens_of(index: Index, number: int) -> dict[str, Any] | None:
    """Return an episode's tokens as `scenes` describes them; None where it has none."""
    from benchmarks.viewer.scenes import tokens

    return tokens(index.trajectory(number), index.folder(number))


def credits_of(index: Index, number: int) -> Credits | None:
    """Return an episode's advantages as `credits` describes them; None where it has none."""
    from benchmarks.viewer import credits

    return credits.credits_of(index.trajectory(number))
