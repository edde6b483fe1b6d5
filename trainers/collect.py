"""Plays episodes with a policy and writes them to a file: `agentgym collect`.

Writes our own form of trajectories (JSONL, with tokens) or AgentTraj's (JSON, text only), and turns
files of one form into the other.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, MutableMapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.agenttraj import read_agenttraj, read_trajectories, write_agenttraj
from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl, write_jsonl
from trainers.evaluation.summary import summarize
from trainers.options.arguments import EnvArguments, EpisodeArguments, episode_settings
from trainers.options.errors import UsageError, check_output, run_command
from trainers.options.parser import CommandParser
from trainers.options.policies import PolicyArguments
from trainers.options.values import check_bounds, option
from trainers.policies.open import check_backend, open_environments, open_rollout
from trainers.policies.scripted import ExpertPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import repeated
from trainers.rollout.rollout import Rollout
from trainers.runs.progress_bar import Watch
from wrappers import FailureRules

_COLLECTION_STREAM = 3
FORMATS = ("jsonl", "agenttraj")


def collect(
    rollout: Rollout,
    task_ids: Sequence[str],
    *,
    num_episodes: int | None = None,
    environments: Environments | None = None,
    temperature: float = 1.0,
    seed: int = 0,
    on_trajectory: Callable[[Trajectory], None] | None = None,
    finished: MutableMapping[int, Trajectory] | None = None,
) -> list[Trajectory]:
    """Play episodes, going round the tasks as `trainers.rollout.mixtures.repeated` does.

    Args:
        rollout: the environments and the policy.
        task_ids: the tasks.
        num_episodes: how many; None plays each task once.
        environments: know the share of each in the episodes, and the kinds of their tasks; by
            default all have as many, and tasks are of one kind.
        temperature: of the sampling; 0 is greedy.
        seed: of the sampling.
        on_trajectory: called with each episode as it ends.
        finished: episodes that are not played again; see `Rollout.run`.

    Raises:
        UsageError: there are no tasks.
        ValueError: `num_episodes` is below 1.
    """
    if not task_ids:
        raise UsageError("there are no tasks to play")
    count = len(task_ids) if num_episodes is None else num_episodes
    if count < 1:
        raise ValueError(f"num_episodes must be >= 1, got {count}")
    shares = (environments.weights, environments.task_kind) if environments else ()
    return rollout.run(
        list(task_ids) if num_episodes is None else repeated(task_ids, count, *shares),
        temperature=temperature,
        stream=(_COLLECTION_STREAM, seed),
        on_trajectory=on_trajectory,
        finished=finished,
    )


def expert_episodes(
    environments: Environments,
    task_ids: Sequence[str],
    *,
    num_episodes: int | None = None,
    failure_rules: FailureRules | None = None,
    watch: Watch | None = None,
) -> list[Trajectory]:
    """Play episodes of the expert as `collect` does, with a progress bar.

    `watch` shows and keeps them; by default they are shown alone.
    """
    rollout = environments.rollout(ExpertPolicy(), failure_rules=failure_rules)
    total = num_episodes or len(task_ids)
    with nullcontext(watch) if watch is not None else Watch("expert", total) as watching:
        return collect(
            rollout,
            task_ids,
            num_episodes=num_episodes,
            environments=environments,
            on_trajectory=watching,
            finished=watching.finished,
        )


def read_data_files(files: Sequence[str]) -> list[Trajectory]:
    """Read files of trajectories, and folders of ATIF documents.

    Raises:
        UsageError: one of them is not there, or holds something else.
    """
    try:
        return [trajectory for path in files for trajectory in read_trajectories(path)]
    except FileNotFoundError as error:
        raise UsageError(f"`data`: there is no file {error.filename}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"`data`: {error}") from error


def cached_rollout(
    path: Path,
    play: Callable[[Watch], list[Trajectory]],
    *,
    name: str,
    total: int,
    options: Sequence[Any],
    reuse: bool,
) -> list[Trajectory]:
    """Play episodes and write them to a JSONL file, or read those of an interrupted run.

    `play` plays those that are not in the watch's `finished`. `options` decide which they are, such
    as the tasks. With `reuse` the file is read if it is there, and its finished part if it is not.

    Raises:
        UsageError: the finished part had other options.
    """
    if not (reuse and path.exists()):
        with Watch(name, total, output_file=path, resume=reuse, options=options) as watch:
            write_jsonl(path, play(watch))
            watch.forget()
    return list(read_jsonl(path))


@dataclass
class CollectArguments:
    """The episodes that are collected, and their file."""

    _argument_group_name: ClassVar[str] = "collection"

    out: str = field(metadata={"help": "File to write.", "aliases": ["--output"]})
    format: str = option(
        "jsonl",
        "jsonl: one trajectory a line, with its tokens. agenttraj: a JSON list of conversations "
        "with loss flags, AgentGym's published form; text only.",
        choices=FORMATS,
    )
    data: list[str] = option(
        [],
        "Convert this file of trajectories, of any form that --data of training reads, instead of "
        "playing; repeat for several.",
        action="extend",
    )
    num_episodes: int | None = option(
        None,
        "Episodes to play; by default each task once. Fewer are spread evenly over the split.",
        min=1,
    )
    num_tasks: int = option(
        0,
        "Tasks to play, spread evenly over the subtasks; 0 plays them all. Fewer tasks leave more "
        "of --num_episodes to each, which DPO's pairs need.",
        min=0,
    )
    temperature: float = option(1.0, "Temperature; 0 is greedy.", min=0)
    seed: int = option(0, "Seed of the sampling.", min=0)
    resume: bool = option(False, "Go on with the episodes that an earlier call has kept.")
    append: bool = option(False, "Add to the file instead of replacing it.")

    def __post_init__(self) -> None:
        check_bounds(self)
        for path in self.data:
            if not Path(path).exists():
                raise ValueError(f"data: there is no file {path}")
        check_output("out", self.out)


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym collect`."""
    parser = CommandParser(
        (EnvArguments, EpisodeArguments, PolicyArguments, CollectArguments),
        command="agentgym collect",
        description="Play episodes with the expert, random actions or a model, and write them; or "
        "convert episodes to and from AgentGym's published form.",
        first=("env", "policy", "out", "num_episodes", "split"),
    )
    env, budgets, policy, options = parser.parse(argv)
    _check_format(options)
    if options.data:
        count = _write(read_data_files(options.data), options)
        print(f"wrote {counted(count, 'episode')} to {options.out}")
        return 0
    _play(env, budgets, policy, options)
    return 0


def _play(
    env: EnvArguments,
    budgets: EpisodeArguments,
    policy: PolicyArguments,
    options: CollectArguments,
) -> None:
    """Play the episodes, write them, and print a summary."""
    if env.mix is not None and not (options.num_tasks or options.num_episodes):
        raise UsageError(
            f"--mix {env.mix} weighs some of the tasks, and each is played once; say how many by "
            "--num_tasks or --num_episodes, or leave --mix out"
        )
    check_backend(policy, budgets)
    environments = open_environments(env, policy)
    rollout = open_rollout(policy, environments, budgets, seed=options.seed)
    tasks = environments.spread(environments.split_ids(), options.num_tasks, weighted=True)
    total = options.num_episodes or len(tasks)
    start = time.perf_counter()
    settings = (
        *(rollout.policy.name, options.temperature, options.seed, total, tasks),
        *episode_settings(env, budgets),
        *policy.settings,
    )
    with Watch(
        rollout.policy.name,
        total,
        output_file=options.out,
        resume=options.resume,
        options=settings,
        ledger=rollout.policy.ledger,
        max_outage=budgets.failure_rules.max_outage,
    ) as watch:
        episodes = collect(
            rollout,
            tasks,
            num_episodes=options.num_episodes,
            environments=environments,
            temperature=options.temperature,
            seed=options.seed,
            on_trajectory=watch,
            finished=watch.finished,
        )
        seconds = time.perf_counter() - start
        count = watch.write(options.out, lambda: _write(episodes, options))
        watch.forget()
    environments.close()
    print(f"wrote {counted(count, 'episode')} to {options.out}\n{_summary(episodes, seconds)}")


def _check_format(options: CollectArguments) -> None:
    """Check that --append matches the file's format before playing."""
    if options.append and Path(options.out).exists():
        read = read_agenttraj if options.format == "agenttraj" else read_jsonl
        try:
            next(read(options.out), None)
        except ValueError as error:
            raise UsageError(f"cannot append --format {options.format}: {error}") from error


def _write(episodes: Sequence[Trajectory], options: CollectArguments) -> int:
    """Write the file, and return the number of its episodes."""
    if options.format == "agenttraj":
        return write_agenttraj(options.out, episodes, append=options.append)
    write_jsonl(options.out, episodes, append=options.append)
    return len(episodes)


def _summary(episodes: Sequence[Trajectory], seconds: float) -> str:
    try:
        return str(summarize(episodes, policy=episodes[0].policy, wall_s=seconds))
    except ValueError as error:  # none of them has a score; they are written all the same
        return f"no success rate: {error}"


if __name__ == "__main__":
    sys.exit(run_command(main))
