"""`agentgym quickstart`: a small policy learns to pursue the goal, in minutes on a laptop.

Measures the shipped `tiny` policy on TextCraft's held-out test goals, trains it on the training
goals by GRPO under a growing turn horizon, measures it again on the same test goals, and leaves a
summary, the learning curve as a picture and every trajectory. `--algorithm ppo` trains by PPO on as
many episodes; `--algorithm sft` imitates the expert instead, for comparison.
`benchmarks.cli.quickstart_run` does it.
"""

from __future__ import annotations

from benchmarks.cli.quickstart_options import QuickstartArguments
from trainers.options.errors import check_folder
from trainers.options.parser import CommandParser


def main(argv: list[str] | None = None) -> int:
    """Run the quickstart."""
    parser = CommandParser(
        (QuickstartArguments,),
        command="agentgym quickstart",
        description="Watch a small policy learn to pursue the goal: measure, train, measure again.",
    )
    (arguments,) = parser.parse(argv)
    check_folder("output_dir", arguments.output_dir)
    from benchmarks.cli.quickstart_run import run  # it brings torch and TRL

    run(arguments)
    return 0
