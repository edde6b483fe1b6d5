"""Reads a folder of the original's games, `json_2.1.1`, as tasks.

A game is `<folder>/<type>-<thing>-None-<place>-<scene>/<trial>/game.tw-pddl`. Games are taken as
the original takes them: those it knows to be solvable, without movable places and sliced things.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from agentgym_envs.alfworld.tasks import (
    FIRST_TEST,
    NUM_AGENTGYM,
    SUBTASKS,
    ALFWorldTasks,
    Task,
    alfworld_tasks,
)

SPLITS = {
    "train": "train",
    "valid_seen": "validation",
    "valid_unseen": "test",
    "valid_train": "valid_train",
}
"""The split of each folder."""

_FIRST = {"train": 100_000, "valid_seen": 200_000, "valid_unseen": 300_000, "valid_train": 400_000}
"""A folder's games have the numbers from here on, in the order of their paths."""

_AGENTGYM = {"train": range(FIRST_TEST), "valid_train": range(FIRST_TEST, NUM_AGENTGYM)}
"""The numbers of AgentGym's tasks, by the folder that it reads them from."""

_NAME = "game.tw-pddl"
_UNSUPPORTED = ("movable", "Sliced")
_SOLVABLE = b'"solvable": true'


@dataclass(frozen=True)
class Games:
    """The games of a folder.

    Attributes:
        tasks: as task set.
        paths: the game file of each task, by number.
        source: names the folder, with a hash of its games.
    """

    tasks: ALFWorldTasks
    paths: Mapping[int, Path]
    source: str


def read_games(folder: str | Path) -> Games:
    """Return the games of a folder, which is read once per process.

    Args:
        folder: `json_2.1.1`, or the folder that holds it.

    Raises:
        ValueError: it has no game.
    """
    return _read(Path(folder).expanduser().resolve())


@cache
def _read(folder: Path) -> Games:
    root = folder / "json_2.1.1" if (folder / "json_2.1.1").is_dir() else folder
    digest = sha256()
    tasks: dict[int, Task] = {}
    paths: dict[int, Path] = {}
    splits: dict[str, list[int]] = {split: [] for split in SPLITS.values()}
    for name, split in SPLITS.items():
        numbers = _agentgym_numbers(name)
        for place, path in enumerate(_game_files(root / name)):
            content = path.read_bytes()
            game = f"{path.parents[1].name}/{path.parent.name}"
            if _SOLVABLE not in content:
                continue
            digest.update(f"{name}/{game}\n".encode() + content)
            number = numbers.get(game, _FIRST[name] + place)
            tasks[number], paths[number] = Task.parse(game), path
            splits[split].append(number)
    if not tasks:
        raise ValueError(
            f"games_dir={str(folder)!r} has no game; it must be the folder json_2.1.1 that "
            f"alfworld-download makes, with games such as {next(iter(SPLITS))}/"
            f"pick_and_place_simple-Mug-None-Desk-308/trial_.../{_NAME}"
        )
    source = f"games_dir:{root.name}@{digest.hexdigest()[:12]}"
    return Games(ALFWorldTasks(tasks, splits), paths, source)


def _game_files(folder: Path) -> Iterator[Path]:
    """Yield the game files of a folder that can be played, in the order of their paths."""
    for path in sorted(folder.glob(f"*/*/{_NAME}")):
        kind = path.parents[1].name
        is_supported = not any(word in kind for word in _UNSUPPORTED)
        if is_supported and kind.partition("-")[0] in SUBTASKS:
            yield path


def _agentgym_numbers(folder: str) -> dict[str, int]:
    games = alfworld_tasks().games
    return {games[number].game: number for number in _AGENTGYM.get(folder, ())}
