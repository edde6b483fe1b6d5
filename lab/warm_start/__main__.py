"""`python -m lab.warm_start`: makes the checkpoint and the adapter that are shipped."""

from __future__ import annotations

import argparse

import lab.warm_start
from lab.warm_start.adapter import teach_adapter
from lab.warm_start.continuing import GROUNDS, teach
from lab.warm_start.training import train


def main() -> None:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.warm_start", description=lab.warm_start.__doc__
    )
    parser.add_argument("--out", required=True, help="folder of the checkpoint")
    parser.add_argument(
        "--continue",
        dest="ground",
        choices=GROUNDS,
        help="go on from the shipped policy with play in BabyAI's rooms, TextCraft's deep books or "
        "ALFWorld's houses, in place of training from nothing",
    )
    parser.add_argument(
        "--adapter",
        action="store_true",
        help="teach SmolLM2 TextCraft by the expert's episodes, and write the adapter of "
        "smollm2-textcraft; the other options are not for it",
    )
    parser.add_argument(
        "--tokens", type=int, help="tokens to train on; 8 million, or fewer with --continue"
    )
    parser.add_argument(
        "--batch-tokens", type=int, default=1024, help="tokens per step, padding included"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.adapter:
        teach_adapter(arguments.out)
        return
    if arguments.ground:
        teach(arguments.ground, arguments.out, num_tokens=arguments.tokens, seed=arguments.seed)
        return
    train(
        arguments.out,
        num_tokens=arguments.tokens or 8_000_000,
        batch_tokens=arguments.batch_tokens,
        seed=arguments.seed,
    )


if __name__ == "__main__":
    main()
