"""Makes the environments that a command names, and lists their tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from agentgym_envs.core import TextEnv
from agentgym_envs.core.item_ids import is_item_file, read_item_ids
from agentgym_envs.core.tasks import TaskSet, scenario_name
from agentgym_envs.errors import NoExpert, UnknownTask, for_each
from agentgym_envs.registration.registry import check_kwargs, distinct_names
from agentgym_envs.trajectories.conversations import UNNAMED
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.options.arguments import EnvArguments, HorizonArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.options.values import check_names, kwargs_for, load_attribute, value_for
from trainers.rollout.mixtures import Mixture, spread
from trainers.rollout.policy import Policy
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules, HorizonSchedule, TextVectorEnv, parse_schedule
from wrappers.failures import retry

logger = logging.getLogger(__name__)

Schedules = dict[str, HorizonSchedule]
"""Schedules by the names in front of task ids."""

SET_UP_SECONDS = 10.0
"""Seconds of retries where machinery breaks while an environment is made."""

MOST_ENVS = 64
"""Slots where `num_envs` is not given and the batch is larger."""


@dataclass(frozen=True)
class EnvFactory:
    """Makes one environment. It is a plain value, for worker processes.

    Attributes:
        env: a registered id, or its spec, which also serves where the id is not registered, as in
            a worker process.
        kwargs: the environment's keyword arguments.
        wrappers: Gymnasium wrappers as `module:Class`, the first one innermost.
    """

    env: str | EnvSpec
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()

    @property
    def env_id(self) -> str:
        """The registered id."""
        return self.env if isinstance(self.env, str) else self.env.id

    def __call__(self) -> gym.Env[str, str]:
        """Make the environment."""
        env: Any = gym.make(self.env, disable_env_checker=True, **self.kwargs)
        for name in self.wrappers:
            kind = load_attribute(name)
            try:
                env = kind(env)
            except TypeError as error:
                raise UsageError(f"`wrapper={name}` wraps no environment ({error})") from error
        return env


def _made(factory: EnvFactory) -> gym.Env[str, str]:
    """Make an environment, and wait for machinery that breaks meanwhile."""
    try:
        check_kwargs(factory.env_id, factory.kwargs)
        return retry(factory, max_seconds=SET_UP_SECONDS)
    except ValueError as error:
        raise UsageError(str(error)) from error


class Environments:
    """The environments of one run: each id vectorized, with its task ids.

    Args:
        args: which environments, and how they are run.
        episodes: how many episodes a batch plays; the default for `args.num_envs`.

    Raises:
        ValueError: no environment is named, or two of them share a task prefix.
        MissingExtra: environments need extras that are not installed; it names all of them.
    """

    def __init__(self, args: EnvArguments, *, episodes: int = MOST_ENVS) -> None:
        if not args.env:
            raise UsageError("no environment is named; pass `env`, such as `env=TextCraft`")
        self.args = args
        slots = args.num_envs or min(episodes, MOST_ENVS)
        self._factories = {
            env_id: EnvFactory(gym.spec(env_id), _kwargs_of(env_id, args), tuple(args.wrapper))
            for env_id in args.env
        }
        self._probes: dict[str, TextEnv] = {}
        self.vectors: dict[str, TextVectorEnv] = {}
        probes = for_each(_made, self._factories.values())
        for (env_id, factory), probe in zip(self._factories.items(), probes, strict=True):
            text_env = probe.unwrapped
            if not isinstance(text_env, TextEnv):
                raise UsageError(f"{env_id} is not a TextEnv, so it has no tasks to train on")
            name = text_env.task_set.env_name
            if name in self.vectors:
                raise UsageError(f"{env_id}: another environment has the task ids {name}_* too")
            self._probes[name] = text_env
            try:
                self.vectors[name] = TextVectorEnv(
                    [factory] * slots,
                    backend=args.env_backend,
                    step_timeout=args.step_timeout,
                    ray=args.ray_actors,
                )
            except (ConnectionError, ValueError) as error:
                raise UsageError(str(error)) from error

    @cached_property
    def env_ids(self) -> tuple[str, ...]:
        """The registered ids, in order."""
        return tuple(self._factories)

    def plan(self, split: str, *, num_tasks: int | None) -> str:
        """Return the environments, their shares, tasks and turn limits in words.

        `num_tasks` is None where it is unknown.
        """
        limits = {self.names[name]: limit for name, limit in self.turn_limits.items()}
        names = ", ".join(limits)
        if len(set(self.args.weights)) > 1:
            names += f" at {':'.join(map(str, self.args.weights))}"
        turns = ", ".join(f"{name} {limit}" for name, limit in limits.items())
        if len(set(limits.values())) == 1:
            turns = str(next(iter(limits.values())))
        count = "" if num_tasks is None else f"{num_tasks} of "
        return f"{count}{names} ({split}), {turns} turn{'s' * (turns != '1')} at most"

    @cached_property
    def names(self) -> dict[str, str]:
        """The environments' names in metrics and tables, by the names in front of task ids."""
        shown = distinct_names(self.env_ids)
        return dict(zip(self.vectors, (shown[env_id] for env_id in self.env_ids), strict=True))

    @property
    def turn_limits(self) -> dict[str, int]:
        """The environments' turn limits, by the names in front of task ids."""
        return {name: env.max_turns for name, env in self._probes.items()}

    @property
    def max_turns(self) -> int:
        """The largest turn limit of the environments."""
        return max(self.turn_limits.values())

    @cached_property
    def baselines(self) -> dict[str, tuple[str, ...]]:
        """The baselines of each environment, by its name in tables."""
        return {self.names[name]: tuple(env.baselines) for name, env in self._probes.items()}

    @cached_property
    def weights(self) -> dict[str, int]:
        """The environments' weights in training, by the names in front of task ids."""
        return dict(zip(self.vectors, self.args.weights, strict=True))

    def schedule(self, args: HorizonArguments) -> HorizonSchedule | Schedules | None:
        """Return the horizon's schedule, or one for each environment, as `Rollout` takes it."""
        check_names(args, self.env_ids)
        schedules = self._by_name(args.env_schedule)
        self._check_reached(args, schedules)
        return self._for_rollout(schedules)

    def starts(self, args: RolloutArguments) -> HorizonSchedule | Schedules | None:
        """Return the schedule of starts, or one for each environment, as `Rollout` takes it.

        Raises:
            UsageError: an environment has no expert or cannot be copied, or two schedules would go
                by the success of the same episodes.
        """
        check_names(args, self.env_ids)
        starts = self._by_name(args.env_start)
        for name in starts:
            env_id = self.env_ids[list(self.vectors).index(name)]
            horizon, start = (value_for(value, env_id) for value in (args.horizon, args.start))
            if all(str(text).startswith("adaptive:") for text in (horizon, start)):
                raise UsageError(
                    f"`start={start}` and `horizon={horizon}` would both go by the success that "
                    "the other one changes; let the optimizer step grow one of the two, such as "
                    "`start=backward:2,4,8@100`"
                )
            self._check_copies(name, "start", "leave `start` out")
            self._check_expert(name)
        return self._for_rollout(starts)

    def _by_name(self, env_schedule: Callable[[str], HorizonSchedule | None]) -> Schedules:
        """Return the schedules by environment, of those that have one."""
        ids = zip(self.vectors, self.env_ids, strict=True)
        schedules = {name: env_schedule(env_id) for name, env_id in ids}
        return {name: schedule for name, schedule in schedules.items() if schedule is not None}

    def _for_rollout(self, schedules: Schedules) -> HorizonSchedule | Schedules | None:
        if len(self.vectors) > 1:
            return schedules or None
        return next(iter(schedules.values()), None)

    def _check_reached(
        self, args: HorizonArguments, schedules: Mapping[str, HorizonSchedule]
    ) -> None:
        """Check that each horizon's turns can be played in one of its environments."""
        limits: dict[str, dict[str, int]] = {}
        for name, env_id in zip(self.vectors, self.env_ids, strict=True):
            if name in schedules:
                limit = self._probes[name].max_turns
                limits.setdefault(str(value_for(args.horizon, env_id)), {})[name] = limit
        for text, turns in limits.items():
            longest, most = parse_schedule(text).longest, max(turns.values())
            if longest > most:
                names = ", ".join(self.names[name] for name in turns)
                raise UsageError(
                    f"`horizon={text}` goes up to {longest} turns, and {names} ends after {most}; "
                    f"lower the horizon, or pass `max_turns={longest}`"
                )

    def rollout(
        self,
        policy: Policy,
        *,
        schedule: HorizonSchedule | Mapping[str, HorizonSchedule] | None = None,
        starts: HorizonSchedule | Mapping[str, HorizonSchedule] | None = None,
        failure_rules: FailureRules | None = None,
    ) -> Rollout:
        """Return a `Rollout` of these environments with a policy."""
        return Rollout(
            self.vectors,
            policy,
            schedule=schedule,
            starts=starts,
            failure_rules=failure_rules,
            overlap=self.args.overlap
            or (policy.is_asynchronous and self.args.env_backend != "sync"),
        )

    def task_ids(
        self, split: str, *, tasks: Sequence[str | int] | None = None, option: str = ""
    ) -> list[str]:
        """List the task ids of a split over all environments, narrowed by `tasks`.

        Of several environments each is narrowed by the entries that it knows.

        Args:
            split: whose tasks.
            tasks: see `TaskSet.select`.
            option: the option that the split was chosen by, where every environment must have tasks
                in it.

        Raises:
            UsageError: an environment has no tasks in the split that `option` chose.
            ValueError: the split is unknown, an entry of `tasks` matches nothing, or an environment
                knows none of them.
        """
        labels: list[str | int] | None = None
        if tasks is not None:
            labels = [int(label) if str(label).isdigit() else label for label in tasks]
        ids: list[str] = []
        used: set[str | int] = set()
        for name, env in self._probes.items():
            own = labels
            if labels is not None and len(self._probes) > 1:
                own = _known(labels, env.task_set, split) or labels
                used.update(own)
            numbers = env.task_set.select(split, own)
            if option and not numbers:
                raise UsageError(_no_tasks(self.names[name], env.task_set, split, option))
            ids += [f"{name}_{number}" for number in numbers]
        if used and used != set(labels or ()):
            unused = [label for label in labels or () if label not in used]
            raise UnknownTask(f"tasks: {unused} match nothing in split {split!r} of {self.env_ids}")
        return ids

    def split_ids(self) -> list[str]:
        """List the task ids of the split and the tasks that the arguments name.

        Raises:
            UsageError: an environment has none.
        """
        return self.task_ids(self.args.split, tasks=self.args.tasks, option="split")

    def spread(
        self, ids: Sequence[str], count: int, *, weighted: bool = False, start: float = 0.0
    ) -> list[str]:
        """Return `count` of the task ids, spread evenly over environments and kinds of tasks.

        Args:
            ids: the task ids, those of an environment one after the other.
            count: 0 takes all.
            weighted: environments have their weights' shares, not as many each.
            start: from 0 to below 1; another one gives other tasks.
        """
        weights = self.weights if weighted else None
        return spread(ids, count, weights, self.task_kind, start=start)

    def task_kind(self, task_id: str) -> tuple[str, str]:
        """Return the kind of a task, by `TaskSet.task_kind`."""
        return self._probes[scenario_name(task_id)].task_set.task_kind(task_id)

    def check_right_answers(self) -> None:
        """Raise `UsageError` unless every environment knows the right answers of its tasks."""
        without = [
            self.names[name]
            for name, env in self._probes.items()
            if not callable(getattr(env, "right_answer", None))
        ]
        if without:
            raise UsageError(
                "`turn_credit=information_gain` needs environments that know the right answer, as "
                f"SearchQA does, got {', '.join(without)}; use `turn_credit=gagpo`"
            )

    def check_experts(self, task_ids: Iterable[str], option: str, remedy: str) -> None:
        """Raise `UsageError` unless there is an expert for a task of each subtask.

        The message names the `option` that needs one, and a `remedy` without.
        """
        of_subtask = {(scenario_name(task), self.task_kind(task)[0]): task for task in task_ids}
        without: dict[str, NoExpert] = {}
        for (name, _), task in of_subtask.items():
            probe = self._probes[name]
            probe.reset(options={"task_id": task})
            try:
                next(probe.expert(), None)
            except NoExpert as error:
                without.setdefault(name, error)
        if without:
            why = "; ".join(f"{self.names[name]}: {error}" for name, error in without.items())
            others = [label for name, label in self.names.items() if name not in without]
            having = f"{', '.join(others)} alone" if others else "another environment"
            raise UsageError(
                f"`{option}` needs an expert for all tasks ({why}); train on {having}, narrow "
                f"`tasks` to those with an expert, or {remedy}"
            )

    def check_copies(self) -> None:
        """Raise `UsageError` unless every environment can be copied within an episode."""
        for name in self._probes:
            self._check_copies(name, "branch_roots", "pass `branch_roots=0`")

    def _check_copies(self, name: str, option: str, remedy: str) -> None:
        try:
            self._probes[name].snapshot()
        except (AttributeError, ValueError) as error:
            raise UsageError(
                f"`{option}` copies environments, and {self.names[name]} cannot be copied "
                f"({error}); leave it out of `env`, or {remedy}"
            ) from error

    def _check_expert(self, name: str) -> None:
        """Raise `UsageError` unless an environment has an expert for one of a few tasks."""
        env, error = self._probes[name], None
        tasks = env.task_set
        for number in list(tasks.numbers(self.args.split))[:3]:
            env.reset(options={"task_id": number})
            try:
                next(env.expert(), None)
                return
            except NoExpert as missing:
                error = missing
        raise UsageError(
            f"`start` begins episodes before the expert's end, and {self.names[name]} has none "
            f"({error}); every environment of this package has one, but for WebArena on its "
            "official sites and those of servers. Leave `start` out"
        )

    def right_answer(self, task_id: str) -> tuple[str, str]:
        """Return the action that gives a training task's right answer, and the answer."""
        env: Any = self._probes[scenario_name(task_id)]
        env.reset(options={"task_id": task_id})
        answer: tuple[str, str] = env.right_answer()
        return answer

    def close(self) -> None:
        """Close every environment."""
        for env in self.vectors.values():
            env.close()
        for probe in self._probes.values():
            probe.close()


def environment_check(episodes: Iterable[Trajectory], environments: Environments) -> None:
    """Raise `UsageError` if saved episodes are of none of the environments.

    Conversations that name no task may be of any environment.
    """
    with_tasks = [episode for episode in episodes if episode.env_id]
    scenarios = {scenario_name(episode.task_id) for episode in with_tasks}
    if scenarios and not scenarios & set(environments.names):
        named, played = ", ".join(sorted(scenarios)), ", ".join(environments.names.values())
        # An episode of an environment that is not here has the bare name in place of an id.
        known = sorted({episode.env_id for episode in with_tasks if "/" in episode.env_id})
        remedy = "leave `env` out to measure nothing"
        if known:
            remedy = (
                f"pass `env={known[0]}`, beside `env={environments.env_ids[0]}` "
                f"to measure that too, or {remedy}"
            )
        raise UsageError(f"`data` holds episodes of {named}, and `env` is {played}; {remedy}")


def build_mixture(
    scenarios: Iterable[str], environments: Environments | None, *, seed: int | None
) -> Mixture | None:
    """Return the mixture of training rows, or None where all are of one environment.

    Args:
        scenarios: the name in front of the task id of each row.
        environments: have the weights; without them all environments weigh alike.
        seed: of the order of an environment's rows; None keeps it.

    Raises:
        UsageError: there are weights, and rows of an environment that has none.
    """
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(scenarios):
        rows.setdefault(name, []).append(row)
    weights = {} if environments is None else environments.weights
    unweighted, missing = sorted(set(rows) - set(weights)), sorted(set(weights) - set(rows))
    if environments is not None and environments.args.mix is not None and unweighted:
        played = ", ".join(weights)
        if UNNAMED in unweighted:
            raise UsageError(
                f"`mix` weighs {played}, and there are conversations that name no task, so they "
                "are of no environment; give each the id of a task as its item_id, or leave `mix` "
                "out"
            )
        raise UsageError(
            f"`mix` weighs {played}, and there are episodes of {', '.join(unweighted)}; name these "
            "environments by `env` too, with a weight each, or leave `mix` out"
        )
    if len(weights) > 1 and missing:
        logger.warning(
            "there is nothing of %s to train on; the others have its share", ", ".join(missing)
        )
    if len(rows) < 2:
        return None
    return Mixture(rows, {name: weights.get(name, 1) for name in rows}, seed)


def order_seed(args: Any) -> int | None:
    """Return the seed of the order of an environment's rows, or None to keep theirs."""
    return None if args.train_sampling_strategy == "sequential" else int(args.seed)


def _kwargs_of(env_id: str, args: EnvArguments) -> dict[str, Any]:
    """Return an environment's keyword arguments: the common ones, and its own."""
    kwargs: dict[str, Any] = {
        "action_format": value_for(args.action_format, env_id),
        **kwargs_for(args.extra_kwargs, env_id, args.env),
    }
    if args.actions_per_turn > 1:
        kwargs["actions_per_turn"] = args.actions_per_turn
    max_turns = value_for(args.max_turns, env_id)
    if max_turns is not None:
        kwargs["max_turns"] = max_turns
    return kwargs


def _known(labels: Sequence[str | int], tasks: TaskSet, split: str) -> list[str | int]:
    """Return the labels that some task of the split has, and the files that list such tasks."""
    tasks.check_split(split)
    known = {label for n in tasks.numbers(split) for label in tasks.labels(tasks.spec(n))}
    return [label for label in labels if label in known or _lists(label, tasks.env_name)]


def _lists(label: str | int, env_name: str) -> bool:
    """Return whether a label is a file of item ids of an environment."""
    return is_item_file(label) and all(
        scenario_name(item) == env_name for item in read_item_ids(str(label))
    )


def _no_tasks(name: str, task_set: TaskSet, split: str, option: str) -> str:
    """Return why an environment cannot be played on a split, with the remedy."""
    why = task_set.explain_empty(split)
    sizes = ", ".join(f"{own} {len(task_set.numbers(own))}" for own in task_set.splits)
    without = ", or pass `eval_strategy=no` to train without" if option == "eval_split" else ""
    return (
        f"{name} has no tasks in `{option}={split}`{f' ({why})' if why else ''}; it has {sizes}: "
        f"choose another `{option}`{without}"
    )
