"""Estimates before a run whether RL can work, and advises: `agentgym headroom`."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from agentgym_envs import NoExpert
from agentgym_envs.content.files import write_atomically
from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.core.text import counted
from agentgym_envs.machinery.secrets import masked_words
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.collect import expert_episodes, read_data_files
from trainers.evaluate import MeasureArguments, measured, require_output_file
from trainers.evaluation.advice import LIMITING, Advice, advise
from trainers.evaluation.headroom import Headroom, Limits, headroom
from trainers.options.arguments import EnvArguments, HorizonArguments, RolloutArguments
from trainers.options.errors import UsageError, run_command
from trainers.options.parser import CommandParser
from trainers.options.policies import PolicyArguments, is_text_policy, policy_name
from trainers.options.values import ADDRESS, option, value_for
from trainers.policies.open import open_environments
from trainers.rollout.environments import Environments
from trainers.runs.provenance import run_record
from wrappers import parse_schedule

LEGEND = """\
differ@k: share of groups of k episodes whose returns differ; GRPO learns from no others. ~ is
extrapolated. turns, expert: of successful episodes, the median and the 90% quantile. beyond: tasks
for which the expert needs more than the horizon. by turns, by tokens: episodes that a limit ended.
cut turns, invalid: shares of turns."""

NOT_OF_TRAINING = frozenset(
    {
        *("num_tasks", "seed", "seeds", "out", "output", "trajectories", "resume"),
        *("policies", "api_model", "api_kwargs", "max_cost", "max_requests", "request_timeout"),
    }
)
"""Options of this command alone."""
OF_IMITATION = (
    *("config", "env", "mix", "env_kwargs", "action_format", "wrapper", "tasks", "max_turns"),
    *("actions_per_turn", "max_tokens_per_turn", "chat_template", "chat_template_kwargs", "dtype"),
)
"""Options that SFT on expert episodes shares."""
_COLLECTED = {"config"} | {
    entry.name
    for kind in (EnvArguments, RolloutArguments)
    for entry in fields(kind)
    if "action" in entry.metadata
}
"""Options whose values add up where they are repeated. Of others the last one counts."""


@dataclass
class HeadroomArguments(MeasureArguments):
    """The size of the measurement, its sampling and its files."""

    num_tasks: int = option(40, "Tasks of the split, spread over its subtasks; 0: all.", min=0)
    samples: int = option(
        8, "Episodes per task: training's group size.", min=2, aliases=["--num_generations"]
    )
    data: list[str] = option(
        [],
        "Read these files of episodes, played with these options, instead of playing.",
        action="extend",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.data and self.trajectories is not None:
            raise ValueError(
                f"`trajectories={self.trajectories}` is not written where `data` is read, since "
                "nothing is played; leave one of the two out"
            )


KINDS = (EnvArguments, HorizonArguments, PolicyArguments, HeadroomArguments)
"""Classes of the command's options."""


@dataclass(frozen=True)
class HeadroomReport:
    """The headroom of a policy, advice and commands.

    Attributes:
        policy: the policy's name.
        environments: the numbers, by the environments' short names.
        advice: what to change in each.
        commands: the commands that follow.
        run: options and versions, as in a training run's `run.json`.
    """

    policy: str
    environments: dict[str, Headroom]
    advice: dict[str, list[Advice]]
    commands: list[str]
    run: dict[str, Any] = field(default_factory=dict)

    def save(self, path: str | Path) -> None:
        """Write the report as a JSON file."""
        advice = {name: [one._asdict() for one in part] for name, part in self.advice.items()}
        record = {**asdict(replace(self, advice={})), "advice": advice}
        write_atomically(path, json.dumps(record, indent=2) + "\n")

    def __str__(self) -> str:
        lines = []
        for name, part in self.environments.items():
            count, turns = part.total.n_tasks, part.limits.horizon
            size = f"{counted(count, 'task')} x {part.total.samples} episodes, horizon {turns}"
            lines += [f"{self.policy} in {name}: {size}", "", str(part), ""]
        lines += [LEGEND, ""]
        for name, given in self.advice.items():
            lines.append(f"advice for {name}:" if len(self.advice) > 1 else "advice:")
            lines += [f"{number}. {one.text}" for number, one in enumerate(given, 1)]
            if not given:
                lines.append("No number asks for a change.")
        return "\n".join([*lines, *([""] if self.commands else []), *self.commands])


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym headroom`."""
    parser = CommandParser(
        KINDS,
        command="agentgym headroom",
        description="Say before a run whether RL can work: play groups of training episodes, and "
        "print what is solved, which groups differ, what limits cut, and what to change.",
        first=("env", "policy", "horizon", "samples", "num_tasks"),
        ignored=_training_parser,
    )
    parser.set_defaults(policy="tiny")
    env, budgets, policy, measure = parser.parse(argv)
    words = list(sys.argv[1:] if argv is None else argv)
    if unused := parser.without_effect(words):
        print(f"of training alone, without effect here: {', '.join(unused)}", file=sys.stderr)
    require_output_file(policy, measure)
    environments = open_environments(env, policy)
    schedule = environments.schedule(budgets)
    data = own_episodes(read_data_files(measure.data))
    _check_scenarios(data, environments)
    tasks = environments.spread(environments.split_ids(), measure.num_tasks)
    expert = _expert(environments, list({one.task_id: None for one in data}) or tasks)

    report = partial(
        report_on,
        num_generations=measure.samples,
        expert=expert,
        limits=limits_of(environments, budgets),
        words=words,
    )
    if measure.data:
        result = report(data)
        if measure.out is not None:
            configs, seed = [env, budgets], measure.seed_list[0]
            record = run_record(command="headroom", seed=seed, configs=configs)
            replace(result, run=record).save(measure.out)
    else:
        result = measured(
            lambda _, episodes: report(episodes),
            environments,
            budgets,
            policy,
            measure,
            "headroom",
            schedule=schedule,
        )
    print(result)
    environments.close()
    return 0


def _training_parser() -> CommandParser:
    """Return the parser of `train grpo`, whose command lines this command takes too."""
    from trainers.command import training_parser  # slow, and most command lines do without
    from trainers.options.configs import AgentGRPOConfig

    return training_parser("grpo", AgentGRPOConfig, "")


def report_on(
    episodes: Sequence[Trajectory],
    *,
    num_generations: int,
    expert: Sequence[Trajectory],
    limits: Mapping[str, Limits],
    words: Sequence[str],
) -> HeadroomReport:
    """Return the report on episodes.

    `words` are the command line's, the other arguments those of `headroom`.

    Raises:
        UsageError: no task has two episodes with a score.
    """
    try:
        environments = headroom(
            episodes, num_generations=num_generations, expert=expert, limits=limits
        )
    except ValueError as error:
        raise UsageError(f"{error}; play or read `samples` of each task") from error
    advice = {name: advise(part) for name, part in environments.items()}
    policy = next(one.policy for one in episodes if one.policy or one is episodes[-1])
    commands = commands_of(words, environments, advice, policy=policy)
    return HeadroomReport(policy, environments, advice, commands)


def own_episodes(episodes: Sequence[Trajectory]) -> list[Trajectory]:
    """Return the episodes that a model has played from the task's own start.

    A training run's files also hold the expert's (`expert_episodes`), which are left out beside a
    model's.

    Raises:
        UsageError: an episode begins with turns that the policy has not played (`start`).
    """
    for episode in episodes:
        if any(not turn.trained for turn in episode.turns) and not is_text_policy(episode.policy):
            raise UsageError(
                f"`data` holds an episode of {episode.task_id} that begins with turns of another; "
                "name files of a run without `start`, or play anew"
            )
    own = [one for one in episodes if not is_text_policy(one.policy)]
    return own or list(episodes)


def limits_of(environments: Environments, budgets: HorizonArguments) -> dict[str, Limits]:
    """Return the limits of a run's first episodes, by environment id."""
    limits = {}
    for env_id, most in zip(environments.env_ids, environments.turn_limits.values(), strict=True):
        text, tokens = value_for(budgets.horizon, env_id), budgets.env_budgets(env_id)
        schedule = parse_schedule(text or str(most))
        limits[env_id] = Limits(
            horizon=min(schedule(0), most),
            longest=min(schedule.longest, most),
            max_turns=most,
            actions_per_turn=environments.args.actions_per_turn,
            max_tokens_per_turn=tokens.max_tokens_per_turn,
            max_tokens_per_episode=tokens.max_tokens_per_episode,
        )
    return limits


def _check_scenarios(episodes: Iterable[Trajectory], environments: Environments) -> None:
    """Raise `UsageError` unless all episodes are of the environments."""
    names = {scenario_name(one.task_id) for one in episodes}
    if others := sorted(names - set(environments.names)):
        raise UsageError(
            f"`data` holds episodes of {', '.join(others)}, and `env` is "
            f"{', '.join(environments.names.values())}; name all of their environments by `env`, "
            "or leave these files out"
        )


def _expert(environments: Environments, task_ids: Sequence[str]) -> list[Trajectory]:
    """Return the episodes of the experts that there are, under the environments' turn limits."""
    episodes: list[Trajectory] = []
    for name in environments.names:
        own = [task_id for task_id in task_ids if scenario_name(task_id) == name]
        with suppress(NoExpert):
            episodes += expert_episodes(environments, own) if own else []
    return episodes


# -- The commands that follow ----------------------------------------------------------------------


def commands_of(
    words: Sequence[str],
    environments: Mapping[str, Headroom],
    advice: Mapping[str, Sequence[Advice]],
    *,
    policy: str,
) -> list[str]:
    """Return the commands that follow from advice, with the words of the command line.

    There is none where all tasks are mastered. A policy that cannot be trained here is `MODEL`.
    """
    options = _by_option(words)
    named = {one.rule for part in advice.values() for one in part}
    is_trained = any(
        all(one.rule != "mastered" or one.options for one in part) for part in advice.values()
    )
    if not is_trained:
        return []
    given = [options.pop(name, []) for name in ("policy", "model", "model_name_or_path")]
    policy = policy_name(next((values[0] for values in given if values), policy))
    is_served = policy.startswith(ADDRESS) or "policies" in options
    model = "MODEL" if is_text_policy(policy) or is_served else policy
    commands = []
    if "imitate" in named:
        shared = {name: values for name, values in options.items() if name in OF_IMITATION}
        imitated = "runs/sft" if model.rstrip("/") != "runs/sft" else "runs/sft_2"
        shared |= {"model": [model], "output_dir": [imitated]}
        commands.append(_command("train sft", shared))
        model = imitated
    for name in ("samples", "data"):
        options.pop(name, None)
    size = next(iter(environments.values())).num_generations
    options |= {"model": [model], "num_generations": [str(size)]}
    for name, part in advice.items():
        for one in part:
            _change(options, one, name if len(environments) > 1 else "")
    if named & {"imitate", "imitate_later", *LIMITING}:
        own = {f.name for k in KINDS for f in fields(k)} - NOT_OF_TRAINING
        own |= {"config", "model", "num_generations", "num_tasks", "seed", "seeds"}
        ours = {name: values for name, values in options.items() if name in own}
        commands.append(_command("headroom", ours))
    trained = {name: values for name, values in options.items() if name not in NOT_OF_TRAINING}
    return [*commands, _command("train grpo", trained)]


def _change(options: dict[str, list[str]], advice: Advice, environment: str) -> None:
    """Set the options that an advice changes, for one of several `environment`s or for the only."""
    for name, value in advice.options.items():
        if name == "horizon" and "max_turns" in advice.options and name not in options:
            continue  # without a horizon, `max_turns` is it
        if environment and name in _COLLECTED:
            options.setdefault(name, []).append(f"{environment}={value}")
        elif name != "tasks" or not environment:
            options[name] = [*map(str, value if isinstance(value, list) else [value])]


def _command(name: str, options: Mapping[str, Sequence[str]]) -> str:
    """Return a command line, with `***` for secrets."""
    words = ["agentgym", *name.split()]
    for key, values in options.items():
        # Of --config a file each, of others all values at once.
        for group in [[value] for value in values] if key == "config" else [values]:
            words += [f"--{key}", *group]
    return shlex.join(masked_words(words))


def _by_option(words: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of a command line, by option."""
    options: dict[str, list[str]] = {}
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("--"):
            name = option[2:].replace("-", "_")
            if name not in _COLLECTED:
                options[name] = []
            last = options.setdefault(name, [])
            last += [value] * bool(equals)
        else:
            last.append(word)
    return options


if __name__ == "__main__":
    sys.exit(run_command(main))
