"""The options of training data: episodes, pairs of them, and AgentEvol's rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from trainers.options.checks import Refusal, refuse_ignored
from trainers.options.errors import check_bounds

NUM_ROUNDS = 4
_NOTHING_IS_PLAYED = Refusal("nothing is played where `data` gives the episodes; leave out one")
_EXPERTS = {"num_episodes": _NOTHING_IS_PLAYED}
_PLAYED_FOR_PAIRS = dict.fromkeys(
    ("num_tasks", "num_samples", "sampling_temperature"), _NOTHING_IS_PLAYED
)


def _trajectory_files(use: str) -> Any:
    """Return the field of files of trajectories, and what they are for."""
    files = "File of trajectories, ours (JSONL) or AgentTraj's (JSON); repeat for several."
    return field(default_factory=list, metadata={"help": f"{files} {use}", "action": "extend"})


@dataclass
class DataArguments:
    """The episodes that are imitated."""

    _argument_group_name: ClassVar[str] = "data"

    data: list[str] = _trajectory_files("By default the expert plays the training split of --env.")
    num_episodes: int | None = field(
        default=None,
        metadata={
            "help": "Expert episodes to play, without --data; by default one per task.",
            "min": 1,
        },
    )
    unsuccessful: bool = field(
        default=False, metadata={"help": "Imitate unsuccessful episodes too."}
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.data:
            refuse_ignored(self, _EXPERTS)


@dataclass
class PairArguments:
    """Where preference pairs come from."""

    _argument_group_name: ClassVar[str] = "pairs"
    common_options: ClassVar[tuple[str, ...]] = ("data", "num_tasks", "num_samples")

    data: list[str] = _trajectory_files(
        "By default the expert plays against the policy's own unsuccessful episodes."
    )
    max_pairs_per_task: int = field(
        default=4, metadata={"help": "Pairs per task, drawn by --seed; 0 takes all.", "min": 0}
    )
    min_return_gap: float = field(
        default=0.01, metadata={"help": "Returns that differ by less are a tie."}
    )
    compared_turns: int = field(
        default=0,
        metadata={
            "help": "Turns compared from where the episodes part; 1 compares the first actions "
            "that differ, 0 all that follows too."
        },
    )
    num_tasks: int = field(
        default=0,
        metadata={"help": "Tasks to play without --data; 0 plays the whole split.", "min": 0},
    )
    num_samples: int = field(
        default=4, metadata={"help": "Episodes of the policy per task, without --data.", "min": 1}
    )
    sampling_temperature: float = field(
        default=1.0, metadata={"help": "Temperature of the policy's episodes."}
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.data:
            refuse_ignored(self, _PLAYED_FOR_PAIRS)


@dataclass
class AgentEvolArguments:
    """How a policy evolves."""

    _argument_group_name: ClassVar[str] = "evolution"
    common_options: ClassVar[tuple[str, ...]] = (
        "num_rounds",
        "num_samples",
        "data",
        "expert_episodes",
    )

    num_rounds: int | None = field(
        default=None,
        metadata={
            "help": f"Rounds; by default {NUM_ROUNDS}, or 1 where --max_steps is given.",
            "min": 1,
        },
    )
    num_samples: int = field(default=1, metadata={"help": "Episodes per task and round.", "min": 1})
    num_explored_tasks: int = field(
        default=0,
        metadata={"help": "Tasks of the split that a round explores; 0 takes all.", "min": 0},
    )
    exploration_temperature: float = field(
        default=1.0, metadata={"help": "Temperature of the exploration.", "min": 0}
    )
    start_from: str = field(
        default="initial",
        metadata={
            "help": "Fine-tune the initial model in every round, or go on with the current one.",
            "choices": ["initial", "current"],
        },
    )
    merge: str = field(
        default="base",
        metadata={
            "help": "Learn a round's successes with the base set, or with those of all rounds too.",
            "choices": ["base", "all"],
        },
    )
    data: list[str] = _trajectory_files("They are the base set.")
    expert_episodes: int = field(
        default=0,
        metadata={"help": "The expert's episodes in the base set; -1: one per task.", "min": -1},
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def rounds(self, max_steps: int) -> int:
        """Return the number of rounds, given the bound on a round's steps (<= 0: none)."""
        if self.num_rounds is not None:
            return self.num_rounds
        return 1 if max_steps > 0 else NUM_ROUNDS
