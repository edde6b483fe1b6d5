"""ALFWorld's tasks by number: AgentGym's 2,620, and two further splits of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from agentgym_envs.core.tasks import ListedTasks, TaskSpec

FIRST_TEST = 2420
NUM_AGENTGYM = 2620
FIRST_VALIDATION = 10_000
FIRST_UNSEEN = 20_000
"""From these numbers on a task is of another split."""

SUBTASKS = {
    "pick_and_place_simple": "Pick",
    "look_at_obj_in_light": "Look",
    "pick_clean_then_place_in_recep": "Clean",
    "pick_heat_then_place_in_recep": "Heat",
    "pick_cool_then_place_in_recep": "Cool",
    "pick_two_obj_and_place": "Pick2",
}
"""The six kinds of tasks, by the names that papers' tables give them."""

_ROOMS = ("kitchen", "", "living room", "bedroom", "bathroom")


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        game: the original's name of it, `<task type>/<trial>`; ours have no trial.
        subtask: one of the values of `SUBTASKS`.
        thing: the kind of thing that is asked for.
        target: the kind of place that it belongs in, or of the lamp to look at it under.
        scene: the number of the floor plan.
    """

    game: str
    subtask: str
    thing: str
    target: str
    scene: int

    @classmethod
    def parse(cls, game: str) -> Task:
        """Read `pick_and_place_simple-Mug-None-Desk-301/trial_...`."""
        deed, thing, _, target, scene = game.partition("/")[0].split("-")
        return cls(game, SUBTASKS[deed], thing.lower(), target.lower(), int(scene))

    @property
    def room(self) -> str:
        """The kind of room."""
        return _ROOMS[self.scene // 100]


class ALFWorldTasks(ListedTasks):
    """Tasks by subtask and room.

    Args:
        games: the tasks by their numbers.
        splits: the numbers of each split.
    """

    def __init__(self, games: Mapping[int, Task], splits: Mapping[str, Sequence[int]]) -> None:
        self.games = games
        table: dict[str, dict[str, list[int]]] = {
            split: {subtask: [] for subtask in SUBTASKS.values()} for split in splits
        }
        for split, numbers in splits.items():
            for number in numbers:
                table[split][games[number].subtask].append(number)
        super().__init__("alfworld", table)
        self.tasks_filter = "task ids, their numbers, subtasks, or rooms"

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the id, the number, the subtask and the room (`"kitchen"`)."""
        return (*super().labels(spec), self.games[spec.number].room)


def task_split(number: int) -> str:
    """Return the split of a task's number."""
    if number >= FIRST_UNSEEN:
        return "unseen"
    if number >= FIRST_VALIDATION:
        return "validation"
    return "test" if number >= FIRST_TEST else "train"


@cache
def alfworld_tasks() -> ALFWorldTasks:
    """Return AgentGym's tasks and ours, read once per process.

    The splits are AgentGym's, and `validation` and `unseen`, which were drawn when the table was
    made.
    """
    text = files("agentgym_envs.alfworld").joinpath("tasks.txt").read_text("utf-8")
    rows = (line.split(" ", 1) for line in text.splitlines())
    games = {int(number): Task.parse(game) for number, game in rows}
    splits: dict[str, list[int]] = {
        split: [] for split in ("train", "validation", "test", "unseen")
    }
    for number in games:
        splits[task_split(number)].append(number)
    return ALFWorldTasks(games, splits)
