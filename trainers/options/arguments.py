"""The commands' options as dataclasses: environments, rollouts and evaluation.

Training options are in `configs`. A field's metadata has its `help`, and its bounds: `min` and
`max`, or `above` where the bound itself is not allowed. `common_options` names the fields that
`--help` shows; without it all are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any, ClassVar

from agentgym_envs.errors import did_you_mean
from agentgym_envs.machinery.secrets import hide_address, hide_kwargs
from trainers.history.notes import Notes
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns
from trainers.options.backends import BACKENDS, BackendSpec
from trainers.options.environments import EnvArguments as EnvArguments
from trainers.options.errors import UsageError
from trainers.options.values import (
    BY_ENVIRONMENT,
    COUNT_BY_ENVIRONMENT,
    DEFAULT,
    all_values,
    check_bounds,
    load_attribute,
    option,
    options_by_environment,
    read_by_environment,
    read_object,
    read_seconds,
    value_for,
)
from trainers.tokens.generation import Backend
from wrappers import FailureRules, HorizonSchedule, parse_schedule, parse_start

HISTORIES: dict[str, type[Any]] = {"last_turns": LastTurns, "summary": Summary, "notes": Notes}


@lru_cache
def open_history(name: str | None, keep_last_turns: int | None) -> History:
    """Return the history that a name of `HISTORIES`, or `module:Class`, stands for, cached.

    It is made with `keep_last_turns`, or without arguments where that is None. Raises `UsageError`.
    """
    kind: Any = HISTORIES.get(name or "last_turns")
    if kind is None and ":" not in str(name):
        hint = did_you_mean(str(name), HISTORIES, otherwise=f"it is one of {', '.join(HISTORIES)}")
        raise UsageError(f"`history={name}`{hint}, or one of your own as module:Class")
    kind = kind or load_attribute(str(name))
    options = {} if keep_last_turns is None else {"keep_last_turns": keep_last_turns}
    try:
        history: Any = kind(**options)
    except TypeError as error:
        raise UsageError(
            f"`history={name}` cannot be made with {options or 'no arguments'} ({error}); its "
            "class takes keep_last_turns where `keep_last_turns` is set, and nothing else"
        ) from error
    if not isinstance(history, History):
        raise UsageError(
            f"`history={name}` is a {type(history).__name__}, which is no history; derive the "
            "class from trainers.History and write view(episode)"
        )
    return history


@dataclass(frozen=True)
class TokenBudgets:
    """The budgets of one environment's episodes, from `EpisodeArguments`."""

    max_tokens_per_turn: int
    max_tokens_per_episode: int | None = None
    history: History = field(default_factory=LastTurns)


def _text(_name: str, value: Any) -> str:
    return str(value)


@dataclass
class EpisodeArguments:
    """The budgets of an episode, and its backend.

    Those in tokens and turns are one value, or a dict of values by environment with one under
    `"default"` (`trainers.options.values`). In Python `backend` may be a `BackendSpec`, or an open
    backend, too.
    """

    _argument_group_name: ClassVar[str] = "rollout"
    common_options: ClassVar[tuple[str, ...]] = (
        *("backend", "max_tokens_per_turn", "max_tokens_per_episode"),
    )

    backend: str | BackendSpec | Backend = option(
        "hf",
        "What samples a model's turns: transformers, vLLM in this process, a vLLM server, or "
        "another package's backend (entry points agentgym.backends).",
        choices=BACKENDS,
    )
    server_url: list[str] | None = option(
        None, "Address of a vLLM server, http://host:port; repeat for several.", action="extend"
    )
    backend_kwargs: str | None = option(
        None,
        "Arguments of the backend, as JSON: vllm.LLM's, or weights_dir, timeout, retries, "
        "max_requests.",
    )
    max_tokens_per_turn: int | dict[str, int] = option(
        256,
        "Sampled tokens of a turn, at most. This and the next: NAME=NUMBER for one environment.",
        **COUNT_BY_ENVIRONMENT,
    )
    max_tokens_per_episode: int | dict[str, int] | None = option(
        None, "Tokens of an episode, at most; default: the context.", **COUNT_BY_ENVIRONMENT
    )
    keep_last_turns: int | dict[str, int] | None = option(
        None, "Last turns in the prompt; default: all, or by --history.", **COUNT_BY_ENVIRONMENT
    )
    history: str | dict[str, str] | None = option(
        None,
        "Earlier turns in the prompt: last_turns, a summary of actions, the policy's own notes, "
        "or a class as module:Class.",
        read=_text,
        **BY_ENVIRONMENT,
    )
    max_failed_share: float = option(
        0.2, "Stop if more episodes than this share failed.", min=0, max=1
    )

    max_outage: str = option(
        "10m", "How long to wait for broken machinery, such as a lost server: 90s, 10m, 2h."
    )

    def __post_init__(self) -> None:
        read_by_environment(self)
        if self.server_url is not None:
            urls = [self.server_url] if isinstance(self.server_url, str) else self.server_url
            self.server_url = [hide_address(url) for url in urls]
            if len(set(self.server_url)) < len(self.server_url):
                raise ValueError(
                    f"`server_url` names a server twice: {', '.join(self.server_url)}; leave one "
                    "of them out"
                )
        self.backend_kwargs = hide_kwargs(self.backend_kwargs)
        check_bounds(self)
        self._check_backend()
        values = [getattr(self, name) for name in options_by_environment(type(self))]
        named = {label for value in values if isinstance(value, dict) for label in value}
        for label in {DEFAULT, *named}:
            budgets = self.env_budgets(label)
            most, turn = budgets.max_tokens_per_episode, budgets.max_tokens_per_turn
            if most is not None and most <= turn:
                raise ValueError(
                    f"an episode holds the instruction, observations and turns, got "
                    f"max_tokens_per_episode={most} with max_tokens_per_turn={turn}; raise the "
                    "first or lower the second"
                )
        _ = self.failure_rules

    def _check_backend(self) -> None:
        options, spec = self.backend_options, self.backend_spec
        if spec.takes_server_url != (self.server_url is not None):
            served = spec.name if spec.takes_server_url else "vllm_server"
            raise ValueError(
                f"`backend={served}` and `server_url` go together, got `backend={spec.name}` "
                f"and `server_url={' '.join(self.server_url or ['none'])}`"
            )
        if options and not spec.takes_kwargs:
            raise ValueError(
                f"the backend {spec.name} takes no further arguments, got {sorted(options)}"
            )

    @property
    def backend_spec(self) -> BackendSpec:
        """The spec of the backend."""
        return BackendSpec.from_value(self.backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the options for a run's record, the backend by its name."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {**values, "backend": self.backend_spec.name}

    @property
    def backend_options(self) -> dict[str, Any]:
        """`backend_kwargs` as a dict, with its secrets, or a `ValueError`."""
        return read_object("backend_kwargs", self.backend_kwargs)

    def env_budgets(self, env_id: str) -> TokenBudgets:
        """Return the budgets of one environment's episodes."""
        turn = value_for(self.max_tokens_per_turn, env_id)
        episode = value_for(self.max_tokens_per_episode, env_id)
        return TokenBudgets(turn, episode, self.env_history(env_id))

    def env_history(self, env_id: str) -> History:
        """Return the history of one environment's episodes."""
        keep = value_for(self.keep_last_turns, env_id)
        return open_history(value_for(self.history, env_id), keep)

    @property
    def longest_turn(self) -> int:
        """The most tokens that a turn of any environment may have."""
        return max(all_values(self.max_tokens_per_turn))

    @property
    def longest_episode(self) -> int | None:
        """The most tokens that an episode may have, or None if one environment sets no bound."""
        values = all_values(self.max_tokens_per_episode)
        return None if None in values else max(values)

    @property
    def failure_rules(self) -> FailureRules:
        """Number of failed episodes that stop the run, and wait for broken machinery."""
        return FailureRules(
            max_failed_share=self.max_failed_share,
            max_outage=read_seconds("max_outage", self.max_outage),
        )


def episode_settings(env: EnvArguments, budgets: EpisodeArguments) -> tuple[Any, ...]:
    """Return the options that change episodes, not how they are run."""
    return (
        *(env.env, env.max_turns, env.action_format, env.env_kwargs, env.wrapper),
        *([env.weights] if len(env.env) > 1 else []),
        *([env.actions_per_turn] if env.actions_per_turn > 1 else []),
        *(budgets.max_tokens_per_turn, budgets.max_tokens_per_episode, budgets.keep_last_turns),
        *([] if budgets.history is None else [budgets.history]),
    )


def _horizon(_name: str, value: Any) -> str:
    parse_schedule(str(value))
    return str(value)


def _start(_name: str, value: Any) -> str:
    parse_start(str(value))
    return str(value)


@dataclass
class HorizonArguments(EpisodeArguments):
    """The episodes of a run's steps: their budgets and their turn horizon."""

    common_options: ClassVar[tuple[str, ...]] = ("horizon",)

    horizon: str | dict[str, str] | None = option(
        None,
        "Turn horizon over training: 20; scaling:6,13,20@100 is 6 turns, 13 after 100 optimizer "
        "steps, 20 after 200; adaptive:6,13,20@20 ends a stage when success over 20 steps has "
        "levelled off. Default: the turn limit. NAME=HORIZON for one environment.",
        read=_horizon,
        **BY_ENVIRONMENT,
    )

    def env_schedule(self, env_id: str) -> HorizonSchedule | None:
        """Return a new schedule for one environment, from its value of `horizon`."""
        text = value_for(self.horizon, env_id)
        return None if text is None else parse_schedule(text)


@dataclass
class RolloutArguments(HorizonArguments):
    """Playing and recording of training episodes."""

    common_options: ClassVar[tuple[str, ...]] = ()

    start: str | dict[str, str] | None = option(
        None,
        "Start of training episodes: backward:2,4,8@100 is 2 turns before the expert's end, 4 "
        "after 100 optimizer steps, 8 after 200, the task's start after 300; adaptive:2,4,8@20 "
        "ends stages by success; mixed:2,4,8 draws one of the four for each task. Default: the "
        "task's start. NAME=START for one environment.",
        read=_start,
        **BY_ENVIRONMENT,
    )
    mask_truncated_episodes: bool = option(
        False, "Mask truncated episodes in the loss, not in the baseline."
    )
    save_trajectories_every: int = option(
        1, "Write the episodes of every N-th step; 0: never.", min=0
    )
    compress_trajectories: bool = option(False, "Write episodes as .jsonl.gz.")
    max_trajectory_gb: float = option(
        0.0, "Write at most this many GB of episodes; 0: no bound.", min=0
    )

    def env_start(self, env_id: str) -> HorizonSchedule | None:
        """Return a new schedule for one environment, from its value of `start`."""
        text = value_for(self.start, env_id)
        return None if text is None else parse_start(text)


@dataclass
class EvaluationArguments:
    """Measurement of success during training."""

    _argument_group_name: ClassVar[str] = "evaluation"
    common_options: ClassVar[tuple[str, ...]] = ("num_eval_tasks",)

    num_eval_tasks: int = option(
        40, "Evaluation tasks per environment, spread over its subtasks; 0: all.", min=0
    )
    eval_samples: int = option(1, "Episodes per evaluation task.", min=1)
    eval_temperature: float = option(1.0, "Temperature of evaluations; 0 is greedy.", min=0)

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass
class RunArguments:
    """The options of a training command beside training."""

    _argument_group_name: ClassVar[str] = "run"

    resume: bool = option(False, "Continue from the last checkpoint in --output_dir.")
