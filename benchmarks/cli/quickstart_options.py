"""The options of `agentgym quickstart`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from trainers.options.models import TemplateArguments
from trainers.options.values import check_bounds, option
from wrappers import parse_schedule

PPO_STEPS = 2
"""Optimizer steps on each batch of PPO's, each on a part of its own."""


@dataclass
class QuickstartArguments(TemplateArguments):
    """The quickstart's options."""

    _argument_group_name: ClassVar[str] = "quickstart"

    output_dir: str = option("runs/quickstart", "Where everything goes.")
    algorithm: Literal["grpo", "ppo", "sft"] = option(
        "grpo", "grpo or ppo, or sft: imitate the expert instead."
    )
    model: str = option("tiny", "tiny, smollm2, a folder or a Hugging Face id.")
    batches: int = option(
        32, "Batches of episodes: one optimizer step on each, two for ppo; sft: steps.", min=1
    )
    minutes: float = option(0.0, "Minutes after which training stops; 0 sets no limit.")
    max_turns: int = option(
        16, "Turns of an episode; TextCraft's own limit is 30, the expert mostly needs 16."
    )
    max_tokens_per_turn: int = option(96, "Sampled tokens of a turn.")
    horizon: str | None = option(
        None, "Turn horizon over training; by default three stages of equal length."
    )
    learning_rate: float = option(
        6e-4, "Learning rate at the start; it falls to 0 in a straight line."
    )
    episodes: int = option(64, "Episodes of a batch.")
    num_generations: int = option(8, "grpo: episodes of a goal.", min=1)
    samples: int = option(2, "Episodes per test goal and measurement.", min=1)
    num_tasks: int = option(0, "Test goals; 0 takes all 100.")
    train_tasks: int = option(0, "Training goals to measure besides; 0 measures none.")
    greedy: bool = option(False, "Measure greedily too.")
    seed: int = option(0, "Seed of everything that is drawn.", min=0)

    def __post_init__(self) -> None:
        """Check the numbers, and that the optimizer steps divide a batch evenly."""
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
