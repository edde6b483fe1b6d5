"""The options of `agentgym quickstart`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from trainers.options.errors import check_bounds
from trainers.options.models import TemplateArguments
from wrappers import parse_schedule

PPO_STEPS = 2
"""Optimizer steps on each batch of PPO's, each on a part of its own."""


@dataclass
class QuickstartArguments(TemplateArguments):
    """What the quickstart does."""

    _argument_group_name: ClassVar[str] = "quickstart"

    output_dir: str = field(default="runs/quickstart", metadata={"help": "Where everything goes."})
    algorithm: Literal["grpo", "ppo", "sft"] = field(
        default="grpo", metadata={"help": "grpo or ppo, or sft: imitate the expert instead."}
    )
    model: str = field(
        default="tiny", metadata={"help": "tiny, smollm2, a folder or a Hugging Face id."}
    )
    batches: int = field(
        default=32,
        metadata={
            "help": "Batches of episodes: one optimizer step on each, two for ppo; sft: steps.",
            "min": 1,
        },
    )
    minutes: float = field(
        default=0.0, metadata={"help": "Stop training after so many minutes; 0 never does."}
    )
    max_turns: int = field(
        default=16,
        metadata={
            "help": "Turns of an episode; TextCraft's own limit is 30, the expert mostly needs 16."
        },
    )
    max_tokens_per_turn: int = field(default=96, metadata={"help": "Sampled tokens of a turn."})
    horizon: str | None = field(
        default=None,
        metadata={"help": "Turn horizon over training; by default three stages of equal length."},
    )
    learning_rate: float = field(
        default=6e-4,
        metadata={"help": "Learning rate at the start; it falls to 0 in a straight line."},
    )
    episodes: int = field(default=64, metadata={"help": "Episodes of a batch."})
    num_generations: int = field(
        default=8, metadata={"help": "grpo: episodes of a goal.", "min": 1}
    )
    samples: int = field(
        default=2, metadata={"help": "Episodes per test goal and measurement.", "min": 1}
    )
    num_tasks: int = field(default=0, metadata={"help": "Test goals; 0 takes all 100."})
    train_tasks: int = field(
        default=0, metadata={"help": "Training goals to measure besides; 0 measures none."}
    )
    greedy: bool = field(default=False, metadata={"help": "Measure greedily too."})
    seed: int = field(default=0, metadata={"help": "Seed of everything that is drawn.", "min": 0})

    def __post_init__(self) -> None:
        """Check the numbers, and that a batch divides into what each optimizer step takes.

        Raises:
            ValueError: one is not allowed, or it does not.
        """
        check_bounds(self)
        self.check_template()
        parse_schedule(self.schedule)
        part = self.num_generations * (PPO_STEPS if self.algorithm == "ppo" else 1)
        if self.algorithm != "sft" and (self.episodes < 1 or self.episodes % part):
            raise ValueError(
                f"episodes must be a multiple of {part} with --algorithm {self.algorithm} and "
                f"--num_generations {self.num_generations}, got {self.episodes}"
            )

    @property
    def max_steps(self) -> int:
        """Optimizer steps."""
        return self.batches * (PPO_STEPS if self.algorithm == "ppo" else 1)

    @property
    def schedule(self) -> str:
        """The turn horizon over training, in optimizer steps."""
        stages = ",".join(str(min(turns, self.max_turns)) for turns in (6, 10, 14))
        return self.horizon or f"scaling:{stages}@{max(1, self.max_steps // 3)}"
