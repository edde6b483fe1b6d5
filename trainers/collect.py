"""Plays episodes with a policy and keeps them, and `agentgym collect`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from agentgym_envs.trajectory import Trajectory, write_jsonl
from trainers.arguments import EnvArguments, EpisodeArguments
from trainers.environments import Environments
from trainers.parsing import CommandParser
from trainers.policies import PolicyArguments, TaskPlayer, TextPlayer, open_player
from trainers.results import summarize

_COLLECTION_STREAM = 3


def collect(
    player: TaskPlayer,
    task_ids: Sequence[str],
    *,
    num_episodes: int | None = None,
    temperature: float = 1.0,
    seed: int = 0,
) -> list[Trajectory]:
    """Play episodes, going round the tasks in order.

    Args:
        player: the policy.
        task_ids: the tasks.
        num_episodes: how many; None plays each task once.
        temperature: of the sampling; 0 is greedy.
        seed: of the sampling.

    Raises:
        ValueError: there are no tasks, or fewer than one episode is asked for.
    """
    if not task_ids:
        raise ValueError("there are no tasks to play")
    count = len(task_ids) if num_episodes is None else num_episodes
    if count < 1:
        raise ValueError(f"num_episodes must be >= 1, got {count}")
    chosen = [task_ids[index % len(task_ids)] for index in range(count)]
    return player.play(chosen, temperature=temperature, stream=(_COLLECTION_STREAM, seed))


def expert_episodes(
    environments: Environments, task_ids: Sequence[str], *, num_episodes: int | None = None
) -> list[Trajectory]:
    """Let the expert play; see `collect`."""
    return collect(TextPlayer(environments, "expert"), task_ids, num_episodes=num_episodes)


@dataclass
class CollectArguments:
    """What is collected.

    Attributes:
        out: the JSONL file.
        num_episodes: how many; None plays each task of the split once.
        temperature: of the sampling; 0 is greedy.
        seed: of the sampling.
        append: add to the file instead of writing it anew.
    """

    _argument_group_name: ClassVar[str] = "collection"

    out: str = field(metadata={"help": "JSONL file to write.", "aliases": ["--output"]})
    num_episodes: int | None = field(
        default=None, metadata={"help": "Episodes to play; by default each task once."}
    )
    temperature: float = field(default=1.0, metadata={"help": "Temperature; 0 is greedy."})
    seed: int = field(default=0, metadata={"help": "Seed of the sampling."})
    append: bool = field(default=False, metadata={"help": "Add to the file."})


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym collect`."""
    parser = CommandParser(
        (EnvArguments, EpisodeArguments, PolicyArguments, CollectArguments),
        command="agentgym collect",
        description="Play episodes with the expert, random actions or a model, and keep them.",
    )
    parser.hide("eval_split")
    env, budgets, policy, options = parser.parse(argv)
    environments = Environments(env)
    player = open_player(policy, environments, budgets, seed=options.seed)
    played = collect(
        player,
        environments.task_ids(env.split, tasks=env.tasks),
        num_episodes=options.num_episodes,
        temperature=options.temperature,
        seed=options.seed,
    )
    write_jsonl(options.out, played, append=options.append)
    print(summarize(played, policy=player.name))
    print(f"wrote {len(played)} episodes to {options.out}")
    environments.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
