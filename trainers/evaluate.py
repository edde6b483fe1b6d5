"""Measures a policy on named tasks, and `agentgym eval`.

A policy is a language model, the expert, or random actions; all are measured alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.content.files import COMPRESSED
from agentgym_envs.trajectories.trajectory import Trajectory, write_jsonl
from trainers.evaluation.baselines import Baseline, strongest
from trainers.evaluation.results import EvalResult, Gain, paired_gain
from trainers.evaluation.summary import summarize
from trainers.options.arguments import EnvArguments, EpisodeArguments, episode_settings
from trainers.options.errors import UsageError, check_output, run_command
from trainers.options.parser import CommandParser
from trainers.options.policies import PolicyArguments
from trainers.options.values import check_bounds, option, seed_list, value_for
from trainers.policies.open import check_backend, open_environments, open_rollout
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.runs.folder import model_step
from trainers.runs.progress_bar import Watch
from trainers.runs.provenance import run_record
from wrappers import HorizonSchedule

__all__ = ["EvalResult", "Gain", "evaluate", "main", "paired_gain"]


def evaluate(
    rollout: Rollout,
    task_ids: Sequence[str],
    *,
    samples: int = 1,
    temperature: float = 1.0,
    seed: int | Sequence[int] = 0,
    global_step: int = 0,
    on_trajectory: Callable[[Trajectory], None] | None = None,
    on_trajectories: Callable[[list[Trajectory]], None] | None = None,
    finished: MutableMapping[int, Trajectory] | None = None,
) -> EvalResult:
    """Play every task `samples` times and return the success with its interval.

    Of several environments it is the mean over them; see `EvalResult`.

    Args:
        rollout: the environments and the policy.
        task_ids: the tasks.
        samples: episodes per task.
        temperature: of the sampling; 0 is greedy. Policies without tokens ignore it.
        seed: of the sampling; of several, each plays all tasks as a policy opened with it.
        global_step: the optimizer step that a trained policy is of, for the record.
        on_trajectory: called with each episode as it ends.
        on_trajectories: called with all of them, by seed and task.
        finished: episodes that are not played again; see `Rollout.run`.

    Raises:
        TypeError: `rollout` is a name.
        UsageError: there are no tasks, or no episode has a score.
        ValueError: there are no samples, or no seeds, or one of them is given twice.
    """
    seeds = [seed] if isinstance(seed, int) else list(seed)
    _check_arguments(rollout, task_ids, samples, seeds)
    start = time.perf_counter()
    planned = [task_id for task_id in task_ids for _ in range(samples)]
    trajectories: list[Trajectory] = []
    for one in seeds:
        if not isinstance(seed, int):
            rollout.policy.seed = one
        own = None if finished is None else _Part(finished, len(trajectories), len(planned))
        trajectories += rollout.run(
            planned,
            temperature=temperature,
            global_step=global_step,
            stream=(_EVALUATION_STREAM, one),
            on_trajectory=on_trajectory,
            finished=own,
        )
    if on_trajectories is not None:
        on_trajectories(trajectories)
    return summarize(
        trajectories,
        policy=rollout.policy.name,
        temperature=temperature if rollout.policy.has_temperature else None,
        seeds=seeds,
        wall_s=time.perf_counter() - start,
        cost=None if rollout.policy.ledger is None else rollout.policy.ledger.spent,
    )


class _Part(dict[int, Trajectory]):
    """The finished episodes of one seed among those of all, which new ones are added to."""

    def __init__(self, whole: MutableMapping[int, Trajectory], start: int, count: int) -> None:
        places = range(start, start + count)
        super().__init__({place - start: whole[place] for place in places if place in whole})
        self._whole, self._start = whole, start

    def __setitem__(self, place: int, trajectory: Trajectory) -> None:
        super().__setitem__(place, trajectory)
        self._whole[self._start + place] = trajectory


def _check_arguments(
    rollout: Any, task_ids: Sequence[str], samples: int, seeds: Sequence[int]
) -> None:
    if isinstance(rollout, str):
        raise TypeError(
            f"rollout must be a trainers.Rollout, got the name {rollout!r}; make it by "
            f"trainers.open_rollout(PolicyArguments(policy={rollout!r}), environments, ...)"
        )
    if not task_ids:
        raise UsageError("there are no tasks to evaluate on")
    if samples < 1:
        raise ValueError(f"samples must be >= 1, got {samples}")
    if not seeds:
        raise ValueError("there are no seeds; pass seed=0, or seed=[0, 1, 2]")
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must differ, or episodes are the same, got {list(seeds)}")


_EVALUATION_STREAM = 2


@dataclass
class MeasureArguments:
    """The size of the evaluation, its sampling and its files."""

    _argument_group_name: ClassVar[str] = "measurement"

    num_tasks: int = option(
        0,
        "Tasks of the split, spread evenly over its subtasks, as many of each environment; 0 "
        "takes all.",
        min=0,
    )
    samples: int = option(1, "Episodes per task.", min=1)
    temperature: float = option(1.0, "Temperature; 0 is greedy.", min=0)
    seeds: str = option(
        "0",
        "Seeds of the sampling, such as 0,1,2; every task is played under each.",
        aliases=["--seed"],
    )
    out: str | None = option(None, "Write the result to this JSON file.", aliases=["--output"])
    trajectories: str | None = option(None, "Write the episodes to this JSONL file.")

    resume: bool = option(False, "Go on with the episodes that an earlier call has kept.")

    def __post_init__(self) -> None:
        check_bounds(self)
        _ = self.seed_list
        check_output("out", self.out)
        if self.out is not None and self.out.endswith(COMPRESSED):
            raise ValueError(f"out is written as plain JSON, got {self.out}; name a .json file")
        check_output("trajectories", self.trajectories)
        files = [Path(path).resolve() for path in (self.out, self.trajectories) if path is not None]
        if len(set(files)) < len(files):
            raise ValueError(f"out and trajectories must name different files, got {self.out}")

    @property
    def seed_list(self) -> list[int]:
        """`seeds` as numbers, each once."""
        return seed_list(self.seeds)


def require_output_file(policy: PolicyArguments, measure: MeasureArguments) -> None:
    """Raise `UsageError` if episodes are to be kept, and no file is named to keep them beside."""
    if measure.out is not None or measure.trajectories is not None:
        return
    if measure.resume:
        raise UsageError("--resume needs --out or --trajectories, beside which episodes are kept")
    if policy.max_cost is not None:
        raise UsageError(
            "--max_cost needs --out or --trajectories, beside which it keeps stopped episodes"
        )


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym eval`.

    Raises:
        UsageError: `--mix` is given.
    """
    parser = CommandParser(
        (EnvArguments, EpisodeArguments, PolicyArguments, MeasureArguments),
        command="agentgym eval",
        description="Measure a policy's success on a split: a model, the expert or chance.",
        first=("env", "policy", "split", "num_tasks", "out"),
    )
    parser.set_defaults(split="test", policy="tiny")
    env, budgets, policy, measure = parser.parse(argv)
    if env.mix is not None:
        raise UsageError(
            f"--mix {env.mix} weighs training tasks; eval plays as many tasks of each "
            "environment and reports the mean over them, so leave it out"
        )
    require_output_file(policy, measure)

    environments = open_environments(env, policy)
    result = measured(lambda result, _: result, environments, budgets, policy, measure, "eval")
    print(result)
    for baseline in _baselines(env, result):
        print(f"strongest baseline, {baseline}")
    environments.close()
    return 0


def measured(
    build: Callable[[EvalResult, Sequence[Trajectory]], Any],
    environments: Environments,
    budgets: EpisodeArguments,
    policy: PolicyArguments,
    measure: MeasureArguments,
    command: str,
    *,
    schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None = None,
) -> Any:
    """Play the tasks of a command, write the files that it names, and return its result.

    `build` makes the result of the evaluation and its episodes: a dataclass with `run` and `save`,
    for `measure.out`. With the `schedule` of a horizon the episodes are those of a run's first
    step.
    """
    env = environments.args
    check_backend(policy, budgets)
    task_ids = environments.spread(environments.split_ids(), measure.num_tasks)
    seeds = measure.seed_list
    rollout = open_rollout(policy, environments, budgets, seed=seeds[0])
    rollout.schedule = schedule
    with Watch(
        rollout.policy.name,
        len(task_ids) * measure.samples * len(seeds),
        output_file=measure.trajectories or measure.out,
        resume=measure.resume,
        options=(
            *(rollout.policy.name, measure.temperature, *seeds, measure.samples, task_ids),
            *episode_settings(env, budgets),
            *policy.settings,
            *([] if schedule is None else [schedule]),
        ),
        ledger=rollout.policy.ledger,
        max_outage=budgets.failure_rules.max_outage,
    ) as watch:
        episodes: list[Trajectory] = []

        def write(trajectories: list[Trajectory]) -> None:
            path = measure.trajectories
            episodes.extend(trajectories)
            if path is not None:
                watch.write(path, lambda: write_jsonl(path, trajectories))

        result = evaluate(
            rollout,
            task_ids,
            samples=measure.samples,
            temperature=measure.temperature,
            seed=seeds,
            global_step=0 if schedule is not None else model_step(policy.policy) or 0,
            on_trajectory=watch,
            on_trajectories=write,
            finished=watch.finished,
        )
        own = build(result, episodes)
        if measure.out is not None:
            configs = [env, budgets, policy, measure]
            record = run_record(command=command, seed=seeds[0], configs=configs)
            watch.write(measure.out, partial(replace(own, run=record).save, measure.out))
        watch.forget()
    return own


def _baselines(env: EnvArguments, result: EvalResult) -> list[Baseline]:
    """Return the strongest baseline of each environment that is made without further arguments."""
    if env.extra_kwargs or env.wrapper or env.actions_per_turn > 1:
        return []
    baselines = [
        strongest(
            panel.env_id,
            panel.source,
            panel.split,
            [task_id for ids in panel.subtasks.values() for task_id in ids],
            max_turns=value_for(env.max_turns, panel.env_id),
        )
        for panel in result.panels
    ]
    return [baseline for baseline in baselines if baseline is not None]


if __name__ == "__main__":
    sys.exit(run_command(main))
