"""The numbers and the text of `agentgym rescore`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.rescore.differences import Difference
from benchmarks.rescore.replays import Replay

MOST_EPISODES = 20
"""Episodes whose differences are printed."""
MOST_DIFFERENCES = 3
"""Differences of an episode that are printed: later ones mostly follow from the first."""


class Report:
    """The replays of files, as text and as JSON."""

    def __init__(self) -> None:
        self._replays: list[tuple[Path, int, Replay]] = []
        self._claims: list[tuple[Path, Difference]] = []

    def add_claims(self, path: Path, differences: Sequence[Difference]) -> None:
        """Add the differences of an evaluation's result from its episodes."""
        self._claims += [(path, difference) for difference in differences]

    def add(self, file: Path, replays: Sequence[Replay]) -> None:
        """Add the replays of a file, without the texts of equal ones."""
        for number, replay in enumerate(replays, 1):
            for episode in (replay.recorded, replay.replayed):
                if episode is not None:
                    episode.turns, episode.info = [], {}
            self._replays.append((file, number, replay))

    @property
    def is_equal(self) -> bool:
        """Every episode with a score was replayed and is equal, as are evaluations' results."""
        counting = [replay for _, _, replay in self._replays if _counts(replay.recorded)]
        return not self._claims and bool(counting) and all(one.is_equal for one in counting)

    @property
    def reasons(self) -> Counter[str]:
        """The number of episodes that were not replayed, by reason."""
        return Counter(one.reason for _, _, one in self._replays if one.replayed is None)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers and all differences as JSON values."""
        return {
            "episodes": len(self._replays),
            "equal": sum(replay.is_equal for _, _, replay in self._replays),
            "different": sum(bool(replay.differences) for _, _, replay in self._replays),
            "not_replayable": dict(self.reasons),
            "success": {"claimed": self._claimed(), "replayed": self._confirmed()},
            "differences": [
                {
                    "file": str(file),
                    "episode": number,
                    "task_id": replay.recorded.task_id,
                    **difference._asdict(),
                }
                for file, number, replay in self._replays
                for difference in replay.differences
            ],
            "results": [
                {
                    "file": str(file),
                    "field": difference.field,
                    "stored": difference.stored,
                    "replayed": difference.replayed,
                }
                for file, difference in self._claims
            ],
        }

    def __str__(self) -> str:
        numbers = self.to_json()
        lines = [*self._differing()]
        lines += [f"{file}, {difference}" for file, difference in self._claims[:MOST_EPISODES]]
        lines.append(
            f"{counted(numbers['episodes'], 'episode')}: {numbers['equal']:,} equal, "
            f"{numbers['different']:,} different, {self.reasons.total():,} not replayable"
        )
        lines += [f"not replayable, {n}: {reason}" for reason, n in self.reasons.most_common()]
        claimed, confirmed = _share(*self._claimed()), _share(*self._confirmed())
        return "\n".join([*lines, f"success: claimed {claimed}, replayed {confirmed}"])

    def _claimed(self) -> tuple[int, int]:
        """Return the successes that the files claim, and the episodes with a score."""
        scored = [one.recorded for _, _, one in self._replays if _counts(one.recorded)]
        return sum(episode.success for episode in scored), len(scored)

    def _confirmed(self) -> tuple[int, int]:
        played = [one.replayed for _, _, one in self._replays if one.replayed is not None]
        return sum(episode.success for episode in played), len(played)

    def _differing(self) -> Iterator[str]:
        differing = [entry for entry in self._replays if entry[2].differences]
        for file, number, replay in differing[:MOST_EPISODES]:
            where = f"{file}, episode {number} ({replay.recorded.task_id})"
            yield from (f"{where}, {one}" for one in replay.differences[:MOST_DIFFERENCES])
            if (more := len(replay.differences) - MOST_DIFFERENCES) > 0:
                yield f"{where}: {more} further differences"
        if len(differing) > MOST_EPISODES:
            yield (
                f"{len(differing) - MOST_EPISODES} further episodes differ; --out FILE lists all"
            )


def _counts(episode: Trajectory) -> bool:
    return episode.status != "failed"


def _share(successes: int, total: int) -> str:
    return f"{successes} of {total}" + (f" ({successes / total:.1%})" if total else "")
